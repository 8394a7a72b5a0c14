"""An oracle: the best noise on one or several lattices under (epsilon, delta)-DP, by a plain linear program."""

from math import exp

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix


def linear_program(cost_of, offset, epsilon, delta, points=60):
    """Return the least mean cost over offset + {-points .. points} with delta(epsilon) <= delta both ways.

    Under pure DP (delta = 0) the ends of the lattice are left alone: no noise of bounded support is pure.
    """
    x = np.arange(-points, points + (0 if offset else 1)) + offset
    n = len(x)
    steps = np.zeros((2 * (n + 1), n))  # p(x) - e^epsilon p(x -+ 1), the ends against nothing
    for row in range(n + 1):
        if row < n:
            steps[row, row] += 1
            steps[n + 1 + row, row] -= exp(epsilon)
        if row > 0:
            steps[row, row - 1] -= exp(epsilon)
            steps[n + 1 + row, row - 1] += 1
    if delta == 0:
        inner = np.ones(2 * (n + 1), bool)
        inner[[0, n, n + 1, 2 * n + 1]] = False
        steps = steps[inner]
    count = len(steps)
    slack = -np.eye(count)
    sums = np.zeros((2, n + count))
    sums[0, n : n + count // 2] = sums[1, n + count // 2 :] = 1
    found = linprog(
        np.append(cost_of(np.abs(x)), np.zeros(count)),
        A_ub=np.vstack([np.hstack([steps, slack]), sums]),
        b_ub=np.append(np.zeros(count), [delta, delta]),
        A_eq=np.append(np.ones(n), np.zeros(count))[None],
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun


def fine_linear_program(cost_of, cosets, epsilon, delta, reach):
    """Return the least mean cost over symmetric noise on multiples of 1/cosets of a count up to `reach` counts.

    It keeps delta(epsilon) <= delta at a shift of one count. That is another program than `linear_program`: here the
    lattices share delta.
    """
    last = reach * cosets
    size = last + 1  # probabilities of 0, 1/cosets, ... on one side; then what each step exceeds e^epsilon by
    rows = np.arange(2 * last + 1)
    here, there = np.abs(rows - last), np.abs(rows - last + cosets)
    inside = rows - last + cosets <= last
    index = np.concatenate([rows, rows[inside], rows, np.full(len(rows), len(rows))])
    column = np.concatenate([here, there[inside], size + rows, size + rows])
    value = np.concatenate(
        [np.ones(len(rows)), np.full(inside.sum(), -exp(epsilon)), -np.ones(len(rows)), np.ones(len(rows))]
    )
    weights = np.append(1.0, np.full(last, 2.0))
    nothing = np.zeros(len(rows))
    found = linprog(
        np.append(weights * cost_of(np.arange(size) / cosets), nothing),
        A_ub=coo_matrix((value, (index, column)), shape=(len(rows) + 1, size + len(rows))),
        b_ub=np.append(nothing, delta),
        A_eq=np.append(weights, nothing)[None],
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun
