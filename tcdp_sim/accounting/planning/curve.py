"""Errors, epsilon and attack risk of plans with all noise multiplied by a factor."""

from collections.abc import Sequence
from typing import NamedTuple

from tcdp_sim.accounting.planning.measures import short_ledger
from tcdp_sim.accounting.planning.result import BudgetPlan

_ROUGH = 0.05  # relative tolerance of epsilon, for a figure


class RiskCurve(NamedTuple):
    """Values at several factors of the noise, from above: epsilon, attack success, and the errors of each release."""

    names: list[str]
    errors: list[list[float]]  # of each release, at each factor
    epsilon: list[float]
    success: list[float]  # of an attacker at prior 1/2


def risk_curve(plan: BudgetPlan, factors: Sequence[float]) -> RiskCurve:
    """Return the curve of a plan over factors of its noise."""
    targets = [row.target for row in plan.rows]
    epsilon, success = [], []
    for factor in factors:
        if factor == 1:
            epsilon.append(plan.epsilon.upper)
            success.append(min(plan.attack.upper, 1.0))
            continue
        ledger = short_ledger(targets, [factor * row.scale for row in plan.rows])
        epsilon.append(ledger.epsilon(plan.delta, _ROUGH).upper)
        success.append(min(0.5 + 0.5 * ledger.delta(0.0, _ROUGH).upper, 1.0))
    errors = [[row.target.error_at(factor * row.scale) for factor in factors] for row in plan.rows]
    names = [row.name if row.target.name == "" else f"{row.name}: {row.target.kind}" for row in plan.rows]
    return RiskCurve(names, errors, epsilon, success)
