"""The best noise on one lattice under (rho, omega)-tCDP of a shift by one, and a lower bound for all noises on it.

Orders are constrained on a grid. Where the solution comes closest to the limit, or exceeds it, between two orders of
the grid, that order joins the grid, and the problem is solved again. What little is exceeded then is taken off rho.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.exact import record_policy
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.optimal.certificate import lower_bound
from tcdp_sim.optimal.lattice_problem import LatticeProblem, lift
from tcdp_sim.optimal.newton import Solution, solve
from tcdp_sim.optimal.objectives import Objective
from tcdp_sim.optimal.start import spread, start
from tcdp_sim.releases import AdditiveRelease

_FINE_ORDERS = 400
_BINDING = 0.98  # of the limit: an order that comes so close between its neighbours joins the grid
_ADDED = 6  # times that orders join, at most
_SMALL = 1e-3  # of the cost: what the orders still missing are worth
_IDLE = 1e-5  # of the cost: the price of an order that does not bind is less
_FARTHER = 4.0  # times the grid's last order: as far as orders join
_TRIALS = 14  # the last ones at a rho a little smaller, until the guarantee is certain
_MARGIN = 1e-6


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
    problem, log_p = start(rho, omega, objective, offset, inside)
    least = rho
    for trial in range(_TRIALS):
        smaller = replace(problem, rho=least)
        solution = solve(smaller, log_p)
        noise = LatticeNoise(offset, tuple(solution.log_p.tolist()), problem.fall)
        policy = record_policy(AdditiveRelease(noise), 1.0, omega)
        if policy.upper <= rho:
            return Best(noise, _rescaled(smaller, solution, rho), problem, solution.cost)
        elasticity = float(solution.multipliers @ smaller.limits) / solution.cost
        if trial < _ADDED and elasticity * (policy.upper / rho - 1) > _SMALL:
            problem = replace(problem, orders=np.union1d(problem.orders, _binding(smaller, solution.log_p, omega)))
        else:
            least *= rho / policy.upper * (1 - _MARGIN)
    raise ArithmeticError(f"no noise on the lattice is certified at rho = {rho:g}, omega = {omega:g}")


def _rescaled(problem: LatticeProblem, solution: Solution, rho: float) -> Floats:
    """Multipliers as a problem with `rho` scales its constraints; 0 for orders that do not bind."""
    binds = solution.multipliers * problem.limits > _IDLE * solution.cost
    larger = np.where(binds, lift(problem.orders, rho) - lift(problem.orders, problem.rho), 0.0)
    return np.where(binds, solution.multipliers * np.exp(larger), 0.0)


def _binding(problem: LatticeProblem, log_p: Floats, omega: float) -> Floats:
    """Orders at which the noise comes closest to its limit, between others."""
    most = min(omega, _FARTHER * float(problem.orders[-1]))
    orders = spread(most, _FINE_ORDERS)[1:-1]
    fine = replace(problem, orders=orders)
    used = 1 + fine.excess(log_p) / fine.limits
    peak = (used >= np.append(0, used[:-1])) & (used > np.append(used[1:], 0)) & (used > _BINDING)
    return orders[peak]
