"""The claims of the papers by id: the decorator that registers them, and what a claim's function may use."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import pandas as pd

from tcdp_sim.claims import Claim, Evidence, Kind, Verdict
from tcdp_sim.errors import choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from tcdp_sim.experiments.papers.runs import Run

T = TypeVar("T")
PAPERS = {  # letter of the ids -> name
    "Z": "Bun, Steinke 2016: Concentrated differential privacy",
    "T": "Bun, Dwork, Rothblum, Steinke 2018: Composable and versatile privacy via truncated CDP",
    "V": "Variants of differential privacy: a summary sheet, 2019",
    "S": "Balle, Barthe, Gaboardi 2018: Privacy amplification by subsampling",
    "P": "Per-record differential privacy, 2024",
}
SHORT = {"Z": "Z: zCDP", "T": "T: tCDP", "V": "V: variants", "S": "S: subsampling", "P": "P: per-record"}


@dataclass(frozen=True)
class Budget:
    """What a claim may spend, and the results that it asked for by `needs`.

    full: whether all points are wanted, or those of the fast subset; runs: study -> its results.
    """

    full: bool = False
    runs: "Mapping[str, Run]" = field(default_factory=lambda: MappingProxyType({}))

    def choose(self, fast: T, full: T) -> T:
        """`fast`, or `full` if all points are wanted; the points of the first must be among those of the second."""
        return full if self.full else fast


@dataclass(frozen=True)
class Row:
    """A row of the catalogue: its label, the ids of all statements in it, the letter of its paper, what it says."""

    label: str
    ids: tuple[str, ...]
    title: str

    @property
    def paper(self) -> str:
        """The letter of its paper."""
        return self.label[0]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper, made anew, or one of ours.

    name: of its files; paper: the letter; title; caption: what it shows and how to read it, which has to do for those
    who do not see it; table: the numbers, of floats and texts; draw: a matplotlib figure of that table alone, None for
    what is shown as a table; needs: studies whose results `table` reads.
    """

    name: str
    paper: str
    title: str
    caption: str
    table: Callable[[Budget], pd.DataFrame] = field(repr=False)
    draw: Callable[[pd.DataFrame], "Figure"] | None = field(default=None, repr=False)
    needs: tuple[str, ...] = ()


_CLAIMS: dict[str, Claim] = {}
_EXHIBITS: dict[str, Exhibit] = {}


def exhibit(shown: Exhibit) -> None:
    """Register a figure or table. Raises ValueError for a name that is taken."""
    if shown.name in _EXHIBITS or not shown.name.isidentifier() or shown.paper not in PAPERS:
        raise ValueError(
            f"exhibit {shown.name!r} of {shown.paper!r} is not valid: taken, or no plain name, or no paper"
        )
    _EXHIBITS[shown.name] = shown


def claim(
    row: str,
    *,
    kind: Kind,
    section: str,
    expected: Verdict,
    part: str = "",
    title: str = "",
    needs: Iterable[str] = (),
    erratum: str = "",
    figure: str = "",
    printed: str = "",
    correct: str = "",
    consequence: str = "",
) -> Callable[[Callable[[Budget], Evidence]], Callable[[Budget], Evidence]]:
    """Register the function below as the one that gathers evidence on a row of the catalogue, or a part of it.

    row: its label; part: "" for the claim as printed, "repaired" or another word for a further claim on the same row,
    which needs a title of its own; needs: names of `studies.STUDIES`. The rest as in `Claim`.
    """

    about = catalogue()[choice("row", row, catalogue())]

    def register(evidence: Callable[[Budget], Evidence]) -> Callable[[Budget], Evidence]:
        identity = f"{row} {part}" if part else row
        if identity in _CLAIMS:
            raise ValueError(f"{identity} has a claim already; a further one needs another `part`")
        if bool(part) != bool(title):
            raise ValueError(f"{identity}: a part needs a title of its own, a row has that of the catalogue")
        _CLAIMS[identity] = Claim(
            id=identity,
            ids=about.ids,
            title=title or about.title,
            kind=kind,
            section=section,
            expected=expected,
            evidence=evidence,
            part=part,
            needs=tuple(needs),
            erratum=erratum,
            figure=figure,
            printed=printed,
            correct=correct,
            consequence=consequence,
        )
        return evidence

    return register


def definition(row: str, section: str) -> None:
    """Register a row that only says what words mean."""
    _unchecked(row, Kind.DEFINITION, section, "a definition")


def not_checkable(row: str, section: str, reason: str) -> None:
    """Register a row that no computation can decide, with the reason."""
    _unchecked(row, Kind.NOT_CHECKABLE, section, reason)


def _unchecked(row: str, kind: Kind, section: str, reason: str) -> None:
    register = claim(row, kind=kind, section=section, expected=Verdict.NOT_CHECKABLE)
    register(lambda _: Evidence(reason=reason))


def registered() -> Mapping[str, Claim]:
    """Id -> claim, in the order of the catalogue; parts follow their row."""
    order = {label: place for place, label in enumerate(catalogue())}
    rows = sorted(_CLAIMS.values(), key=lambda one: (order[row_of(one)], len(one.id)))
    return MappingProxyType({one.id: one for one in rows})


def exhibited() -> Mapping[str, Exhibit]:
    """Name -> figure or table, in the order of the papers and names."""
    letters = list(PAPERS)
    shown = sorted(_EXHIBITS.values(), key=lambda one: (letters.index(one.paper), one.name))
    return MappingProxyType({one.name: one for one in shown})


def row_of(one: Claim) -> str:
    """The label of the catalogue's row that a claim is about."""
    return next(label for label, row in catalogue().items() if row.ids == one.ids)


@cache
def catalogue() -> Mapping[str, Row]:
    """Label -> row, in the order of the papers: all numbered statements, figures, tables and claims of the text."""
    rows = _table("catalogue.csv")
    return MappingProxyType({row["row"]: Row(row["row"], tuple(row["ids"].split(";")), row["title"]) for row in rows})


@cache
def statements() -> tuple[tuple[str, str, str], ...]:
    """(letter of the paper, numbered statement, the id that it has in the catalogue)."""
    return tuple((row["paper"], row["statement"], row["id"]) for row in _table("statements.csv"))


def _table(name: str) -> list[dict[str, str]]:
    text = resources.files("tcdp_sim.experiments.papers").joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
