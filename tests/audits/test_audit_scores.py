"""Audits from scores of independent runs: exact cases, the level in null audits, power, and what is refused."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

import tcdp_sim
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.audits import GaussianDP, WeakAudit, band_divergence, claims, drawing, rank_bounds
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

DELTA = 1e-3


def rng(seed):
    return np.random.default_rng([2026, seed])


def gaussian_epsilon(mu, delta):
    """The exact epsilon of N(0, 1) against N(mu, 1)."""

    def excess(epsilon):
        tails = stats.norm.cdf(mu / 2 - epsilon / mu), stats.norm.cdf(-mu / 2 - epsilon / mu)
        return tails[0] - np.exp(epsilon) * tails[1] - delta

    return brentq(excess, 0, 50)


def samples(mu, inside, outside, generator):
    return generator.normal(mu, 1, inside), generator.normal(0, 1, outside)


# Exact cases


def test_ranks_are_zero_and_shares_of_half_of_the_sample():
    assert rank_bounds.ranks(2).tolist() == [0, 1]
    assert rank_bounds.ranks(50).tolist() == [0, 1, 2, 3, 4, 7, 11, 16, 25]
    assert len(rank_bounds.ranks(1000)) == 16


def test_bounds_of_separated_scores_by_hand():
    """All 50 inside exceed all 40 outside. The doubt is shared by 2 directions and 17 thresholds.

    With u v = c, the p-values u of p and v of q give p >= u^(1/n) and q <= 1 - v^(1/m). The worst u decides.
    The corners that cover a region lose up to 3%.
    """
    report = tcdp_sim.audit_scores(np.arange(100, 150), np.arange(40), delta=0.1)
    doubt = 0.05 / (2 * (9 + len(rank_bounds.ranks(40))))
    c = brentq(lambda c: c * (1 - np.log(c)) - 0.6 * doubt, 1e-12, 0.1)
    u = c ** np.linspace(0, 1, 2001)[1:-1]
    for found, of in (
        (report.epsilon, lambda p, q: np.log(np.maximum(p - 0.1, 1e-300) / q)),
        (report.mu, lambda p, q: stats.norm.ppf(p) - stats.norm.ppf(q)),
        (report.epsilon_at(0), lambda p, q: np.log(p / q)),
    ):
        exact = max(of(u ** (1 / n), 1 - (c / u) ** (1 / m)).min() for n, m in ((50, 40), (40, 50)))
        ends = max(of((0.175 * doubt) ** (1 / n), 1 - (0.175 * doubt) ** (1 / m)) for n, m in ((50, 40), (40, 50)))
        assert max(0.97 * exact, ends) <= found * (1 + 1e-9)
        assert found <= max(exact, ends) * (1 + 1e-9)


def test_two_independent_p_values_have_a_small_product_no_more_often_than_allowed():
    """The law of a product of two uniform numbers, from a sample and from the sum of two exponential ones."""
    c = 1e-3
    assert c * (1 - np.log(c)) == pytest.approx(stats.gamma(2).sf(-np.log(c)))
    products = rng(12).random((2, 10**6)).prod(axis=0)
    assert np.mean(products <= c) == pytest.approx(c * (1 - np.log(c)), rel=0.05)


@pytest.mark.parametrize(("p", "q"), [(0.6, 0.3), (0.9, 0.5), (0.3, 0.3)])
def test_regions_hold_by_enumeration(p, q):
    """All outcomes of 12 and 10 coins: the region of an event errs with at most its share."""
    truth, wrong = np.log(p / q), 0.0
    for hits, other in product(range(13), range(11)):
        corners = rank_bounds.corners(np.array([hits]), 12, np.array([other]), 10, 0.2)
        found = claims.measure(None).of_event(*corners).min()
        wrong += (found > truth + 1e-12) * stats.binom.pmf(hits, 12, p) * stats.binom.pmf(other, 10, q)
    assert 0 < wrong <= 0.2


def test_the_ends_are_the_exact_binomial_ones():
    """At each end, so many hits or more (or fewer) have exactly the probability of a share."""
    inside, outside = samples(1, 90, 70, rng(1))
    found = rank_bounds.events(inside, outside, 0.1, ("inside",))
    doubt = 0.1 / (len(rank_bounds.ranks(90)) + len(rank_bounds.ranks(70)))
    main, spare = 0.35 * doubt / 2, 0.05 * doubt / 2
    assert found.doubt == pytest.approx((0.6 * doubt, main, spare))
    for row, n in enumerate(found.sizes):
        above, below = (main, spare) if row == 0 else (spare, main)
        some, few = found.hits[row] > 0, found.hits[row] < n
        assert stats.binom.sf(found.hits[row] - 1, n, found.low[row])[some] == pytest.approx(above)
        assert stats.binom.cdf(found.hits[row], n, found.high[row])[few] == pytest.approx(below)


def test_hits_and_events_are_those_of_the_scores():
    inside, outside = samples(1, 90, 70, rng(2))
    found = rank_bounds.events(inside, outside, 0.1)
    for k, (threshold, upper) in enumerate(zip(found.thresholds, found.upper)):
        counts = [np.sum(each > threshold) if upper else np.sum(each < threshold) for each in (inside, outside)]
        assert found.hits[:, k].tolist() == counts[:: 1 if found.inside[k] else -1]


@pytest.mark.parametrize("chances", [(0.5, 0.5, 0.0, 0.0), (0.1, 0.1, 0.8, 0.0), (0.174, 0.101, 0.355, 0.37)])
def test_ends_at_ranks_hold_for_tied_scores_by_enumeration(chances):
    """All counts of 9 scores with four values: each end errs with at most its share."""
    errs = None
    for counts in product(range(10), repeat=4):
        if sum(counts) != 9:
            continue
        rare = np.repeat([0.0, 1.0, 2.0, 3.0], counts)
        found = rank_bounds.events(np.array([-1.0, -1.0]), rare, 0.999, ("inside",)).of_direction("inside")
        above = np.array([sum(chances[int(t) + 1 :]) for t in found.thresholds[found.inside]])
        high, low = found.high[1][found.inside], found.low[1][found.inside]
        farthest = found.corners[1][0, found.inside]  # of a region, where the likelier end is not bounded
        wrong = np.stack([above > high + 1e-12, above < low - 1e-12, above > farthest + 1e-12]) * stats.multinomial(
            9, chances
        ).pmf(counts)
        errs = wrong if errs is None else errs + wrong
    assert (errs[0] <= found.doubt.main).all()
    assert (errs[1] <= found.doubt.spare + 1e-12).all()
    c = brentq(lambda c: c * (1 - np.log(c)) - found.doubt.region, 1e-12, 0.5)
    assert (errs[2] <= c).all()


# The level


def test_a_thousand_null_audits_of_gaussian_noise_hold_the_level():
    """No number exceeds its true value in more than 5% of the audits. Some end or region errs more often."""
    generator, false_alarms, errors = rng(3), 0, 0
    for _ in range(1000):
        report = tcdp_sim.audit_scores(*samples(1, 100, 150, generator), delta=DELTA)
        false_alarms += bool(report.mu > 1 or report.rho > 0.5 or report.epsilon > EPSILON)
        found = report.events
        reach = [stats.norm.cdf(np.where(found.upper, mu - found.thresholds, found.thresholds - mu)) for mu in (1, 0)]
        chances = np.where(found.inside, reach, reach[::-1])
        ends = (chances < found.low) | (chances > found.high)
        regions = (chances[0] >= found.corners[0]) & (chances[1] <= found.corners[1])
        errors += bool(ends.any() or not regions.any(axis=0).all())
    assert false_alarms <= 10  # both probabilities of an event rarely err together
    assert 10 <= errors <= 50


EPSILON = gaussian_epsilon(1, DELTA)


def test_the_level_holds_where_every_event_of_a_tail_is_the_worst():
    """Laplace noise has the ratio e^1 at all thresholds beyond both answers. Level 0.5, so that errors are seen."""
    generator, errors = rng(4), 0
    for _ in range(300):
        noise = generator.laplace(size=(2, 400))
        errors += tcdp_sim.audit_scores(1 + noise[0], noise[1], level=0.5).epsilon > 1
    assert errors <= 150


# Power


@pytest.mark.parametrize("claim", [
    ApproxDP(gaussian_epsilon(2, 0.05) / 2, 0.05), GaussianDP(1.0), ZCDP(1.0), TCDP(1.0, 8.0), RDP(2.0, 2.0),
    Ledger([Additive(Gaussian(1.0))]),
], ids=str)  # fmt: skip
def test_half_of_the_true_value_is_refuted(claim):
    """N(2, 1) against N(0, 1), 3,000 runs each: mu is 2, rho is 2."""
    generator = rng(5)
    found = [tcdp_sim.audit_scores(*samples(2, 3000, 3000, generator), claim=claim) for _ in range(10)]
    assert all(report.refuted for report in found)


def test_renyi_divergences_use_all_thresholds_together():
    """The hull of a band through points of the exact curve of N(0, 1) against N(2, 1) shows nearly all of rho = 2."""
    alpha = stats.norm.sf(np.linspace(-1.5, 3.5, 60))
    beta = stats.norm.cdf(np.linspace(-1.5, 3.5, 60) - 2)
    probabilities = np.stack([1 - beta, alpha])
    none = np.zeros((2, 60), int)
    exact = rank_bounds.Events(
        alpha, alpha > -1, alpha > -1, none, none + 1, probabilities, probabilities, none[0], None
    )
    one = claims.measure(ZCDP(1.0))
    assert 1.9 < band_divergence.bound(one, exact) < 2
    assert max(one.of_event(1 - beta, alpha)) < 1.6  # a single event shows less


def test_a_violation_is_found_about_every_second_time():
    report = tcdp_sim.audit_scores(*samples(1, 1000, 1000, rng(13)), claim=GaussianDP(1.0))
    assert 1.1 < report.violation < 1.4
    generator = rng(14)
    found = [tcdp_sim.audit_scores(*samples(report.violation, 1000, 1000, generator)).mu > 1 for _ in range(40)]
    assert 10 <= sum(found) <= 39


def test_bounds_approach_the_truth():
    report = tcdp_sim.audit_scores(*samples(2, 100_000, 100_000, rng(6)), delta=0.1)
    assert 1.9 < report.mu < 2
    assert 1.8 < report.rho < 2
    assert 0.9 * gaussian_epsilon(2, 0.1) < report.epsilon < gaussian_epsilon(2, 0.1)


# Directions, sides, and the report


def test_the_direction_of_scores_does_not_matter():
    inside, outside = samples(2, 300, 200, rng(7))
    claim = GaussianDP(0.5)
    right = tcdp_sim.audit_scores(inside, outside, claim=claim)
    turned = tcdp_sim.audit_scores(-inside, -outside, claim=claim)
    swapped = tcdp_sim.audit_scores(outside, inside, claim=claim)
    assert right.bound == turned.bound == swapped.bound > 0.5
    assert right.toward != swapped.toward
    known = tcdp_sim.audit_scores(inside, outside, claim=claim, larger="inside")
    assert known.bound > right.bound
    wrong = tcdp_sim.audit_scores(inside, outside, claim=claim, larger="outside")
    assert 0.5 < wrong.violation < 1
    assert (wrong.bound, wrong.hits, wrong.toward) == (0, (0, 0), "")
    wrong.figure()
    tcdp_sim.audit_scores(inside, inside, level=0.99).figure()
    assert tcdp_sim.audit_scores(-inside, -outside, claim=claim, larger="outside").bound == known.bound


def test_the_event_is_that_of_the_hits():
    inside, outside = samples(-2, 300, 200, rng(8))
    report = tcdp_sim.audit_scores(inside, outside, claim=GaussianDP(0.5))
    assert (report.holds(inside).sum(), report.holds(outside).sum()) == report.hits
    likely = report.hits[0] / 300 > report.hits[1] / 200
    assert report.toward == ("inside" if likely else "outside")
    assert "0.5-GDP is refuted: mu of Gaussian DP >= " in str(report)
    assert f"hits: {report.hits[0]:,} of 300 inside and {report.hits[1]:,} of 200 outside" in str(report)
    assert "all at level 0.95 together: epsilon >= " in str(report)


def test_the_band_holds_the_curve_of_the_score():
    for mu in (2, -2):
        curve = tcdp_sim.audit_scores(*samples(mu, 500, 400, rng(9))).tradeoff
        least, most = (stats.norm.sf(stats.norm.ppf(a) + 2) for a in (curve.alpha_upper, curve.alpha_lower))
        assert (least <= curve.beta_upper + 1e-12).all()
        assert (most >= curve.beta_lower - 1e-12).all()
        assert (np.diff(curve.alpha) >= 0).all()
        for name in ("alpha", "beta"):
            seen, lower, upper = (getattr(curve, name + end) for end in ("", "_lower", "_upper"))
            assert ((lower <= seen) & (seen <= upper)).all()


def test_the_drawn_band_holds_the_exact_curve():
    alpha = np.linspace(0, 1, 101)
    lower, upper = drawing._band(tcdp_sim.audit_scores(*samples(1.5, 400, 300, rng(15))).tradeoff, alpha)
    exact = stats.norm.sf(stats.norm.ppf(alpha) + 1.5)
    assert (lower <= exact).all()
    assert (exact <= upper).all()
    assert 0.1 < np.mean(upper - lower) < 0.5


def test_the_report_is_json_and_has_a_figure():
    report = tcdp_sim.audit_scores(*samples(1, 300, 200, rng(10)), claim=ApproxDP(0.1, 1e-3))
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (plain["refuted"], plain["runs"], plain["sizes"]) == (True, "many", [300, 200])
    assert list(plain["bounds"]) == ["epsilon at delta = 0.001", "mu of Gaussian DP", "rho of zCDP"]
    assert len(plain["band"]["alpha"]) == len(report.tradeoff.alpha)
    assert isinstance(report, tcdp_sim.AuditReport)
    axes = report.figure().axes
    assert [line.get_label() for line in axes[0].get_lines()][:2] == ["inside", "outside"]
    assert [np.nanmax(line.get_ydata()) for line in axes[0].get_lines()[:2]] == pytest.approx([1, 1], abs=0.05)


def test_withheld_outputs_and_few_values_are_scores():
    inside, outside = np.where(np.arange(200) < 150, 3.0, -np.inf), np.full(200, -np.inf)
    report = tcdp_sim.audit_scores(inside, outside, claim=PureDP(1.0))
    assert report.refuted
    assert report.hits in ((150, 0), (50, 200))
    json.dumps(report.to_dict(), allow_nan=False)
    shaded = [patch for axes in report.figure().axes for patch in axes.patches]
    assert len(shaded) == 1
    assert shaded[0].get_width() > 0.01  # also where the event's scores are all beyond the finite ones
    flags = tcdp_sim.audit_scores([True] * 90 + [False] * 10, [True] * 10 + [False] * 90, claim=PureDP(0.5))
    assert 0.5 < flags.bound < np.log(9)


@pytest.mark.parametrize("finite", [200, 201])
def test_an_event_beyond_the_drawn_scores_is_shaded(finite):
    """The largest finite score is drawn as a quantile for one of the two sizes only."""
    outside = np.append(np.linspace(-2, 2, finite - 1), 1000.0)
    inside = np.where(np.arange(200) < 100, np.inf, np.linspace(-2, 2, 200))
    report = tcdp_sim.audit_scores(inside, outside, claim=PureDP(1.0), larger="inside")
    assert report.event == "score > 1000"
    (shaded,) = [patch for axes in report.figure().axes for patch in axes.patches]
    assert shaded.get_width() > 0.01


def test_weak_audits_say_so():
    with pytest.warns(WeakAudit, match="all scores are equal"):
        report = tcdp_sim.audit_scores(np.ones(50), np.ones(60), claim=PureDP(1.0))
    assert (report.tested, report.bound) == (False, 0)
    assert "would have been found" not in str(report)
    with pytest.warns(WeakAudit, match="could not have found twice"):
        report = tcdp_sim.audit_scores(*samples(1, 20, 20, rng(11)), claim=PureDP(8.0))
    assert "no 20 scores inside and 20 outside could refute epsilon <= 8; about " in str(report)
    enough = int(float(str(report).partition("; about ")[2].split()[0]))
    assert tcdp_sim.audit_scores(np.ones(enough), np.zeros(enough), claim=PureDP(8.0)).refuted


REFUSED = {
    "inside: 1 of 3 scores are missing (NaN); valid: numbers, and -inf or inf": {"inside": [1.0, np.nan, 2.0]},
    "outside: 2 of 3 scores are missing": {"outside": [None, None, 2.0]},
    "inside is not valid; valid: at least two scores": {"inside": [1.0]},
    "outside is not valid; valid: at least two scores, one number": {"outside": [[1.0, 2.0]]},
    "inside is not valid": {"inside": ["a", "b"]},
    "larger = 'in' is not valid; valid: 'inside', 'outside', None": {"larger": "in"},
    "runs = 1 is not valid; valid: 'many', 'one'": {"runs": 1},
    "level = 1 is not valid": {"level": 1},
    "delta = 1 is not valid": {"delta": 1},
    "delta = 0.1 is not that of the claim (1, 0.01)-DP": {"claim": ApproxDP(1.0, 0.01), "delta": 0.1},
    "claim = 3 cannot be audited": {"claim": 3},
}


@pytest.mark.parametrize("message", REFUSED)
def test_mistakes_are_one_line(message):
    given = {"inside": [1.0, 2.0], "outside": [0.0, 1.0]} | REFUSED[message]
    with pytest.raises(UserError) as told:
        tcdp_sim.audit_scores(given.pop("inside"), given.pop("outside"), **given)
    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
