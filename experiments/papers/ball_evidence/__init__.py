"""Counter-examples and repaired statements confirmed in ball arithmetic: both sides of a claim at one point.

A module a paper. What is recorded here neither asks the package for a number nor is asked by the judge: it is a second
opinion, from closed forms and certified integrals, on a point that `Evidence` shows.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import precise

if TYPE_CHECKING:
    from flint import arb

Sides = Callable[[], "tuple[arb, arb]"]


class Says(StrEnum):
    """How the sides of a claim compare at a point."""

    ABOVE = "left > right"  # refutes an inequality
    AT_MOST = "left <= right"  # agrees with one
    APART = "left ≠ right"  # refutes an identity
    EQUAL = "left = right"  # agrees with one: no ball can prove it


CONFIRMED: dict[str, Sides] = {}  # id of a claim -> both sides at its point
SAYS: dict[str, Says] = {}  # id -> what they show
UNCONFIRMED: Mapping[str, str] = {
    "P.C5.6": "at p = 0 the printed 1/Γ(1/p) is not defined: there is no number to compare with 1",
    "Z.P31 repaired": "an order of growth",
    "Z.6.1a": "withdrawn; an order of growth",
    "Z.6.1a Laplace": "withdrawn; an order of growth",
    "T.1.2c to the letter": "withdrawn; an order of growth",
    "P.3 square root": "withdrawn; an order of growth",
    "T.1.1a": "withdrawn; an order that is reached at another cost contradicts nothing",
    "P.2.5 by rank": "withdrawn; the statement is about a partition",
    "P.2.5r": "withdrawn; a way to read the text",
    "T.5.2c": "withdrawn; both sides are gaps found by a search, and the statement compares the reductions as analysed",
    "V.rdp1 tight": "withdrawn; one side is a bound certified by the package's own search",
    "S.4a bound": "its sides are exact fractions over all laws tried",
}


def confirmed() -> Mapping[str, Sides]:
    """Return id -> both sides, of all papers."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return CONFIRMED


def confirms(identity: str, says: Says) -> Callable[[Sides], Sides]:
    """Register the function below as one that gives both sides of a claim; ValueError if the claim has one."""

    def register(sides: Sides) -> Sides:
        if identity in CONFIRMED:
            raise ValueError(f"{identity} is confirmed already; valid: one point a claim")
        CONFIRMED[identity], SAYS[identity] = precise(sides), says
        return CONFIRMED[identity]

    return register


def shown(says: Says, left: "arb", right: "arb") -> bool:
    """Return whether the balls show it rigorously; of an equality, whether they overlap and are narrow."""
    if says is Says.EQUAL:
        return bool(left.overlaps(right) and min(left.rel_accuracy_bits(), right.rel_accuracy_bits()) > 60)
    compared = {Says.ABOVE: left > right, Says.AT_MOST: left <= right, Says.APART: not left.overlaps(right)}
    return bool(compared[says])
