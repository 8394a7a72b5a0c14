"""What hits of an event and moments of a score show: against scipy, enumeration, closed forms and quadrature."""

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.stats import contingency

from tcdp_sim.audits import binomial, claims, events, moments, odds, tables
from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.moments import Moment
from tcdp_sim.audits.scores import Column, LikelihoodRatio
from tcdp_sim.audits.tradeoff import GaussianDP
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, ApproxZCDP, PureDP

DOUBT = 0.1


def event(first=True, split=0.5, upper=True):
    return Event(None, 0.0, upper, first, split)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (1, 10**6), (700, 10**6), (10**6, 10**6)])
def test_ends_are_those_of_scipys_exact_test(hits, trials):
    for doubt in (0.05, 0.01):
        found = stats.binomtest(hits, trials).proportion_ci(1 - 2 * doubt, "exact")
        assert binomial.lower_probability(hits, trials, doubt) == pytest.approx(found.low, rel=1e-8)
        assert binomial.upper_probability(hits, trials, doubt) == pytest.approx(found.high, rel=1e-8)


def test_forecasts_are_near_the_exact_ends():
    hits = np.array([1, 3, 10, 100, 10**4, 5 * 10**5])
    for doubt in (0.02, 0.2):
        exact = binomial.lower_probability(hits, 10**6, doubt), binomial.upper_probability(hits, 10**6, doubt)
        quick = binomial.forecast_lower(hits, 10**6, doubt), binomial.forecast_upper(hits, 10**6, doubt)
        assert np.log(quick[0][1:] / exact[0][1:]) == pytest.approx(0, abs=0.05)
        assert np.log(quick[1] / exact[1]) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(1, 0.1), ZCDP(0.1), TCDP(0.1, 3.0), RDP(2.0, 0.1)], ids=str)
@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.3, 0.1), (0.5, 0.45)])
def test_two_point_laws_by_enumeration(claim, p, q):
    """The chance of a bound above the truth, summed over all pairs of counts, for every split and both sides."""
    one, n = claims.measure(claim), 30
    truth = max(float(one.of_event(p, q)), 0.0)
    hits = np.arange(n + 1)
    chance = np.outer(stats.binom(n, p).pmf(hits), stats.binom(n, q).pmf(hits))
    for split in binomial.SPLITS:
        low = binomial.lower_probability(hits, n, split * DOUBT)[:, None]
        shown = np.maximum(one.of_event(low, binomial.upper_probability(hits, n, (1 - split) * DOUBT)), 0)
        assert events.bound(one, event(True, split), (20, 3), n, DOUBT) == shown[20, 3]
        assert chance[shown > truth * (1 + 1e-9)].sum() <= DOUBT
        swapped = events.bound(one, event(False, split), (3, 20), n, DOUBT)
        assert swapped == events.bound(one, event(True, split), (20, 3), n, DOUBT)


@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.3, 0.1), (0.5, 0.45), (0.97, 0.6), (0.05, 0.01)])
def test_both_counts_together_err_seldom_by_enumeration(p, q):
    """The chance of a bound above the true ratio, summed over all pairs of counts: at most the doubt."""
    one, n = claims.measure(None), 16
    hits = np.arange(n + 1)
    chance = np.outer(stats.binom(n, p).pmf(hits), stats.binom(n, q).pmf(hits))
    together = Event(None, 0.0, True, True, 1.0, True)
    shown = np.array([[events.bound(one, together, (a, b), n, DOUBT) for b in hits] for a in hits])
    assert chance[shown > np.log(p / q) * (1 + 1e-9)].sum() <= DOUBT
    swapped = Event(None, 0.0, True, False, 1.0, True)
    assert events.bound(one, swapped, (3, 12), n, DOUBT) == shown[12, 3]


@pytest.mark.parametrize(("a", "b", "n"), [(20, 3, 30), (5, 0, 40), (30, 10, 30), (282, 0, 2000), (40, 38, 100)])
def test_odds_ratios_are_those_of_scipys_conditional_bound(a, b, n):
    table = [[a, n - a], [b, n - b]]
    found = contingency.odds_ratio(table, kind="conditional").confidence_interval(0.9, "greater")
    assert odds.lower_odds(a, b, n, DOUBT) == pytest.approx(found.low, rel=1e-8)
    assert odds.lower_odds(a, b, n, DOUBT) < found.low * (1 + 1e-9)


