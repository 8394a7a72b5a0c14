"""An adaptive analyst under a filter, and another one who splits the same budget in advance."""

from dataclasses import dataclass
from functools import cache
from math import fsum
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import choice, real
from tcdp_sim.mechanisms.axes import RHO
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.ledger.queries import QUERIES, Query
from tcdp_sim.privacy import ZCDP, Guarantee

ANALYST = Axis("analyst", "adaptive analyst", "", ", ".join(QUERIES), "text")
MOST_ANSWERS = 10_000  # of a trial
TILE = 2**14  # queries drawn at a time


@dataclass(frozen=True, eq=False)
class AdaptiveAnalyst(Mechanism):
    """An analyst who asks query after query until a filter refuses the first answer of a query.

    A query takes one or several answers, and earlier answers decide whether it needs a further one. Under the filter an
    answer is paid for when it is asked for. If the filter refuses a further answer, the query stays unanswered, and the
    analyst turns to the next one. A budget that is split in advance sets the largest cost aside for each query, and the
    rest of it is lost if a query needs less.

    Source: Rogers et al. (2016) [RRUV16].

    `rho`: the budget, in nats: the transcript is rho-zCDP.
    """

    query: Query
    rho: float

    name = "ledger"
    version = 1
    axes = declared(ANALYST, RHO)
    required = ("analyst", "rho")
    options = ()
    observables = MappingProxyType(
        {
            "answered": Observable("queries", "queries answered under the filter", 0),
            "unspent": Observable("1", "share of the budget that is left under the filter", 0, 1),
            "wasted": Observable("1", "the same, and the share spent on queries that stay unanswered", 0, 1),
            "answered_split": Observable("queries", "queries answered if the budget is split in advance", 0),
            "wasted_split": Observable("1", "share of the split budget that answers nothing", 0, 1),
        }
    )
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return ("analyst", "rho")

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        name = choice("analyst", point["analyst"], QUERIES)
        if point.get("rho") is None:
            raise ValueError("rho is missing; valid: the budget, above 0")
        rho = real("rho", point["rho"], 0)
        mechanism = cls(QUERIES[name], rho)
        first, dearest = mechanism.costs[0], fsum(mechanism.costs)
        if not dearest <= rho <= MOST_ANSWERS * first:
            valid = f"{dearest:.4g} to {MOST_ANSWERS * first:.4g}"
            raise ValueError(f"rho = {rho:g} is not valid for analyst = {name}; valid: {valid}")
        return {"mechanism": cls.name, "version": cls.version, "analyst": name, "rho": rho}

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(QUERIES[law["analyst"]], law["rho"])

    @property
    def guarantee(self) -> Guarantee:
        return ZCDP(self.rho)

    @property
    def costs(self) -> list[float]:
        """The rho that a filter takes for each answer of a query."""
        query: Any = self.query
        return _costs(query)

    @property
    def work(self) -> float:
        return 20.0 * self.rho / self.costs[0]

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        queries = int(self.rho / self.costs[0]) + 2  # more than any trial asks
        shape, rows = (trials, len(self.observables)), max(TILE // queries, 1)
        found = np.empty(shape)
        for start in range(0, trials, rows):
            size = min(rows, trials - start)
            lengths = self.query.lengths(size * queries, rng).reshape(size, queries)
            found[start : start + size] = [self._trial(row) for row in lengths.tolist()]
        return dict(zip(self.observables, found.T))

    def _trial(self, lengths: list[int]) -> tuple[float, ...]:
        """Return the numbers of one trial, whose queries need so many answers."""
        from tcdp_sim.accounting import Filter  # loads late

        paid = [fsum(self.costs[:given]) for given in range(self.query.most + 1)]  # by a query with so many answers
        budget, answered, used = Filter(ZCDP(self.rho)), 0, 0.0
        for needed in lengths:
            given = 0
            while given < needed and budget.admit(self.costs[given]):
                given += 1
            if not given:
                break
            if given == needed:
                answered, used = answered + 1, used + paid[needed]
        shares = int(self.rho / paid[-1])
        split = sum(paid[needed] for needed in lengths[:shares])
        return answered, budget.remaining / self.rho, 1 - used / self.rho, shares, 1 - split / self.rho


@cache
def _costs(query: Any) -> list[float]:
    """Return the cost of each answer of a query under a filter."""
    from tcdp_sim.accounting import Additive, Filter, RandomisedResponse  # no other cell needs them, so they load late
    from tcdp_sim.noise import Gaussian

    found = []
    for spec in query.specs():
        priced = Filter(ZCDP(1.0))
        noisy = "noise" in spec
        priced.admit(Additive(Gaussian(spec["scale"])) if noisy else RandomisedResponse(spec["response"]))
        found.append(float(priced.spent))
    return found
