"""Privacy losses of a record in some random steps of t, as atoms: laws that reveal more, and laws that reveal less.

**More, for one participation.** Spreading every ratio to the grid such that its mean stays raises the mean of every
convex function of the sum S. So the pair whose ratio is S'/t, for the sum S' of spread ratios, dominates the true pair
(Blackwell). The loss of an atom is exactly log(S'/t). Everything unknown is made infinite: ratios and sums beyond the
grid, the errors of all masses, and the change of the mean of (S' - c)+ by rounding.

**More, for k participations.** Cut a random order of the t steps into k blocks whose sizes differ by one at most, and
let the record take part in one random step of each block. By symmetry its k steps are a random choice of k. An
adversary who also learns the blocks sees k independent allocations of one participation.

**Less.** The cells of all ratios are an output that follows from the true one. So is the sum of their indices, modulo
the length of a transform. If the record takes part in any k steps, this is the sum of k cells with the record and t - k
cells without it. So its law does not depend on the choice of steps. Sums are merged in groups whose losses nearly
agree. P-masses are lowered and Q-masses raised by their errors.
"""

from functools import lru_cache
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft
from scipy.special import ndtri_exp

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.allocation.step import between, mean_square
from tcdp_sim.exact.allocation.sums import FFT, Sums, power, sums, transform
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_POINTS = 2**19  # of a transform
_RARE = 1e-11  # probability of ratios above the grid, with the record
_BELOW = 1e-13  # probability of sums without the record that are so small that their loss is made infinite
_GROUP = 2e-3  # of a loss: the width of a group, in nats
_ATOM = 1e-15  # error of a logarithm and of a quotient


class AllocationLoss(AtomicLoss):
    """A law of the loss whose divergences are unknown, because its atoms bound hockey-stick divergences alone."""

    def renyi(self, order: float) -> Bounds:
        """Raise ValueError."""
        raise ValueError("Renyi divergences of random allocation are not known; valid: Poisson sampling")


class Both(NamedTuple):
    """The laws of the loss of (P, Q), where P has the record, and of (Q, P)."""

    adding: AllocationLoss
    removing: AllocationLoss


@lru_cache(maxsize=16)
def dominating(sigma: float, steps: int) -> Both:
    """Return laws that dominate the laws of a record in one random step of at least two."""
    law = _sums(sigma, steps)
    error = float(law.rounding.mass.sum()) + sqrt(len(law.value)) * law.rounding.norm  # of the mean of (S' - c)+ / t
    below = int(np.searchsorted(np.cumsum(np.maximum(law.without.mass, 0.0)), _BELOW))
    first = max(int(np.searchsorted(law.value, 0.0, side="right")), below)
    losses = np.log(law.value[first:] / steps)
    outside = law.above[0] + law.below, law.above[1] + law.below
    parts = []
    for masses, sign, unknown in (
        (law.with_record, 1, law.lost[1] + outside[1] + error),
        (law.without, -1, law.lost[0] + outside[0] + error * exp(-losses[0])),
    ):
        found = np.maximum(masses.mass, 0.0)
        unknown += sqrt(len(found)) * masses.norm + float(found[:first].sum())
        parts.append(_law(losses * sign, found[first:], min(unknown, 1.0)))
    return Both(*parts)


@lru_cache(maxsize=16)
def attained(sigma: float, steps: int, participations: int) -> Both:
    """Return laws that follow from the outputs of a record in k random steps."""
    z, start, begin = _cells(sigma, steps, participations)
    without, with_record = between(z, 0.0), between(z, 1 / sigma)
    sizes = np.diff(np.append(begin, _POINTS))

    def grouped(*factors: tuple[Floats, int]) -> tuple[Floats, Floats]:
        """Return the mass of each group of sums of cells with these laws, and a bound on its rounding error."""
        found, norm = _summed(factors)
        return np.add.reduceat(np.roll(found, -(start % _POINTS)), begin), np.sqrt(sizes) * norm

    def law(record: int) -> tuple[Floats, Floats]:
        """Return the mass of each group with the record in so many steps, and a bound on its error."""
        (q, q_error), (p, p_error) = without, with_record
        mass, error = grouped((q, steps - record), (p, record))
        for each, wrong, rest in (
            (steps - record, q_error, ((q, steps - record - 1), (p, record))),
            (record, p_error, ((q, steps - record), (p, record - 1))),
        ):
            if each:
                total = float(wrong.sum())
                moved, rounding = grouped((wrong / total, 1), *rest)
                error = error + each * total * (1 + 1e-6) * (np.maximum(moved, 0.0) + rounding)
        return mass, error

    (q, q_error), (p, p_error) = law(0), law(participations)
    return Both(_less(p - p_error, q + q_error), _less(q - q_error, p + p_error))


