"""Confirmation of counter-examples and repaired statements in ball arithmetic: both sides of a claim at one point.

The functions are in the module `balls` of each paper. They take no number from the package, and the judge does not call
them. They are a second opinion, from closed forms and certified integrals, on a point that the evidence shows.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.balls.arithmetic import floats, precise
from tcdp_sim.experiments.papers.judge.evidence import Point

if TYPE_CHECKING:
    from flint import arb

Sides = Callable[[], "tuple[arb, arb]"]


class Says(StrEnum):
    """A comparison of the two sides of a claim at a point."""

    ABOVE = "left > right"  # refutes an inequality
    AT_MOST = "left <= right"  # agrees with an inequality
    APART = "left ≠ right"  # refutes an identity
    EQUAL = "left = right"  # agrees with an identity, which no ball can prove

    @property
    def sign(self) -> str:
        """The sign between the sides."""
        return self.value.split()[1]


CONFIRMED: dict[str, Sides] = {}  # id of a claim -> both sides at its point
SAYS: dict[str, Says] = {}  # id -> the comparison that the sides show


def confirms(identity: str, says: Says) -> Callable[[Sides], Sides]:
    """Register the function below as the one that gives both sides of a claim. Raise ValueError if there is one."""

    def register(sides: Sides) -> Sides:
        if identity in CONFIRMED:
            raise ValueError(f"{identity} is confirmed already; valid: one point a claim")
        CONFIRMED[identity], SAYS[identity] = precise(sides), says
        return CONFIRMED[identity]

    return register


def shown(says: Says, left: "arb", right: "arb") -> bool:
    """Return True if the balls show the comparison rigorously. For an equality they must overlap and be narrow."""
    if says is Says.EQUAL:
        return bool(left.overlaps(right) and min(left.rel_accuracy_bits(), right.rel_accuracy_bits()) > 60)
    compared = {Says.ABOVE: left > right, Says.AT_MOST: left <= right, Says.APART: not left.overlaps(right)}
    return bool(compared[says])


def in_floats(sides: Sides) -> Point:
    """Return both sides as bounds in floats that contain the balls. The docstring of `sides` names the place."""
    left, right = sides()
    where = (sides.__doc__ or "").splitlines()[0]
    return Point(where, Bounds(*floats(left)), Bounds(*floats(right)))
