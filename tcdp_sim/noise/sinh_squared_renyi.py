"""Renyi divergences of sinh-squared noise from its shifted self, in closed form.

With theta = 2 shift / knee and z = (knee / 2 scale)^2 the density at x = knee t / 2 is proportional to
exp(-z cosh t), and a cosh(t) - (a - 1) cosh(t - theta) = R cosh(t - tau) with
R^2 = 1 - 4 a (a - 1) sinh^2(theta / 2). So D_a = log(K_0(z R) / K_0(z)) / (a - 1), and it is finite iff R^2 > 0 and
a < 1 / (1 - e^(-theta)). The proof is in docs/histograms.md.
"""

import numpy as np
from scipy.special import kve

from tcdp_sim.arrays import Floats
from tcdp_sim.noise.sinh_squared_law import bessel
from tcdp_sim.numerics import ArrayBounds, gauss_panels, rounded

_NODES = gauss_panels(np.array([0.0, 1.0]), 24)
_ERROR = 1e-14  # relative, of scipy's Bessel functions and of the shift over the knee; a test compares with mpmath
_LEAST, _LARGEST = 1e-280, 1e6  # of z: below nothing is known; above, K_1 / K_0 is its expansion to the last digit
_ULP = 2.0**-52


def scaled_divergence(scale: float, knee: float, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order(P || Q) in nats at a shift > 0, for orders >= 1; infinite where it is."""
    s, theta = orders - 1, 2 * shift / knee
    speed = np.square(knee / scale * np.sinh(shift / knee))  # 4 z sinh^2(theta / 2)
    z = np.square(0.5 * knee / scale)
    with np.errstate(over="ignore", invalid="ignore"):
        room = 1 - s * np.expm1(theta)  # R^2 is the product of two factors; this one has the zero
        left = np.maximum(room, 0.0) * (1 - s * np.expm1(-theta))
        lost = _ULP * (8 + 4 * s * np.expm1(theta) / np.maximum(room, 0.0))  # relative error of R^2
    value = np.full(orders.shape, np.inf)
    error = np.zeros(orders.shape)
    near, far = left >= 0.25, (left < 0.25) & (room > 0)
    value[near], error[near] = _near(orders[near], left[near], lost[near], speed, z)
    value[far], error[far] = _far(s[far], left[far], lost[far], z)
    return rounded(value, error)


def _near(orders: Floats, left: Floats, lost: Floats, speed: float, z: float) -> tuple[Floats, Floats]:
    """Return D and its absolute error where R^2 >= 1/4, as a mean of K_1 / K_0, in which nothing cancels."""
    t, weight = _NODES
    root = np.sqrt(1 - (1 - left[:, None]) * t)
    value = 0.5 * orders * speed * ((_slope(z * root) / root) @ weight)
    return value, value * (_ERROR + lost)


def _far(s: Floats, left: Floats, lost: Floats, z: float) -> tuple[Floats, Floats]:
    """Return D and its absolute error where R^2 < 1/4, as it is written."""
    root = np.sqrt(left)
    here, there = np.log(bessel(z * root)), np.log(bessel(z))
    error = 2 * _ERROR + 4 * _ULP * (np.abs(here) + np.abs(there) + z) + 0.5 * lost * z * root * _slope(z * root)
    return (here - there + z * (1 - root)) / s, error / s


def _slope(x: Floats) -> Floats:
    """Return K_1(x) / K_0(x), the slope of -log K_0; NaN where it is not known."""
    inverse, near = 1 / np.maximum(x, _LARGEST), np.clip(x, _LEAST, _LARGEST)
    large = 1 + inverse * (1 / 2 - inverse * (1 / 8 - inverse / 8))
    return np.where(x > _LARGEST, large, np.where(x > _LEAST, kve(1, near) / kve(0, near), np.nan))
