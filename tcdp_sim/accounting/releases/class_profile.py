"""The best profile that a bound on Renyi divergences alone gives: the class of all releases that meet the bound.

By data processing only binary tests matter. A test has the probabilities p under P and q under Q, and it is possible
if, for every order a of the bound and both orders of the pair,

    p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= e^((a-1) r(a)).

Each condition is convex in (p, q), since Renyi divergences are quasi-convex. So the largest p for given q is a concave
function, the receiver operating characteristic of the class. For given q it is the least of the largest p of single
conditions, and any set of orders gives an upper bound. Tangents of single conditions lie above it. Their envelope is a
polygon, and the polygon is the characteristic of a pair with finitely many losses, which dominates the class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_sim.accounting.releases.atoms import atomic
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_POINTS, _CLOSE, _EVEN = 1000, 700, 40.0  # tests, those that are evenly spaced in log q, and down to which -log q
_ORDERS = 30
_LEAST = -640.0  # log q of the rarest test
_BISECTIONS = 64
_REFINEMENTS = 6
_ROUNDING = 1e-9  # relative, of a probability and of a loss
_INSIDE = 2e-6  # a test is moved so far towards p = q, so that it meets conditions between the orders tried


@dataclass(frozen=True)
class ClassProfile:
    """The class of releases with D_a <= bound(a) for the orders a of an interval, or for one order.

    `bound`: map from orders > 1 to the bounds on the divergences, in nats. `orders`: the least and the largest order,
    both above 1, finite, and the same for a single order.
    """

    bound: Callable[[Floats], Floats]
    orders: tuple[float, float]

    def dominating(self, delta: float) -> AtomicLoss:
        """Return the law of a pair that dominates the class. A share delta of the releases may reveal everything."""
        slope, level = _envelope(*self._tangents)
        corners = np.diff(level) / (slope[:-1] - slope[1:])  # q where neighbouring tangents meet
        middle = (1 - level) / (1 + slope)  # q on the line p + q = 1
        last = int(np.argmax(np.append(corners, np.inf) >= middle))
        edges = np.concatenate([[0.0], corners[:last], [middle[last]]])
        mass_q = np.diff(edges)
        lost = max(float(level[0]), 0.0) + TINY
        return _mirrored(mass_q, slope[: last + 1] * mass_q, delta, lost, 1 + _ROUNDING)

    def tests(self, delta: float) -> AtomicLoss:
        """Return the law whose characteristic joins possible tests by straight lines.

        Its profile is a lower bound of the class profile at every epsilon, where some release of the class attains it.
        """
        log_q, log_p, _, _ = self._half
        q, p = np.exp(log_q), np.exp(log_p)
        p = p - _INSIDE * (p - q)
        corner = self._corner()
        below = (p + q < 1) & (q < corner)
        q, p = np.concatenate([[0.0], q[below], [corner]]), np.concatenate([[0.0], p[below], [1 - corner]])
        return _mirrored(np.diff(q), np.diff(p), delta, 0.0, 1 - _ROUNDING)

    @cached_property
    def _half(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The log of q and of the largest p, the order that decides, and 1 for the reverse order of the pair."""
        deep = -np.geomspace(_EVEN, -_LEAST, _POINTS - _CLOSE + 1)[1:]
        log_q = np.unique(np.concatenate([deep, np.linspace(-_EVEN, np.log(0.5), _CLOSE)]))
        low, high = self.orders
        orders = np.broadcast_to(1 + np.geomspace(low - 1, high - 1, _ORDERS if high > low else 1), (_POINTS, _ORDERS))
        if low == high:
            orders = orders[:, :1]
        for _ in range(_REFINEMENTS if high > low else 1):
            log_p = np.stack([self._largest(log_q[:, None], orders, reverse) for reverse in (False, True)])
            best = log_p.min(axis=0).argmin(axis=1)
            rows = np.arange(len(log_q))
            found = log_p.min(axis=0)[rows, best], orders[rows, best], log_p[:, rows, best].argmin(axis=0)
            near = np.stack([orders[rows, np.clip(best + step, 0, orders.shape[1] - 1)] for step in (-1, 1)])
            low_end, high_end = np.log(near - 1)
            orders = 1 + np.exp(np.linspace(low_end, high_end, 9, axis=1))
        return log_q, *found

    def _largest(self, log_q: Floats, order: Floats, reverse: bool) -> Floats:
        """Return the log of the largest p that one condition allows, by bisection, from above."""
        bound = (order - 1) * self.bound(order)
        low, high = np.broadcast_to(log_q, order.shape), np.zeros(order.shape)
        rest = np.log1p(-np.exp(log_q))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            with np.errstate(divide="ignore"):
                other = np.log(-np.expm1(middle))
            a, b = (log_q, middle) if reverse else (middle, log_q)
            c, d = (rest, other) if reverse else (other, rest)
            # the condition of (a, b) with the complements (c, d)
            value = np.logaddexp(order * a + (1 - order) * b, order * c + (1 - order) * d)
            low, high = np.where(value <= bound, middle, low), np.where(value <= bound, high, middle)
        return high

    def _corner(self) -> float:
        """Return the least q for which (1 - q, q) is a possible test, with a margin for orders between those tried."""
        low, high = self.orders
        order = np.unique(np.append(1 + np.geomspace(low - 1, high - 1, 4000), high)) if high > low else np.array([low])
        bound = (order - 1) * self.bound(order)
        left, right = np.full(order.shape, _LEAST), np.full(order.shape, np.log(0.5))
        for _ in range(_BISECTIONS):
            q = 0.5 * (left + right)
            p = np.log1p(-np.exp(q))
            holds = np.logaddexp(order * p + (1 - order) * q, order * q + (1 - order) * p) <= bound
            left, right = np.where(holds, left, q), np.where(holds, q, right)
        q = float(np.exp(right.max()))
        return q + _INSIDE * (0.5 - q)

    @property
    def _tangents(self) -> tuple[Floats, Floats]:
        """Slopes and levels (p at q = 0) of the tangents of the conditions that decide."""
        log_q, log_p, order, reverse = self._half
        ratio = np.exp(log_p - log_q)
        other = np.expm1(log_p) / np.expm1(log_q)  # (1 - p) / (1 - q)
        known = (other > 0) & (ratio > 1)
        ratio, other, order = ratio[known], other[known], order[known]
        fall = np.log(other) - np.log(ratio)
        quotient = np.expm1(order * fall) / np.expm1((order - 1) * fall)
        share = (order - 1) / order
        slope = np.where(reverse[known] == 1, other / (share * quotient), share * ratio * quotient)
        q = np.exp(log_q[known])
        return slope, q * (ratio * (1 + 1e-12) - slope)


