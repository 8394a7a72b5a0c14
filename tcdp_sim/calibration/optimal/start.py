"""The start of the search for the best noise on a lattice: a table of points, and probabilities that are allowed.

The start is a normal of slightly larger variance than necessary, made steeper where its probabilities leave room. A
pair of neighbours contributes at most p e^((a-1) d) to E[e^((a-1) L)] at the largest order a, where p is the
probability of the inner point and d the fall from it. So the fall may grow as p becomes small, up to the errors that
cost.
"""

from dataclasses import replace
from math import inf, log, sqrt

import numpy as np

from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem, lift
from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import Gaussian
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.objectives import MeanCost

_ORDERS = 20
_INSIDE = 0.55  # variance of the normal times rho, which has to be at least 0.5
_NEGLIGIBLE = 12.0  # in nats; errors rarer by this than the first that costs go to the geometric tail
_SLACK = 0.05  # share of every limit that the start leaves unused
_HALVINGS = 30
_MOST_POINTS = 800
_SECONDS = 10.0  # largest CPU time in s of a search with _MOST_POINTS points; it grows with their cube
_NO_FLOAT = 667.0  # minus the log of the least probability that is a usable float
_LEAST = 650.0  # minus the log of the least probability at which falls are made steeper
_BEYOND = 40.0  # in nats; costs beyond the table are summed to this depth


def start(rho: float, omega: float, objective: MeanCost, offset: float, inside: float) -> tuple[LatticeProblem, Floats]:
    """Return the problem, with a coarse grid of orders, and log probabilities strictly inside all constraints."""
    whole, x, log_p = _long_table(rho, omega, offset, inside)
    falls = -np.diff(log_p)
    first = int(np.searchsorted(x, inside, side="right"))  # the first point that costs
    if log_p[first] < -_NO_FLOAT:
        raise ValueError(
            f"beyond = {inside:g} is not valid here: the tail beyond is below 1e-290, no float; valid: a smaller one"
        )
    size = max(first + 1, 2, int(np.searchsorted(-log_p, _NEGLIGIBLE - log_p[first])))
    return _with_costs(whole, objective, x[:size], float(falls[size - 2])), log_p[:size]


def quantile_at_start(rho: float, omega: float, chance: float) -> float:
    """Return the error in counts that the search's starting noise exceeds with that probability, as a first guess."""
    inside, guess = inf, float(Gaussian(sqrt(0.5 / rho)).isf(chance / 2))
    while guess < inside:
        inside = guess
        problem, _, log_p = _long_table(rho, omega, 0.0, inside)
        noise = LatticeNoise(0.0, tuple(log_p.tolist()), problem.fall)
        guess = float(noise.isf_log(log(chance / 2)))
    return inside


def spread(most: float, count: int) -> Floats:
    """Return orders from 1 to the largest one, both ends included, denser near 1."""
    return 1 + (most - 1) * np.linspace(0, 1, count) ** 2


def _long_table(rho: float, omega: float, offset: float, inside: float) -> tuple[LatticeProblem, Floats, Floats]:
    """Return the problem without costs, the necessary points and the log probabilities of the steeper normal."""
    problem, x = _of_normal(variance := _INSIDE / rho, rho, omega, offset, inside)
    while not _allowed(problem, np.diff(x**2) / (2 * variance)):  # on the half-integers a narrow normal protects less
        problem, x = _of_normal(variance := 1.3 * variance, rho, omega, offset, inside)
    falls = _steepest(problem, np.diff(x**2) / (2 * variance), int(inside - offset) + 1)
    return problem, x, -np.append(0.0, np.cumsum(falls))


def _of_normal(
    variance: float, rho: float, omega: float, offset: float, inside: float
) -> tuple[LatticeProblem, Floats]:
    """Return the problem without costs, and its points."""
    last = int(np.sqrt(inside**2 + 2 * _NEGLIGIBLE * variance)) + 2
    if last > _MOST_POINTS:
        raise ValueError(
            f"rho = {rho:g} for each coordinate is not valid here: the noise would take {last:.3g} points and a search "
            f"of up to {_SECONDS * (last / _MOST_POINTS) ** 3:.2g} s, and the most is {_MOST_POINTS} points; valid: a "
            "larger rho, or a smaller error"
        )
    x = np.arange(last + 1.0) + offset
    fall = float(x[-1] ** 2 - x[-2] ** 2) / (2 * variance)
    most = min(omega, 1 + fall / rho)  # a normal of twice the variance would bind no order beyond
    return LatticeProblem(offset, np.zeros(len(x)), 0.0, fall, spread(most, _ORDERS), rho), x


def _with_costs(problem: LatticeProblem, objective: MeanCost, x: Floats, fall: float) -> LatticeProblem:
    beyond = x[-1] + np.arange(int(_BEYOND / fall) + 2.0)
    tail = float(objective.cost(beyond) @ np.exp(-fall * (beyond - x[-1])))
    return replace(problem, cost=objective.cost(x), tail_cost=tail, fall=fall)


def _steepest(problem: LatticeProblem, normal: Floats, last: int) -> Floats:
    """Return the falls of the normal, as steep as allowed up to the point `last`, by halving, and no less beyond."""
    a = float(problem.orders[-1])
    low, high = -lift(np.array([a]), problem.rho)[0], 2 * float(normal.sum())  # high gives the normal itself
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _allowed(problem, _falls(normal, last, middle, a - 1)) else (middle, high)
    return _falls(normal, last, high, a - 1)


def _falls(normal: Floats, last: int, depth: float, s: float) -> Floats:
    """Return falls that are at least those of the normal.

    A fall is larger where p e^(s fall) would be less than e^-depth, as long as p is a float.
    """
    falls, log_p = normal.copy(), 0.0
    for i in range(len(normal)):
        steep = min((-log_p - depth) / s, _LEAST + log_p) if i < last else falls[i - 1]
        falls[i] = max(normal[i], steep)
        log_p -= falls[i]
    return falls


def _allowed(problem: LatticeProblem, falls: Floats) -> bool:
    log_p = -np.append(0.0, np.cumsum(falls))
    excess = problem.excess(log_p - np.log(problem.weights @ np.exp(log_p)))
    return bool((excess < -_SLACK * problem.limits).all())
