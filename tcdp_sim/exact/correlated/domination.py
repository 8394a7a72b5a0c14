"""Pairs that bound the pair of a record in one of b bins, from above and below, without simulation.

The pair of the means m_i depends on them only through G = M'M. If G' - G has no negative eigenvalue, some contraction A
has m_i = A m'_i. Applied to the output of the means m'_i, with noise that makes up for what A takes away, it gives the
output of the means m_i, and noise of the means 0 in the case of no record. So the pair of G' dominates the pair of G.

With G' = u I + v 11' the record moves one common coordinate by the root of v, whatever its bin, and the coordinate of
its bin by the root of u. The pair is a Gaussian pair, composed with the pair of random allocation to b steps. (Derived
here.)
"""

from math import log
from typing import NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats

_MARGIN = 1e-9  # of the largest eigenvalue: far above the rounding error of eigenvalues
_TRIED = 24


class Split(NamedTuple):
    """The squared moves: of the coordinate of the bin, and of the common coordinate."""

    own: float
    common: float

    def order_two(self, bins: int, sigma: float) -> float:
        """Return the Renyi divergence of order 2 of the pair, by which splits are chosen."""
        own = self.own / sigma**2
        return self.common / sigma**2 + (own + log(-np.expm1(-own) / bins + np.exp(-own)) if own > 0 else 0.0)


def above(gram: Floats, sigma: float) -> Split:
    """Return a split whose pair dominates that of G, with a small divergence of order 2."""
    bins, margin, values, ones = _spectrum(gram)
    top, second = float(values[-1]), float(values[-2])
    tried = second + (top - second) * np.geomspace(1e-6, 1.0, _TRIED)
    splits = [Split(top + 2 * margin, 0.0)]
    for own in (tried[:-1] + margin).tolist():
        inverse = float((ones / (own - values)).sum())
        if inverse < 0:
            splits.append(_checked(gram, Split(own + margin, -1 / inverse * (1 + 1e-9)), margin, 1.0))
    return min(splits, key=lambda split: split.order_two(bins, sigma))


def below(gram: Floats, sigma: float) -> Split:
    """Return a split whose pair is dominated by that of G, with a large divergence of order 2."""
    bins, margin, values, ones = _spectrum(gram)
    splits = [Split(max(float(values[0]) - 2 * margin, 0.0), 0.0)]
    for share in (1 - np.geomspace(1e-3, 1.0, _TRIED)).tolist():
        own = max(float(values[0]) - 2 * margin, 0.0) * share
        inverse = float((ones / np.maximum(values - own, margin)).sum())
        splits.append(_checked(gram, Split(own, (1 - 1e-9) / inverse), margin, -1.0))
    return max(splits, key=lambda split: split.order_two(bins, sigma))


def _spectrum(gram: Floats) -> tuple[int, float, Floats, Floats]:
    """Return the number of bins, a margin, the eigenvalues and the squared parts of the vector of ones in them."""
    values, vectors = np.linalg.eigh(gram)
    return len(gram), float(values[-1]) * _MARGIN, values, np.square(vectors.sum(axis=0))


def _checked(gram: Floats, split: Split, margin: float, sign: float) -> Split:
    """Return the split if it is on the right side of G; else one that bounds nothing, or all."""
    gap = sign * (split.own * np.eye(len(gram)) + split.common - gram)
    if np.linalg.eigvalsh(gap)[0] >= -0.5 * margin:
        return split._replace(own=max(split.own + sign * margin, 0.0))
    return Split(float(np.linalg.eigvalsh(gram)[-1]) + margin, 0.0) if sign > 0 else Split(0.0, 0.0)