def test_many_hits_have_the_odds_of_a_normal_law():
    """At 10^8 hits of 2 10^8: log odds less 1.2816 standard errors."""
    a, b, n = 10**8, 9 * 10**7, 2 * 10**8
    error = np.sqrt(1 / a + 1 / b + 1 / (n - a) + 1 / (n - b))
    normal = np.log(a * (n - b) / (b * (n - a))) - stats.norm.isf(DOUBT) * error
    assert np.log(odds.lower_odds(a, b, n, DOUBT)) == pytest.approx(normal, abs=0.01 * error)


@pytest.mark.parametrize("hits", [(282, 0), (282, 1), (336, 2), (2000, 1500), (10**5, 9 * 10**4), (5 * 10**5, 10)])
def test_forecasts_of_ratios_are_near_the_exact_bound(hits):
    exact, quick = odds.lower_ratio(*hits, 10**6, DOUBT), odds.forecast(*hits, 10**6, DOUBT)
    assert np.log(quick / exact) == pytest.approx(0, abs=0.05)


def test_a_bound_is_not_far_from_its_level():
    """At a split of one half each end errs 5% of the time: a bound that never errs would be too low."""
    one, n, hits = claims.measure(None), 2000, np.arange(2001)
    low = binomial.lower_probability(hits, n, 0.05)
    wrong = stats.binom(n, 0.3).pmf(hits)[low > 0.3].sum()
    assert 0.04 < wrong <= 0.05
    assert events.bound(one, event(), (1500, 500), n, DOUBT) == pytest.approx(np.log(3), abs=0.1)
    assert events.bound(one, event(), (500, 500), n, DOUBT) == 0


def coin(order, p, q):
    return np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def test_what_an_event_shows_of_each_notion():
    assert claims.measure(PureDP(1)).of_event(0.3, 0.1) == pytest.approx(np.log(3))
    assert claims.measure(ApproxDP(1, 0.1)).of_event(0.3, 0.1) == pytest.approx(np.log(2))
    assert claims.measure(RDP(2.5, 1)).of_event(0.3, 0.1) == pytest.approx(coin(2.5, 0.3, 0.1))
    orders = np.linspace(1.0001, 3, 4000)
    most = np.max(coin(orders, 0.3, 0.1) / orders)
    assert claims.measure(TCDP(0.1, 3.0)).of_event(0.3, 0.1) == pytest.approx(most, rel=2e-3)
    assert claims.measure(TCDP(0.1, 3.0)).of_event(0.3, 0.1) <= most * (1 + 1e-9)
    assert claims.measure(ZCDP(0.1, 0.02)).of_event(0.3, 0.1) == pytest.approx(
        np.max([(coin(order, 0.3, 0.1) - 0.02) / order for order in claims.measure(ZCDP(0.1)).orders])
    )
    assert claims.measure(PureDP(1)).of_event(0.1, 0.1) == 0
    assert claims.measure(ApproxDP(1, 0.2)).of_event(0.1, 0.1) == -np.inf


def test_claims_that_bound_nothing_that_is_measured_are_refused():
    with pytest.raises(ValueError, match=r"cannot be audited; valid: PureDP, ApproxDP, RDP, ZCDP, TCDP, GaussianDP"):
        claims.measure(ApproxZCDP(0.1, 0.1))


@pytest.mark.parametrize("claim", [PureDP(9.0), ApproxDP(8.0, 1e-3), TCDP(9.0, 4.0)], ids=str)
def test_claims_beyond_reach_are_told_with_the_size_that_would_do(claim):
    one = claims.measure(claim)
    line = claims.warning(one, 1000, DOUBT)
    enough = float(line.split("; ")[1].split()[0])
    assert line.startswith("no sample of 1,000 outputs of each input could refute")
    assert claims.warning(one, int(enough), DOUBT) == ""
    assert claims.warning(one, int(enough / 1.2), DOUBT)
    assert claims.most_shown(one, 1000, DOUBT) < one.claimed < claims.most_shown(one, int(enough), DOUBT)
    assert claims.warning(claims.measure(PureDP(0.1)), 1000, DOUBT) == ""
    assert claims.warning(claims.measure(PureDP(50.0)), 1000, DOUBT).endswith("nor could 1e18")


