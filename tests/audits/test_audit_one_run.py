"""Audits from the canaries of one run, after Steinke, Nasr and Jagielski: published numbers, null audits, and power."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

import tcdp_sim
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.audits import GaussianDP, WeakAudit, one_run, one_run_curves, stated_curves
from tcdp_sim.audits import claims as claims_of_audits
from tcdp_sim.audits.tradeoff import Curve
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP


def rng(seed):
    return np.random.default_rng([2027, seed])


def run(canaries, epsilon, generator, leak=0.0):
    """Scores of canaries inside and outside: Laplace noise that satisfies (epsilon, leak)-DP for each coin."""
    coins = generator.random(canaries) < 0.5
    scores = coins + generator.laplace(scale=1 / epsilon, size=canaries)
    leaked = generator.random(canaries) < leak
    scores = np.where(leaked, np.where(coins, 1e6, -1e6), scores)
    return scores[coins], scores[~coins]


@pytest.mark.parametrize(("correct", "made", "canaries", "delta", "published"), [
    (75, 100, 1000, 1e-4, 0.673),  # their Appendix D
    (1439, 1510, 100_000, 1e-5, 2.675),  # their Section 7
])  # fmt: skip
def test_published_bounds(correct, made, canaries, delta, published):
    assert one_run.bound(correct, made, canaries, delta, 0.05) == pytest.approx(published, abs=1e-3)


@pytest.mark.parametrize("correct", [0, 1, 7, 12])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
def test_p_values_are_those_of_the_theorem(correct, epsilon):
    law = stats.binom(12, 1 / (1 + np.exp(-epsilon)))
    assert one_run.p_value(correct, 12, 40, epsilon, 0) == pytest.approx(law.sf(correct - 1), rel=1e-9)
    between = [sum(law.pmf(correct - j) for j in range(1, i + 1)) / i for i in range(1, correct + 1)]
    exact = law.sf(correct - 1) + 2 * 40 * 0.003 * max(between, default=0)
    assert one_run.p_value(correct, 12, 40, epsilon, 0.003) == pytest.approx(min(exact, 1), rel=1e-9)


def test_many_guesses_are_not_summed_one_by_one():
    """The largest quotient of all 9,000 guesses, of which the code looks at those near the mean."""
    law = stats.binom(10_000, 1 / (1 + np.exp(-1.0)))
    fewer = np.arange(1, 9001)
    exact = law.sf(8999) + 2 * 10**6 * 1e-9 * ((law.sf(8999 - fewer) - law.sf(8999)) / fewer).max()
    assert one_run.p_value(9000, 10_000, 10**6, 1.0, 1e-9) == pytest.approx(exact, rel=1e-9)


def test_bounds_of_certain_and_of_useless_guesses():
    assert one_run.bound(20, 20, 50, 0, 0.05) == pytest.approx(np.log(0.05**0.05 / (1 - 0.05**0.05)), abs=1e-6)
    assert one_run.bound(10, 20, 50, 0, 0.05) == 0
    assert one_run.bound(10**6, 10**6, 10**6, 0, 0.999999) <= one_run.MOST


def test_guesses_by_hand():
    inside, outside = np.array([9.0, 8.0, 1.0, 7.0]), np.array([0.0, 2.0, 3.0, 8.5])
    found = list(one_run.guesses(inside, outside, "inside"))
    assert [(each.correct, each.made, each.inside, each.outside) for each in found] == [(6, 8, 7, 3), (2, 4, 8.5, 1)]
    assert [each.correct for each in one_run.guesses(-inside, -outside, "outside")] == [6, 2]
    assert [each.correct for each in one_run.guesses(inside, outside, "outside")] == [2, 2]


def test_equal_scores_get_the_same_guess():
    inside, outside = np.array([5.0, 4.0, 4.0, 2.0]), np.array([4.0, 2.0, 2.0, 1.0])
    found = list(one_run.guesses(inside, outside, "inside"))
    assert [(each.correct, each.made) for each in found] == [(3 + 3, 8), (2, 4)]
    assert next(one_run.guesses(np.ones(4), np.ones(4), "inside")).correct == 4  # all are guessed inside


@pytest.mark.parametrize("larger", ["inside", "outside"])
@pytest.mark.parametrize("canaries", [4, 5, 8, 31, 200])
def test_guesses_are_those_of_their_words_and_no_more_than_allowed(canaries, larger):
    """Counted one by one from the thresholds, for scores with ties and infinities."""
    generator = rng(canaries)
    for values in ([0, 1], [0, 0, 1, np.inf], [-np.inf, np.inf], [-np.inf, 3, 3, 4, np.inf], range(50)):
        coins = np.arange(canaries) % 2 == 0
        scores = generator.choice(np.array(values, float), canaries)
        for found in one_run.guesses(scores[coins], scores[~coins], larger):
            high, low = found.inside, found.outside
            beyond = np.greater_equal if larger == "inside" else np.less_equal
            yes = beyond(scores, high) if high is not None else np.zeros(canaries, bool)
            no = beyond(low, scores) if low is not None else np.zeros(canaries, bool)
            assert not (yes & no).any()
            assert yes.sum() + no.sum() <= found.made
            assert found.correct == (yes & coins).sum() + (no & ~coins).sum()


@pytest.mark.parametrize("claim", [PureDP(0.5), ApproxDP(0.5, 1e-6), GaussianDP(0.5), None], ids=str)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.6])
def test_infinite_scores_that_know_nothing_show_nothing(share, claim):
    """Scores are independent of the coins. At level 0.999 one of 16 audits errs with probability 0.016."""
    generator = rng(round(100 * share))
    coins = generator.random(1000) < 0.5
    scores = generator.normal(size=1000)
    withheld = generator.random(1000) < share
    scores[withheld] = np.where(generator.random(withheld.sum()) < 0.7, np.inf, -np.inf)
    report = quiet(scores[coins], scores[~coins], claim, level=0.999)
    assert not report.refuted
    assert report.bound < 0.5


@pytest.mark.parametrize("canaries", [1000, 1001])
def test_labels_show_as_much_as_numbers(canaries):
    """Randomised response at epsilon = 3: all guesses are made, so the bound is that of the binomial law of all."""
    generator = rng(7)
    coins = generator.random(canaries) < 0.5
    labels = np.where(generator.random(canaries) < 1 / (1 + np.exp(-3.0)), coins, ~coins).astype(float)
    report = quiet(labels[coins], labels[~coins], PureDP(1.0), larger="inside")
    correct = int((labels == coins).sum())
    share = 0.05 / len(one_run.numbers(canaries))
    exact = stats.beta.ppf(share, correct, canaries - correct + 1)
    assert report.bound == pytest.approx(np.log(exact / (1 - exact)), abs=1e-6)


@pytest.mark.parametrize(("epsilon", "leak"), [(1.0, 0.0), (1.0, 0.002)])
def test_a_thousand_null_audits_hold_the_level(epsilon, leak):
    """Laplace noise for each canary; with `leak` it is (1, leak)-DP. At level 0.95 at most 50 alarms are allowed."""
    generator = rng(1)
    claim = ApproxDP(epsilon, leak) if leak else PureDP(epsilon)
    reports = [quiet(*run(300, epsilon, generator, leak), claim) for _ in range(1000)]
    assert sum(report.refuted for report in reports) <= 20


def quiet(inside, outside, claim, **given):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakAudit)
        return tcdp_sim.audit_scores(inside, outside, claim=claim, runs="one", **given)


def test_half_of_epsilon_is_refuted():
    generator = rng(2)
    for _ in range(10):
        report = quiet(*run(2000, 2.0, generator), ApproxDP(1.0, 1e-5))
        assert report.refuted
        assert report.bound < 2
    known = quiet(*run(2000, 2.0, rng(3)), PureDP(1.0), larger="inside")
    assert known.bound > quiet(*run(2000, 2.0, rng(3)), PureDP(1.0)).bound
    turned = quiet(*(-each for each in run(2000, 2.0, rng(3))), PureDP(1.0))
    assert turned.bound == quiet(*run(2000, 2.0, rng(3)), PureDP(1.0)).bound
    assert turned.toward == "outside"


def test_the_report_says_what_was_guessed():
    report = quiet(*run(2000, 2.0, rng(4)), PureDP(1.0))
    correct, made = report.hits
    assert f"guesses: {correct:,} of {made:,} are correct" in str(report)
    assert "canaries of one run inside" in report.verdict
    assert "is guessed inside" in report.event
    assert np.isnan(report.mu) and np.isnan(report.rho)  # noqa: PT018
    assert report.epsilon == report.bound
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (plain["runs"], plain["band"], list(plain["bounds"])) == ("one", None, ["epsilon"])
    assert len(report.figure().axes) == 3
    with pytest.raises(ValueError, match="epsilon_at needs scores of independent runs"):
        report.epsilon_at(0.1)


def test_what_one_run_cannot_show_is_said():
    with pytest.warns(WeakAudit):
        report = tcdp_sim.audit_scores(*run(20, 1.0, rng(5)), claim=PureDP(5.0), runs="one")
    assert "no guesses about 20 canaries of one run could refute epsilon <= 5" in str(report)


REFUSED = {
    "claim = 0.1-zCDP is not valid for one run, which bounds epsilon or mu": ((50, 50), ZCDP(0.1)),
    "90 of 100 canaries are inside, which no fair coins give; valid: each canary is inside": ((90, 10), None),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_audit_of_one_run_is_refused(message):
    sizes, claim = REFUSED[message]
    with pytest.raises(UserError) as told:
        tcdp_sim.audit_scores(*(np.arange(size) for size in sizes), claim=claim, runs="one")
    assert str(told.value).startswith(message)


def largest_tail(correct, made, canaries, slopes, heights):
    """The largest P[Z >= correct] under the inequalities of the theorem, by linear programming over the law of Z.

    The concave function is the lowest of lines with these slopes and heights at 0.
    """
    z = np.arange(made + 1)
    rows, ends = [], []
    for k in range(1, made + 1):
        right, wrong = (z >= k) * z / canaries, (z >= k - 1) * (made - z) / canaries
        rows += list(right[None] - slopes[:, None] * wrong[None])
        ends += list(heights)
    found = linprog(-(z >= correct).astype(float), np.array(rows), ends, np.ones((1, made + 1)), [1.0])
    return -found.fun


def lines_of_mu(mu):
    """Tangents, so that the optimum is a little too large."""
    places = stats.norm.cdf(np.linspace(-8, 8, 400))
    heights = stats.norm.cdf(stats.norm.ppf(places) + mu)
    slopes = stats.norm.pdf(stats.norm.ppf(places) + mu) / stats.norm.pdf(stats.norm.ppf(places))
    return slopes, heights - slopes * places


def lines_of_profile(points):
    """P <= e^epsilon Q + delta, and 1 - Q <= e^epsilon (1 - P) + delta."""
    slopes = [np.exp(sign * epsilon) for sign in (1, -1) for epsilon, _ in points]
    heights = [delta for _, delta in points] + [1 - np.exp(-epsilon) * (1 - delta) for epsilon, delta in points]
    return np.array(slopes), np.array(heights)


COUNTS = [(6, 6, 10), (9, 10, 10), (8, 10, 30), (14, 20, 20)]
PROFILES = [((0.5, 0.0),), ((1.0, 1e-2),), ((0.0, 0.3), (1.0, 0.1), (2.0, 0.01)), ((3.0, 1e-3),)]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
def test_the_recursion_is_the_optimum_of_a_linear_programme(counts, mu):
    most = largest_tail(*counts, *lines_of_mu(mu))
    rarer = GaussianDP(mu).rarer
    assert one_run_curves.refuted(*counts, most * (1 + 1e-3), rarer) or most > 0.999
    assert not one_run_curves.refuted(*counts, most * (1 - 2e-2), rarer)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("points", PROFILES)
def test_the_p_value_of_a_curve_is_the_optimum_of_a_linear_programme(counts, points):
    most = largest_tail(*counts, *lines_of_profile(points))
    curve = Curve(*np.array(points).T)
    assert 10 ** -one_run_curves.digits(*counts, curve.rarer) == pytest.approx(min(most, 1.0), rel=5e-3)


def test_the_rarest_neighbour_of_an_event_inverts_the_power():
    likely = np.geomspace(1e-12, 1, 200)
    for curve in (GaussianDP(1.3), Curve(np.array([0.0, 1.0, 2.0]), np.array([0.4, 0.1, 1e-3]))):
        rarer = curve.rarer(likely)
        assert (curve.power(np.maximum(rarer, 0)) >= likely * (1 - 1e-9)).all()
        there = rarer > 1e-12
        assert (curve.power(rarer[there] * (1 - 1e-6)) < likely[there]).all()
    stated = stated_curves.of(lambda alpha: max(0.0, 1 - 1e-3 - np.exp(1.0) * alpha, np.exp(-1.0) * (1 - 1e-3 - alpha)))
    plain = Curve(np.array([1.0]), np.array([1e-3]))
    assert stated.rarer(likely) == pytest.approx(plain.rarer(likely), abs=1e-14)


def test_a_bound_is_the_largest_that_is_refuted():
    counts = 390, 500, 1000
    for bound, rarer in (
        (one_run_curves.mu(*counts, 0.05), lambda mu: GaussianDP(mu).rarer),
        (
            one_run_curves.epsilon(*counts, 1e-4, 0.05),
            lambda epsilon: Curve(np.array([epsilon]), np.array([1e-4])).rarer,
        ),
    ):
        assert one_run_curves.refuted(*counts, 0.05, rarer(bound * (1 - 1e-9)))
        assert not one_run_curves.refuted(*counts, 0.05, rarer(bound + 1e-3))
    assert one_run_curves.mu(250, 500, 1000, 0.05) == 0
    assert 0 < one_run_curves.mu(10**4, 10**4, 10**5, 1e-6) < one_run_curves.MOST_MU


def test_the_better_of_two_bounds_is_shown():
    """Both bound the same probability, so the smaller bound on it needs no share."""
    generator = rng(8)
    for canaries, better in ((100_000, "curves"), (1000, "binomial")):
        coins = generator.random(canaries) < 0.5
        few = np.where(generator.random(canaries) < 500 / canaries, coins * 2.0 - 1, 0.0)
        scores = few + 0.1 * generator.random(canaries) if better == "curves" else coins + generator.laplace(size=1000)
        claim = ApproxDP(1.0, 1e-5)
        report = tcdp_sim.audit_scores(scores[coins], scores[~coins], claim=claim, runs="one", larger="inside")
        correct, number = report.hits
        share = 0.05 / len(one_run.numbers(canaries))
        first = one_run.bound(correct, number, canaries, 1e-5, share)
        second = one_run_curves.epsilon(correct, number, canaries, 1e-5, share)
        assert report.epsilon == pytest.approx(max(first, second), rel=1e-12)
        assert (second > first) == (better == "curves")


def test_a_curve_is_the_claim_of_one_run():
    """A ledger, points and a function; the p-value is that of all tries together."""
    coins = rng(9).random(2000) < 0.5
    scores = 2 * coins + rng(10).normal(size=2000)
    ledger = Ledger([Additive(Gaussian(1.0))])
    cdf = stats.norm.cdf
    profile = {each: cdf(0.5 - each) - np.exp(each) * cdf(-0.5 - each) for each in np.linspace(0, 6, 25).tolist()}
    claims = [ledger, profile, lambda alpha: cdf(stats.norm.ppf(1 - alpha) - 1)]
    for claim in claims:
        report = tcdp_sim.audit_scores(scores[coins], scores[~coins], claim=claim, runs="one", larger="inside")
        rarer = claims_of_audits.rarer(stated_curves.of(claim) or claim)
        alone = one_run_curves.digits(*report.hits, 2000, rarer)
        assert report.bound == pytest.approx(alone - np.log10(len(one_run.numbers(2000))))
        assert report.refuted
        assert report.bound > -np.log10(0.05)
        assert "minus log10 of the p-value of the claimed trade-off curve >= " in report.verdict
        assert np.isnan(report.epsilon)
        true = tcdp_sim.audit_scores(*run(2000, 0.5, rng(11)), claim=claim, runs="one")
        assert not true.refuted


@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_a_thousand_null_audits_of_mu_hold_the_level(mu):
    """Gaussian noise for each canary, at level 0.5, at which 500 alarms are allowed: the law is not the worst one."""
    generator, refuted = rng(6), 0
    for _ in range(1000):
        coins = generator.random(200) < 0.5
        scores = mu * coins + generator.normal(size=200)
        refuted += quiet(scores[coins], scores[~coins], GaussianDP(mu), level=0.5).refuted
    assert refuted <= 500


def test_half_of_mu_is_refuted_with_many_canaries():
    coins = rng(7).random(20_000) < 0.5
    scores = 2 * coins + rng(8).normal(size=20_000)
    report = quiet(scores[coins], scores[~coins], GaussianDP(1.0))
    assert report.refuted
    assert 1 < report.bound == report.mu < 2
    assert list(report.to_dict()["bounds"]) == ["mu of Gaussian DP"]
    assert "mu of Gaussian DP >= " in str(report)
