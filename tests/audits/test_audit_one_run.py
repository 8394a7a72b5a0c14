"""Audits from the canaries of one run, after Steinke, Nasr and Jagielski: published numbers, null audits, and power."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

import tcdp_sim
from tcdp_sim.audits import GaussianDP, WeakAudit, one_run, one_run_mu
from tcdp_sim.core.errors import UserError
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


def test_tied_scores_get_no_guess_unless_all_of_them_do():
    inside, outside = np.array([5.0, 4.0, 4.0, 2.0]), np.array([4.0, 2.0, 2.0, 1.0])
    found = list(one_run.guesses(inside, outside, "inside"))
    assert [(each.correct, each.made) for each in found] == [(3 + 3, 8), (2, 4)]
    assert next(one_run.guesses(np.ones(4), np.ones(4), "inside")).correct == 0


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


def largest_tail(correct, made, canaries, mu):
    """The largest P[Z >= correct] under the inequalities of the theorem, by linear programming over the law of Z.

    The concave function is the lower one of many tangents, so the optimum is a little too large.
    """
    places = stats.norm.cdf(np.linspace(-8, 8, 400))
    heights = stats.norm.cdf(stats.norm.ppf(places) + mu)
    slopes = stats.norm.pdf(stats.norm.ppf(places) + mu) / stats.norm.pdf(stats.norm.ppf(places))
    z = np.arange(made + 1)
    rows, ends = [], []
    for k in range(1, made + 1):
        right, wrong = (z >= k) * z / canaries, (z >= k - 1) * (made - z) / canaries
        rows += list(right[None] - slopes[:, None] * wrong[None])
        ends += list(heights - slopes * places)
    found = linprog(-(z >= correct).astype(float), np.array(rows), ends, np.ones((1, made + 1)), [1.0])
    return -found.fun


@pytest.mark.parametrize(("correct", "made", "canaries"), [(6, 6, 10), (9, 10, 10), (8, 10, 30), (14, 20, 20)])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
def test_the_recursion_is_the_optimum_of_a_linear_programme(correct, made, canaries, mu):
    most = largest_tail(correct, made, canaries, mu)
    assert one_run_mu.refuted(correct, made, canaries, most * (1 + 1e-3), np.array([mu]))[0] or most > 0.999
    assert not one_run_mu.refuted(correct, made, canaries, most * (1 - 2e-2), np.array([mu]))[0]


def test_a_bound_on_mu_is_the_largest_that_is_refuted():
    bound = one_run_mu.bound(390, 500, 1000, 0.05)
    near = one_run_mu.refuted(390, 500, 1000, 0.05, np.array([bound * (1 - 1e-9), bound + 1e-3]))
    assert near.tolist() == [True, False]
    assert one_run_mu.bound(250, 500, 1000, 0.05) == 0
    assert 0 < one_run_mu.bound(10**4, 10**4, 10**5, 1e-6) < one_run_mu.MOST


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
