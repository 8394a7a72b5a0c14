"""Lower bounds from multipliers: against a general optimiser of the Lagrangian, for multipliers at random."""

from math import inf

import numpy as np
import pytest
from lattice_lagrangians import least_cost, least_lagrangian, limits, moments

from tcdp_sim.calibration.optimal import MeanAbsoluteError, MeanSquaredError, Tail
from tcdp_sim.calibration.optimal.best_on_lattice import best_on_lattice
from tcdp_sim.calibration.optimal.certificate import Costs, Lagrangian, lower_bound
from tcdp_sim.calibration.optimal.every_offset import _at, _least_between, least_square_of_all
from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem
from tcdp_sim.calibration.optimal.start import start

ORDERS, RHO = np.array([1.0, 1.5, 2.5, 5.0]), 0.7
REACH = 20
POINTS = np.arange(-REACH, REACH + 1.0)
NORMAL = -1.5 * np.abs(POINTS)  # log probabilities from which the optimiser starts
COSTS = {  # of errors; with a constant, as the least Lagrangian is looked for among positive numbers
    "squares": lambda x: 5.0 + x**2,
    "sizes": lambda x: 5.0 + np.abs(x),
    "tail": lambda x: 5.0 + (np.abs(x) > 1.9),
    "capped": lambda x: 5.0 + np.minimum(np.abs(x), 2.0),
}
CLOSE = 1.1e-5  # relative: the bound is searched to 1e-5 of its guess


def problem_of(offset, cost_of):
    x = np.arange(REACH + 1.0) + offset
    return LatticeProblem(offset, cost_of(x), 0.0, 1.0, ORDERS, RHO)


