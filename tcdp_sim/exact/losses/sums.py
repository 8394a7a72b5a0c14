"""Sums of many privacy losses, from tilted atoms on a grid by one Fourier transform.

Everything is taken of the law tilted by e^(theta loss), so rounding and the ends of a window have errors relative to
it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.core.search import brentq
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms, gathered

WRAPPED = 1e-13  # tilted probability outside of a window, on each side
_FFT = 1e-15  # relative mean-square error of a transform for every doubling of its length
_RISES = np.concatenate([[0.5], np.geomspace(0.3, 1e-6, 16)])  # in steps
_VANISHED = 746.0  # in nats: e^-746 is zero as a float, and most of a long window lies further from epsilon
_ROOT, _RELATIVE_ROOT = 1e-11, 4e-14  # absolute and relative error of a root, with a margin


@dataclass(frozen=True)
class LossSum:
    """The tilted law of a sum of losses on a grid, with probabilities `mass` e^(scale - theta loss) up to errors.

    `lost` is the probability that one of the losses is infinite. The losses may be too small by at most `shift`.
    """

    loss: Floats
    mass: Floats
    theta: float
    scale: float
    lost: float
    shift: float
    rounding: float
    outside: float
    relative: float

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return the lower and upper end of delta at epsilon."""
        low, high = self._of_finite(epsilon)
        return self.lost * (1 - DENSITY) + low, min(self.lost * (1 + DENSITY) + high, 1.0)

    def _of_finite(self, epsilon: float) -> tuple[float, float]:
        """Return the lower and upper end of the contribution of finite sums to delta(epsilon)."""
        first = np.searchsorted(self.loss, epsilon + self.shift, side="right")
        last = np.searchsorted(self.loss, epsilon + self.shift + _VANISHED / self.theta)
        y = self.loss[first:last] - (epsilon + self.shift)
        weight, product = np.zeros(
            (2, len(self.loss) - first)
        )  # of full length, so that sums round as if all were computed
        weight[: len(y)] = np.exp(-self.theta * y) * -np.expm1(-y)
        product[: len(y)] = weight[: len(y)] * self.mass[first:last]
        body, error = product.sum(), self.rounding * weight.sum() + self.outside
        with np.errstate(over="ignore"):
            unit = np.exp(self.scale - self.theta * (epsilon + self.shift))
            low, high = (unit * (body + sign * error) for sign in (-1, 1))
        return max(low * (1 - self.relative), 0.0), high * (1 + self.relative) + TINY

    def epsilon(self, delta: float, end: int) -> float:
        """Return an epsilon >= 0 that is at most the truth (end 0) or at least the truth (end 1) at this delta."""
        room = delta - self.lost * (
            1 + DENSITY if end else 1 - DENSITY
        )  # separate, so that a small one keeps its digits
        if room <= 0:
            return np.inf

        def excess(epsilon: float) -> float:
            return self._of_finite(epsilon)[end] - room

        grid = self._grid()
        over = next(
            (i for i in reversed(range(len(grid))) if excess(grid[i]) > 0), None
        )  # from the far end, where sums are short
        if over is None:
            return 0.0
        if over == len(grid) - 1:
            return np.inf if end else grid[-1]
        root = brentq(excess, grid[over], grid[over + 1], xtol=1e-12, rtol=1e-14)
        margin = _ROOT + _RELATIVE_ROOT * root
        if end:
            return root + margin  # the upper end only falls
        return root - margin if root > margin and excess(root - margin) >= 0 else grid[over]

    def _grid(self) -> Floats:
        """Return places for the search of the root, some near the mean of the tilted law.

        Far from that mean the lower end is useless.
        """
        last, total = max(self.loss[-1], 1e-12), self.mass.sum()
        mean = dot(self.mass, self.loss) / total
        near = mean + np.arange(-8, 9) * np.sqrt(dot(self.mass, (self.loss - mean) ** 2) / total)
        return np.unique(np.concatenate([np.linspace(0.0, last, 17), near.clip(0.0, last)]))


def more(atoms: Atoms, offset: float, step: float) -> Atoms:
    """Return atoms with every atom spread to the two nearest points of the grid, so that P and Q keep their masses."""
    index = np.floor((atoms.loss - offset) / step)
    upper = atoms.mass * np.clip(np.expm1(offset + step * index - atoms.loss) / np.expm1(-step), 0, 1)
    mass = np.concatenate([atoms.mass - upper, upper])
    return _gathered(np.concatenate([index, index + 1]), mass, offset, step, atoms)


