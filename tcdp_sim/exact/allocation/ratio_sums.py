"""Privacy losses of a record in one random step of t: a pair that reveals more, and one that reveals less.

With the record the outputs have the density S/t times that without it, for the sum S of the likelihood ratios of t
steps, which are independent and log-normal without the record. Blackwell: a pair reveals more than another one if the
law of its ratio without the record gives every convex function a larger mean. This order survives sums of independent
ratios. So each sum of two parts is moved to a grid of equal ratios in one of two ways: it is spread to both ends of its
cell such that its mean stays, which raises those means, or all sums of a cell become their mean, which lowers them.

Every mass is a sum of positive products, so small ones are as exact as large ones.
"""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri_exp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY, Bounds
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_CELLS = 1500
_RARE = 1e-20  # probability of ratios above the grid with the record, and of sums below it without
_ROWS = 256  # of a table of sums at once
_LOSS = 1e-10  # error of a loss after all sums: a mean of a cell is off by 1e-11 of the cell's width
_MASS = 1e-12  # relative error of a mass, for every step


class AllocationLoss(AtomicLoss):
    """A law of the loss whose divergences are unknown, because large ratios are left out."""

    def renyi(self, order: float) -> Bounds:
        """Raise ValueError."""
        raise ValueError("Renyi divergences of random allocation are not known; valid: Poisson sampling")


class Both(NamedTuple):
    """The laws of the loss of (P, Q), where P has the record, and of (Q, P)."""

    adding: AtomicLoss
    removing: AtomicLoss


class Sum(NamedTuple):
    """The law of a sum of ratios without the record, and what was left out.

    - `steps`: the number of ratios, which is the mean of the sum.
    - `value`, `mass`: the values, ascending, and their probabilities.
    - `lost`, `lost_mean`: the probability of what is left out, at most, and the mean of the sum on it.
    """

    steps: int
    value: Floats
    mass: Floats
    lost: float
    lost_mean: float


@lru_cache(maxsize=16)
def dominating(sigma: float, steps: int) -> Both:
    """Return laws that dominate the laws of a record in one random step of at least two."""
    return _laws(_power(_one(sigma, steps, True), steps, True), AllocationLoss)


@lru_cache(maxsize=16)
def dominated(sigma: float, steps: int) -> Both:
    """Return laws that the laws of a record in one random step of at least two dominate."""
    return _laws(_power(_one(sigma, steps, False), steps, False), AtomicLoss)


def _laws(found: Sum, kind: type[AtomicLoss]) -> Both:
    """Return the laws of the loss log(S / t). Without the record, S = 0 is an infinite loss."""
    some = found.value > 0
    loss = np.log(found.value[some] / found.steps)
    with_record = found.mass[some] * found.value[some] / found.steps
    never = float(found.mass[~some].sum())
    relative = _MASS * found.steps
    lost, lost_with = (share * (1 + relative) for share in (found.lost + never, found.lost_mean / found.steps))
    adding = kind(loss, with_record, (0.0, lost_with), None, relative, _LOSS)
    removing = kind(-loss[::-1], found.mass[some][::-1], (0.0, lost), None, relative, _LOSS)
    return Both(adding, removing)


def _one(sigma: float, steps: int, spread: bool) -> Sum:
    """Return the law of one ratio, exp(s z - s^2 / 2) with s = 1 / sigma, in cells of equal width in z."""
    s = 1 / sigma
    top = max(s - ndtri_exp(log(_RARE)), -ndtri_exp(log(_RARE / steps)))
    z = np.linspace(float(ndtri_exp(log(_RARE / steps))), float(top), _CELLS + 1)
    value = np.exp(s * z - 0.5 * s * s)
    if spread:
        inner = z
        edges = np.append(0.0, value)  # what is below the first edge goes to 0 and to it
        mass, moment = (_between(np.append(-np.inf, inner), shift) for shift in (0.0, s))
        return Sum(1, *_spread(edges, mass, moment), float(ndtr(-z[-1])), float(ndtr(s - z[-1])))
    mass, moment = (_between(np.concatenate([[-np.inf], z, [np.inf]]), shift) for shift in (0.0, s))
    return Sum(1, *_means(mass, moment), 0.0, 0.0)


def _between(z: Floats, shift: float) -> Floats:
    """Return the probability that a normal variable with mean `shift` is in each cell, from the nearer tail."""
    below, above = ndtr(z - shift), ndtr(shift - z)
    return np.where(z[:-1] > shift, above[:-1] - above[1:], below[1:] - below[:-1])


def _power(one: Sum, steps: int, spread: bool) -> Sum:
    """Return the law of the sum of so many independent copies, by doubling."""
    found = None
    while True:
        if steps & 1:
            found = one if found is None else _added(found, one, spread)
        steps >>= 1
        if not steps:
            assert found is not None
            return found
        one = _added(one, one, spread)


def _added(a: Sum, b: Sum, spread: bool) -> Sum:
    """Return the law of the sum of two independent sums, on a grid of its own."""
    (low, high), (also_low, also_high) = _reach(a), _reach(b)
    start, width = log(low + also_low), log((high + also_high) / (low + also_low)) / _CELLS
    mass, moment = np.zeros(_CELLS + 2), np.zeros(_CELLS + 2)
    for row in range(0, len(a.value), _ROWS):
        value = (a.value[row : row + _ROWS, None] + b.value).ravel()
        share = (a.mass[row : row + _ROWS, None] * b.mass).ravel()
        with np.errstate(divide="ignore"):
            cell = np.clip(np.floor((np.log(value) - start) / width) + 1, 0, _CELLS + 1).astype(np.int64)
        mass += np.bincount(cell, share, _CELLS + 2)
        moment += np.bincount(cell, share * value, _CELLS + 2)
    lost = a.lost + b.lost
    lost_mean = a.lost_mean + b.steps * a.lost + b.lost_mean + a.steps * b.lost  # sums are independent
    if not spread:
        return Sum(a.steps + b.steps, *_means(mass, moment), lost, lost_mean)
    edges = np.append(0.0, np.exp(start + width * np.arange(_CELLS + 1)))
    kept = _spread(edges, mass[:-1], moment[:-1])
    return Sum(a.steps + b.steps, *kept, lost + float(mass[-1]), lost_mean + float(moment[-1]))


def _reach(part: Sum) -> tuple[float, float]:
    """Return values below and above which a sum hardly ever is, without the record and with it."""
    below = np.cumsum(part.mass)
    above = np.cumsum((part.mass * part.value)[::-1])[::-1]
    first = int(np.searchsorted(below, _RARE))
    last = int(np.count_nonzero(above > _RARE * above[0])) - 1
    return max(float(part.value[first]), TINY), float(part.value[max(last, first)])


def _spread(edges: Floats, mass: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """Return points and masses, where each cell is spread to its two ends such that its mean stays."""
    right = np.clip((moment - mass * edges[:-1]) / np.diff(edges), 0.0, mass)
    found = np.append(mass - right, 0.0)
    found[1:] += right
    return edges[found > 0], found[found > 0]


def _means(mass: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """Return the means and the masses of the cells that are not empty."""
    kept = mass > 0
    return moment[kept] / mass[kept], mass[kept]
