"""The best noise on one lattice under (rho, omega)-tCDP of a shift by one, and a lower bound for all noises on it."""

from math import inf
from typing import NamedTuple

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.exact import record_policy
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.optimal.certificate import lower_bound
from tcdp_sim.optimal.lattice_problem import LatticeProblem
from tcdp_sim.optimal.newton import solve
from tcdp_sim.optimal.objectives import Objective
from tcdp_sim.releases import AdditiveRelease

_ORDERS = 24
_INSIDE = 0.55  # of 1 / rho: the variance of the normal that the search starts from, safely inside of its guarantee
_NEGLIGIBLE = 14.0  # in nats: what a normal has so much less often than the errors that cost is left to the tail
_TRIALS = 6  # at a rho a little smaller, until the guarantee is certain
_MARGIN = 1e-9


class Best(NamedTuple):
    """The noise, its multipliers by order, and the problem that they belong to."""

    noise: LatticeNoise
    multipliers: Floats
    problem: LatticeProblem
    cost: float

    def lower_bound(self, problem: LatticeProblem | None = None) -> float:
        """No noise on the lattice of `problem` (default: its own) costs less, under the same guarantee."""
        return lower_bound(problem or self.problem, self.multipliers, self.cost)


def best_on_lattice(rho: float, omega: float, objective: Objective, offset: float, inside: float) -> Best:
    """The best noise on offset + integers with D_a <= a rho for all orders 1 < a < omega, at a shift by one.

    rho > 0 in nats; omega > 1, may be inf; offset 0 or 1/2; inside: an error below which cost does not change, >= 0.
    """
    least = rho
    for _ in range(_TRIALS):
        problem, start = _problem(least, omega, objective, offset, inside)
        solution = solve(problem, start)
        noise = LatticeNoise(offset, tuple(solution.log_p.tolist()), problem.fall)
        policy = record_policy(AdditiveRelease(noise), 1.0, omega)
        if policy.upper <= rho:
            break
        least *= rho / policy.upper * (1 - _MARGIN)
    else:
        raise ArithmeticError(f"no noise on the lattice is certified at rho = {rho:g}, omega = {omega:g}")
    exact, _ = _problem(rho, omega, objective, offset, inside)
    return Best(noise, solution.multipliers, exact, solution.cost)


def _problem(
    rho: float, omega: float, objective: Objective, offset: float, inside: float
) -> tuple[LatticeProblem, Floats]:
    """The problem, and a start that is strictly inside of its constraints: about a normal."""
    variance = _INSIDE / rho
    last = int(np.sqrt(inside**2 + 2 * _NEGLIGIBLE * variance)) + 2
    x = np.arange(last + 1.0) + offset
    log_p = -(x**2) / (2 * variance)
    fall = float(log_p[-2] - log_p[-1])
    beyond = x[-1] + np.arange(int(40 / fall) + 2.0)
    tail = float(objective.cost(beyond) @ np.exp(-fall * (beyond - x[-1])))
    orders = _orders(omega, rho, fall)
    return LatticeProblem(offset, objective.cost(x), tail, fall, orders, rho), log_p


def _orders(omega: float, rho: float, fall: float) -> Floats:
    """Those that are constrained: both ends, and more between, denser near 1; for omega = inf as far as any binds."""
    most = omega if omega < inf else 1 + 4 * fall / rho
    return 1 + (most - 1) * np.linspace(0, 1, _ORDERS) ** 2
