"""Privacy losses as finitely many atoms: a law that is easier to tell apart, one that is harder, near each other.

The outputs are cut into cells. What spreads a cell's mass to its two ends, so that P and Q both keep theirs, tells
more than the truth does; what merges cells tells less. Both differ from the truth by the square of the cells' width.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.exact.level_sets import landmarks
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.numerics import gauss_panels

NODES = 4
_TAILS = np.concatenate([np.linspace(0.495, 0.02, 140), 10.0 ** -np.linspace(1.72, 20, 260)])
_TAILS = np.concatenate([_TAILS, 10.0 ** -np.arange(21, 301, 8.0)])
_HEAVY = 1e-6
_RARE = 1e-290  # an atom with less is lost: where floats end its loss is anything
_LEAST_RATIO = 1e-15  # of Q's mass to P's, over that at the grid: below, rounding decides, and a smaller loss is safe
_FULL = 4.0  # down to e^-4 of the peak cells are as fine as they get
_MARGIN = 0.1  # of a cell's range of losses, added at each end: covers a turning point between the nodes
_FINER = 3.0  # cells to one step of the grid
_MOST_CELLS = 2**21


@dataclass(frozen=True)
class Atoms:
    """Losses with their probabilities under P; `lost`: the probability of an infinite loss."""

    loss: np.ndarray
    mass: np.ndarray
    lost: float

    def log_moment(self, theta: float) -> float:
        """log of the sum of mass e^(theta loss), over the finite losses."""
        logs = np.log(self.mass) + theta * self.loss
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).sum()))

    def top(self, mass: float) -> float:
        """A loss beyond which there is no more than that mass, with some room; inf if all of it has more."""
        order = np.argsort(-self.loss)
        first = int(np.argmax(np.cumsum(self.mass[order]) > mass))
        found = self.loss[order][first]
        return float(found + 0.01 * abs(found)) if first else np.inf

    def without(self, top: float) -> "Atoms":
        """Losses beyond `top` made infinite: that tells more."""
        kept = self.loss <= top
        return Atoms(self.loss[kept], self.mass[kept], self.lost + self.mass[~kept].sum())

    def capped(self, top: float) -> "Atoms":
        """Losses beyond `top` made `top`: delta only falls."""
        return Atoms(np.minimum(self.loss, top), self.mass, self.lost)


@dataclass(frozen=True)
class Cells:
    """Cells of the outputs: P-mass at every node of each, the losses there, and the losses between which they lie.

    lost: the probability of an infinite loss; unknown: that of what is too rare to be looked at.
    """

    mass: np.ndarray
    loss: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lost: float
    unknown: float
    symmetric: bool

    def at_nodes(self) -> Atoms:
        """The nodes themselves: near the truth, on neither side of it."""
        return self._completed(self.loss.ravel(), self.mass.ravel(), self.lost)

    def at_ends(self) -> Atoms:
        """Every cell spread to its ends."""
        width = self.high - self.low
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.expm1(self.low[:, None] - self.loss) / np.expm1(-width)[:, None]
        upper = (self.mass * np.where(width[:, None] > 0, np.clip(share, 0, 1), 0.0)).sum(axis=1)
        total = self.mass.sum(axis=1)
        loss, mass = np.concatenate([self.low, self.high]), np.concatenate([total - upper, upper])
        return self._completed(loss, mass, self.lost + self.unknown + mass[mass <= _RARE].sum())

    def merged(self, offset: float, step: float) -> Atoms:
        """The cells around every point of the grid as one atom, where P and Q of them have their ratio."""
        near = np.rint((0.5 * (self.low + self.high) - offset) / step)
        with np.errstate(over="ignore"):  # a cell so wide that Q's mass in it is beyond floats: its loss is -inf
            excess = (self.mass * -np.expm1(offset + step * near[:, None] - self.loss)).sum(axis=1)
        points, total, excess = gathered(near, self.mass.sum(axis=1), excess)
        loss = offset + step * points - np.log1p(np.maximum(-excess / total, _LEAST_RATIO - 1))
        kept = np.isfinite(loss)
        return self._completed(loss[kept], total[kept], self.lost)

    @classmethod
    def joined(cls, parts: list["Cells"], unknown: float) -> "Cells":
        """All cells of several parts."""
        mass, loss, low, high = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("mass", "loss", "low", "high")
        )
        lost = sum(part.lost for part in parts)
        return cls(mass, loss, low, high, lost, unknown + sum(part.unknown for part in parts), parts[0].symmetric)

    def flat(self) -> np.ndarray:
        """Losses that have a probability of their own, the heaviest first."""
        flat = self.high - self.low < 1e-12 * np.maximum(np.abs(self.high), 1e-3)
        points, bins = np.unique(np.round(self.low[flat], 12), return_inverse=True)
        weight = np.bincount(bins, self.mass[flat].sum(axis=1), len(points))
        order = np.argsort(-weight)
        return points[order][weight[order] > _HEAVY]

    def _completed(self, loss, mass, lost):
        if self.symmetric:
            loss, mass = loss[loss > 0], mass[loss > 0]
            mirrored = mass * np.exp(-loss)
            rest = 1 - lost - mass.sum() - mirrored.sum()
            loss, mass = np.concatenate([-loss, [0.0], loss]), np.concatenate([mirrored, [rest], mass])
        kept = mass > _RARE
        return Atoms(loss[kept], mass[kept], lost)


def gathered(index: np.ndarray, mass: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """(the whole numbers among `index`, total mass of each, totals of the others), where there is mass."""
    first = index.min()
    if index.max() - first < 8 * len(index):
        bins = (index - first).astype(np.int64)
        points = first + np.arange(bins.max() + 1)
    else:
        points, bins = np.unique(index, return_inverse=True)
    totals = [np.bincount(bins, values, len(points)) for values in (mass, *others)]
    kept = totals[0] > 0
    return points[kept], *(total[kept] for total in totals)


def cells(pair: DominatingPair, theta: float, step: float | None) -> Cells:
    """The outputs of a pair, cut so that losses are within step / 3 of each other where e^(theta L) has its mass.

    step = None: as coarsely as the tails are known.
    """
    parts = [_Part(np.log(weight), p, q, pair.symmetric) for weight, p, q in pair.parts]
    if step is not None:
        top = max(part.heights(theta).max() for part in parts)
        parts = [part.refined(theta, step, top) for part in parts]
    return Cells.joined([part.cells() for part in parts], max(1 - sum(w for w, _, _ in pair.parts), 0.0))


class _Part:
    """One pair of mixtures, known with a probability, and the edges at which the outputs are cut."""

    def __init__(self, log_weight, p, q, symmetric, edges=None):
        self.log_weight, self.p, self.q, self.symmetric = log_weight, p, q, symmetric
        if edges is None:
            edges = landmarks(p.noise, np.unique(p.shifts + q.shifts), _TAILS, (1.01,))
        self.edges = np.unique(np.concatenate([edges, _zeros(self.loss, edges)])) if symmetric else edges

    def loss(self, x):
        with np.errstate(all="ignore"):
            return self.p.logpdf(x) - self.q.logpdf(x)

    def heights(self, theta):
        """log of the P-density, tilted, at the edges."""
        log_p, loss = self.p.logpdf(self.edges), self.loss(self.edges)
        with np.errstate(all="ignore"):
            return self.log_weight + np.where(np.isfinite(log_p + loss), log_p + np.maximum(theta * loss, 0.0), -np.inf)

    def refined(self, theta, step, top):
        """With edges in between, so that losses are step / 3 apart; further where there is little mass."""
        height = self.heights(theta)
        with np.errstate(all="ignore"):
            below = (top - np.maximum(height[1:], height[:-1]) - _FULL) / 3
            count = np.ceil(np.abs(np.diff(self.loss(self.edges))) * _FINER / step * np.exp(-below.clip(0, 200)))
        count = np.where(np.isfinite(count), count, 1).clip(1, _MOST_CELLS // len(height)).astype(int)
        start = np.repeat(np.cumsum(count) - count, count)
        part = (np.arange(count.sum()) - start) / np.repeat(count, count)
        edges = np.repeat(self.edges[:-1], count) + part * np.repeat(np.diff(self.edges), count)
        return _Part(self.log_weight, self.p, self.q, self.symmetric, np.append(edges, self.edges[-1]))

    def cells(self) -> Cells:
        weight = np.exp(self.log_weight)
        x, width = (part.reshape(-1, NODES) for part in gauss_panels(self.edges, NODES))
        mass, loss = weight * width * self.p.pdf(x), self.loss(x)
        inside = (mass > 0).any(axis=1) & ~np.isnan(loss).any(axis=1)
        lost = inside & np.isinf(loss).any(axis=1)
        known = inside & ~lost
        if self.symmetric:
            known &= (loss > 0).all(axis=1)
        ends = self.loss(self.edges)
        low, high = (_end(ends, loss, f)[known] for f in (np.fmin, np.fmax))
        margin = _MARGIN * (high - low) + 4e-16 * np.abs(high) * (high > low)
        low = np.maximum(low - margin, 0.0) if self.symmetric else low - margin
        outside = weight * max(float(self.p.cdf(self.edges[0]) + self.p.sf(self.edges[-1])), 1e-300)
        return Cells(mass[known], loss[known], low, high + margin, float(mass[lost].sum()), outside, self.symmetric)


def _end(ends, loss, f):
    """The least or greatest loss of every cell, from its nodes and those ends that are finite."""
    finite = np.where(np.isfinite(ends), ends, np.nan)
    beside, inner = f(finite[:-1], finite[1:]), f.reduce(loss, axis=1)
    with np.errstate(invalid="ignore"):  # where the density jumps, the loss at the end is that of the next cell
        jump = np.abs(beside - inner) > 4 * (loss.max(axis=1) - loss.min(axis=1)) + 1e-12
    return np.where(jump, inner, f(beside, inner))


def _zeros(losses, x):
    value = losses(x)
    at = np.flatnonzero(np.sign(value[1:]) * np.sign(value[:-1]) < 0)
    low, high, sign = x[at], x[at + 1], np.sign(value[at])
    for _ in range(80):
        middle = 0.5 * (low + high)
        same = np.sign(losses(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low
