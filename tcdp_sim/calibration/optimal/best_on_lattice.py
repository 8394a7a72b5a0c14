"""The best noise on one lattice under (rho, omega)-tCDP of a shift by one, and a lower bound for all noises on it.

Orders are constrained on a grid. If the solution comes close to the limit, or exceeds it, between two orders of the
grid, that order joins the grid and the problem is solved again. A small excess that remains is then subtracted from
rho.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tcdp_sim.calibration.optimal.certificate import lower_bound
from tcdp_sim.calibration.optimal.every_offset import least_square_of_all
from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem
from tcdp_sim.calibration.optimal.newton import LEAST_COST, Solution, solve
from tcdp_sim.calibration.optimal.start import spread, start
from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact import record_policy
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.objectives import MeanCost
from tcdp_sim.per_record import AdditiveRelease

_FINE_ORDERS = 400
_BINDING = 0.98  # share of the limit from which on a local maximum over the orders joins the grid
_ADDED = 6  # largest number of rounds in which orders join
_SMALL = 1e-3  # relative cost of the missing orders that is small enough
_FARTHER = 4.0  # largest order that may join, in units of the grid's last order
_TRIALS = 8  # attempts with a slightly smaller rho until the upper end keeps the guarantee
_MARGIN = 1e-6


class Best(NamedTuple):
    """A noise that keeps the guarantee, with the relaxed problem (constrained at some orders only) and its solution."""

    noise: LatticeNoise
    relaxed: LatticeProblem
    solution: Solution

    def lower_bound(self) -> float:
        """Return a lower bound on the cost of every noise on the lattice with the guarantee, or 0 for tiny costs."""
        if self.solution.cost < LEAST_COST:
            return 0.0
        return lower_bound(self.relaxed, self.solution.multipliers, self.solution.cost)

    def lower_bound_of_squares(self) -> float:
        """Return a lower bound on the mean square of every noise on any lattice, or 0 for tiny ones.

        It is valid for the mean square alone.
        """
        if self.solution.cost < LEAST_COST:
            return 0.0
        return least_square_of_all(self.relaxed, self.solution.multipliers, self.solution.cost)


def best_on_lattice(rho: float, omega: float, objective: MeanCost, offset: float, inside: float) -> Best:
    """Return the best noise on offset + integers with D_a <= a rho for all orders 1 < a < omega, at a shift by one.

    The ranges are rho > 0 in nats, omega > 1 or inf, and offset 0 or 1/2. Costs do not change below the error
    `inside` >= 0.
    """
    problem, log_p = start(rho, omega, objective, offset, inside)
    solution = solve(problem, log_p)
    policy = _policy(problem, solution, omega)
    for _ in range(_ADDED):
        price = float(solution.multipliers @ problem.limits)  # fall of the cost per relative growth of rho
        if price * (policy / rho - 1) <= _SMALL * solution.cost:
            break
        orders = np.union1d(problem.orders, _binding(problem, solution.log_p, omega))
        if len(orders) == len(problem.orders):
            break
        problem = replace(problem, orders=orders)
        solution = solve(problem, log_p)
        policy = _policy(problem, solution, omega)
    smaller, kept = problem, solution
    for _ in range(_TRIALS):
        if policy <= rho:
            return Best(_noise(smaller, kept), problem, solution)
        smaller = replace(smaller, rho=smaller.rho * rho / policy * (1 - _MARGIN))
        kept = solve(smaller, log_p)
        policy = _policy(smaller, kept, omega)
    raise ValueError(
        f"rho = {rho:g} with omega = {omega:g} is not valid here: the search ends without a noise that is certain to "
        "keep it; valid: a larger rho, or a smaller omega"
    )


def _noise(problem: LatticeProblem, solution: Solution) -> LatticeNoise:
    return LatticeNoise(problem.offset, tuple(solution.log_p.tolist()), problem.fall)


def _policy(problem: LatticeProblem, solution: Solution, omega: float) -> float:
    """Return the upper end of the largest D_a / a of the solution, in nats."""
    return float(record_policy(AdditiveRelease(_noise(problem, solution)), 1.0, omega).upper)


def _binding(problem: LatticeProblem, log_p: Floats, omega: float) -> Floats:
    """Return the orders, not at an end, at which the noise comes closest to its limit."""
    most = min(omega, _FARTHER * float(problem.orders[-1]))
    orders = spread(most, _FINE_ORDERS)[1:-1]
    fine = replace(problem, orders=orders)
    used = 1 + fine.excess(log_p) / fine.limits
    peak = (used >= np.append(0, used[:-1])) & (used > np.append(used[1:], 0)) & (used > _BINDING)
    return orders[peak]
