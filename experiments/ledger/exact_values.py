"""The exact brackets of a list of releases, by the ledger."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcdp_sim import accounting
from tcdp_sim.accounting import (
    BoundedRangePair,
    Distributions,
    Release,
    Sampled,
)
from tcdp_sim.accounting.releases.release import Case
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.mechanisms.ledger import ComposedLoss
from tcdp_sim.mechanisms.ledger.releases import release_of

DELTA_TOLERANCE, EPSILON_TOLERANCE = 1e-4, 1e-5  # relative, of the brackets
DELTA = ("delta_from_below", "delta_from_above")
EPSILON = ("epsilon_from_below", "epsilon_from_above")


@dataclass(frozen=True)
class OneWay(Release):
    """A release with the losses of one direction in both, so that a ledger brackets that direction alone."""

    release: Release
    backward: bool

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pairs of the release in its one direction."""
        return tuple(Case(case[self.backward], case[self.backward]) for case in self.release.cases(relation, times))


def ledger(mechanism: ComposedLoss) -> accounting.Ledger:
    """Return the ledger of a list in the direction that is simulated."""
    entries = [(release_of(item), item["times"]) for item in mechanism.releases]
    if mechanism.direction == "backward":
        entries = [(OneWay(release, True), times) for release, times in entries]
    elif any(isinstance(release, Sampled | BoundedRangePair | Distributions) for release, _ in entries):
        entries = [(OneWay(release, False), times) for release, times in entries]
    return accounting.Ledger(entries, mechanism.relation)


@lru_cache(maxsize=2)
def delta_bracket(mechanism: ComposedLoss) -> Bounds:
    """Return the bracket of delta at the epsilon of a list."""
    return ledger(mechanism).delta(mechanism.epsilon, DELTA_TOLERANCE)


@lru_cache(maxsize=2)
def _epsilon(mechanism: ComposedLoss) -> Bounds:
    if mechanism.delta is None:
        return Bounds(np.nan, np.nan, np.nan)
    return ledger(mechanism).epsilon(mechanism.delta, EPSILON_TOLERANCE)


def _end(bracket: Callable[[ComposedLoss], Bounds], end: str, meaning: str) -> Callable[[Any], float]:
    def value(mechanism: Any) -> float:
        return getattr(bracket(mechanism), end) if isinstance(mechanism, ComposedLoss) else np.nan

    value.__doc__ = meaning
    return value


BRACKETS = {
    DELTA[0]: _end(delta_bracket, "lower", "Lower end of delta at the cell's epsilon."),
    DELTA[1]: _end(delta_bracket, "upper", "Upper end of delta at the cell's epsilon."),
    EPSILON[0]: _end(_epsilon, "lower", "Lower end of epsilon at the cell's delta."),
    EPSILON[1]: _end(_epsilon, "upper", "Upper end of epsilon at the cell's delta."),
}
UNITS = {**dict.fromkeys(DELTA, "1"), **dict.fromkeys(EPSILON, "nats")}
