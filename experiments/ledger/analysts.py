"""Exact means of the queries that a filter answers, by the law of the number of answers of a query."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import exp, floor, fsum, tanh
from typing import Any

import numpy as np
from scipy.special import ndtr

from tcdp_sim.mechanisms.ledger import AdaptiveAnalyst
from tcdp_sim.mechanisms.ledger.queries import Refining, Screening, Voting
from tcdp_sim.report.plots import EITHER
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

UNSPENT, WASTED, ANSWERED = "unspent", "wasted", "answered"
Means = dict[str, float]


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for the mean of each quantity of an analyst's cell.

    - "answered", "answered_split": queries answered under the filter, and with a budget that is split in advance.
    - "unspent": the share of the budget that the filter leaves.
    - "wasted", "wasted_split": the share of the budget that is not spent on answered queries.
    """
    labels = {"analyst": cell.mechanism.query.__class__.__name__.lower(), "rho": cell.mechanism.rho}
    labels |= cell.only("trials") | {"neighbours": EITHER}
    for name in cell.mechanism.observables:
        known = {"exact": cell.get(columns.mean(name) + columns.EXACT, np.nan), "skewness": cell.skewness(name)}
        yield labels | {"quantity": name, "at": cell.mechanism.rho} | dict(zip(NUMBERS, cell.mean(name))) | known


def probabilities(query: Any) -> list[float]:
    """Return the probabilities that a query needs 1, 2, ... answers, if all of them may be asked for."""
    match query:
        case Screening(share=share, large=large, threshold=threshold, rough=rough):
            more = share * ndtr((large - threshold) / rough) + (1 - share) * ndtr(-threshold / rough)
            return [float(1 - more), float(more)]
        case Refining(distances=distances, scales=scales):
            ratios = np.array(distances) / np.array(scales)[:-1, None]
            unclear = ndtr(query.sure - ratios) - ndtr(-query.sure - ratios)
            going = np.vstack([np.ones(len(distances)), np.cumprod(unclear, axis=0)]).mean(axis=1)
            return [*(going[:-1] - going[1:]).tolist(), float(going[-1])]
        case Voting(epsilon=epsilon, lead=lead, most=most):
            return _walk(1 / (1 + exp(-epsilon)), lead, most)
    raise ValueError(f"{query!r} has no known law")


def _walk(up: float, lead: int, most: int) -> list[float]:
    """Return the law of the time at which a random walk first reaches a distance from its start, cut at `most`."""
    place, found = {0: 1.0}, []
    for _ in range(most - 1):
        moved: dict[int, float] = {}
        for at, probability in place.items():
            for step, share in ((1, up), (-1, 1 - up)):
                moved[at + step] = moved.get(at + step, 0.0) + probability * share
        found.append(fsum(probability for at, probability in moved.items() if abs(at) >= lead))
        place = {at: probability for at, probability in moved.items() if abs(at) < lead}
    return [*found, fsum(place.values())]


def costs(query: Any) -> list[Fraction]:
    """Return the rho of each answer: 1 / 2 sigma^2 of Gaussian noise, epsilon tanh(epsilon / 2) of a response."""
    if isinstance(query, Voting):
        return [Fraction(query.epsilon * tanh(query.epsilon / 2))] * query.most
    scales = query.scales if isinstance(query, Refining) else (query.rough, query.fine)
    return [1 / (2 * Fraction(scale) ** 2) for scale in scales]


@lru_cache(maxsize=64)
def means(query: Any, rho: float) -> Means:
    """Return the exact mean of each observable, for a kind of query and a budget."""
    law, prices, budget = probabilities(query), costs(query), Fraction(rho)
    paid = [sum(prices[:given], Fraction(0)) for given in range(len(prices) + 1)]
    shares = floor(budget / paid[-1])
    mean_cost = fsum(probability * float(cost) for probability, cost in zip(law, paid[1:]))
    answered, used, left = _filtered(law, prices, budget)
    found = {ANSWERED: answered, UNSPENT: left / rho, WASTED: 1 - used / rho}
    return found | {"answered_split": float(shares), "wasted_split": 1 - shares * mean_cost / rho}


def _filtered(law: list[float], prices: list[Fraction], budget: Fraction) -> tuple[float, float, float]:
    """Return the means of the answered queries, of their cost, and of the rest of the budget.

    Budgets that can remain before a query are visited from the smallest one on. A query that the filter cuts short ends
    with the rest at that time.
    """
    courses: dict[Fraction, list[tuple[float, Fraction, Fraction | None]]] = {}
    waiting = [budget]
    while waiting:
        start = waiting.pop()
        if start in courses or start < prices[0]:
            continue
        courses[start] = list(_courses(law, prices, start))
        waiting += [rest for _, rest, _ in courses[start]]
    known: dict[Fraction, tuple[float, float, float]] = {}
    for start in sorted(courses):
        found = np.zeros(3)
        for probability, rest, cost in courses[start]:
            own = (0.0, 0.0, 0.0) if cost is None else (1.0, float(cost), 0.0)
            found += probability * (np.array(own) + known.get(rest, (0.0, 0.0, float(rest))))
        known[start] = float(found[0]), float(found[1]), float(found[2])
    return known.get(budget, (0.0, 0.0, float(budget)))


def _courses(
    law: list[float], prices: list[Fraction], start: Fraction
) -> Iterator[tuple[float, Fraction, Fraction | None]]:
    """Yield (probability, rest, cost of the query or None if it stays unanswered) of each course of a query."""
    for needed, probability in enumerate(law, 1):
        rest, given = start, 0
        while given < needed and prices[given] <= rest:
            rest, given = rest - prices[given], given + 1
        yield probability, rest, start - rest if given == needed else None


def _mean_of(name: str) -> Callable[[Any], float]:
    def value(mechanism: Any) -> float:
        query: Any = getattr(mechanism, "query", None)  # lists have none
        return np.nan if query is None else means(query, mechanism.rho)[name]

    return value


def _split_quantiles(mechanism: Any) -> Any:
    """Quantiles of the queries that a budget split in advance answers, whose number is fixed."""
    answered = _mean_of("answered_split")(mechanism)
    return np.full(len(columns.QUANTILES), answered)


EXACT = {columns.mean(name): _mean_of(name) for name in AdaptiveAnalyst.observables}
EXACT[columns.quantile("answered_split")] = _split_quantiles
_PATHS = "the recursion over budgets gives means, and the law over all paths of answers is not kept"
UNKNOWN = {columns.quantile(name): _PATHS for name in AdaptiveAnalyst.observables if name != "answered_split"}
