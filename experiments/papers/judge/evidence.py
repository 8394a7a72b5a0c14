"""Evidence on a claim: points with two sides, each an interval that holds the truth, exact or simulated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.statistics.intervals import Simulated


class Kind(StrEnum):
    """What a claim says of its points."""

    INEQUALITY = "inequality"  # left <= right at all of them
    ORDERING = "ordering"  # the same, where by how much says nothing: who is better, what grows
    IDENTITY = "identity"  # left = right at all of them
    EXISTENCE = "existence"  # left <= right at one of them
    ASYMPTOTIC = "asymptotic"  # left over right settles as `at` grows
    DEFINITION = "definition"
    NOT_CHECKABLE = "not checkable"


class Proof(StrEnum):
    """What carries a verdict from the points to all that the claim speaks of."""

    CHORD = "chord"  # between the points lie certified chords
    MONOTONE = "monotone"  # the points are the worst ones
    EXHAUSTIVE = "exhaustive"  # there are no others
    IDENTITY = "identity"  # both sides are one function
    SYMBOLIC = "symbolic"  # derived


class Growth(StrEnum):
    """Which way an asymptotic claim bounds the ratio."""

    BOTH = "Θ"
    AT_MOST = "O"
    AT_LEAST = "Ω"


Side = Bounds | Simulated


def constant(value: float) -> Bounds:
    """A number that is what it is: 1, a beta that is given."""
    return Bounds(value, value, value)


@dataclass(frozen=True)
class Point:
    """Both sides of a claim at one place.

    where: in words ("ω√ρ = 0.125, ρ = 1e-4"); at: of an asymptotic claim, log10 of what grows. Raises ValueError for a
    side that is no interval.
    """

    where: str
    left: Side
    right: Side
    at: float = nan

    def __post_init__(self) -> None:
        for name, side in (("left", self.left), ("right", self.right)):
            if not side.lower <= side.upper:
                raise ValueError(f"the {name} side at {self.where!r} is {tuple(side)}; valid: lower <= upper")
            ends = (float(side.lower), float(side.estimate), float(side.upper))  # numpy's numbers are none of Python's
            plain = Bounds(*ends) if isinstance(side, Bounds) else Simulated(*ends, float(side.mcse), int(side.trials))
            object.__setattr__(self, name, plain)
        object.__setattr__(self, "at", float(self.at))


Points = Iterable[Point]  # what the function of a claim yields


@dataclass(frozen=True)
class Evidence:
    """What was found out about a claim.

    points: where it was tried; measures: what the sides are, in words, with units; universe: what the claim speaks of;
    proof: what carries the points to the universe, and `why` in a line; tolerance: relative: by how much an inequality
    may be missed (rounding, where it is attained), and how wide an identity's sides and how far apart they may be;
    growth: of an asymptotic claim; vacuous: why a claim that holds says nothing; reason: of what cannot be checked.
    """

    points: Sequence[Point] = ()
    measures: str = ""
    universe: str = ""
    proof: Proof | None = None
    why: str = ""
    tolerance: float = 0.0
    growth: Growth = Growth.BOTH
    vacuous: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        if self.proof is not None and not self.why:
            raise ValueError(f"proof = {self.proof} needs `why`: one line that says what makes it one")