@pytest.mark.parametrize("hits", [(3000, 1000), (1000, 990), (5, 4), (400, 0)])
@pytest.mark.parametrize("claim", [PureDP(0.5), ApproxDP(0.5, 0.03), ZCDP(0.1), GaussianDP(0.5)], ids=str)
def test_the_smallest_violation_is_just_enough(claim, hits):
    """All counts of either input are tried, one after the other, with the bound itself."""
    one, trials = claims.measure(claim), 2000
    hits = tuple(min(each, trials) for each in hits)
    least, double = events.least_found(one, event(), hits, trials, DOUBT)
    likely, rare = (max(each, 1) for each in hits)
    tried = [(each, rare) for each in range(rare, trials + 1)] + [(likely, each) for each in range(1, likely + 1)]
    found = [pair for pair in tried if events.bound(one, event(), pair, trials, DOUBT) > one.claimed]
    shares = [(a / trials, b / trials) for a, b in found]
    values = [float(one.of_event(a, b)) for a, b in shares]
    assert least == pytest.approx(min(values, default=np.inf), rel=0.02)
    deltas = [a - np.exp(one.claimed) * b for a, b in shares] if one.delta else []
    assert double == (min(values, default=np.inf) <= 2 * one.claimed or min(deltas, default=np.inf) <= 2 * one.delta)


# Moments


def test_a_moment_of_gaussian_cells_is_below_the_divergence_and_near_it():
    """200 cells of two unit Gaussians one apart: D_a = a / 2, of which cells and clipping keep most."""
    edges = np.linspace(-4, 5, 199)
    first, second = (np.diff([0, *stats.norm(mean).cdf(edges), 1]) for mean in (1, 0))
    n = 10**7
    counts = np.round(n * first).astype(int), np.round(n * second).astype(int)
    one = claims.measure(TCDP(0.5, 3.0))
    value, moment = moments.best(one, None, edges, counts, n, DOUBT)
    starts = np.concatenate([[0], np.searchsorted(edges, moment.edges) + 1])
    counts = tuple(np.add.reduceat(side, starts) for side in counts)
    bound = moments.bound(one, moment, counts, DOUBT)
    assert 0.48 < bound < 0.5
    assert bound == pytest.approx(value, abs=0.01)
    assert bound < moments.estimate(one, moment, counts) < 0.5 * (1 + 1e-3)
    assert moments.bound(one, moment, counts[::-1], DOUBT) < bound


def test_bounds_of_means_by_enumeration():
    """Of the mean of n coins, over all outcomes: wrong at most as often as they may be, and not far from it."""
    n, p, hits = 60, 0.3, np.arange(61)
    chance = stats.binom(n, p).pmf(hits)
    for stake in (0.05, 0.3, 0.9):
        low = np.array([moments._lower_mean(np.array([0.0, 1.0]), np.array([n - a, a]), stake, 0.1) for a in hits])
        assert chance[low > p].sum() <= 0.1
        assert stake < 0.1 or low[40] > p


def test_moments_of_two_point_laws_err_seldom_by_enumeration():
    """g is the exact log ratio of two coins: the order-2 divergence, over all pairs of counts."""
    p, q, n = 0.7, 0.4, 40
    steps = np.log([(1 - p) / (1 - q), p / q])
    one, hits = claims.measure(RDP(2.0, 0.1)), np.arange(n + 1)
    chance = np.outer(stats.binom(n, p).pmf(hits), stats.binom(n, q).pmf(hits))
    moment = Moment(None, np.array([0.5]), steps, 2.0, True, (0.3, 0.3))
    shown = np.array(
        [[moments.bound(one, moment, (np.array([n - a, a]), np.array([n - b, b])), DOUBT) for b in hits] for a in hits]
    )
    assert chance[shown > coin(2.0, p, q)].sum() <= DOUBT
    assert (shown > 0).any()


def test_each_mean_has_half_of_the_doubt():
    """Both ends by scipy's root finder, from the gamblers' winnings as the paper has them."""
    values, order = np.array([0.1, 0.4, 1.0]), 2.0
    moment = Moment(None, np.array([1.0, 2.0]), np.log(values), order, True, (0.4, 0.2))
    first, second = np.array([200, 300, 500]), np.array([500, 300, 200])

    def low(m):
        return first @ np.log1p(0.4 * (values - m)) - np.log(2 / DOUBT)

    def high(m):
        return second @ np.log1p(0.2 * (m - values**2)) - np.log(2 / DOUBT)

    ends = optimize.brentq(low, 0, 1), optimize.brentq(high, 0, 1)
    shown = order / (order - 1) * np.log(ends[0]) - np.log(ends[1])
    one = claims.measure(RDP(order, 0.1))
    assert moments.bound(one, moment, (first, second), DOUBT) == pytest.approx(shown, rel=1e-9)


