"""The published theorems, against Google's dp_accounting, and the calibration of runs."""

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from scipy.special import ndtr
from scipy.stats import norm

from tcdp_sim.candidates import (
    PoissonTries,
    gaussian_renyi,
    largest_shift,
    least_rho,
    theorem_renyi,
    tries_of,
)
from tcdp_sim.candidates.calibration import _most_on_chord
from tcdp_sim.exact import divergence_in_worst_order

SHAPES = {"geometric": 1.0, "logarithmic": 0.0, "poisson": np.inf}


def gaussian_outputs(shift, ends):
    """The laws of N(shift, 1) and N(0, 1), rounded to cells between these ends."""

    def masses(z):
        inside = np.where(z[1:] < 0, np.diff(ndtr(z)), -np.diff(ndtr(-z)))
        return inside / inside.sum()

    return masses(ends - shift), masses(ends)


@pytest.mark.parametrize("law", SHAPES)
@pytest.mark.parametrize(("mean", "shift"), [(10.0, 0.1), (100.0, 1.0)])
def test_the_theorems_are_those_of_dp_accounting(law, mean, shift):
    """Its bounds take the best of a grid of orders. Ours take the best order, so they are a little smaller."""
    orders = np.concatenate([1 + np.geomspace(1e-2, 1e4, 800)])
    accountant = RdpAccountant(orders)
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(1 / shift), mean, SHAPES[law])
    theirs = accountant.compose(event)._rdp
    tries = tries_of(law, mean)
    for place in (100, 250, 400, 500):
        ours = theorem_renyi(float(orders[place]), shift, tries)
        if law == "poisson":  # it takes the delta of Renyi bounds, and at this order only
            assert ours <= theirs[place] * (1 + 1e-9)
        else:
            assert theirs[place] * (1 - 1e-3) < ours <= theirs[place] * (1 + 1e-9)


def test_theorem_6_by_hand():
    """At order 2, e^epsilon = 2; Gaussian noise with shift 1 has delta(log 2) = 0.1269 by its profile."""
    epsilon = np.log(2)
    delta = norm.cdf(0.5 - epsilon) - 2 * norm.cdf(-0.5 - epsilon)
    at_2 = 1.0 + 3.0 * delta + np.log(3.0)
    found = theorem_renyi(2.0, 1.0, PoissonTries(3.0))
    assert found <= at_2 * (1 + 1e-12)
    larger = [
        0.5 * a
        + 3.0 * (norm.cdf(0.5 - (e := np.log1p(1 / (a - 1)))) - np.exp(e) * norm.cdf(-0.5 - e))
        + np.log(3.0) / (a - 1)
        for a in np.linspace(2, 40, 4000)
    ]
    assert found == pytest.approx(min(larger), rel=1e-5)


@pytest.mark.parametrize("law", SHAPES)
@pytest.mark.parametrize("accounting", ["paper", "tight"])
@pytest.mark.parametrize(("rho", "omega"), [(0.01, 7.5), (1.0, 1.3)])
def test_a_calibrated_run_keeps_the_guarantee_at_every_order(law, accounting, rho, omega):
    tries = tries_of(law, 20.0)
    shift = largest_shift(rho, omega, tries, accounting)
    assert least_rho(shift, tries, omega, accounting) <= rho
    assert least_rho(shift * (1 + 1e-5), tries, omega, accounting) > rho
    for order in 1 + np.geomspace(1e-3, omega - 1, 14):
        first, second = gaussian_outputs(shift, np.linspace(-7, 7 + order * shift, 3001))
        attained = divergence_in_worst_order(float(order), first, second, tries) / order
        assert attained < rho
        if accounting == "tight" and law == "poisson":
            assert attained > 0.9 * rho


def test_one_try_is_one_run():
    """A Poisson number with a small mean costs less than a run; a geometric one with mean near 1 is a run."""
    rho = 0.05
    near_one = largest_shift(rho, 3.0, tries_of("geometric", 1.0001))
    assert near_one == pytest.approx(np.sqrt(2 * rho), rel=0.02)
    assert near_one < np.sqrt(2 * rho)


def test_our_bound_takes_a_twentieth_of_the_noise_or_less():
    scales = [1 / largest_shift(0.01, 7.5, tries_of("poisson", 100.0), way) for way in ("paper", "tight")]
    assert scales[0] / scales[1] > 40
    scales = [1 / largest_shift(0.01, 7.5, tries_of("geometric", 100.0), way) for way in ("paper", "tight")]
    assert scales[0] / scales[1] > 40


@pytest.mark.parametrize(
    "ends", [(1.1, 2.0, 0.03, 0.9), (1.5, 9.0, 0.2, 5.0), (2.0, 3.0, 0.1, 4.0), (1.2, 1.3, 0.2, 0.2)]
)
def test_the_largest_value_on_a_chord_is_that_of_a_dense_grid(ends):
    low, high, start, end = ends
    orders = np.linspace(low, high, 200_001)
    dense = ((start + (end - start) * (orders - low) / (high - low)) / (orders * (orders - 1))).max()
    assert _most_on_chord(*ends) == pytest.approx(dense, rel=1e-9)


def test_rho_is_found_between_the_orders_of_the_grid():
    tries, shift, omega = PoissonTries(300.0), 0.2, 9.0
    found = least_rho(shift, tries, omega)
    dense = max(gaussian_renyi(float(a), shift, tries).upper / a for a in np.linspace(1.001, omega, 120))
    assert dense * (1 - 2e-3) <= found < 1.04 * dense


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: largest_shift(1e-9, 2.0, PoissonTries(3.0)), "rho = 1e-09"),
        (lambda: largest_shift(0.1, 1.0, PoissonTries(3.0)), "omega = 1"),
        (lambda: least_rho(0.1, PoissonTries(3.0), 2.0, "loose"), "accounting = "),
        (lambda: theorem_renyi(1.0, 0.1, PoissonTries(3.0)), "order = 1"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
