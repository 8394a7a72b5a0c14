"""The supremum of D / order, where the whole law of the loss is known: two values, of which one is rare."""

import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact import record_policy
from tcdp_sim.exact.renyi import best_order
from tcdp_sim.exact.renyi.kernels import Curve
from tcdp_sim.noise import GeneralizedGaussian, Laplace, SinhNormal
from tcdp_sim.per_record import AdditiveRelease

LARGEST = 2.0


def psi(s, rare, low=-LARGEST):
    """The log moment generating function of a loss of LARGEST, with this chance, or of `low`; and its slope."""
    top, bottom = np.log(rare) + s * LARGEST, np.log1p(-rare) + s * low
    value = np.logaddexp(top, bottom)
    return value, LARGEST * np.exp(top - value) + low * np.exp(bottom - value)


def curve(s, rare, low=-LARGEST):
    value, slope = psi(np.asarray(s), rare, low)
    return Curve(value, value, value, slope)


@pytest.mark.parametrize("step", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("rare", [1e-3, 0.01, 0.5])
def test_psi_is_as_near_to_its_cubic_as_is_said(rare, step):
    """Of a rare loss the fourth cumulant is nearly 4 P^2 times the variance: so much is needed."""
    ends = np.array([0.3, 0.3 + step])
    interval = best_order._Interval(ends[:1], ends[1:], *(curve(end, rare) for end in (ends[:1], ends[1:])))
    cubic = CubicHermiteSpline(ends, *psi(ends, rare))
    s = np.linspace(*ends, 401)
    (said,) = best_order._error_of_cubic(interval, LARGEST)
    apart = np.abs(psi(s, rare)[0] - cubic(s)).max()
    assert apart <= said
    assert rare > 0.01 or step > 0.1 or said < 3 * apart


@pytest.mark.parametrize("omega", [1.5, 4.0, 60.0, np.inf])
def test_the_supremum_is_that_of_a_dense_grid(omega):
    rare, low = 0.05, -0.01
    at_one = Bounds(*[psi(0.0, rare, low)[1]] * 3)
    found = best_order.best_ratio(lambda s: curve(s, rare, low), at_one, LARGEST, omega)
    s = np.linspace(1e-6, min(omega - 1, 60.0), 400_001)
    dense = (psi(s, rare, low)[0] / (s * (1 + s))).max()
    assert found.lower <= dense * (1 + 1e-9)
    assert dense <= found.upper <= dense * (1 + 1e-8)


OMEGAS = [1 + 1e-6, 2.0, 1e6, np.inf]


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("shift", [1e140, 1e150, 1e155, 1e200, 1e300, 1.7e308])
@pytest.mark.parametrize("noise", [Laplace(1.0), GeneralizedGaussian(1.0, 1.0)], ids=repr)
def test_losses_whose_square_is_no_float(noise, shift, omega):
    """D_1 = t - 1 + e^-t of Laplace noise, and no order has D above t: the supremum is t to the last digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = record_policy(AdditiveRelease(noise), shift, omega)
    assert found.lower <= shift <= found.upper
    assert found.upper / shift - found.lower / shift < 1e-11


@pytest.mark.parametrize("omega", OMEGAS[:-1])
def test_divergences_that_are_no_floats(omega):
    """D_order is order / 2 times 1e-600 times the Fisher information, or more: positive, and no float."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = record_policy(AdditiveRelease(SinhNormal(4.0, 1.0)), 1e-300, omega)
    assert found.lower == 0 <= found.estimate < found.upper


@pytest.mark.parametrize("omega", OMEGAS[1:])
def test_a_divergence_of_order_one_whose_lower_end_is_zero(omega):
    """The loss is 2 with chance .05, else -.01; of D_1 only an upper end is known."""
    at_one = psi(0.0, 0.05, -0.01)[1]
    found = best_order.best_ratio(lambda s: curve(s, 0.05, -0.01), Bounds(0.0, at_one, 2 * at_one), LARGEST, omega)
    s = np.linspace(1e-9, min(omega - 1, 60.0), 400_001)
    dense = (psi(s, 0.05, -0.01)[0] / (s * (1 + s))).max()
    assert found.lower <= dense * (1 + 1e-9)
    assert dense <= found.upper <= LARGEST
