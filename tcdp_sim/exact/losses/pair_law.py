"""The privacy loss of a dominating pair of mixtures, put on a grid by cells that end where the loss crosses a point.

All losses of a part of the pair rise or fall with the output, as they do for log-concave noise. Landmarks of the
density (its quantiles, kinks and jumps) cut the outputs into panels on which the loss is smooth. Points where the loss
crosses the grid cut them further. Masses come from the Gauss-Legendre rule on every cell, so nothing cancels.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import fsum

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.numerics import TINY, Bounds
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms
from tcdp_sim.exact.losses.grid_law import GridLaw, TooFine, gathered
from tcdp_sim.exact.losses.level_sets import landmarks
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.renyi.mixture_divergences import renyi_of_pair
from tcdp_sim.exact.subsampling import DominatingPair

_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_TAILS = np.concatenate([np.linspace(0.495, 0.02, 70), 10.0 ** -np.linspace(1.72, 20, 130)])
_TAILS = np.concatenate([_TAILS, 10.0 ** -np.arange(20.5, 306.6, 0.5)])
_LOG_DENSITY = 4e-15  # error of a log density, relative to 1 + its size
_MOST_CELLS = 2**21
_INSIDE = 8.0  # in floats: a panel begins that far from its end, where the density may jump
_FLAT = 1e-13  # a panel whose losses differ by less has one loss
_ROUNDS = 60
_LEVEL = 1e-12  # nats: losses that differ by less have levelled off
_CLOSE = 1e-9  # of a step: crossings need not be closer
_LOG_TAIL = 1e-12  # error of the log of a tail


@dataclass(frozen=True)
class PairLoss:
    """The law of log(P/Q) under P of a dominating pair whose losses rise or fall with the output.

    Raises ValueError if they do not, at any landmark.
    """

    pair: DominatingPair

    def __post_init__(self) -> None:
        if not all(part.monotone for part in self._parts):
            raise ValueError(f"the privacy loss of {self.pair!r} neither rises nor falls; valid: log-concave noise")

    @cached_property
    def _parts(self) -> "tuple[_Part, ...]":
        return tuple(_Part.rising(*part, self.pair.symmetric) for part in self.pair.parts)

    def crude(self) -> Atoms:
        """Return one atom for every panel."""
        pieces = [part.crude() for part in self._parts]
        loss, mass = (np.concatenate(parts) for parts in zip(*pieces))
        if self.pair.symmetric:
            loss, mass = _mirrored(loss, mass, self._unseen()[0])
        kept = mass > 0
        order = np.argsort(loss[kept], kind="stable")
        share = (1 - self._unseen()[0]) / max(mass.sum(), TINY)
        return Atoms(loss[kept][order], share * mass[kept][order], self._unseen()[0])

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss, which is 0 if the losses of the noise are bounded."""
        low, high = self._unseen()
        return (0.0, self.pair.rest or 0.0) if self._supremum < np.inf else (low, high)

    @property
    def _supremum(self) -> float:
        """An upper bound of all losses that follows from the noise, in closed form, or inf."""
        ends = [part.p.shifts + part.q.shifts for part in self._parts]
        bounds = [float(part.p.noise.largest_loss(max(x) - min(x))) for part, x in zip(self._parts, ends)]
        return max(bounds) * (1 + 1e-12) if all(bound < np.inf for bound in bounds) else np.inf

    def _unseen(self) -> tuple[float, float]:
        """Return the probabilities of infinite losses, and of these together with the losses beyond all panels."""
        parts = [part.lost for part in self._parts]
        return sum(low for low, _ in parts), min(sum(high for _, high in parts) + (self.pair.rest or 0.0), 1.0)

    def largest(self) -> tuple[float, float]:
        """Return the supremum of the finite losses: as the noise states it, or the largest loss in floats."""
        if any(part.unbounded for part in self._parts):
            return np.inf, np.inf
        low, high = (max(part.top + sign * part.top_error for part in self._parts) for sign in (-1, 1))
        if all(part.levels_off for part in self._parts):
            return low, high + _LEVEL * (1 + abs(high))
        return low, max(self._supremum, high)

    def least(self) -> float:
        """Return the least finite loss, about, or the largest one if none is finite."""
        return min(part.bottom for part in self._parts)

    def most(self) -> float:
        """Return the largest finite loss that floats show, about."""
        return max(part.top for part in self._parts)

    def peak(self) -> tuple[float, float]:
        """Return the loss at which all parts have levelled off, and the probability from there on."""
        flats = [(loss, mass) for loss, mass in (part.flat for part in self._parts) if mass > 0]
        return min((loss for loss, _ in flats), default=0.0), fsum(mass for _, mass in flats)

    def lattice(self) -> None:
        """Return None, because the losses fill intervals."""

    def _frequent(self, rare: float) -> "tuple[list[_Part], float]":
        """Return all parts but the rarest ones, whose total probability is at most `rare`, and that probability."""
        parts = sorted(self._parts, key=lambda part: part.weight)
        totals = list(accumulate(part.weight for part in parts))
        dropped = sum(total <= rare for total in totals[:-1])
        return parts[dropped:], totals[dropped - 1] if dropped else 0.0

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence. Raises ValueError for pairs with labels or mirrored losses."""
        if self.pair.symmetric or len(self.pair.parts) > 1:
            raise ValueError("Renyi divergences of sampling with fixed size are not known; valid: Poisson sampling")
        _, p, q = self.pair.parts[0]
        return renyi_of_pair(p, q, order)

    def quantile(self, probability: float) -> tuple[float, float] | None:
        """Return the largest loss that is reached with a probability, from both sides; None for labels or mirrors."""
        return None if self.pair.symmetric or len(self._parts) > 1 else self._parts[0].quantile(probability)

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = np.inf) -> GridLaw:
        """Return the law on the grid. The offset of a symmetric pair has to be 0."""
        kept, seldom = self._frequent(0.5 * rare)
        share = 0.5 * rare / len(kept)
        pieces = [part.on_grid(step, offset, share, floor, top) for part in kept]
        index = np.concatenate([piece[0] for piece in pieces])
        mass = np.concatenate([piece[1] for piece in pieces])
        gone, raised = (fsum(piece[i] for piece in pieces) for i in (2, 3))
        slack = max(piece[4] for piece in pieces)
        gone += seldom
        low, high = self._unseen()
        if not len(index):
            index, mass = np.array([int(np.floor(floor / step))]), np.zeros(1)
        first, total = gathered([index], [mass])
        moved: tuple[tuple[float, float], ...] = ()
        if self.pair.symmetric:
            loss, total = _mirrored(step * (first + np.arange(len(total), dtype=np.float64)), total, low)
            first, total = gathered([np.rint(loss / step).astype(np.int64)], [total])
            moved = ((0.0, 2 * (gone + high - low) + 4 * DENSITY),)
            total[-first] += 2 * DENSITY
        elif raised:
            total[0] += raised
            moved = ((offset + step * first, raised),)
        relative = DENSITY
        return GridLaw(
            *(first, total, offset, step, (low * (1 - DENSITY), min(high + gone, 1.0) * (1 + DENSITY)), moved),
            *(slack + DENSITY * step, step, relative),
        )


def _mirrored(loss: Floats, mass: Floats, lost: float) -> tuple[Floats, Floats]:
    """Return losses above 0 with their mirror images, and the rest of the mass at 0."""
    loss, mass = loss[loss > 0], mass[loss > 0]
    image = mass * np.exp(-loss)
    rest = max(1 - lost - float(mass.sum()) - float(image.sum()), 0.0)
    return np.concatenate([-loss, [0.0], loss]), np.concatenate([image, [rest], mass])


@dataclass(frozen=True)
class _Part:
    """A pair of mixtures whose loss rises with the output, known with the probability `weight`."""

    weight: float
    p: Mixture
    q: Mixture
    symmetric: bool

    @classmethod
    def rising(cls, weight: float, p: Mixture, q: Mixture, symmetric: bool) -> "_Part":
        """Return the part, reflected if its loss falls; noises are symmetric about 0."""
        part = cls(weight, p, q, symmetric)
        low, high = part._ends
        known = np.isfinite(low) & np.isfinite(high)
        if known.any() and high[known][-1] < low[known][0]:
            return cls(weight, _reflected(p), _reflected(q), symmetric)
        return part

    def loss(self, x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return _log_density(self.p, x) - _log_density(self.q, x)

    @cached_property
    def _whole(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Starts and ends of the panels a little inside of the landmarks, and the landmarks themselves."""
        shifts = np.unique(self.p.shifts + self.q.shifts)
        edges = landmarks(self.p.noise, shifts, _TAILS, (1.01,))
        pad = _INSIDE * np.spacing(np.maximum(np.abs(edges), np.abs(shifts).max()))
        start, end = edges[:-1] + pad[:-1], edges[1:] - pad[1:]
        wide = start < end
        return start[wide], end[wide], edges[:-1][wide], edges[1:][wide]

    @property
    def _panels(self) -> tuple[Floats, Floats]:
        """The places at which losses of a panel's ends are evaluated. At the landmarks the density may jump."""
        return self._whole[:2]

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The losses at the starts and at the ends of the panels."""
        start, end = self._panels
        return self.loss(start), self.loss(end)

    @cached_property
    def _finite(self) -> tuple[int, int]:
        """The first panel with finite losses, and the one after the last."""
        low, high = self._ends
        known = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        return (int(known[0]), int(known[-1]) + 1) if len(known) else (0, 0)

    @cached_property
    def _slack(self) -> Floats:
        """The error of a loss on every panel."""
        x = 0.5 * (self._panels[0] + self._panels[1])
        with np.errstate(all="ignore"):
            size = 1 + np.abs(self.p.logpdf(x)) + np.abs(self.q.logpdf(x))
        return np.where(np.isfinite(size), _LOG_DENSITY * size, 0.0)

    @property
    def monotone(self) -> bool:
        first, last = self._finite
        ends = np.stack([end[first:last] for end in self._ends], axis=1).ravel()
        if not np.isfinite(ends).all():
            return False
        room = 4 * np.repeat(self._slack[first:last], 2) + 1e-12 * np.abs(ends)
        return bool((np.diff(ends) >= -np.maximum(room[1:], room[:-1])).all())

    @property
    def top(self) -> float:
        first, last = self._finite
        return float(self._ends[1][last - 1]) if last > first else -np.inf

    @property
    def bottom(self) -> float:
        first, last = self._finite
        return float(self._ends[0][first]) if last > first else self.top

    @property
    def top_error(self) -> float:
        first, last = self._finite
        return float(self._slack[last - 1]) if last > first else 0.0

    @property
    def unbounded(self) -> bool:
        """True if the loss of the noise is unbounded, and P reaches further than Q on one side."""
        p, q = self.p.shifts, self.q.shifts
        beyond = max(max(p) - max(q), min(q) - min(p))
        return beyond > 0 and float(self.p.noise.largest_loss(beyond)) == np.inf and self._always_finite

    @property
    def _always_finite(self) -> bool:
        return not np.isfinite(self.p.noise.isf(0.0))

    @property
    def levels_off(self) -> bool:
        """True if the loss is known not to rise further beyond the last panel with finite losses."""
        first, last = self._finite
        return last > first and float(self._ends[1][last - 1] - self._ends[0][last - 1]) < _LEVEL

    @property
    def flat(self) -> tuple[float, float]:
        """The largest finite loss, where it levels off, and the probability of it, both from below."""
        first, last = self._finite
        if not self.levels_off:
            return 0.0, 0.0
        start, losses = self._panels[0][first:last], self._ends[0][first:last]
        at = int(np.argmax(losses >= self.top - _LEVEL))
        loss = float(losses[at] - self._slack[first + at])
        finite = self.weight * float(self.p.sf(start[at])) * (1 - DENSITY) - self.lost[1]
        return loss, max(finite, 0.0)

    @cached_property
    def lost(self) -> tuple[float, float]:
        """The probabilities of an infinite loss and of a loss beyond the last panel.

        Both come from tails, so they are exact even at 1e-300.
        """
        (start, end), (_, last) = self._panels, self._finite
        if last == 0:
            return self.weight * self._always_infinite * (1 - DENSITY), self.weight
        known = float(self.p.sf(end[last - 1]))
        infinite = last < len(start) and self.loss(0.5 * (start[last:] + end[last:]))[0] == np.inf
        least = float(self.p.sf(start[last])) if infinite else 0.0
        return self.weight * least * (1 - DENSITY), self.weight * max(known * (1 + DENSITY), TINY)

    @property
    def _always_infinite(self) -> bool:
        """True if Q produces no output of P."""
        x = 0.5 * (self._panels[0] + self._panels[1])
        losses = self.loss(x)[np.isfinite(_log_density(self.p, x))]
        return bool(len(losses)) and bool((losses == np.inf).all())

    def quantile(self, probability: float) -> tuple[float, float]:
        """Return the loss at the output that is exceeded with this probability, from both sides."""
        centre, wanted = float(self.p.noise.isf(probability)), np.log(probability)
        shifts = self.p.shifts
        pad = 1e-9 * (1 + float(self.p.noise.isf(0.25)) + abs(centre) + float(np.abs(shifts).max()))
        unsure, ends = _LOG_TAIL * (1 + abs(wanted)), (centre + min(shifts) - pad, centre + max(shifts) + pad)
        x = np.array([_around(self.p, wanted + unsure, *ends)[0], _around(self.p, wanted - unsure, *ends)[1]])
        with np.errstate(all="ignore"):
            error = _LOG_DENSITY * (1 + np.abs(self.p.logpdf(x)) + np.abs(self.q.logpdf(x)))
        low, high = self.loss(x) + np.where(np.isfinite(error), error, 0.0) * np.array([-1, 1])
        return (float(low), float(high)) if low <= high else (-np.inf, np.inf)

    def crude(self) -> tuple[Floats, Floats]:
        """Return the mean loss and the mass of every panel."""
        first, last = self._finite
        masses, losses = self._nodes(*(x[first:last] for x in self._whole[2:]))
        mass = masses.sum(axis=1)
        with np.errstate(invalid="ignore"):
            mean = (masses * losses).sum(axis=1) / mass
        return np.where(mass > 0, mean, 0.0), mass

    def _nodes(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the masses and the losses at the nodes of cells. A loss that is not finite has no mass."""
        half = 0.5 * (right - left)[:, None]
        x, width = left[:, None] + half + half * _PLACES, half * _WEIGHTS
        with np.errstate(all="ignore"):
            log_p = _log_density(self.p, x)
            loss = log_p - _log_density(self.q, x)
            mass = self.weight * width * np.exp(log_p)
        known = np.isfinite(loss)
        return np.where(known, mass, 0.0), np.where(known, loss, 0.0)

    def on_grid(
        self, step: float, offset: float, rare: float, floor: float, top: float
    ) -> tuple[Ints, Floats, float, float, float]:
        """Return indices and masses of grid points, the masses made infinite and raised, and the error of a loss."""
        (first, last), (low, high) = self._finite, self._ends
        start, end = self._panels
        if self.symmetric:
            floor = 0.0
        tail = self.weight * self.p.sf(end[first:last])
        stop = first + int(np.count_nonzero(tail > rare)) + 1  # panels from `stop` on become infinite
        stop = max(min(stop, last, first + int(np.count_nonzero(low[first:last] <= top))), first + 1)
        begin = min(first + int(np.count_nonzero(high[first:last] <= floor)), stop - 1)
        gone = self.weight * (float(self.p.sf(end[stop - 1])) - float(self.p.sf(end[last - 1]))) if stop < last else 0.0
        gone = max(gone, 0.0) * (1 + DENSITY)
        raised = self.weight * float(self.p.cdf(start[begin])) * (1 + DENSITY) if not self.symmetric else 0.0
        a, b, low, high = (x[begin:stop] for x in (start, end, low, high))
        lowest = np.floor((low - offset) / step + 1e-12)
        crossed = np.ceil((high - offset) / step - 1e-12) - lowest - 1
        crossed = np.where(high - low > _FLAT, np.maximum(crossed, 0), 0).astype(np.int64)
        if crossed.sum() > _MOST_CELLS:
            raise TooFine
        slack = float(self._slack[begin:stop].max(initial=0.0))
        which = np.repeat(np.arange(len(a)), crossed)
        levels = offset + step * (lowest[which] + 1 + _counted(crossed))
        places, missed = self._levels(levels, a[which], b[which], max(_CLOSE * step, slack))
        index = np.repeat(lowest, crossed + 1) + _counted(crossed + 1)
        starts, ends = self._whole[2:]
        left, right = _between(starts[begin:stop], ends[begin:stop], places, crossed)
        lower, upper, outside = self._cells(left, right, offset + step * index, step)
        index = index.astype(np.int64)
        both = np.concatenate([index, index + 1]), np.concatenate([lower, upper])
        return *both, gone, raised, slack + missed + outside

    def _cells(self, left: Floats, right: Floats, point: Floats, step: float) -> tuple[Floats, Floats, float]:
        """Return the masses of cells that go to the lower and to the upper grid point, and how far losses lie outside.

        Neither is a difference, so neither is below 0.
        """
        mass, loss = self._nodes(left, right)
        above = loss - point[:, None]
        outside = np.where(mass > 0, np.maximum(-above, above - step), 0.0)
        share = np.clip(np.expm1(-np.maximum(above, 0.0)) / np.expm1(-step), 0.0, 1.0)
        return (mass * (1 - share)).sum(axis=1), (mass * share).sum(axis=1), max(float(outside.max(initial=0.0)), 0.0)

    def _levels(self, levels: Floats, left: Floats, right: Floats, close: float) -> tuple[Floats, float]:
        """Return the outputs in [left, right] where the loss crosses the levels, and the largest error of a loss.

        The method is regula falsi, in the form of Illinois: an end that stays twice counts half.
        """
        if not len(levels):
            return levels, 0.0
        under, over = self.loss(left) - levels, self.loss(right) - levels
        before = np.zeros(len(levels))
        for _ in range(_ROUNDS):
            with np.errstate(all="ignore"):
                x = np.clip(left - under * (right - left) / (over - under), left, right)
            miss = self.loss(x) - levels
            if float(np.abs(miss).max()) <= close:
                break
            side = np.where(miss < 0, -1.0, 1.0)
            half = np.where(side == before, 0.5, 1.0)
            left, right = np.where(side < 0, x, left), np.where(side < 0, right, x)
            under, over = np.where(side < 0, miss, half * under), np.where(side < 0, half * over, miss)
            before = side
        if (np.diff(x) < 0).any():  # where rounding decides
            x = np.maximum.accumulate(x)
            miss = self.loss(x) - levels
        return x, float(np.abs(miss).max())


