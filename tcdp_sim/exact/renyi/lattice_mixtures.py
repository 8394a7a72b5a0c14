"""Divergences between two mixtures of one discrete noise, as sums over the points of its lattice.

Shifts that are no whole number of steps apart put their outputs on different lattices, which share no point. So the
shifts fall into classes, and each class has a sum of its own. The points of a sum reach so far that the tails beyond
them are small against the answer; the ends of the bounds include them.
"""

from functools import cached_property
from math import inf, log
from typing import NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.mixtures import Mixture, SharedShifts, log_mean
from tcdp_sim.exact.renyi.kernels import divergence_of_mean, excess_over_q, lost_over_q, max_order, share_above
from tcdp_sim.exact.resolution import ROUNDING
from tcdp_sim.exact.work import spend
from tcdp_sim.noise.discrete import FAINTEST, DiscreteNoise
from tcdp_sim.noise.lattice import LatticeNoise

MOST_POINTS = 2**24  # of one sum
_SMALL = 0.5  # nats; losses below it are known to their last digits, unless the noise is a table
_OF_LOSS = 1e-13  # relative error of such a loss
_CLOSE = 1e-12  # a tail with this share of the sum needs no further points
_FIRST = -40.0  # log of the tail probability at which a sum first ends
_AT_ONCE = 2**21  # numbers in memory at a time

Ends = tuple[float, float, float]  # lower end, estimate, upper end


class _Points(NamedTuple):
    """The points of all lattices that some mixture can reach: log p, log q, the loss and the error of the loss."""

    log_p: Floats
    log_q: Floats
    loss: Floats
    error: Floats
    ends: tuple[slice, ...]  # the points of each lattice, in order