def multipliers_at_random(seed):
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0, 1, 4)) * [0.3, 0.3, 0.3, 0.1], rng


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("offset", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_the_least_lagrangian(cost, offset, seed):
    """On a lattice that is its own mirror image, whether or not the multipliers are those of a solution."""
    multipliers, cost_of = multipliers_at_random(seed)[0], COSTS[cost]
    x = POINTS[: len(POINTS) - int(2 * offset)] + offset
    truth = least_lagrangian(cost_of(x), ORDERS, RHO, multipliers, NORMAL[: len(x)])
    bound = lower_bound(problem_of(offset, cost_of), multipliers, truth + 0.3)
    assert truth - CLOSE * (truth + 0.3) < bound <= truth + 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_the_least_lagrangian_on_other_lattices(seed):
    multipliers, rng = multipliers_at_random(seed)
    u = rng.uniform(0, 0.5)
    truth = least_lagrangian(COSTS["squares"](POINTS + u), ORDERS, RHO, multipliers, NORMAL)
    arm = np.arange(1.0, REACH + 1)
    costs = Costs(5 + u * u, (5 + (arm + u) ** 2, 5 + (arm - u) ** 2))
    bound = Lagrangian(problem_of(0.0, np.square), multipliers).least(costs, truth + 0.3)
    assert truth - CLOSE * (truth + 0.3) < bound <= truth + 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_for_all_lattices_is_the_least_of_theirs(seed):
    multipliers, rng = multipliers_at_random(seed)
    multipliers *= 0.4
    offsets = np.append(np.linspace(0, 0.5, 6), rng.uniform(0, 0.5, 3))
    truth = [least_lagrangian((POINTS + u) ** 2, ORDERS, RHO, multipliers, NORMAL) for u in offsets]
    assert min(truth) > 0
    bound = least_square_of_all(problem_of(0.0, np.square), multipliers, truth[0])
    assert bound <= min(truth) + 1e-8
    assert bound > min(truth) - 3e-4 * truth[0] - 0.05**2  # and no lattice between the offsets is far below them


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("u", [0.13, 0.5])
def test_what_is_said_of_one_other_lattice(seed, u):
    """L(u), searched from L(0) upwards, to an eighth of u^2 at most."""
    multipliers = 0.4 * multipliers_at_random(seed)[0]
    problem = problem_of(0.0, np.square)
    lagrangian = Lagrangian(problem, multipliers)
    at_zero, truth = (least_lagrangian((POINTS + by) ** 2, ORDERS, RHO, multipliers, NORMAL) for by in (0.0, u))
    found = _at(lagrangian, problem, u, lower_bound(problem, multipliers, at_zero), 1e-3)
    assert truth - u * u / 8 - 1e-4 < found <= truth + 1e-8


@pytest.mark.parametrize(("slope", "least"), [(-0.3, 1 - 0.15**2), (0.2, 1.0), (-1.4, 1 - 0.7 + 0.25)])
def test_between_two_lattices_the_chord_is_bent_by_squares(slope, least):
    """1 + slope u + u^2 on [0, 1/2]: its least value is at -slope / 2, or at an end."""
    assert _least_between(0.0, 0.5, {0.0: 1.0, 0.5: 1 + slope / 2 + 0.25}) == pytest.approx(least, rel=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_no_noise_has_a_smaller_lagrangian(seed):
    """Noises at random, not symmetric, most of which do not keep the guarantee."""
    multipliers, rng = multipliers_at_random(seed)
    bound = lower_bound(problem_of(0.0, np.square), multipliers, 1.0)
    for _ in range(50):
        log_p = NORMAL * rng.uniform(0.5, 1.5) + rng.normal(0, 0.3, len(POINTS))
        p = np.exp(log_p - np.logaddexp.reduce(log_p))
        assert p @ POINTS**2 + multipliers @ (moments(p, ORDERS, RHO)[0] - limits(ORDERS, RHO)) >= bound


BEST = [
    (1.0, inf, MeanSquaredError(), 0.0),
    (0.5, 3.0, MeanSquaredError(), 0.0),
    (1.0, 3.0, Tail(1.0), 0.0),
    (1.0, 3.0, Tail(1.5), 0.5),
    (1.5, 2.0, MeanAbsoluteError(), 0.0),
]


@pytest.mark.parametrize(("rho", "omega", "objective", "offset"), BEST)
def test_another_optimiser_finds_a_cost_between_the_bounds(rho, omega, objective, offset):
    best = best_on_lattice(rho, omega, objective, offset, getattr(objective, "beyond", 0.0))
    x = np.arange(-9, 10 - int(2 * offset)) + offset
    orders = 1 + (min(omega, 12) - 1) * np.linspace(0, 1, 30)[:-1] ** 2
    cost, p = least_cost(objective.cost(np.abs(x)), orders, rho, -0.9 * rho * x**2)
    assert (moments(p, orders, rho)[0] <= limits(orders, rho) * (1 + 1e-6)).all()
    assert best.lower_bound() <= cost * (1 + 1e-6)
    assert cost * (1 - 2e-3) <= best.lower_bound()
    assert cost * (1 - 1e-6) <= objective(best.noise) <= cost * (1 + 3e-3)


@pytest.mark.parametrize(("rho", "omega", "objective", "offset"), BEST)
def test_the_relaxed_problem_leaves_out_orders_and_nothing_else(rho, omega, objective, offset):
    """It is for the rho that is asked for, and its solution keeps that at every one of its orders."""
    best = best_on_lattice(rho, omega, objective, offset, getattr(objective, "beyond", 0.0))
    problem, solution = best.relaxed, best.solution
    assert problem.rho == rho
    assert problem.orders.min() == 1
    assert problem.orders.max() <= omega
    assert (solution.multipliers >= 0).all()
    p = both_sides(solution.log_p, problem.fall, offset)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    x = np.abs(np.arange(len(p)) - (len(p) - 1) / 2)
    assert objective.cost(x) @ p == pytest.approx(solution.cost, rel=1e-9)
    used = moments(p, problem.orders, rho)[0] / limits(problem.orders, rho)
    assert 0.99 < used.max() <= 1 + 1e-9


@pytest.mark.parametrize(("rho", "omega", "objective", "offset"), BEST)
def test_the_search_starts_inside_of_all_limits(rho, omega, objective, offset):
    problem, log_p = start(rho, omega, objective, offset, getattr(objective, "beyond", 0.0))
    p = both_sides(log_p, problem.fall, offset)
    assert (moments(p / p.sum(), problem.orders, rho)[0] < 0.96 * limits(problem.orders, rho)).all()
    x = np.abs(np.arange(len(p)) - (len(p) - 1) / 2)
    assert problem.costs @ np.exp(log_p) == pytest.approx(objective.cost(x) @ p, rel=1e-9)


def both_sides(log_p, fall, offset, further=40):
    """The probabilities from left to right, with the first points of the geometric tails."""
    arm = np.exp(np.append(log_p, log_p[-1] - fall * np.arange(1, further + 1)))
    return np.append(arm[: 0 if offset == 0 else None : -1], arm)
