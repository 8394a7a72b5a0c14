"""Divergences per order, by quadrature that uses no closed form and by sums over finite laws."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.noise import Gaussian, Noise

ORDERS = (1.0, 1.5, 2.0, 8.0, 32.0)  # 1 stands for the limit


def gaussian_per_order(shift: float, scale: float, order: float) -> Bounds[float]:
    """Return D_order / order of N(0, scale^2) against N(shift, scale^2), in nats, by quadrature, for order >= 1.

    The noise is a mixture of one component, so that its closed form is not used.
    """
    return shifted_per_order(Gaussian(scale), shift, order)


def shifted_per_order(noise: Noise, shift: float, order: float) -> Bounds[float]:
    """Return D_order / order of a noise against itself moved by `shift`, in nats, by quadrature, for order >= 1."""
    return pair_divergences.renyi(*pair_divergences.moved(noise, shift), order) / order


def finite_per_order(p: ArrayLike, q: ArrayLike, order: float) -> Bounds[float]:
    """Return D_order(p || q) / order, in nats, of two positive laws on the same number of outputs, for order >= 1.

    With L = log(p / q) and s = order - 1, the mean of e^(sL) - 1 is that of the non-negative e^(sL) - 1 + s (e^-L - 1).
    """
    first, loss, s = np.asarray(p), np.log(p) - np.log(q), order - 1
    if s == 0:
        return closed_form(float(first @ (loss + np.expm1(-loss))))
    mean = float(first @ (np.expm1(s * loss) + s * np.expm1(-loss)))
    return closed_form(float(np.log1p(mean)) / s / order)


def largest(*bounds: Bounds[float]) -> Bounds[float]:
    """Return the largest of several bracketed numbers."""
    return Bounds(*(max(parts) for parts in zip(*bounds)))


def named(order: float) -> str:
    """Return the order in words."""
    return f"α = {order:g}" if order > 1 else "α → 1"


def response(epsilon: float, bit: int) -> tuple[float, float]:
    """Return the law of randomised response, P[0] and P[1], on a bit: epsilon-DP, exactly."""
    truth = 1 / (1 + np.exp(-epsilon))
    return (float(truth), float(1 - truth)) if bit == 0 else (float(1 - truth), float(truth))
