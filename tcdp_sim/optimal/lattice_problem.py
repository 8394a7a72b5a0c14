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

from tcdp_sim.arrays import Floats


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

    def constraints(self, log_p: Floats) -> tuple[Floats, Floats, Floats]:
        """How far each order is above its limit, the gradient in v (orders, size), and the bend of every pair."""
        p, d = np.exp(log_p), -np.diff(log_p)
        h, slope, bend = (part * p[:-1] for part in pair_terms(self.orders, d, self.rho))
        gradient = np.zeros((len(self.orders), self.size))
        gradient[:, :-1] += h + slope
        gradient[:, 1:] -= slope
        last = pair_terms(self.orders, np.array([self.fall]), self.rho)[0][:, 0] * p[-1] / -np.expm1(-self.fall)
        gradient[:, -1] += last
        return h.sum(axis=1) + last - self.limits, gradient, bend


def pair_terms(orders: Floats, d: Floats, rho: float) -> tuple[Floats, Floats, Floats]:
    """h_a(d) = (e^((a-1) d) - 1)(1 - e^(-a d)), h', its second derivative in p; all e^(-(a-1) a rho) times.

    Shape (orders, len(d)). At order 1 all are divided by a - 1 first.
    """
    a = orders[:, None]
    s, most = a - 1, lift(orders, rho)[:, None]
    with np.errstate(over="ignore"):
        up, down, one = np.exp(s * d - most), np.exp(-a * d - most), np.exp(-most)
        rise = np.where(s * d < 1, np.expm1(np.minimum(s * d, 1.0)) * one, up - one)
        h = -rise * np.expm1(-a * d)
        slope = s * up + np.exp(-d - most) - a * down
        bend = a * s * (up + down)
    at_one = orders == 1
    if at_one.any():
        h[at_one] = -d * np.expm1(-d)
        slope[at_one] = -np.expm1(-d) + d * np.exp(-d)
        bend[at_one] = 1 + np.exp(-d)
    return h, slope, bend


def lift(orders: Floats, rho: float) -> Floats:
    """(a-1) a rho, the log of the most that E[e^((a-1) L)] may be."""
    return (orders - 1) * orders * rho
