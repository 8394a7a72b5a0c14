"""The least mu of Gaussian DP, against closed forms and a minimum over the trade-off curve."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import laplace, norm

from tcdp_sim.accounting import Additive, Distributions, Ledger, RandomisedResponse, Sampled, Shuffled
from tcdp_sim.accounting.gaussian_mu import _mu_of_cell
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Gaussian, Laplace


def of_errors(power):
    """The supremum of Phi^-1(power) - Phi^-1(alpha), which is the definition by trade-off curves."""
    starts = norm.ppf(np.linspace(1e-4, 1 - 1e-4, 2001))
    gaps = norm.ppf(power(norm.cdf(starts))) - starts
    best = int(np.argmax(gaps))
    found = minimize_scalar(
        lambda x: x - norm.ppf(power(norm.cdf(x))), bounds=starts[[best - 1, best + 1]], method="bounded"
    )
    return max(-found.fun, gaps[best])


@pytest.mark.parametrize("scale", [0.7, 1.0, 4.0])
def test_laplace_noise(scale):
    found = Ledger([Additive(Laplace(scale))]).gaussian_mu()
    exact = of_errors(lambda alpha: laplace.sf(laplace.isf(alpha) - 1 / scale))
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert found.upper - found.lower <= 1.01e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_randomised_response(epsilon):
    found = Ledger([RandomisedResponse(epsilon)]).gaussian_mu()
    assert found.lower <= 2 * norm.ppf(1 / (1 + np.exp(-epsilon))) <= found.upper + 1e-10


def test_gaussian_noise():
    ledger = Ledger([(Additive(Gaussian(2.0)), 4), Additive(Gaussian(3.0), 2.0)])
    exact = np.sqrt(1 + 4 / 9)
    found, cut = ledger.gaussian_mu(), ledger.gaussian_mu(1e-5)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 1e-14
    assert exact - 1e-5 <= cut.lower <= exact <= cut.upper + 1e-9


def test_a_sample_has_the_mu_of_all_records_at_the_largest_losses():
    step = Additive(Gaussian(1.0))
    ledger = Ledger([(Sampled(step, 0.1), 3)], "add_remove")
    values = [ledger.gaussian_mu(delta).upper for delta in (1e-3, 1e-6, 1e-12, 1e-30, 0.0)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(np.sqrt(3), rel=1e-14)
    assert Ledger([(Sampled(step, 0.0), 3)], "add_remove").gaussian_mu().upper == 0


def test_no_delta_of_the_list_exceeds_that_of_the_normal_law():
    """One end is too small somewhere, and the other one nowhere."""
    ledger = Ledger([(Additive(Laplace(3.0)), 5), (RandomisedResponse(0.2), 3)])
    found = ledger.gaussian_mu()
    low, high = (Ledger([Additive(Gaussian(1 / mu))]) for mu in (found.lower * (1 - 1e-4), found.upper))
    places = np.linspace(0, 2.2, 45)
    assert all(ledger.delta(e).lower <= high.delta(e).upper for e in places)
    assert any(ledger.delta(e, 1e-6).lower > low.delta(e).upper for e in np.linspace(0, 2.2, 221))


def test_other_lists():
    assert Ledger().gaussian_mu().upper == 0
    assert Ledger([Distributions((0.9, 0.1), (1.0, 0.0))], "add_remove").gaussian_mu().lower == np.inf
    with pytest.raises(ValueError, match="delta = 0 is not valid for this list, whose losses have no bound"):
        Ledger([Shuffled(1.0, 5)], "zero_out").gaussian_mu()
    with pytest.raises(ValueError, match="delta = 2 is not valid"):
        Ledger().gaussian_mu(2)


@pytest.mark.parametrize("scale", [1e3, 1e9, 1e15])
def test_hardly_any_loss(scale):
    """Laplace noise: at epsilon = 0 mu has the advantage 1 / (2 scale), and hardly any loss is larger."""
    found = Ledger([Additive(Laplace(scale))]).gaussian_mu()
    assert found.lower <= np.sqrt(np.pi / 2) / scale * (1 + 1 / scale)
    assert found.upper >= np.sqrt(np.pi / 2) / scale * (1 - 1 / scale)
    tiny = Ledger([Additive(Gaussian(scale))]).gaussian_mu(1e-300)
    assert tiny.lower <= 1 / scale <= tiny.upper


@pytest.mark.parametrize("delta", [0.5, 1 - 1e-9])
def test_a_delta_above_the_advantage_needs_no_mu(delta):
    ledger = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01), 10)], "add_remove")
    assert ledger.gaussian_mu(delta) == (0.0, 0.0, 0.0)


def test_an_upper_end_that_floats_do_not_show_is_infinite():
    """1 - delta has no digits at the mu of 2 Phi^-1(1 / (1 + e^-500)) = 62.9."""
    found = Ledger([RandomisedResponse(500.0)]).gaussian_mu()
    assert found.lower <= -2 * norm.ppf(np.exp(-500)) <= found.upper == np.inf


@pytest.mark.parametrize(
    ("start", "end"), [((0.0, 0.3), (2.0, 0.1)), ((0.5, 0.02), (1.5, 1e-4)), ((1.0, 0.4), (1.2, 0.4))]
)
def test_a_curve_of_a_cell_is_above_its_chord_everywhere(start, end):
    """The profile of a list is convex in e^epsilon, so it lies below the chord; some of the curves touch it inside."""
    exact = [(epsilon, Bounds(delta, delta, delta)) for epsilon, delta in (start, end)]
    mu = _mu_of_cell(*exact)
    places = np.log(np.linspace(np.exp(start[0]), np.exp(end[0]), 20_001))
    chord = np.linspace(start[1], end[1], 20_001)

    def room(value):
        curve = norm.cdf(value / 2 - places / value) - np.exp(places) * norm.cdf(-value / 2 - places / value)
        return (curve - chord).min()

    assert room(mu) >= 0
    assert room(mu * (1 - 1e-6)) < 0
