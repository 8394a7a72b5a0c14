"""The page of the papers, also as Markdown and CSV: a function of the results and exhibits alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from tcdp_sim.core.texts import write_csv
from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.classes import MEANINGS, ClaimClass
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.library import papers
from tcdp_sim.experiments.papers.page import drawing
from tcdp_sim.experiments.papers.page.counts import of_classes, of_our_verdicts, ours, printed, weak
from tcdp_sim.experiments.papers.page.rows import claims_table, page_rows
from tcdp_sim.experiments.papers.page.wording import number
from tcdp_sim.experiments.papers.registry import Exhibit
from tcdp_sim.report import html
from tcdp_sim.report.svg import inline_svg
from tcdp_sim.store import durable

FIGURES = "figures"
EXHIBITS = "figures/exhibits.csv"  # title and caption of each figure and table
PLACE = "results/papers"  # the folder in the commands of the page, wherever the page is
LOOSENESS = Exhibit(
    "looseness",
    "Z",
    "How loose the bounds are that hold",
    "Each dot is a bound that holds; its place says by what factor it could be smaller at the tightest point tried. "
    "Bounds that are attained, or loose by less than a tenth, are in the table alone.",
    lambda _: pd.DataFrame(),
    drawing.draw_looseness,
)
ASYMPTOTICS = Exhibit(
    "asymptotics",
    "Z",
    "How ratios to asymptotic forms settle",
    "A panel a claim: exact value over the form of the claim, divided by its last value; shaded: a factor of four. "
    "Dots that are not joined belong to several series.",
    lambda _: pd.DataFrame(),
    drawing.draw_asymptotics,
)


MISTAKES = {ClaimClass.FALSE, ClaimClass.PROOF_GAP, ClaimClass.HYPOTHESIS_MISSING, ClaimClass.MISPRINT}


@dataclass(frozen=True)
class Entries:
    """A page of numbered entries: the name of its files, its title, and one sentence about it."""

    file: str
    title: str
    about: str


ERRATA = Entries(
    "errata",
    "Errata of five papers on concentrated differential privacy",
    "Each entry has a misprint, a gap in a proof, a missing hypothesis or a false statement, and the claims around it.",
)
REMARKS = Entries(
    "remarks",
    "Remarks on five papers on concentrated differential privacy",
    "These entries are no mistakes of a paper: statements that hold, informal sentences beside exact numbers, damaged "
    "text, and findings of ours.",
)
View = dict[str, Any]  # the variables of a template
Draw = Callable[[Exhibit, pd.DataFrame], str]  # an exhibit and its table -> SVG


def write(
    folder: Path, results: Sequence[Result], exhibits: Mapping[Exhibit, pd.DataFrame], about: View, picture: Draw
) -> Path:
    """Write the page, errata and remarks, all also as Markdown, claims.csv and figures/. Return the path of the page.

    `exhibits` has the numbers of each. `provenance.about` documents `about`. `picture` draws an exhibit as SVG. The
    function raises OSError if the folder is not writable.
    """
    durable.make_folder(folder / FIGURES)
    table = claims_table(results)
    write_csv(table, folder / "claims.csv")
    shown = [_show(folder, exhibit, content, picture) for exhibit, content in exhibits.items()]
    loose, ratios = drawing.looseness_table(results), drawing.asymptotics_table(results)
    listed = ("name", "paper", "title", "caption", "file", "command")
    write_csv(pd.DataFrame([{key: one[key] for key in listed} for one in shown], columns=listed), folder / EXHIBITS)
    values = _values(results, table, shown) | {"about": about}
    values["loose"] = _show(folder, LOOSENESS, loose, picture) if len(loose) else None
    values["asymptotics"] = _show(folder, ASYMPTOTICS, ratios, picture) if len(ratios) else None
    for name in ("index.html", "papers.md"):
        durable.write(folder / name, html.page(name.replace("index", "papers"), **values))
    for of, more in zip((ERRATA, REMARKS), (values["errata"], values["remarks"])):
        for ending in ("html", "md"):
            own = {"page": of, "entries": more}
            durable.write(folder / f"{of.file}.{ending}", html.page(f"errata.{ending}", **values | own))
    return folder / "index.html"


def _values(results: Sequence[Result], table: pd.DataFrame, shown: Sequence[View]) -> View:
    rows = page_rows(table)
    seen = {row["letter"] for row in rows}
    bounds, survivors = weak(results)
    entries = _entries(rows)
    return {
        "rows": rows,
        "classes": of_classes(results),
        "our_verdicts": of_our_verdicts(results),
        "printed_count": len(printed(results)),
        "our_count": len(ours(results)),
        "bounds": bounds,
        "survivors": survivors,
        "filters": {
            "paper": {letter: paper.short for letter, paper in papers().items() if letter in seen},
            "class": {str(each): str(each) for each in ClaimClass if str(each) in set(table["class"])},
            "kind": {str(kind): str(kind) for kind in Kind if kind in set(table["kind"])},
        },
        "names": [one["name"] for one in shown],
        "errata": [entry for entry in entries if _is_erratum(entry)],
        "remarks": [entry for entry in entries if not _is_erratum(entry)],
        "home": {entry["name"]: (ERRATA if _is_erratum(entry) else REMARKS).file for entry in entries},
        "findings": _findings(rows),
        "withdrawn": _withdrawn(rows),
        "meanings": {str(each): meaning for each, meaning in MEANINGS.items()},
        "looseness": sorted((row for row in rows if row["loose_text"] and not row["vacuous"]), key=_looseness),
        "papers": [_paper(letter, rows, shown) for letter in papers() if letter in seen],
    }


def _looseness(row: View) -> float:
    return -float(str(row["loose"]))


def _paper(letter: str, rows: Sequence[View], shown: Sequence[View]) -> View:
    own, paper = [row for row in rows if row["letter"] == letter], papers()[letter]
    sections = list(dict.fromkeys(row["section"] for row in own))
    return {
        "letter": letter,
        "name": paper.name,
        "title": paper.title,
        "version": paper.version,
        "text": paper.text,
        "exhibits": [one for one in shown if one["paper"] == letter],
        "sections": [{"name": name, "rows": [row for row in own if row["section"] == name]} for name in sections],
    }


def _findings(rows: Sequence[View]) -> list[View]:
    """Return the findings of the papers on this page, each with links to its claims."""
    anchors = {row["id"]: row["anchor"] for row in rows}
    found = [finding for paper in papers().values() for finding in paper.findings]
    return [
        {"text": one.text, "claims": [{"id": name, "anchor": anchors[name]} for name in one.ids]}
        for one in found
        if set(one.ids) <= set(anchors)
    ]


def _withdrawn(rows: Sequence[View]) -> list[View]:
    """Return the statements of the first version that were withdrawn, for kept and removed rows."""
    kept = [{"id": row["id"], "anchor": row["anchor"], "text": row["withdrawn"]} for row in rows if row["withdrawn"]]
    letters = {row["letter"] for row in rows}
    removed = (paper.withdrawn.items() for letter, paper in papers().items() if letter in letters)
    return kept + [{"id": name, "anchor": "", "text": text} for each in removed for name, text in each]


def _is_erratum(entry: View) -> bool:
    """Return True if some claim of an entry is a mistake of a paper."""
    return any(row["class"] in MISTAKES for row in entry["rows"])


def _entries(rows: Sequence[View]) -> list[View]:
    """Return each numbered entry with its claims, in the order of the numbers."""
    names = {name for row in rows for name in row["errata"]}
    ordered = sorted(names, key=lambda name: (name[0], int(name[1:])))
    return [{"name": name, "rows": [row for row in rows if name in row["errata"]]} for name in ordered]


def _show(folder: Path, exhibit: Exhibit, table: pd.DataFrame, picture: Draw) -> View:
    """Return an exhibit for the page, after writing its files."""
    file = f"{FIGURES}/{exhibit.name}.csv"
    write_csv(table, folder / file)
    shown = {name: getattr(exhibit, name) for name in ("name", "paper", "title", "caption")}
    shown |= {"file": file, "svg": "", "png": "", "headings": [], "rows": [], "command": "tcdp-sim reproduce"}
    if exhibit.needs:
        shown["command"] = f"tcdp-sim draw {PLACE}/runs/{exhibit.needs[0]}"
    if exhibit.draw is None:
        rows = [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
        return shown | {"headings": list(map(str, table)), "rows": rows}
    drawn = picture(exhibit, table)
    durable.write(folder / FIGURES / f"{exhibit.name}.svg", drawn)
    return shown | {"svg": Markup(inline_svg(drawn, exhibit.name, exhibit.title, exhibit.caption))}


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
