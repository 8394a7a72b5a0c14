"""The convex problem of the best noise on one lattice, with a linear objective and bounded Renyi divergences.

The unknowns are the probabilities p_0, p_1, ... of the points x_i = offset + i >= 0. Mirror images have the same. From
p_last on they fall by a fixed ratio, so that everything stays linear in p_last. Let d_i = log(p_(i-1) / p_i) and

    H_a(p) = sum over neighbours of p_(i-1) (e^((a-1) d_i) - 1) (1 - e^(-a d_i)) = E[e^((a-1) L)] - 1,

which is convex and homogeneous in p. The noise moved by one has D_a <= a rho iff H_a <= e^((a-1) a rho) - 1. Both sides
are multiplied by e^(-(a-1) a rho), so that no order overflows. Everything is written in the relative changes
v_i = dp_i / p_i, so that no digits are lost at probabilities of 1e-30.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_sim.core.arrays import Floats


@dataclass(frozen=True)
class LatticeProblem:
    """The problem to minimise the mean cost over the points x = offset + i of both signs, with offset 0 or 1/2.

    `cost` has the costs of x_0 .. x_last, and `tail_cost` is the sum of cost(x) ratio^(x - x_last) over x >= x_last.
    `fall` is minus the log of the ratio, `orders` are the constrained orders (>= 1), and `rho` is the bound for one
    coordinate, in nats.
    """

    offset: float
    cost: Floats
    tail_cost: float
    fall: float
    orders: Floats
    rho: float

    @property
    def size(self) -> int:
        return len(self.cost)

    @cached_property
    def weights(self) -> Floats:
        """The mass per p_i: 2 points (1 for the point 0), and for the last one also the points beyond."""
        weights = np.full(self.size, 2.0)
        weights[0] = 1.0 if self.offset == 0 else 2.0
        weights[-1] /= -np.expm1(-self.fall)
        return weights

    @cached_property
    def costs(self) -> Floats:
        """The cost per p_i, with all the points that `weights` counts."""
        costs = self.weights * self.cost
        costs[-1] = 2 * self.tail_cost
        return costs

    @cached_property
    def limits(self) -> Floats:
        """The largest valid H_a e^(-(a-1) a rho), which is 1 - e^(-(a-1) a rho), or rho at order 1."""
        return np.where(self.orders == 1, self.rho, -np.expm1(-lift(self.orders, self.rho)))

    def excess(self, log_p: Floats) -> Floats:
        """Return the excess of each order over its limit, or inf if it is no float."""
        with np.errstate(over="ignore"):
            pairs = _values(self.orders, -np.diff(log_p), log_p[:-1], self.rho).sum(axis=1)
            return np.asarray(pairs + self._beyond(log_p) - self.limits)

    def derivatives(self, log_p: Floats) -> tuple[Floats, Floats]:
        """Return the gradient (orders, size) in v and the second derivative of every pair (orders, size - 1)."""
        d, inner = -np.diff(log_p), log_p[:-1]
        slope, bend = _slopes(self.orders, d, inner, self.rho)
        gradient = np.zeros((len(self.orders), self.size))
        gradient[:, :-1] += _values(self.orders, d, inner, self.rho) + slope
        gradient[:, 1:] -= slope
        gradient[:, -1] += self._beyond(log_p)
        return gradient, bend

    def _beyond(self, log_p: Floats) -> Floats:
        """Return the contribution of the points from the last one on."""
        first = _values(self.orders, np.array([self.fall]), log_p[-1:], self.rho)[:, 0]
        return np.asarray(first / -np.expm1(-self.fall))


def _values(orders: Floats, d: Floats, log_p: Floats, rho: float) -> Floats:
    """Return p h_a(d) e^(-(a-1) a rho) with h_a(d) = (e^((a-1) d) - 1)(1 - e^(-a d)), shape (orders, len(d)).

    p is the probability of the inner point. The factors are computed together because one alone may be no float. At
    order 1 the value is divided by a - 1 first.
    """
    a = orders[:, None]
    t, scaled = (a - 1) * d, log_p - lift(orders, rho)[:, None]
    inner = np.exp(scaled)
    rise = np.where(t < 1, np.expm1(np.minimum(t, 1.0)) * inner, np.exp(t + scaled) - inner)
    values = -rise * np.expm1(-a * d)
    values[orders == 1] = -d * np.expm1(-d) * np.exp(log_p)
    return values


def _slopes(orders: Floats, d: Floats, log_p: Floats, rho: float) -> tuple[Floats, Floats]:
    """Return p h_a'(d) and the second derivative in the logarithms of p, scaled as in `_values`."""
    a = orders[:, None]
    s, scaled = a - 1, log_p - lift(orders, rho)[:, None]
    up, down = np.exp(s * d + scaled), np.exp(-a * d + scaled)
    slope = s * up + np.exp(-d + scaled) - a * down
    bend = a * s * (up + down)
    one, p = orders == 1, np.exp(log_p)
    slope[one] = p * (d * np.exp(-d) - np.expm1(-d))
    bend[one] = p * (1 + np.exp(-d))
    return slope, bend


def lift(orders: Floats, rho: float) -> Floats:
    """Return (a-1) a rho, the log of the largest valid E[e^((a-1) L)]."""
    return (orders - 1) * orders * rho
