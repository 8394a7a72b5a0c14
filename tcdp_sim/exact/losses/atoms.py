"""Privacy losses as finitely many atoms, once easier and once harder to tell apart than the truth.

The outputs are cut into cells. Spreading a cell's mass to its two ends, so that P and Q both keep theirs, reveals more
than the truth. Merging cells reveals less. Both differ from the truth by the square of the cells' width.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Bools, Floats, RealFunction
from tcdp_sim.core.numerics import TINY, gauss_panels
from tcdp_sim.exact.losses.level_sets import landmarks, log_mass
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.exact.work import spend
from tcdp_sim.noise import Noise

NODES = 4
_PLACES = 0.5 + 0.5 * np.polynomial.legendre.leggauss(NODES)[0]
DENSITY = 4e-12  # relative error of a mass, from that of the density and of the quadrature
_TAILS = np.concatenate([np.linspace(0.495, 0.02, 140), 10.0 ** -np.linspace(1.72, 20, 260)])
_TAILS = np.concatenate([_TAILS, 10.0 ** -np.arange(21, 307, 1.0)])
_HEAVY = 1e-6
_RARE = 1e-306  # atoms with less mass are dropped, because their losses are unreliable where floats end
_LOG_DENSITY = 4e-15  # error of a log density, relative to 1 + its size
_LEAST_RATIO = 1e-15  # of Q's mass to P's, relative to the grid's; below it rounding decides, and less loss is safe
_FULL = 6.0  # cells have their finest width down to e^-6 of the peak
_MARGIN = 0.1  # share of the losses' distance from a line that is added at each end to cover turns between nodes
_FINER = 3.0  # number of cells per step of the grid
_MOST_CELLS = 2**21


@dataclass(frozen=True)
class Atoms:
    """Finite losses with their probabilities under P, and the probability `lost` of an infinite loss."""

    loss: Floats
    mass: Floats
    lost: float

    def log_moment(self, theta: float) -> float:
        """Return the log of the sum of mass e^(theta loss), over the finite losses."""
        logs = np.log(self.mass) + theta * self.loss
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).sum()))

    def top(self, mass: float) -> float:
        """Return a loss beyond which there is at most that mass, with a margin, or inf if the largest loss has more."""
        order = np.argsort(-self.loss)
        first = int(np.argmax(np.cumsum(self.mass[order]) > mass))
        loss = self.loss[order][first]
        return float(loss + 0.01 * abs(loss)) if first else np.inf

    def without(self, top: float) -> "Atoms":
        """Return the law with losses beyond `top` made infinite. It reveals more."""
        return self._lose(self.loss > top)

    def capped(self, top: float) -> "Atoms":
        """Return the law with losses beyond `top` lowered to `top`. delta can only fall."""
        return Atoms(np.minimum(self.loss, top), self.mass, self.lost)

    def without_rare(self) -> "Atoms":
        """Return the law with every loss whose probability underflows made infinite. It reveals more."""
        return self._lose(self.mass <= _RARE)

    def _lose(self, gone: Bools) -> "Atoms":
        return Atoms(self.loss[~gone], self.mass[~gone], self.lost + float(self.mass[gone].sum()))


@dataclass(frozen=True)
class Cells:
    """Cells of the outputs: the P-mass and the loss at every node of each, and the losses between which they lie.

    `slack` is the largest change of a cell's losses by rounding, and `lost` the probability of an infinite loss.
    `unknown` is the probability of outputs that are too rare to evaluate, or too close to where the loss becomes
    infinite. All of these may reveal everything.
    """

    mass: Floats
    loss: Floats
    low: Floats
    high: Floats
    slack: Floats
    lost: float
    unknown: float
    symmetric: bool

    def at_nodes(self) -> Atoms:
        """Return the nodes themselves as atoms. They are near the truth, on neither side of it."""
        return self._completed(self.loss.ravel(), self.mass.ravel(), 0.0)

    def at_ends(self) -> Atoms:
        """Return atoms with every cell spread to its ends. They reveal more."""
        width = self.high - self.low
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.expm1(self.low[:, None] - self.loss) / np.expm1(-width)[:, None]
        share = np.where(width[:, None] > 0, np.clip(share, 0, 1), 0.0)
        mass = np.concatenate([(self.mass * (1 - share)).sum(axis=1), (self.mass * share).sum(axis=1)])
        loss = np.concatenate([self.low + self.slack, self.high + self.slack])
        atoms = self._completed(loss, mass, DENSITY)
        return Atoms(atoms.loss, atoms.mass, atoms.lost + self.unknown).without_rare()

    def merged(self, offset: float, step: float) -> Atoms:
        """Return atoms with the cells around every point of the grid merged at the ratio of P and Q.

        They reveal less.
        """
        near = np.rint((0.5 * (self.low + self.high) - offset) / step)
        with np.errstate(over="ignore", invalid="ignore"):  # cells whose Q-mass overflows are dropped
            loss = self.loss - self.slack[:, None]
            excess = (self.mass * -np.expm1(offset + step * near[:, None] - loss)).sum(axis=1)
        points, total, excess = gathered(near, self.mass.sum(axis=1), excess)
        loss = offset + step * points - np.log1p(np.maximum(-excess / total, _LEAST_RATIO - 1))
        kept = np.isfinite(loss)
        return self._completed(loss[kept], total[kept], -DENSITY)

    @classmethod
    def joined(cls, parts: list["Cells"], unknown: float) -> "Cells":
        """Return all cells of several parts."""
        names = ("mass", "loss", "low", "high", "slack")
        mass, loss, low, high, slack = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        lost = sum(part.lost for part in parts)
        unknown += sum(part.unknown for part in parts)
        return cls(mass, loss, low, high, slack, lost, unknown, parts[0].symmetric)

    def flat(self) -> Floats:
        """Return losses that have a probability of their own, the heaviest first."""
        flat = self.high - self.low < 1e-12 * np.maximum(np.abs(self.high), 1e-3)
        points, bins = np.unique(np.round(self.low[flat], 12), return_inverse=True)
        weight = np.bincount(bins, self.mass[flat].sum(axis=1), len(points))
        order = np.argsort(-weight)
        return points[order][weight[order] > _HEAVY]

    def _completed(self, loss: Floats, mass: Floats, slack: float) -> Atoms:
        """Return atoms with the mirror images, and the rest plus `slack` at a loss of 0."""
        if self.symmetric:
            loss, mass = loss[loss > 0], mass[loss > 0]
            mirrored = mass * np.exp(-loss)
            rest = 1 - self.lost - mass.sum() - mirrored.sum() + slack
            loss, mass = np.concatenate([-loss, [0.0], loss]), np.concatenate([mirrored, [max(rest, 0.0)], mass])
        kept = mass > (_RARE if slack <= 0 else 0)
        return Atoms(loss[kept], mass[kept], self.lost)


def gathered(index: Floats, mass: Floats, *others: Floats) -> tuple[Floats, ...]:
    """Return the whole numbers among `index`, the total mass of each and totals of the others, where there is mass."""
    first = index.min()
    if index.max() - first < 8 * len(index):
        bins = (index - first).astype(np.int64)
        points = first + np.arange(bins.max() + 1)
    else:
        points, bins = np.unique(index, return_inverse=True)
    totals = [np.bincount(bins, values, len(points)) for values in (mass, *others)]
    kept = totals[0] > 0
    return points[kept], *(total[kept] for total in totals)


def cells(pair: DominatingPair, theta: float, step: float | None, offset: float = 0.0) -> Cells:
    """Return the outputs of a pair, cut so that losses are within step / 3 where e^(theta L) has its mass.

    They are cut for the grid offset + step Z. With step = None they are cut as coarsely as the tails are known.
    """
    parts = [_Part(np.log(weight), p, q, pair.symmetric) for weight, p, q in pair.parts]
    if step is not None:
        top = max(part.heights(theta).max() for part in parts)
        parts = [part.refined(theta, step, top).aligned(offset, step) for part in parts]
        spend(sum(NODES * len(part.edges) * part.p.noise.density_cost for part in parts))
    return Cells.joined([part.cells() for part in parts], pair.rest or 0.0)


class _Part:
    """One pair of mixtures, known with a probability, and the edges at which the outputs are cut."""

    def __init__(self, log_weight: float, p: Mixture, q: Mixture, symmetric: bool, edges: Floats | None = None) -> None:
        self.log_weight, self.p, self.q, self.symmetric = log_weight, p, q, symmetric
        if edges is None:
            edges = landmarks(p.noise, np.unique(p.shifts + q.shifts), _TAILS, (1.01,))
            edges = np.unique(np.concatenate([edges, _zeros(self.loss, edges)])) if symmetric else edges
        self.edges = edges

    def loss(self, x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self.p.logpdf(x) - self.q.logpdf(x)

    def heights(self, theta: float) -> Floats:
        """Return the log of the P-density, tilted, at the edges."""
        log_p, loss = self.p.logpdf(self.edges), self.loss(self.edges)
        with np.errstate(all="ignore"):
            return self.log_weight + np.where(np.isfinite(log_p + loss), log_p + np.maximum(theta * loss, 0.0), -np.inf)

    def refined(self, theta: float, step: float, top: float) -> "_Part":
        """Return the part with more edges, so that losses are step / 3 apart, or more where there is little mass."""
        height = self.heights(theta)
        with np.errstate(all="ignore"):
            below = (top - np.maximum(height[1:], height[:-1]) - _FULL) / 3
            count = np.ceil(np.abs(np.diff(self.loss(self.edges))) * _FINER / step * np.exp(-below.clip(0, 200)))
        count = np.where(np.isfinite(count), count, 1).clip(1, _MOST_CELLS // len(height)).astype(int)
        start = np.repeat(np.cumsum(count) - count, count)
        part = (np.arange(count.sum()) - start) / np.repeat(count, count)
        edges = np.repeat(self.edges[:-1], count) + part * np.repeat(np.diff(self.edges), count)
        return _Part(self.log_weight, self.p, self.q, self.symmetric, np.append(edges, self.edges[-1]))

    def aligned(self, offset: float, step: float) -> "_Part":
        """Return the part with edges also where the loss is halfway between two points of the grid, to first order.

        Then merging around a point has an error of the square of the step, not of a part of a cell. Any edges are
        sound. Cells in the tails that are wider than a step stay as they are.
        """
        with np.errstate(invalid="ignore"):
            height = (self.loss(self.edges) - offset) / step + 0.5
            crossed = np.floor(np.maximum(height[1:], height[:-1]))
            once = np.flatnonzero(crossed - np.floor(np.minimum(height[1:], height[:-1])) == 1)
        place = (crossed[once] - height[once]) / (height[once + 1] - height[once])
        added = self.edges[once] + place * (self.edges[once + 1] - self.edges[once])
        return _Part(self.log_weight, self.p, self.q, self.symmetric, np.union1d(self.edges, added))

    def cells(self) -> Cells:
        weight = np.exp(self.log_weight)
        x, width = (part.reshape(-1, NODES) for part in gauss_panels(self.edges, NODES))
        log_p, log_q = self.p.logpdf(x), self.q.logpdf(x)
        with np.errstate(invalid="ignore"):
            mass, loss = weight * width * np.exp(log_p), log_p - log_q
        lost, known = (loss == np.inf).all(axis=1), np.isfinite(loss).all(axis=1)
        least, most = (weight * end for end in self._lost_mass(lost))
        unknown = most - least + float(mass[~(lost | known)].sum()) + weight * self._outside()
        if self.symmetric:  # by rounding, a cell at a zero of the loss may have nodes below it
            known &= (loss > 0).any(axis=1)
            loss = np.maximum(loss, 0.0)
        ends = self.loss(self.edges)
        low, high = (_end(ends, loss, f)[known] for f in (np.fmin, np.fmax))
        margin = _MARGIN * np.fmin(_bend(ends, loss)[known], high - low) + 4e-16 * np.abs(high) * (high > low)
        low = np.maximum(low - margin, 0.0) if self.symmetric else low - margin
        slack = _LOG_DENSITY * (1 + np.abs(log_p[known]) + np.abs(log_q[known])).max(axis=1)
        return Cells(mass[known], loss[known], low, high + margin, slack, least, unknown, self.symmetric)

    def _lost_mass(self, lost: Bools) -> tuple[float, float]:
        """Return the P-mass of cells that Q cannot produce, without and with the effect of rounding on their ends.

        It comes from tails and not from the quadrature, so it is exact to the last digits even at 1e-300.
        """
        jumps = np.diff(np.concatenate([[0], lost.astype(int), [0]]))
        left, right = self.edges[jumps == 1], self.edges[jumps == -1]
        least = most = 0.0
        for shift, weight in zip(self.p.shifts, self.p.weights) if lost.any() else ():
            a, b = left - shift, right - shift
            near_a, near_b = (np.spacing(np.maximum(np.abs(x), np.abs(x - shift))) for x in (left, right))
            least += weight * _mass(self.p.noise, a + near_a, b - near_b)
            most += weight * _mass(self.p.noise, a - near_a, b + near_b)
        return least, most

    def _outside(self) -> float:
        """Return the mass of P beyond the edges, at least the mass that floats may hide if the support has no end."""
        floor = 0.0 if np.isfinite(self.p.noise.isf(0.0)) else TINY
        return max(float(self.p.cdf(self.edges[0]) + self.p.sf(self.edges[-1])), floor)


def _mass(noise: Noise, left: Floats, right: Floats) -> float:
    return float(np.exp(log_mass(noise, left[:, None], right[:, None])[0]))


def _end(ends: Floats, loss: Floats, f: np.ufunc) -> Floats:
    """Return the least or greatest loss of every cell, from its nodes and its finite ends."""
    finite = np.where(np.isfinite(ends), ends, np.nan)
    beside, inner = f(finite[:-1], finite[1:]), f.reduce(loss, axis=1)
    with np.errstate(invalid="ignore"):  # where the density jumps, the loss at the end is that of the next cell
        jump = np.abs(beside - inner) > 4 * (loss.max(axis=1) - loss.min(axis=1)) + 1e-12
    return np.where(jump, inner, f(beside, inner))


def _bend(ends: Floats, loss: Floats) -> Floats:
    """Return the largest distance of the losses at a cell's nodes from the line between its ends."""
    with np.errstate(invalid="ignore"):
        rise = np.diff(ends)[:, None]
        return np.abs(loss - ends[:-1, None] - rise * _PLACES).max(axis=1)


def _zeros(losses: RealFunction, x: Floats) -> Floats:
    value = losses(x)
    at = np.flatnonzero(np.sign(value[1:]) * np.sign(value[:-1]) < 0)
    low, high, sign = x[at], x[at + 1], np.sign(value[at])
    for _ in range(80):
        middle = 0.5 * (low + high)
        if ((middle == low) | (middle == high)).all():
            break
        same = np.sign(losses(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low
