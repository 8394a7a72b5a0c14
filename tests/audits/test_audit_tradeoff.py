"""Trade-off curves: those that claims allow, and the empirical one, against closed forms."""

import audited
import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.audits import GaussianDP, tradeoff
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

ALPHA = np.array([1e-6, 1e-3, 0.05, 0.3, 0.5, 0.9])


def gaussian_power(alpha, mu):
    return stats.norm.cdf(stats.norm.ppf(alpha) + mu)


def test_pure_and_approximate_claims_allow_their_two_lines():
    for claim, delta in ((PureDP(1.0), 0.0), (ApproxDP(1.0, 0.01), 0.01)):
        exact = np.minimum(1, np.minimum(delta + np.e * ALPHA, 1 - (1 - delta - ALPHA) / np.e))
        assert tradeoff.curve(claim).power(ALPHA) == pytest.approx(exact, rel=1e-12)


def test_the_curve_of_a_ledger_is_an_upper_bound_and_close():
    found = tradeoff.curve(Ledger([Additive(Gaussian(2.0))])).power(ALPHA)
    exact = gaussian_power(ALPHA, 0.5)
    assert (found >= exact).all()
    assert found == pytest.approx(exact, rel=0.05)
    laplace = tradeoff.curve(Ledger([Additive(Laplace(1.0))])).power(ALPHA)
    exact = 1 - np.where(0.5 / np.e >= ALPHA, 1 - np.e * ALPHA, np.where(ALPHA <= 0.5, 0.25 / np.e / ALPHA, 0))
    assert (laplace[ALPHA < 0.5] >= exact[ALPHA < 0.5] * (1 - 1e-12)).all()


def test_concentrated_claims_allow_more_than_the_gaussian_that_meets_them():
    for claim in (ZCDP(0.125), TCDP(0.125, 8.0)):
        assert (tradeoff.curve(claim).power(ALPHA) >= gaussian_power(ALPHA, 0.5) * (1 - 1e-9)).all()
    assert tradeoff.curve(None) is None
    assert tradeoff.curve(RDP(2.0, 1.0)) is None or tradeoff.curve(RDP(2.0, 1.0)).power(0.5) >= 0.5


@pytest.mark.parametrize("seed", range(5))
def test_the_bands_hold_for_all_tests_at_once(seed):
    """The exact curve of a Gaussian within bands at level 0.99, over all thresholds; the curve itself is outside."""
    rng, edges = np.random.default_rng(seed), np.linspace(-3, 4, 60)
    first, second = (np.bincount(np.searchsorted(edges, rng.normal(m, 1, 20_000)), minlength=61) for m in (1, 0))
    found = tradeoff.of_counts(first, second, 0.01)
    alpha, beta = stats.norm.sf(edges[::-1]), stats.norm.cdf(edges[::-1] - 1)
    inner = slice(0, -1)
    assert (found.alpha_lower[inner] <= alpha).all()
    assert (found.alpha_upper[inner] >= alpha).all()
    assert (found.beta_lower[inner] <= beta).all()
    assert (found.beta_upper[inner] >= beta).all()
    assert np.abs(found.alpha[inner] - alpha).max() > 1e-4
    assert np.all(np.diff(found.alpha) >= 0)
    assert np.all(np.diff(found.beta) <= 0)


def test_the_bands_are_shared_by_all_thresholds_and_looks():
    """Each of the 2 x 2 ends at 3 thresholds gets an equal share of the doubt: the end by its definition."""
    found = tradeoff.of_counts(np.array([10, 20, 30, 40]), np.array([40, 30, 20, 10]), 0.1)
    share = 0.1 / (4 * tradeoff.LOOKS * 3)
    assert found.alpha.tolist() == [0.1, 0.3, 0.6, 1.0]
    assert found.beta.tolist() == [0.6, 0.3, 0.1, 0.0]
    assert stats.binom(100, found.alpha_upper[0]).cdf(10) == pytest.approx(share)
    assert stats.binom(100, found.beta_lower[0]).sf(59) == pytest.approx(share)


def test_claims_of_gaussian_dp_are_audited():
    """Noise of one standard deviation is 1-GDP exactly. The chance of a false alarm is 1e-4."""
    given = {"neighbours": audited.ONE, "trials": 100_000, "level": 1 - 1e-4, "learn": False}
    true = tcdp_sim.audit(audited.gaussian, claim=GaussianDP(1.0), **given)
    assert not true.refuted
    assert 0.95 < true.bound <= 1
    wrong = tcdp_sim.audit(audited.gaussian, claim=GaussianDP(0.9), **given)
    assert wrong.refuted
    assert "0.9-GDP is refuted: mu of Gaussian DP >= " in wrong.verdict
    with pytest.raises(ValueError, match="mu = 0"):
        GaussianDP(0.0)


def test_a_ledger_is_a_claim_of_its_curve():
    given = {"neighbours": audited.ONE, "trials": 100_000, "level": 1 - 1e-4, "learn": False}
    assert not tcdp_sim.audit(audited.gaussian, claim=Ledger([Additive(Gaussian(1.0))]), **given).refuted
    wrong = tcdp_sim.audit(audited.gaussian, claim=Ledger([Additive(Gaussian(1.2))]), **given)
    assert wrong.refuted
    mu = 1 / 1.2
    likely, rare = (hits / 100_000 for hits in (max(wrong.hits), min(wrong.hits)))
    assert wrong.bound < likely - gaussian_power(rare, mu) + 5 * np.sqrt(0.5 / 100_000)
    assert str(wrong).startswith(
        "the ledger's trade-off curve is refuted: power beyond the claimed trade-off curve >= "
    )


@audited.WEAK
def test_a_report_has_the_curve_on_the_side_of_its_score():
    report = tcdp_sim.audit(audited.half_laplace, neighbours=audited.ONE, claim=PureDP(1.0), trials=20_000)
    found = report.tradeoff
    assert (found.alpha + found.beta).min() < 0.7  # the two inputs are told apart, not confused
    figure = report.figure()
    assert figure.axes[2].get_xlabel() == "type I error"
    assert [line.get_linestyle() for line in figure.axes[2].lines] == [
        "-",
        "--",
        "None",
    ]  # the marker of the nearest point
    nothing = tcdp_sim.audit(lambda data, rng, trials: np.zeros(trials), neighbours=audited.ONE, trials=500)
    assert nothing.tradeoff is None


def test_claims_of_other_kinds_are_refused():
    with pytest.raises(UserError, match=r"cannot be audited; valid: PureDP.*GaussianDP, a Ledger, .*None"):
        tcdp_sim.audit(audited.laplace, neighbours=audited.ONE, claim=0.5)
