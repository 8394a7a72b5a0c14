"""The Renyi order of a filter under (epsilon, delta)-DP, chosen for the releases that its user expects.

The order is fixed before any answer is seen, so a wrong expectation costs releases and no privacy.
"""

from collections.abc import Iterable
from math import exp, inf, log
from typing import Any

import numpy as np

from tcdp_sim.accounting.costs import Prices, count
from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.privacy.definitions import ApproxDP
from tcdp_sim.privacy.spending import terms

_EXCESSES = np.geomspace(1e-2, 1e5, 57)  # of orders over 1, among which the best is looked for first


def best_order(budget: Any, expected: Iterable[Any], relation: str | None) -> float:
    """Return the order at which a budget covers the expected releases most often.

    `expected`: releases or guarantees, each alone or as a pair (release, times).
    """
    if not isinstance(budget, ApproxDP):
        raise ValueError(f"expected is for a budget of ApproxDP, not {budget}; valid: expected=None")
    entries = [entry if isinstance(entry, tuple) else (entry, 1) for entry in expected]
    if not entries:
        raise ValueError("expected is empty; valid: one release or more, each alone or as (release, times)")

    def shortfall(log_excess: float) -> float:
        """Return the log of the cost over the budget at an order, inf where nothing of the budget is left."""
        try:
            own = terms(budget, 1 + exp(log_excess))
        except ValueError:
            return inf
        prices = Prices(own, relation)
        total = sum(prices.of(release)[0] * count(times) for release, times in entries)
        return log(total / own.limits[0]) if total else -inf

    logs = np.log(_EXCESSES)
    values = [shortfall(each) for each in logs]
    best = int(np.argmin(values))
    if values[best] == inf:
        raise ValueError(f"no order leaves anything of {budget} for these releases; valid: a larger epsilon or delta")
    ends = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
    found = minimize_scalar(shortfall, bounds=ends, method="bounded")
    return float(1 + exp(found.x if found.fun < values[best] else logs[best]))
