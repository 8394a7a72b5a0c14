"""The best split of a budget that adds up: a sum of errors or variances under a bound on the sum of costs.

The errors are convex functions of the cost of their release. One multiplier then decides: each target has the cost at
which the marginal error per cost is the multiplier. The Lagrangian dual at the multiplier bounds every other split.
"""

from collections.abc import Callable, Sequence
from math import exp, expm1, log
from typing import NamedTuple

from tcdp_sim.accounting.planning.costs import cost, slope
from tcdp_sim.accounting.planning.targets import Target

_MOST = 200
EXACT = 1e-11  # of the logs of the scales and of the multiplier
_ROUNDING = 3e-8  # relative, of a difference quotient
_FAR = 1e3  # scales at which a discrete error is nearly proportional to the scale


class Split(NamedTuple):
    """The scales of the best split, the value, and a lower bound on the value of every split."""

    scales: list[float]
    value: float
    lower: float


class Objective(NamedTuple):
    """A sum over targets of weight * error^power, where the error is a standard deviation for variances."""

    name: str
    power: int

    def of(self, target: Target, scale: float) -> float:
        """Return the term of a target."""
        if self.name == "variance":
            return target.weight * float(target.variance_at(scale) or 0.0)
        return target.weight * target.error_at(scale)


def best_split(
    targets: Sequence[Target],
    budget: float,
    objective: Objective,
    order: float,
    exact: float = EXACT,
    start: Sequence[float] | None = None,
) -> Split:
    """Return the split of a budget with the least objective, by a search over the multiplier.

    `exact` is the error of the logs of the scales and of the multiplier. The search begins at the scales in `start`.
    """
    smooth = [_Smooth(target, objective, order) for target in targets]
    starts = start or [_start(target, budget / len(targets), order) for target in targets]
    state = [log(each) for each in starts]

    def spent(log_multiplier: float) -> float:
        for i, each in enumerate(smooth):
            state[i] = each.place(log_multiplier, state[i], exact)
        return log(sum(cost(target, exp(x), order) for target, x in zip(targets, state))) - log(budget)

    first = log(sum(each.value(x) for each, x in zip(smooth, state)) / budget)
    multiplier = _falling_root(spent, first, exact)
    spent(multiplier)
    scales = [exp(x) for x in state]
    value = sum(objective.of(target, scale) for target, scale in zip(targets, scales))
    return Split(scales, value, _dual(smooth, state, exp(multiplier), budget))


class _Smooth:
    """The marginal error per cost of a target, as a function of the log of its scale.

    Discrete noise has errors on its lattice. The search takes them for proportional to the scale there.
    """

    def __init__(self, target: Target, objective: Objective, order: float) -> None:
        self.target, self.objective, self.order = target, objective, order
        self.unit = None if target.is_smooth else objective.of(target, _FAR * target.error_at(1.0) + _FAR)
        self.far = None if self.unit is None else _FAR * target.error_at(1.0) + _FAR

    def value(self, x: float) -> float:
        """Return the term of the objective."""
        if self.unit is None or self.far is None:
            return self.objective.of(self.target, exp(x))
        return self.unit * exp(self.objective.power * (x - log(self.far)))

    def excess(self, x: float, log_multiplier: float) -> float:
        """Return the log of the marginal error per cost over the multiplier. It rises with x."""
        rate = slope(self.target, exp(x), self.order)
        return log(self.objective.power * self.value(x)) - log(max(rate, 1e-300)) - log_multiplier

    def place(self, log_multiplier: float, x: float, exact: float) -> float:
        """Return the log of the scale at which the excess is 0, by Newton steps with the slope of power laws."""
        for _ in range(_MOST):
            rise = slope(self.target, exp(x), self.order)
            excess = log(self.objective.power * self.value(x)) - log(max(rise, 1e-300)) - log_multiplier
            move = excess / (self.objective.power + rise / cost(self.target, exp(x), self.order))
            x -= min(max(move, -3.0), 3.0)
            if abs(move) < exact:
                break
        return x


def _start(target: Target, share: float, order: float) -> float:
    """Return a scale whose cost is about a share of the budget."""
    x = 0.0
    for _ in range(_MOST):
        value = cost(target, exp(x), order)
        move = log(value / share) / (slope(target, exp(x), order) / value)
        x += min(max(move, -2.0), 2.0)
        if abs(move) < 0.1:
            break
    return exp(x)


def _falling_root(excess: Callable[[float], float], x: float, exact: float) -> float:
    """Return the root of a falling function whose slope is between -2 and 0, by secant steps."""
    value, rate = excess(x), -0.6
    for _ in range(_MOST):
        if abs(value) < exact:
            break
        step = min(max(-value / rate, -5.0), 5.0)
        found = excess(x + step)
        if step and found != value:
            rate = min((found - value) / step, -0.05)
        x, value = x + step, found
    return x


def _dual(smooth: Sequence[_Smooth], state: Sequence[float], multiplier: float, budget: float) -> float:
    """Return the sum over targets of the least error + multiplier * cost, minus multiplier * budget.

    The error is convex in the cost, so the tangent at the place found bounds the minimum over all costs up to the
    budget: the place is off by the rest of its slope, times the budget.
    """
    total = -multiplier * budget
    for each, x in zip(smooth, state):
        spent = cost(each.target, exp(x), each.order)
        rest = abs(expm1(each.excess(x, log(multiplier)))) + _ROUNDING
        total += each.objective.of(each.target, exp(x)) + multiplier * (spent * (1 - 1e-12) - rest * budget)
    return total