def _cells(sigma: float, steps: int, participations: int) -> tuple[Floats, int, Ints]:
    """Return the edges of cells of a step, the first index of the window, and the place in it where each group begins.

    The edges are values of the normal variable at which log(1 + b y) / b is a multiple of the width, or y if b = 0.
    With b = (k - 1) / t the sum of these numbers nearly determines the loss. Any choice is sound.
    """
    s = 1 / sigma
    b = (participations - 1) / steps

    def scale(y: Any) -> Any:
        return np.log1p(b * y) / b if b else y

    x = np.linspace(-9.0, 9.0 + s, 20_001)
    weight, values = np.exp(-0.5 * x * x), scale(np.exp(s * x - 0.5 * s * s))
    weight /= weight.sum()
    mean = float(weight @ values)
    spread = 9 * sqrt(steps * float(weight @ (values - mean) ** 2))
    top = float(scale(_largest(sigma, steps)))
    low, high = max(steps * mean - spread, 0.0), steps * mean + spread + 2 * top
    width = (high - low) / (_POINTS - 2)
    edge = width * np.arange(int(top / width) + 2)
    with np.errstate(divide="ignore"):
        z = np.log(np.expm1(b * edge) / b if b else edge) / s + 0.5 * s
    start = int(low / width) - steps // 2  # a cell lies half a width above its index
    total = np.maximum(width * (start + np.arange(_POINTS) + 0.5 * steps), 0.5 * width)
    group = np.floor((b * total + np.log(total)) / _GROUP)  # of the loss, roughly
    return z, start, np.flatnonzero(np.diff(group, prepend=-np.inf))


def _less(p: Floats, q: Floats) -> AllocationLoss:
    """Return the law of the loss of P-masses that are too small and Q-masses that are too large."""
    kept = (p > 0) & (q > 0)
    return _law(np.log(p[kept] / q[kept]), p[kept], 0.0)


def _law(loss: Floats, mass: Floats, infinite: float) -> AllocationLoss:
    order = np.argsort(loss, kind="stable")
    kept = order[mass[order] > 0]
    slack = _ATOM * (1 + float(np.abs(loss).max(initial=0.0)))
    return AllocationLoss(loss[kept], mass[kept], (0.0, infinite), None, _ATOM, slack)


def _largest(sigma: float, steps: int) -> float:
    """Return the largest ratio on the grid."""
    with_record = 0.5 / sigma - ndtri_exp(log(_RARE))
    without = -0.5 / sigma - ndtri_exp(log(_RARE / steps))
    return exp(max(with_record, without) / sigma)


@lru_cache(maxsize=4)
def _sums(sigma: float, steps: int) -> Sums:
    largest = _largest(sigma, steps)
    spread = sqrt(2 * 40 * steps * (mean_square(sigma) - 1))
    return sums(sigma, steps, largest, steps + spread + 2 * largest, _POINTS)


def _summed(factors: tuple[tuple[Floats, int], ...]) -> tuple[Floats, float]:
    """Return the folded law of the sum of independent parts (law, number), and the norm of its rounding errors."""
    n = _POINTS
    joint: Any = 1.0
    for mass, times in factors:
        joint = joint * power(transform(mass, n), times)
    found = irfft(joint, n)
    norm, steps = float(np.linalg.norm(found)), sum(times for _, times in factors)
    size = sum(times * float(np.linalg.norm(mass)) for mass, times in factors)  # no transform exceeds 1
    return found, FFT * np.log2(n) * (size + norm) + 4e-16 * steps * norm
