"""The page of the papers, and the same as Markdown and CSV: a function of the results and exhibits alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import Verdict
from tcdp_sim.experiments.papers.library import papers
from tcdp_sim.experiments.papers.page import drawing
from tcdp_sim.experiments.papers.page.rows import claims_table, page_rows
from tcdp_sim.experiments.papers.page.wording import SHAPES, number
from tcdp_sim.experiments.papers.registry import Exhibit

from tcdp_sim.report import html, plots
from tcdp_sim.report.svg import file_svg, inline_svg
from tcdp_sim.store import durable
from tcdp_sim.texts import write_csv

FIGURES = "figures"
EXHIBITS = "figures/exhibits.csv"  # what each figure and table is, and shows
PLACE = "results/papers"  # in the commands of the page, wherever it lies
LARGE = (Verdict.HOLDS, Verdict.FALSE, Verdict.CONSISTENT, Verdict.OPEN, Verdict.NOT_CHECKABLE)
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
    "A panel a claim: exact value over the form of the claim, divided by its last value; shaded: a factor of four.",
    lambda _: pd.DataFrame(),
    drawing.draw_asymptotics,
)


View = dict[str, Any]  # what a template shows


def write(folder: Path, results: Sequence[Result], exhibits: Mapping[Exhibit, pd.DataFrame], about: View) -> Path:
    """Write index.html, papers.md, claims.csv and figures/ into a folder; the path of the page. Raises OSError.

    exhibits: each with its numbers; about: see `provenance.about`.
    """
    durable.make_folder(folder / FIGURES)
    table = claims_table(results)
    write_csv(table, folder / "claims.csv")
    shown = [_show(folder, exhibit, content) for exhibit, content in exhibits.items()]
    loose, ratios = drawing.looseness_table(results), drawing.asymptotics_table(results)
    listed = ("name", "paper", "title", "caption", "file", "command")
    write_csv(pd.DataFrame([{key: one[key] for key in listed} for one in shown], columns=listed), folder / EXHIBITS)
    values = _values(table, shown) | {"about": about}
    values["loose"] = _show(folder, LOOSENESS, loose) if len(loose) else None
    values["asymptotics"] = _show(folder, ASYMPTOTICS, ratios) if len(ratios) else None
    durable.write(folder / "index.html", html.page("papers.html", **values))
    durable.write(folder / "papers.md", html.page("papers.md", **values))
    return folder / "index.html"


def _values(table: pd.DataFrame, shown: Sequence[View]) -> View:
    rows = page_rows(table)
    counts = Counter(table["verdict"])
    seen = [verdict for verdict in Verdict if verdict in LARGE or counts[verdict]]
    wrong = [row for row in rows if row["verdict"] in (Verdict.FALSE, Verdict.INCONSISTENT)]
    loose = [row for row in rows if row["loose_text"] and not row["vacuous"]]
    return {
        "rows": rows,
        "counts": [{"verdict": str(v), "shape": SHAPES[v], "number": counts[v]} for v in seen],
        "filters": {
            "paper": {
                letter: one.short for letter, one in papers().items() if any(r["letter"] == letter for r in rows)
            },
            "verdict": {str(verdict): str(verdict) for verdict in Verdict if counts[verdict]},
            "kind": {str(kind): str(kind) for kind in Kind if kind in set(table["kind"])},
        },
        "names": [one["name"] for one in shown],
        "wrong": wrong,
        "looseness": sorted(loose, key=lambda row: -float(str(row["loose"]))),
        "unchecked": [row for row in rows if row["verdict"] == Verdict.NOT_CHECKABLE],
        "papers": [_paper(letter, rows, shown) for letter in papers() if any(row["letter"] == letter for row in rows)],
    }


def _paper(letter: str, rows: Sequence[View], shown: Sequence[View]) -> View:
    own = [row for row in rows if row["letter"] == letter]
    sections = list(dict.fromkeys(row["section"] for row in own))
    return {
        "letter": letter,
        "name": papers()[letter].name,
        "exhibits": [one for one in shown if one["paper"] == letter],
        "sections": [{"name": name, "rows": [row for row in own if row["section"] == name]} for name in sections],
    }


def _show(folder: Path, exhibit: Exhibit, table: pd.DataFrame) -> View:
    """An exhibit for the page; its files are written on the way."""
    file = f"{FIGURES}/{exhibit.name}.csv"
    write_csv(table, folder / file)
    shown = {name: getattr(exhibit, name) for name in ("name", "paper", "title", "caption")}
    shown |= {"file": file, "svg": "", "png": "", "headings": [], "rows": [], "command": "tcdp-sim reproduce"}
    if exhibit.needs:
        shown["command"] = f"tcdp-sim draw {PLACE}/runs/{exhibit.needs[0]}"
    if exhibit.draw is None:
        rows = [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
        return shown | {"headings": list(map(str, table)), "rows": rows}
    with plots.style():
        figure = exhibit.draw(table)
        drawn = file_svg(figure)
        durable.write(folder / FIGURES / f"{exhibit.name}.svg", drawn)
        return shown | {"svg": Markup(inline_svg(drawn, exhibit.name, exhibit.title, exhibit.caption))}


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
