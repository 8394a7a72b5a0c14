"""A barrier method for the lattice problem, with Newton steps in the relative changes of the probabilities."""

from typing import NamedTuple

import numpy as np

from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem
from tcdp_sim.core.arrays import Floats

_GAP = 1e-4  # duality gap relative to the cost at which the method ends
_FASTER = 8.0  # factor by which the barrier's weight falls at a time
_CENTRED = 0.05  # the squared Newton decrement at which a centre is good enough
_LAST_CENTRED = 1e-20
_STEPS = 1000
_HALVINGS = 40
LEAST_COST = 1e-280  # smaller costs are not minimised, because their relative changes underflow


class Solution(NamedTuple):
    """A solution: log p_0, log p_1, ...

    with the points of both signs summing to one, and the multiplier of every order.
    """

    log_p: Floats
    multipliers: Floats
    cost: float


def solve(problem: LatticeProblem, log_p: Floats) -> Solution:
    """Return the solution of least cost, from probabilities strictly inside all constraints.

    Costs below 1e-280 end the search.
    """
    log_p = _normalised(problem, log_p)
    cost = float(problem.costs @ np.exp(log_p))
    if cost < LEAST_COST:
        return Solution(log_p, np.zeros(len(problem.orders)), cost)
    weight = 1.0 / cost
    excess = problem.excess(log_p)
    for _ in range(_STEPS):
        change, decrement = _newton(problem, log_p, excess, weight)
        moved = _search(problem, log_p, excess, weight, change) if np.isfinite(change).all() else None
        stuck = moved is None
        log_p, excess = moved or (log_p, excess)
        cost = float(problem.costs @ np.exp(log_p))
        last = len(problem.orders) / weight < _GAP * cost
        if cost < LEAST_COST:
            break
        if stuck or decrement < (_LAST_CENTRED if last else _CENTRED):
            if last:
                break
            weight *= _FASTER
    return Solution(log_p, -1 / (excess * weight), cost)


def _normalised(problem: LatticeProblem, log_p: Floats) -> Floats:
    return log_p - np.log(problem.weights @ np.exp(log_p))


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _newton(problem: LatticeProblem, log_p: Floats, excess: Floats, weight: float) -> tuple[Floats, float]:
    """Return the step in v and its squared decrement. They are NaN if terms overflow."""
    multipliers = -1 / excess
    gradient, bend = problem.derivatives(log_p)
    p = np.exp(log_p)
    slope = weight * (problem.costs * p) + multipliers @ gradient
    curve = multipliers @ bend
    mass = problem.weights * p
    size = len(p)
    matrix = np.zeros((size + 1, size + 1))
    i = np.arange(size - 1)
    matrix[i, i] += curve
    matrix[i + 1, i + 1] += curve
    matrix[i, i + 1] -= curve
    matrix[i + 1, i] -= curve
    scaled = gradient * multipliers[:, None]
    matrix[:size, :size] += scaled.T @ scaled
    unit = np.append(1 / np.sqrt(np.diag(matrix)[:size]), 1.0)
    matrix[:size, size] = matrix[size, :size] = mass
    try:
        v = np.linalg.solve(matrix * unit[:, None] * unit, np.append(-slope * unit[:size], 0.0)) * unit
    except np.linalg.LinAlgError:
        v = np.full(size + 1, np.nan)
    return v[:size], float(-(slope @ v[:size]))


def _search(
    problem: LatticeProblem, log_p: Floats, excess: Floats, weight: float, change: Floats
) -> tuple[Floats, Floats] | None:
    """Return the first of ever shorter steps that lowers the barrier function, with its excess, or None."""
    now = _barrier(problem, log_p, excess, weight)
    length = min(1.0, 1.0 / max(float(np.abs(change).max()), 1e-300))
    for _ in range(_HALVINGS):
        moved = _normalised(problem, log_p + length * change)
        there = problem.excess(moved)
        if _barrier(problem, moved, there, weight) < now:
            return moved, there
        length *= 0.5
    return None


def _barrier(problem: LatticeProblem, log_p: Floats, excess: Floats, weight: float) -> float:
    if not ((excess < 0).all() and np.isfinite(log_p).all()):
        return np.inf
    return weight * float(problem.costs @ np.exp(log_p)) - float(np.log(-excess).sum())