def less(atoms: Atoms, offset: float, step: float, theta: float, releases: int) -> tuple[Atoms, float]:
    """Return atoms with every atom moved to the nearest point of the grid, and a bound on the rise of the losses' sum.

    Single losses move both ways, so the sum hardly moves. Under the tilted law it rises by at most the returned bound,
    except with probability 1e-13 (Bernstein's inequality). A few atoms that would rise far, in the tails and at edges,
    go to the point below instead if that makes the bound smaller.
    """
    nearest = np.rint((atoms.loss - offset) / step)
    rise = offset + step * nearest - atoms.loss
    share = atoms.mass * np.exp(theta * (atoms.loss - atoms.loss.max()))
    share /= share.sum()
    mean = dot(share, rise)  # moving atoms down lowers the sum and the bound alike
    tries = []
    for most in step * _RISES:
        moved = rise - np.where(rise > most, step, 0.0)
        tries.append((_deviation(moved, share, releases) + releases * mean, most))
    most = min(tries)[1]
    index = np.where(rise > most, nearest - 1, nearest)
    moved = offset + step * index - atoms.loss
    logs = np.log(atoms.mass) + theta * (atoms.loss + moved)  # the law on the grid is tilted
    share = np.exp(logs - logs.max())
    share /= share.sum()
    missing = releases * dot(share, moved) + _deviation(moved, share, releases)
    return _gathered(index, atoms.mass, offset, step, atoms), float(missing)


def _deviation(values: Floats, share: Floats, releases: int) -> float:
    """Return the excess of the sum of draws over its mean that has probability at most 1e-13."""
    mean = dot(share, values)
    most, variance = values.max() - mean, releases * dot(share, (values - mean) ** 2)
    slope, log_odds = most * -np.log(WRAPPED) / 3, -np.log(WRAPPED)
    return min(slope + np.sqrt(slope * slope + 2 * variance * log_odds), releases * most)


def _gathered(index: Floats, mass: Floats, offset: float, step: float, atoms: Atoms) -> Atoms:
    points, total = gathered(index, mass)
    return Atoms(offset + step * points, total, atoms.lost)


def window(atoms: Atoms, releases: int, theta: float) -> tuple[float, float]:
    """Return the losses between which the tilted sum lies except with probability 2e-13, by Chernoff's bound."""
    logs = np.log(atoms.mass) + theta * atoms.loss
    heavy = logs > logs.max() - 80
    weight = np.exp(logs[heavy] - logs.max())
    share, loss = weight / weight.sum(), atoms.loss[heavy]
    mean = dot(share, loss)
    spread = np.sqrt(releases * dot(share, (loss - mean) ** 2))
    scales = 2.0 ** np.arange(-6, 5) * 8 / max(spread, 1e-300)
    ends = []
    for sign in (-1, 1):
        with np.errstate(over="ignore"):
            moments = [np.log(dot(share, np.exp(sign * t * (loss - mean)))) for t in scales]
        ends.append(releases * mean + sign * min((releases * np.array(moments) - np.log(WRAPPED)) / scales))
    return max(ends[0], releases * loss[0]), min(ends[1], releases * loss[-1])


def summed(
    atoms: Atoms, offset: float, step: float, theta: float, releases: int, span: tuple[float, float], missing: float
) -> LossSum:
    """Return the law of the sum of `releases` losses, which are on the grid offset + step Z, over the window `span`."""
    scale = atoms.log_moment(theta)
    index = np.rint((atoms.loss - offset) / step).astype(np.int64)
    first = int(np.floor((span[0] - releases * offset) / step)) - 1
    size = next_fast_len(int(np.ceil((span[1] - span[0]) / step)) + 4, real=True)
    law: Any = np.bincount(index % size, atoms.mass * np.exp(theta * atoms.loss - scale), size)
    transform = rfft(law)
    power = transform**releases
    sums: Floats = np.roll(irfft(power, size), -(first % size))
    height = np.abs(transform)
    before = np.sqrt(2 * np.sum(height ** (2 * releases - 2)) / size)
    rounding = _FFT * np.log2(size) * (releases * np.sqrt(dot(law, law)) * before + np.sqrt(dot(sums, sums)))
    rounding += 4e-16 * releases * 2 * np.sum(height**releases) / size
    return LossSum(
        loss=releases * offset + step * (first + np.arange(size)),
        mass=np.maximum(sums, 0.0),
        theta=theta,
        scale=releases * scale,
        lost=ever(atoms.lost, releases),
        shift=missing,
        rounding=float(rounding),
        outside=4 * WRAPPED,
        relative=releases * DENSITY,
    )


def ever(probability: float, releases: int) -> float:
    """Return the probability that an event with this probability (cut at 1) in one release happens in any of them."""
    with np.errstate(divide="ignore"):
        return float(-np.expm1(releases * np.log1p(-min(probability, 1.0))))


def dot(x: Floats, y: Floats) -> float:
    """Return the sum of products."""
    return float((x * y).sum())  # BLAS would start its threads for so little, and depend on their number