def _between(a: Floats, b: Floats, places: Floats, crossed: Ints) -> tuple[Floats, Floats]:
    """Return the starts and ends of the cells into which the places, `crossed` of them in each panel, cut panels."""
    ends = np.cumsum(crossed + 1)
    first, last = np.zeros(ends[-1], bool), np.zeros(ends[-1], bool)
    first[ends - crossed - 1] = last[ends - 1] = True
    left, right = np.empty(ends[-1]), np.empty(ends[-1])
    left[first], left[~first], right[last], right[~last] = a, places, b, places
    return left, right


def _counted(counts: Ints) -> Floats:
    """Return 0, 1, ..., count - 1 for every count, one after the other."""
    return np.arange(counts.sum(), dtype=np.float64) - np.repeat(np.cumsum(counts) - counts, counts)


def _reflected(mixture: Mixture) -> Mixture:
    return Mixture(mixture.noise, tuple(-shift for shift in mixture.shifts), mixture.weights)


def _log_density(mixture: Mixture, x: Floats) -> Floats:
    """Return the log density of a mixture, faster than `Mixture.logpdf` by vectorised exponentials."""
    terms = [mixture.noise.logpdf(x - shift) for shift in mixture.shifts]
    if len(terms) == 1:
        return np.asarray(terms[0])
    top = np.maximum.reduce(terms)
    total = sum(weight * np.exp(term - top) for weight, term in zip(mixture.weights, terms))
    return np.where(np.isfinite(top), top + np.log(total), top)


def _around(p: Mixture, log_probability: float, low: float, high: float) -> tuple[float, float]:
    """Return neighbouring floats between which the log of the tail of p has a value, between two outputs around it."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if p.logsf(middle) >= log_probability else (low, middle)
    return low, high
