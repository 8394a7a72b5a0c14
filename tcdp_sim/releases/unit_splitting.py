"""Unit splitting: each record becomes several, each clamped; what comes out is Gaussian noise on a clipped sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import choice, real, scalar, whole
from tcdp_sim.releases import policies
from tcdp_sim.releases.base import Release
from tcdp_sim.releases.clipped import ContributionRelease
from tcdp_sim.releases.families import ReleaseFamily

RULES = ("full", "capped", "sublinear")


@dataclass(frozen=True)
class UnitSplitRelease(ContributionRelease):
    """A value v >= 0 is split into m(v) equal pieces, each clamped at `threshold`; N(0, scale^2) is added to the sum.

    rule: "full" m = ceil(v / threshold), nothing lost; "capped" at most `pieces` (whole, >= 1); "sublinear"
    ceil((v / threshold)^exponent), 0 < exponent < 1. threshold > 0 and scale > 0 in the units of the values.
    Source: Finley et al. 2024, Section 2.
    """

    threshold: float
    scale: float
    rule: str = "full"
    pieces: int | None = None
    exponent: float | None = None

    form = "unit_splitting"

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", scalar("threshold", self.threshold, 0))
        object.__setattr__(self, "scale", scalar("scale", self.scale, 0))
        choice("rule", self.rule, RULES)
        for name, rule in (("pieces", "capped"), ("exponent", "sublinear")):
            value = getattr(self, name)
            if (value is not None) != (self.rule == rule):
                raise ValueError(f"{name} = {value!r} with rule = {self.rule} is not valid; {name} is for rule {rule}")
        if self.rule == "capped":
            object.__setattr__(self, "pieces", whole("pieces", self.pieces, 1, 1e15))
        if self.rule == "sublinear":
            object.__setattr__(self, "exponent", scalar("exponent", self.exponent, 0, 1))

    def pieces_of(self, value: Any) -> Reals:
        """m(v): how many records a value v >= 0 becomes; 1 for v = 0."""
        units = np.divide(real("value", value, 0, closed=True), self.threshold)
        units = np.ceil(units if self.exponent is None else units**self.exponent)
        return np.clip(units, 1, np.inf if self.pieces is None else self.pieces)

    def contribution(self, value: Any) -> Reals:
        value = real("value", value, 0, closed=True)
        # By rule "full" nothing is lost, not even to rounding.
        return value if self.rule == "full" else np.minimum(value, self.threshold * self.pieces_of(value))

    def policy(self, influence: Any) -> Reals:
        """The printed policy m(t)^2 threshold^2 / (2 scale^2), never below `exact_policy`."""
        return np.square(self.pieces_of(influence)) * policies.gaussian(self.threshold, self.scale)

    def exact_policy(self, influence: Any) -> Reals:
        """c(t)^2 / (2 scale^2): what a record of value t really gives away, by the shift of a Gaussian."""
        exact = policies.gaussian(self.contribution(influence), self.scale)
        return np.minimum(exact, self.policy(influence))  # equal for whole pieces, but for rounding


class UnitSplitting(ReleaseFamily):
    """Gaussian noise on the sum of values that are split into clamped pieces."""

    name = "unit_splitting"
    parameters = (
        Axis("threshold", "size of a piece of a value", "counts", "above 0"),
        Axis("rule", "how unit splitting limits the pieces", "", ", ".join(RULES), "text", RULES[0]),
        Axis("pieces", "the most pieces that a value is split into, of rule capped", "1", "a whole number"),
        Axis("exponent", "exponent of the number of pieces of a value, of rule sublinear", "1", "between 0 and 1"),
    )
    required = ("threshold",)

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return UnitSplitRelease(scale=scale, **parameters)
