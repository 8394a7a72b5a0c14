"""Divergences of one mixture of shifted noise from another one, by a ledger of one release in one direction."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.accounting import Ledger, MixturePair
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact import Mixture, subsampled
from tcdp_sim.noise import Noise


def sampled(noise: Noise, s: float, direction: str = "forward", shift: float = 1.0) -> tuple[Mixture, Mixture]:
    """Return the laws of the answer with and without the record under Poisson sampling, or the other way round."""
    pair = subsampled(noise, shift, s)
    return pair if direction == "forward" else pair[::-1]


def moved(noise: Noise, shift: float) -> tuple[Mixture, Mixture]:
    """Return the laws of the noise and of the noise moved by a shift."""
    return Mixture(noise), Mixture(noise, (shift,))


def renyi(p: Mixture, q: Mixture, order: ArrayLike) -> Bounds[Any]:
    """Return the Renyi divergence D_order(p || q) in nats, of the shape of `order`, by quadrature."""
    ledger = _ledger(p, q)
    found = np.array([ledger.renyi(float(each)) for each in np.ravel(order)]).T
    return Bounds(*(ends.reshape(np.shape(order)) if np.ndim(order) else float(ends[0]) for ends in found))


def delta(p: Mixture, q: Mixture, epsilon: float) -> Bounds[float]:
    """Return the hockey-stick divergence of p from q at an epsilon >= 0, by quadrature."""
    return _ledger(p, q).delta(epsilon)


def _ledger(p: Mixture, q: Mixture) -> Ledger:
    return Ledger([MixturePair(p, q, "forward")], relation="add_remove")
