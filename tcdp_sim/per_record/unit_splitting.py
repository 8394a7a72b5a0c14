"""Unit splitting, which replaces a record by several clamped ones; the result is Gaussian noise on a clipped sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import choice, real, scalar, whole
from tcdp_sim.per_record import policies
from tcdp_sim.per_record.base import Release
from tcdp_sim.per_record.clipped import ContributionRelease
from tcdp_sim.per_record.families import ReleaseFamily

RULES = ("full", "capped", "sublinear")


@dataclass(frozen=True)
class UnitSplitRelease(ContributionRelease):
    """A sum of values that are split into equal pieces, each clamped at `threshold`, plus Gaussian noise.

    A value v >= 0 is split into m(v) pieces.

    Source: Finley et al. (2024), Section 2 [Fin24].

    Parameters
    ----------
    threshold : float
        The largest piece, in the units of the values, above 0.
    scale : float
        The standard deviation of the noise, in the units of the values, above 0.
    rule : str
        "full" for m(v) = ceil(v / threshold), so that nothing is lost; "capped" for at most `pieces` pieces;
        "sublinear" for m(v) = ceil((v / threshold)^exponent).
    pieces : int or None
        The largest number of pieces, at least 1, for rule "capped" only.
    exponent : float or None
        The exponent, in (0, 1), for rule "sublinear" only.

    Raises
    ------
    ValueError
        If a parameter is out of range, missing, or given for another rule.

    Examples
    --------
    >>> release = UnitSplitRelease(threshold=10.0, scale=100.0, rule="capped", pieces=3)
    >>> release.contribution([5.0, 25.0, 80.0]).tolist()
    [5.0, 25.0, 30.0]
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
        """Return m(v), the number of pieces of a value v >= 0; it is 1 for v = 0."""
        units = np.divide(real("value", value, 0, closed=True), self.threshold)
        units = np.ceil(units if self.exponent is None else units**self.exponent)
        return np.clip(units, 1, np.inf if self.pieces is None else self.pieces)

    def contribution(self, value: Any) -> Reals:
        value = real("value", value, 0, closed=True)
        # The rule "full" must lose nothing, not even to rounding.
        return value if self.rule == "full" else np.minimum(value, self.threshold * self.pieces_of(value))

    def policy(self, influence: Any) -> Reals:
        """Return the printed policy m(t)^2 threshold^2 / (2 scale^2), in nats, which is never below `exact_policy`."""
        return np.square(self.pieces_of(influence)) * policies.gaussian(self.threshold, self.scale)

    def exact_policy(self, influence: Any) -> Reals:
        """Return the exact zCDP of a record of value t in nats, c(t)^2 / (2 scale^2) for its contribution c(t)."""
        exact = policies.gaussian(self.contribution(influence), self.scale)
        return np.minimum(exact, self.policy(influence))  # rounding could put the exact value above its bound


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