def _envelope(slopes: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the lines of the least of several lines, for q >= 0 and by falling slope."""
    lines: list[tuple[float, float]] = []
    for slope, level in sorted(zip(slopes.tolist(), levels.tolist()), key=lambda line: (-line[0], line[1])):
        if level < 0 or (lines and slope >= lines[-1][0] * (1 - 1e-12)):
            continue
        while lines and level <= lines[-1][1]:
            lines.pop()
        while len(lines) > 1 and _meet(lines[-1], (slope, level)) <= _meet(lines[-2], lines[-1]):
            lines.pop()
        lines.append((slope, level))
    return np.array([line[0] for line in lines]), np.array([line[1] for line in lines])


def _meet(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (one[0] - other[0])


def _mirrored(mass_q: Floats, mass_p: Floats, delta: float, lost: float, factor: float) -> AtomicLoss:
    """Return the law of a polygon up to p + q = 1 and its mirror image, with the rest at a loss of 0."""
    kept = (mass_q > 0) & (mass_p > 0)
    mass_q, mass_p = mass_q[kept], mass_p[kept]
    loss = np.log(mass_p) - np.log(mass_q)
    rest = max(1 - 2 * lost - float(mass_p.sum() + mass_q.sum()), 0.0)
    loss, mass = np.concatenate([loss, -loss, [0.0]]), np.concatenate([mass_p, mass_q, [rest]])
    law = atomic(loss[mass > 0], factor * (1 - delta) * mass[mass > 0], (0.0, 0.0), 1e-12, 1e-12)
    return AtomicLoss(
        law.loss, law.mass, (delta, delta + (1 - delta) * lost), law.spacing, 1e-12, 1e-12, unbounded=True
    )
