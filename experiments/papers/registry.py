"""The decorator that joins a claim of a data file with the function that computes its points, and the exhibits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import pandas as pd

from tcdp_sim.core.errors import choice
from tcdp_sim.experiments.papers import library
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Point, Points
from tcdp_sim.experiments.papers.library import CHECKED, Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tcdp_sim.experiments.papers.gather.runs import Run

T = TypeVar("T")


@dataclass(frozen=True)
class Budget:
    """The computing budget of a claim, and the results of the studies that it `needs`.

    `full` is True if all points are wanted, and False for the fast subset. `runs` maps a study to its results.
    """

    full: bool = False
    runs: "Mapping[str, Run]" = field(default_factory=lambda: MappingProxyType({}))

    def choose(self, fast: T, full: T) -> T:
        """Return `fast`, or `full` if all points are wanted. The points of `fast` must be among those of `full`."""
        return full if self.full else fast


PointsOf = Callable[[Budget], Points]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper, reproduced, or one of ours.

    - `name`: name of its files.
    - `paper`: letter of the paper.
    - `caption`: content and reading of the exhibit. It must suffice for readers who do not see it.
    - `table`: function that returns the numbers, as floats and texts.
    - `draw`: function that draws a matplotlib figure of that table alone; None for an exhibit shown as a table.
    - `needs`: studies whose results `table` reads.
    """

    name: str
    paper: str
    title: str
    caption: str
    table: Callable[[Budget], pd.DataFrame] = field(repr=False)
    draw: Callable[[pd.DataFrame], "Figure"] | None = field(default=None, repr=False)
    needs: tuple[str, ...] = ()


_POINTS: dict[str, PointsOf] = {}
_EXHIBITS: dict[str, Exhibit] = {}


def claim(identity: str) -> Callable[[PointsOf], PointsOf]:
    """Register the function below as the one that computes the points of a claim of the data files.

    The decorator raises ValueError for an id that no data file has, and for one that has a function already.
    """
    about = library.claims()[choice("claim", identity, library.claims())]
    if about.kind not in CHECKED:
        raise ValueError(f"{identity} is of kind {about.kind.value}, which has no points")

    def register(points: PointsOf) -> PointsOf:
        if identity in _POINTS:
            raise ValueError(f"{identity} has a function already, {_POINTS[identity].__qualname__}")
        _POINTS[identity] = points
        return points

    return register


def function_of(one: Claim) -> PointsOf | None:
    """Return the function that computes the points of a claim, or None for a claim that is not checked."""
    return _POINTS.get(one.id)


def points_of(one: Claim, budget: Budget) -> tuple[Point, ...]:
    """Return the points of a claim, computed now. A claim that is not checked has none."""
    function = function_of(one)
    return tuple(function(budget)) if function else ()


def evidence_of(one: Claim, points: Points) -> Evidence:
    """Return the evidence on a claim: these points, with what its data file says of them."""
    names = ("measures", "universe", "proof", "why", "tolerance", "growth", "vacuous", "reason")
    return Evidence(tuple(points), **{name: getattr(one, name) for name in names})


def exhibit(shown: Exhibit) -> None:
    """Register a figure or table. Raise ValueError for a name that is taken."""
    if shown.name in _EXHIBITS or not shown.name.isidentifier() or shown.paper not in library.papers():
        raise ValueError(
            f"exhibit {shown.name!r} of {shown.paper!r} is not valid: taken, or no plain name, or no paper"
        )
    _EXHIBITS[shown.name] = shown


def exhibited() -> Mapping[str, Exhibit]:
    """Return name -> figure or table, in the order of the papers and names."""
    letters = list(library.papers())
    shown = sorted(_EXHIBITS.values(), key=lambda one: (letters.index(one.paper), one.name))
    return MappingProxyType({one.name: one for one in shown})