# Choice


def test_cells_that_chance_may_have_told_apart_are_merged():
    edges = np.arange(1.0, 10.0)
    rng = np.random.default_rng(1)
    first, second = rng.multinomial(10**5, [0.1] * 10), rng.multinomial(10**5, [0.1] * 5 + [0.06] * 5 + [0.2])[:10]
    kept, counts = tables.merged(edges, first, second)
    assert kept.tolist() == [5.0]
    assert counts.sum(axis=1).tolist() == [first.sum(), second.sum()]
    assert tables.log_ratio(*counts)[1] == pytest.approx(np.log(0.1 / 0.06), abs=0.03)


def test_the_best_threshold_of_exact_counts():
    """Of a Laplace law at ten million outputs: where the ratio is e and the event is likeliest."""
    values, n = np.linspace(-3, 4, 141), 10**7
    first, second = (np.round(n * stats.laplace(mean).sf(values)).astype(int) for mean in (1, 0))
    value, found = events.best(claims.measure(None), None, Thresholds(values, first, second, n), n, DOUBT)
    assert 0.98 < value < 1
    assert (found.upper, found.first) == (True, True) or (found.upper, found.first) == (False, False)
    assert found.threshold == pytest.approx(1.0 if found.upper else 0.0, abs=0.11)


def test_where_nothing_is_forecast_the_event_is_chosen_that_is_furthest_apart():
    """45 against 30 is 1.8 standard errors; 400 against 398, which is less uncertain, none."""
    seen = Thresholds(np.array([1.0, 2.0, 3.0]), np.array([400, 45, 2]), np.array([398, 30, 1]), 1000)
    value, found = events.best(claims.measure(None), None, seen, 1000, DOUBT)
    assert value < 0
    assert (found.threshold, found.upper, found.first) == (2.0, True, True)
    approximate = claims.measure(ApproxDP(1.0, 0.5))  # no event has this probability: nothing can be shown
    assert events.best(approximate, None, seen, 1000, DOUBT)[1].threshold == 2.0
    assert events.best(claims.measure(None), None, Thresholds(*[np.zeros(0)] * 3, 1000), 1000, DOUBT)[1] is None


def test_rare_events_are_forecast_by_how_hits_fall():
    """q falls as p^2: at thresholds with no hit, the expectation goes on; where there are hits, it is what was seen."""
    likely = np.array([100, 200, 400, 800, 1600, 3200])
    rare = np.array([0, 0, 1, 8, 32, 128])
    expected = events._expected(likely, rare, upper=False)
    assert expected[3:].tolist() == [8, 32, 128]
    assert expected[:3] == pytest.approx([8 / 64, 8 / 16, 2.0], rel=0.5)
    assert events._expected(likely[::-1], rare[::-1], upper=True).tolist() == expected[::-1].tolist()


@pytest.mark.parametrize(("score", "least"), [(Column("value", 0, ""), 0.997), (LikelihoodRatio(abs, 0, 1), 0.98)])
def test_luck_in_rare_events_is_not_taken_for_evidence(score, least):
    """Of events that all have the ratio e^0.3 the largest shows most; the best of 60 looks better in most samples.

    least: of what it shows, on average. Where the law says that rarer events tell more, luck is allowed for less.
    """
    rng, trials, further = np.random.default_rng(5), 2_000_000, 20_000_000
    share = 0.3 * 10 ** np.linspace(0, -5, 60)
    cells = -np.diff(np.append(share, 0))
    one = claims.measure(PureDP(1.0))

    def drawn(ratio):
        return rng.multinomial(trials, [1 - ratio * cells.sum(), *(ratio * cells)])[:0:-1].cumsum()[::-1]

    def shown(place):
        likely, rare = (np.round(further * ratio * share[place]) for ratio in (np.exp(0.3), 1))
        ends = stats.beta.ppf(0.05, likely, further - likely + 1), stats.beta.ppf(0.95, rare + 1, further - rare)
        return np.log(ends[0] / ends[1])

    found = []
    for _ in range(40):
        seen = Thresholds(np.arange(60.0), drawn(np.exp(0.3)), drawn(1.0), trials)
        best = events.best(one, score, seen, further, 0.1)[1]
        found.append(shown(int(best.threshold)) if best.upper and best.first else 0.0)
    assert least < np.mean(found) / shown(0) <= 1