class LatticePair(SharedShifts):
    """Two mixtures of a discrete noise."""

    noise: DiscreteNoise

    def __init__(self, p: Mixture, q: Mixture) -> None:
        super().__init__(p, q)
        self._known: dict[float, _Points] = {}

    @cached_property
    def _lattices(self) -> tuple[tuple[Ints, Floats], ...]:
        """The indices of the shifts on each lattice, and their distances in steps from the first of them."""
        found: list[tuple[list[int], list[float]]] = []
        for i, shift in enumerate(self.shifts.tolist()):
            for members, moves in found:
                steps = self.noise.steps_of(shift - float(self.shifts[members[0]]))
                if steps is not None:
                    members.append(i)
                    moves.append(steps)
                    break
            else:
                found.append(([i], [0.0]))
        return tuple((np.array(members), np.array(moves)) for members, moves in found)

    def points(self, log_tail: float) -> _Points:
        """Return the points up to where each tail has a log probability of at most `log_tail` under every shift."""
        if log_tail not in self._known:
            end = max(float(np.ceil(self.noise.isf_log(log_tail) / self.noise.step_length)), 1.0)  # two points or more
            if isinstance(self.noise, LatticeNoise):
                end = max(end, len(self.noise.log_mass) + 1.0)  # its tails begin beyond the table
            lattices = [self._on_one(members, moves, end) for members, moves in self._lattices]
            stops = np.cumsum([0] + [len(part[0]) for part in lattices]).tolist()
            log_p, log_q, loss, error = (np.concatenate(column) for column in zip(*lattices))
            self._known = {log_tail: _Points(log_p, log_q, loss, error, tuple(map(slice, stops[:-1], stops[1:])))}
        return self._known[log_tail]

    def _on_one(self, members: Ints, moves: Floats, end: float) -> tuple[Floats, Floats, Floats, Floats]:
        count = moves.max() - moves.min() + 2 * end + 1
        if not count <= MOST_POINTS:
            valid = f"valid: at most {MOST_POINTS:,}, so a wider step or smaller shifts"
            raise ValueError(f"mixtures of {self.noise!r} have {count:.3g} outputs that count; {valid}")
        spend(int(count) * len(members) * self.noise.density_cost)
        step, places = self.noise.step_length, np.arange(moves.min() - end, moves.max() + end + 0.5)
        with np.errstate(all="ignore"):
            y = (places + self.noise.offset - moves[:, None]) * step
            log_f = np.full((len(self.shifts), len(places)), -inf)
            log_f[members] = self.noise.logpdf(y)
            nearest = moves[log_f[members].argmax(axis=0)] - moves[:, None]
            logs = np.full(log_f.shape, -inf)
            logs[members] = np.where(nearest == 0, 0.0, self.noise.privacy_loss(y, nearest * step))
            log_p, log_q = log_mean(self.of_p, log_f), log_mean(self.of_q, log_f)
            loss = self.loss_of(logs)
            of_logs = 1 + _size(log_p) + _size(log_q)
            precise = (np.abs(loss) < _SMALL) & (not isinstance(self.noise, LatticeNoise))
            error = np.where(precise, _OF_LOSS * np.abs(loss), ROUNDING * of_logs)
        return log_p, log_q, loss, np.where(np.isfinite(loss), error, 0.0)

    def profile(self, epsilons: Floats) -> Floats:
        """Return rows (lower, estimate, upper) of H_epsilon(p || q), shape (n, 3)."""
        tail, rows = _FIRST, self._profile(epsilons, _FIRST)
        while (rows[:, 2] * _CLOSE < 2 * np.exp(tail)).any() and tail > FAINTEST:
            tail = max(2 * tail, FAINTEST)
            rows = self._profile(epsilons, tail)
        return rows

    def _profile(self, epsilons: Floats, tail: float) -> Floats:
        points = self.points(tail)
        mass, rounding = np.exp(points.log_p), 1e-13 + ROUNDING * _size(points.log_p)
        many = max(_AT_ONCE // len(mass), 1)
        rows = []
        for some in np.array_split(epsilons, -(-len(epsilons) // many)):
            each = some[:, None]
            with np.errstate(all="ignore"):
                shares = (share_above(each, points.loss + side * points.error) for side in (-1, 0, 1))
                low, middle, high = (
                    np.where(mass > 0, share, 0.0) @ (mass * (1 + side * rounding))
                    for side, share in zip((-1, 0, 1), shares)
                )
            rows.append(np.array([low, middle, high + 2 * np.exp(tail) + TINY]).T)
        return np.clip(np.concatenate(rows), 0.0, 1.0)

    def renyi(self, order: float) -> Ends:
        """Return the ends of D_order(p || q) for an order >= 1, which may be infinite."""
        if self.p == self.q:
            return 0.0, 0.0, 0.0
        if np.isinf(order):
            return self._max_divergence()
        if self._unmatched or order >= self._max_order:
            return inf, inf, inf
        tail = _FIRST
        while True:
            mean, lost, beyond, top = self._mean(order, tail)
            if beyond <= _CLOSE * mean + TINY:
                break
            tail *= 2
        slack = (2e-12 + 4e-16 * top) * mean + lost
        means = max(mean - slack - TINY, 0.0), mean, mean + slack + beyond + TINY
        low, middle, high = (divergence_of_mean(each, order, top) for each in means)
        return low, middle, high

    @property
    def _unmatched(self) -> bool:
        """True if p can produce points of a lattice on which q has none."""
        return any(self.of_p[i].any() and not self.of_q[i].any() for i, _ in self._lattices)

    @property
    def _overhang(self) -> float:
        """The distance in counts by which p reaches beyond q on some lattice, 0 if it does not."""
        found = 0.0
        for members, moves in self._lattices:
            of_p, of_q = moves[self.of_p[members] > 0], moves[self.of_q[members] > 0]
            if len(of_p) and len(of_q):
                found = max(found, of_q.min() - of_p.min(), of_p.max() - of_q.max())
        return found * self.noise.step_length

    @property
    def _max_order(self) -> float:
        return max_order(self.noise, self._overhang) if self._overhang else inf

    def _mean(self, order: float, tail: float) -> tuple[float, float, float, float]:
        """Return the mean of `excess_over_q`, its rounding, a bound on the terms beyond the points, and its scale.

        The terms beyond fall at least as fast as the last ones do, since the tails of the noise are log-concave there.
        """
        points = self.points(tail)
        with np.errstate(all="ignore"):
            heights = np.fmax(points.log_q + order * points.loss, points.log_q)
            heights = np.where(np.isnan(heights) | np.isneginf(points.log_q), -inf, heights)
            top = max(heights.max() - 600, 0.0)
            log_q = points.log_q - top
            terms = excess_over_q(order - 1, points.loss, log_q)
            lost = lost_over_q(order - 1, points.loss, log_q, points.error)
            lost = lost + ROUNDING * (1 + np.abs(points.log_q)) * np.abs(terms)
        seen = np.isfinite(terms)
        terms, lost = np.where(seen, np.maximum(terms, 0.0), 0.0), np.where(seen, lost, 0.0)
        beyond = 0.0
        for part in points.ends:
            for row in (terms[part], terms[part][::-1]):
                beyond += _geometric(row[0], row[1])
        return float(terms.sum()), float(lost.sum()), beyond, top

    def _max_divergence(self) -> Ends:
        if self._unmatched or (self._overhang and np.isposinf(self.noise.largest_loss(self._overhang))):
            return inf, inf, inf
        points = self.points(_FIRST)
        loss = np.where(np.isnan(points.loss) | np.isneginf(points.log_p), -inf, points.loss)
        low, top, high = (float((loss + side * points.error).max()) for side in (-1, 0, 1))
        bound = self._ratio_bound() * (1 + _OF_LOSS)
        high = max(low, bound if any(map(_rises, (loss[part] for part in points.ends))) else min(high, bound))
        return low, (inf if high == inf else min(top, high)), high

    def _ratio_bound(self) -> float:
        """Return an upper bound of the loss, which compares each part of p with the part of q that is nearest to it."""
        shares = dict(zip(self.q.shifts, self.q.weights))
        each = max(min(self._part_bound(shift, other) for other in shares) for shift in self.p.shifts)
        pairs = zip(self.p.shifts, self.p.weights)
        return min(each, max(log(weight / shares[shift]) if shift in shares else inf for shift, weight in pairs))

    def _part_bound(self, shift: float, other: float) -> float:
        """Return a bound of the log of the density at `shift` over the weighted one of q at `other`."""
        largest = 0.0 if shift == other else float(self.noise.largest_loss(abs(shift - other)))
        return inf if np.isnan(largest) else largest - log(dict(zip(self.q.shifts, self.q.weights))[other])


def _rises(loss: Floats) -> bool:
    """Return True if the loss rises towards one of the ends of its lattice, so that it may be larger beyond it."""
    with np.errstate(invalid="ignore"):  # of losses of -inf, where p has no probability
        slack = 1e-12 * np.abs(loss[[0, -1]])
        return bool(loss[0] > loss[1] + slack[0] or loss[-1] > loss[-2] + slack[1])


def _size(logs: Floats) -> Floats:
    return np.where(np.isfinite(logs), np.abs(logs), 0.0)


def _geometric(last: float, before: float) -> float:
    """Return a bound on the sum of all terms beyond the last one, whose ratio to the one before is their largest."""
    if last == 0:
        return 0.0
    return inf if last >= before else last * last / (before - last)
