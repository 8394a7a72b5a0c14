"""The convex problem of the best noise on one lattice: linear objective, Renyi divergences of neighbours bounded.

The unknowns are the probabilities p_0, p_1, ... of the points x_i = offset + i >= 0 (mirror images have the same); from
p_last on they fall by a fixed ratio, so that everything stays linear in p_last. With d_i = log(p_(i-1) / p_i) and

    H_a(p) = sum over neighbours of p_(i-1) (e^((a-1) d_i) - 1) (1 - e^(-a d_i)) = E[e^((a-1) L)] - 1,

which is convex and homogeneous in p, the noise moved by one has D_a <= a rho iff H_a <= e^((a-1) a rho) - 1; both sides
are taken e^(-(a-1) a rho) times, so that no order overflows. Everything is written in the relative changes v_i = dp_i /
p_i: then nothing is lost at probabilities of 1e-30.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_sim.core.arrays import Floats


@dataclass(frozen=True)
class LatticeProblem:
    """Minimise the mean cost over the points x = offset + i of both signs, offset 0 or 1/2.

    cost: of the points x_0 .. x_last; tail_cost: the sum of cost(x) ratio^(x - x_last) over x >= x_last; fall: minus
    the log of the ratio. orders: >= 1; rho: of one coordinate, in nats.
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
        """How much mass p_i stands for: two points, but for 0; the last one also for those beyond."""
        weights = np.full(self.size, 2.0)
        weights[0] = 1.0 if self.offset == 0 else 2.0
        weights[-1] /= -np.expm1(-self.fall)
        return weights

    @cached_property
    def costs(self) -> Floats:
        """Of p_i, as `weights`."""
        costs = self.weights * self.cost
        costs[-1] = 2 * self.tail_cost
        return costs

    @cached_property
    def limits(self) -> Floats:
        """1 - e^(-(a-1) a rho), which H_a e^(-(a-1) a rho) must not exceed; rho at order 1."""
        return np.where(self.orders == 1, self.rho, -np.expm1(-lift(self.orders, self.rho)))

    def excess(self, log_p: Floats) -> Floats:
        """How far each order is above its limit; inf where that is no float."""
        with np.errstate(over="ignore"):
            pairs = _values(self.orders, -np.diff(log_p), log_p[:-1], self.rho).sum(axis=1)
            return np.asarray(pairs + self._beyond(log_p) - self.limits)

    def derivatives(self, log_p: Floats) -> tuple[Floats, Floats]:
        """Of every order in v: the gradient (orders, size), and the bend of every pair (orders, size - 1)."""
        d, inner = -np.diff(log_p), log_p[:-1]
        slope, bend = _slopes(self.orders, d, inner, self.rho)
        gradient = np.zeros((len(self.orders), self.size))
        gradient[:, :-1] += _values(self.orders, d, inner, self.rho) + slope
        gradient[:, 1:] -= slope
        gradient[:, -1] += self._beyond(log_p)
        return gradient, bend

    def _beyond(self, log_p: Floats) -> Floats:
        """What the points from the last one on add."""
        first = _values(self.orders, np.array([self.fall]), log_p[-1:], self.rho)[:, 0]
        return np.asarray(first / -np.expm1(-self.fall))


def _values(orders: Floats, d: Floats, log_p: Floats, rho: float) -> Floats:
    """p h_a(d), h_a(d) = (e^((a-1) d) - 1)(1 - e^(-a d)), e^(-(a-1) a rho) times; shape (orders, len(d)).

    p: of the inner point; no factor is left alone, as it may be no float. At order 1 it is divided by a - 1 first.
    """
    a = orders[:, None]
    t, scaled = (a - 1) * d, log_p - lift(orders, rho)[:, None]
    rise = np.where(t < 1, np.expm1(np.minimum(t, 1.0)) * np.exp(scaled), np.exp(t + scaled) - np.exp(scaled))
    values = -rise * np.expm1(-a * d)
    values[orders == 1] = -d * np.expm1(-d) * np.exp(log_p)
    return values


def _slopes(orders: Floats, d: Floats, log_p: Floats, rho: float) -> tuple[Floats, Floats]:
    """p h_a'(d) and the second derivative in the logarithms of p, scaled as the values."""
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
    """(a-1) a rho, the log of the most that E[e^((a-1) L)] may be."""
    return (orders - 1) * orders * rho
