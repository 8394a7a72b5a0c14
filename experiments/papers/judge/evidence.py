"""Evidence on a claim: points with two sides, each an interval that holds the truth, exact or simulated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.statistics.intervals import Simulated


class Kind(StrEnum):
    """The statement that a claim makes about its points."""

    INEQUALITY = "inequality"  # left <= right at all of them
    ORDERING = "ordering"  # left <= right where the size of the gap means nothing, as in a ranking
    IDENTITY = "identity"  # left = right at all of them
    EXISTENCE = "existence"  # left <= right at one of them
    ASYMPTOTIC = "asymptotic"  # left over right settles as `at` grows
    DEFINITION = "definition"
    NOT_CHECKABLE = "not checkable"


class Proof(StrEnum):
    """The argument that extends a verdict from the points to the claim's whole universe."""

    CHORD = "chord"  # chords bound the values between the points
    MONOTONE = "monotone"  # the points are the worst ones
    EXHAUSTIVE = "exhaustive"  # there are no other points
    IDENTITY = "identity"  # both sides are one function
    SYMBOLIC = "symbolic"  # derived


class Growth(StrEnum):
    """The direction in which an asymptotic claim bounds the ratio."""

    BOTH = "Θ"
    AT_MOST = "O"
    AT_LEAST = "Ω"


Side = Bounds | Simulated


def constant(value: float) -> Bounds:
    """Return a given number, such as 1 or a given beta, as an exact side."""
    return Bounds(value, value, value)


@dataclass(frozen=True)
class Point:
    """Both sides of a claim at one place.

    `where` names the place in words ("ω√ρ = 0.125, ρ = 1e-4"). For an asymptotic claim `at` is log10 of the growing
    quantity. `box` is True if the sides bound the claim's sides for all parameters of a box, which `where` names, by
    ball arithmetic. The class raises ValueError for a side that is no interval.
    """

    where: str
    left: Side
    right: Side
    at: float = nan
    box: bool = False

    def __post_init__(self) -> None:
        for name, side in (("left", self.left), ("right", self.right)):
            if not side.lower <= side.upper:
                raise ValueError(f"the {name} side at {self.where!r} is {tuple(side)}; valid: lower <= upper")
            ends = (float(side.lower), float(side.estimate), float(side.upper))  # converts numpy's numbers to Python's
            plain = Bounds(*ends) if isinstance(side, Bounds) else Simulated(*ends, float(side.mcse), int(side.trials))
            object.__setattr__(self, name, plain)
        object.__setattr__(self, "at", float(self.at))


Points = Iterable[Point]  # the result of a claim's function


@dataclass(frozen=True)
class Evidence:
    """The evidence on a claim.

    - `points`: the points at which the claim was tried.
    - `measures`: meaning of the sides, in words with units.
    - `universe`: the cases that the claim is about.
    - `proof`, `why`: the argument that extends the points to the universe, and a line on it.
    - `tolerance`: relative tolerance. An inequality may be missed by it, for rounding where the bound is attained.
      The sides of an identity may be that wide and that far apart.
    - `growth`: direction of an asymptotic claim.
    - `vacuous`: the reason why a claim that holds has no content.
    - `reason`: the reason why a claim cannot be checked.
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
