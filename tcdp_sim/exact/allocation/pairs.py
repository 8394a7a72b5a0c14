"""Privacy losses of a record in k > 1 random steps of t, as atoms: laws that reveal less.

The cells of all ratios are an output that follows from the true one. So is the sum of their indices, modulo
the length of a transform. If the record takes part in any k steps, this is the sum of k cells with the record and t - k
cells without it. So its law does not depend on the choice of steps. Sums are merged in groups whose losses nearly
agree. P-masses are lowered and Q-masses raised by their errors.
"""

from functools import lru_cache
from math import exp, log, sqrt
from typing import Any

import numpy as np
from scipy.fft import irfft, rfft
from scipy.special import ndtr, ndtri_exp

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.exact.allocation.ratio_sums import AllocationLoss, Both

_POINTS = 2**19  # of a transform
_FFT = 1e-15  # relative mean-square error of a transform for every doubling of its length
_EDGE = 1e-14  # relative error of the tails of the normal law, and of an edge of a cell
_RARE = 1e-11  # probability of ratios above the grid, with the record
_GROUP = 2e-3  # of a loss: the width of a group, in nats
_ATOM = 1e-15  # error of a logarithm and of a quotient


@lru_cache(maxsize=16)
def attained(sigma: float, steps: int, participations: int) -> Both:
    """Return laws that follow from the outputs of a record in k random steps."""
    z, start, begin = _cells(sigma, steps, participations)
    without, with_record = _between(z, 0.0), _between(z, 1 / sigma)
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


def _summed(factors: tuple[tuple[Floats, int], ...]) -> tuple[Floats, float]:
    """Return the folded law of the sum of independent parts (law, number), and the norm of its rounding errors."""
    n = _POINTS
    joint: Any = 1.0
    for mass, times in factors:
        joint = joint * _power(_transform(mass, n), times)
    found = irfft(joint, n)
    norm, steps = float(np.linalg.norm(found)), sum(times for _, times in factors)
    size = sum(times * float(np.linalg.norm(mass)) for mass, times in factors)  # no transform exceeds 1
    return found, _FFT * np.log2(n) * (size + norm) + 4e-16 * steps * norm


def _between(z: Floats, shift: float) -> tuple[Floats, Floats]:
    """Return the probability that a normal variable with mean `shift` is in each cell, and a bound on the error."""
    below, above = ndtr(z - shift), ndtr(shift - z)
    upper = z[:-1] > shift
    tail = np.where(upper, above[:-1], below[1:])
    return np.maximum(np.where(upper, above[:-1] - above[1:], below[1:] - below[:-1]), 0.0), _EDGE * tail


def _transform(mass: Floats, points: int) -> Any:
    """Return the transform of a law whose points are taken modulo the window."""
    if len(mass) > points:
        padded = np.zeros(-(-len(mass) // points) * points)
        padded[: len(mass)] = mass
        mass = padded.reshape(-1, points).sum(axis=0)
    return rfft(mass, points)


def _power(x: Any, times: int) -> Any:
    """Return x to a whole power, at least 0, by squaring."""
    result = np.ones_like(x)
    while times:
        if times & 1:
            result = result * x
        times >>= 1
        if times:
            x = x * x
    return result
