"""Splits of an (epsilon, delta) budget, whose costs do not add up."""

from collections.abc import Sequence
from math import exp, inf, log, log1p
from typing import Any

from tcdp_sim.accounting.least_factor import BESIDE, least_factor
from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.planning.costs import RHO, class_of
from tcdp_sim.accounting.planning.measures import exact_delta
from tcdp_sim.accounting.planning.rough import without_lattice
from tcdp_sim.accounting.planning.separable import Objective, Split, best_split
from tcdp_sim.accounting.planning.targets import Target
from tcdp_sim.accounting.releases.additive import Additive

_LOG_ORDERS = (log(1e-3), log(1e4))  # of order - 1
_SEARCH = 1e-4  # error of the logs of scales while the order is searched
_NEARLY = 1e-6  # error of the logs of scales of noise on a lattice, whose errors jump


def gaussian_budget(targets: Sequence[Target], budget: Any) -> tuple[float, float] | None:
    """Return the rho that decides for lists of Gaussian noise, from below and from above; None for other lists.

    The loss of such a list depends on the sum of (sensitivity / scale)^2 alone, which is twice its rho.
    """
    classes = {class_of(target) for target in targets}
    noise_class = classes.pop()
    if classes or noise_class is None or not noise_class.isotropic or noise_class.parameters() != ("scale",):
        return None
    found = least_factor(
        lambda factor, share: exact_delta(Ledger([Additive(noise_class(factor))]), budget.epsilon, share), budget.delta
    )
    return 0.5 / found.factor**2, 0.5 / (found.factor * (1 - BESIDE)) ** 2


def renyi_split(targets: Sequence[Target], budget: Any, objective: Objective) -> Split:
    """Return the best split by the conversion of Renyi divergences of one order, over all orders.

    The conversion is Proposition 12 of Canonne et al. (2020) [CKS20]: epsilon = D + log(1 - 1/a) - (log(delta) +
    log(a)) / (a - 1).
    """
    from scipy.optimize import minimize_scalar  # imported late, as in `core.numerics.root`

    smooth = [without_lattice(target) for target in targets]

    def value(log_rest: float) -> float:
        order = 1 + exp(log_rest)
        room = _room(order, budget.epsilon, budget.delta)
        return best_split(smooth, room / order, objective, order, _SEARCH).value if room > 0 else inf

    orders = [_LOG_ORDERS[0] + i / 40 * (_LOG_ORDERS[1] - _LOG_ORDERS[0]) for i in range(41)]
    rooms = [_room(1 + exp(each), budget.epsilon, budget.delta) / (1 + exp(each)) for each in orders]
    best = max(range(len(orders)), key=rooms.__getitem__)
    if rooms[best] <= 0:  # delta is so large that no order converts; any order shows the shares
        return split_of(targets, 0.5 * max(budget.epsilon, 1e-3) ** 2, objective, RHO)
    step = orders[1] - orders[0]
    ends = (max(orders[best] - 2 * step, orders[0]), min(orders[best] + 2 * step, orders[-1]))
    found = minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 0.05, "maxiter": 8})
    order = 1 + exp(float(found.x))
    return split_of(targets, max(_room(order, budget.epsilon, budget.delta), 1e-12) / order, objective, order)


def split_of(targets: Sequence[Target], budget: float, objective: Objective, order: float) -> Split:
    """Return the best split of a budget. With noise on a lattice it is only nearly the best one."""
    smooth = [without_lattice(target) for target in targets]
    found = best_split(smooth, budget, objective, order)
    if all(target.is_smooth for target in targets):
        return found
    return best_split(targets, budget, objective, order, _NEARLY, found.scales)


def _room(order: float, epsilon: float, delta: float) -> float:
    """Return the largest divergence of an order that implies the budget."""
    return epsilon - log1p(-1 / order) + (log(delta) + log(order)) / (order - 1)
