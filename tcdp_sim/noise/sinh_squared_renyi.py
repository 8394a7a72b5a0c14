"""Renyi divergences of sinh-squared noise from its shifted self, in closed form.

Let theta = 2 shift / knee and z = (knee / 2 scale)^2. The density at x = knee t / 2 is proportional to exp(-z cosh t).
Moreover a cosh(t) - (a - 1) cosh(t - theta) = R cosh(t - tau) with R^2 = 1 - 4 a (a - 1) sinh^2(theta / 2). Hence
D_a = log(K_0(z R) / K_0(z)) / (a - 1). It is finite if and only if R^2 > 0 and a < 1 / (1 - e^(-theta)). The proof is
in docs/experiments/histograms.md.
"""

import numpy as np
from scipy.special import kve

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ArrayBounds, gauss_panels, rounded
from tcdp_sim.noise.sinh_squared_law import bessel

_NODES = gauss_panels(np.array([0.0, 1.0]), 24)
_ERROR = 1e-14  # relative error of scipy's Bessel functions and of the shift over the knee; a test compares with mpmath
_LEAST, _LARGEST = 1e-280, 1e6  # range of z; below it no value is given, above it K_1 / K_0 is its expansion
_SMALLEST = 1e-290  # least shift over the knee; below, floats lose digits
_ULP = 2.0**-52
_LAST = 2.0**-1073  # rounding error of the smallest floats


def scaled_divergence(scale: float, knee: float, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order(P || Q) in nats at a shift > 0, for orders >= 1; inf where the divergence is infinite.

    The lower end is NaN if the divergence exceeds the floats. It is also NaN if the shift or the scale over the knee is
    so extreme that intermediate numbers overflow or underflow.
    """
    s, theta = orders - 1, 2 * shift / knee
    z = np.square(0.5 * knee / scale)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rise = np.where(s > 0, s * np.expm1(theta), 0.0)
        speed = knee / scale * np.sinh(shift / knee)  # its square is 4 z sinh^2(theta / 2)
        room = 1 - rise  # R^2 is the product of two factors; this one has the zero
        left = np.maximum(room, 0.0) * (1 - s * np.expm1(-theta))
        # Relative error of R^2 and of speed^2. The rounding error of theta grows by the factor theta in e^theta.
        lost = _ULP * (4 + theta) * (2 + rise / np.maximum(room, 0.0))
        value, error = np.full(orders.shape, np.inf), np.zeros(orders.shape)
        near, far = left >= 0.25, (left < 0.25) & (room > 0)
        value[near], error[near] = _near(orders[near], left[near], lost[near], speed, z)
        value[far], error[far] = _far(s[far], left[far], lost[far], z)
        if min(theta, speed) < _SMALLEST:
            error = np.where(near | far, np.nan, error)
        return rounded(value, error)


def _near(orders: Floats, left: Floats, lost: Floats, speed: float, z: float) -> tuple[Floats, Floats]:
    """Return D and its absolute error where R^2 >= 1/4, by a mean of K_1 / K_0 in which nothing cancels."""
    t, weight = _NODES
    root = np.sqrt(1 - (1 - left[:, None]) * t)
    mean = (_slope(z * root) / root) @ weight
    value = 0.5 * (orders * speed) * (mean * speed)  # speed^2 may lie below the floats
    return value, value * (_ERROR + lost) + _LAST


def _far(s: Floats, left: Floats, lost: Floats, z: float) -> tuple[Floats, Floats]:
    """Return D and its absolute error where R^2 < 1/4, by the formula itself."""
    root = np.sqrt(left)
    here, there = np.log(bessel(z * root)), np.log(bessel(z))
    error = 2 * _ERROR + 4 * _ULP * (np.abs(here) + np.abs(there) + z) + 0.5 * lost * z * root * _slope(z * root)
    return (here - there + z * (1 - root)) / s, error / s


def _slope(x: Floats) -> Floats:
    """Return K_1(x) / K_0(x), the slope of -log K_0, NaN for x below _LEAST."""
    inverse, near = 1 / np.maximum(x, _LARGEST), np.clip(x, _LEAST, _LARGEST)
    large = 1 + inverse * (1 / 2 - inverse * (1 / 8 - inverse / 8))
    return np.where(x > _LARGEST, large, np.where(x > _LEAST, kve(1, near) / kve(0, near), np.nan))
