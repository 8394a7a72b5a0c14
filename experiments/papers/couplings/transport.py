"""The cheapest coupling of two laws, by linear programming, certified in exact fractions.

The program's answer is only a hint. A feasible dual made from it gives the lower end, and a feasible primal the upper.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.couplings.finite_laws import Law, as_side

Costs = Sequence[Sequence[Fraction]]


def least_cost(p: Law, q: Law, costs: Costs) -> Bounds[float]:
    """Return the least expected cost over all couplings of p (rows) and q (columns), all costs >= 0."""
    rows, columns = len(p), len(q)
    sums = [kron(eye_array(rows), np.ones((1, columns))), kron(np.ones((1, rows)), eye_array(columns))]
    weights = np.array([float(cost) for row in costs for cost in row])
    at_rows, at_columns = np.array([float(x) for x in p]), np.array([float(x) for x in q])
    answer = linprog(weights, A_eq=vstack(sums), b_eq=np.concatenate([at_rows, at_columns]), method="highs")
    low = _dual_value(p, q, costs, [Fraction(float(x)) for x in answer.eqlin.marginals[:rows]])
    hint = [[Fraction(max(float(x), 0.0)) for x in row] for row in answer.x.reshape(rows, columns)]
    high = _cost(_feasible(p, q, hint), costs)
    return Bounds(as_side(low).lower, float(high), as_side(high).upper)


def _dual_value(p: Law, q: Law, costs: Costs, prices: list[Fraction]) -> Fraction:
    """Return a lower bound from prices of the rows, with the best remaining prices of the columns."""
    rest = [min(cost - price for cost, price in zip(column, prices)) for column in zip(*costs)]
    return sum((x * y for x, y in zip(p, prices)), Fraction(0)) + sum((x * y for x, y in zip(q, rest)), Fraction(0))


def _feasible(p: Law, q: Law, hint: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return a coupling next to the hint: rows and columns are cut to size, and the rest is laid out independently."""
    plan = [[x * _cut(most, sum(row)) for x in row] for row, most in zip(hint, p)]
    cuts = [_cut(most, sum(column)) for most, column in zip(q, zip(*plan))]
    plan = [[x * cut for x, cut in zip(row, cuts)] for row in plan]
    rows = [most - sum(row) for most, row in zip(p, plan)]
    columns = [most - sum(column) for most, column in zip(q, zip(*plan))]
    total = sum(rows, Fraction(0))
    if not total:
        return plan
    return [[x + left * right / total for x, right in zip(row, columns)] for row, left in zip(plan, rows)]


def _cut(most: Fraction, total: Fraction | int) -> Fraction:
    return Fraction(most / total) if total > most else Fraction(1)


def _cost(plan: list[list[Fraction]], costs: Costs) -> Fraction:
    return sum((x * cost for row, prices in zip(plan, costs) for x, cost in zip(row, prices)), Fraction(0))
