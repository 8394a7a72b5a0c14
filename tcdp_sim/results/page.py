"""A page about a run, to send to somebody: the question, figures, numbers, problems and provenance."""

import csv
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from tcdp_sim import results
from tcdp_sim.core.texts import blank, shortened
from tcdp_sim.report import html, latex, plots, svg
from tcdp_sim.results import explore, page_file, published
from tcdp_sim.results.open import readable
from tcdp_sim.results.published import Published
from tcdp_sim.statistics import contradictions
from tcdp_sim.store import run_settings, snapshot
from tcdp_sim.store.figure_record import TITLE
from tcdp_sim.study import rerun
from tcdp_sim.study.study import data_notes

NAME = "report.html"
MOST_ROWS = 200  # rows of a table on the page
MOST_EXPLORED = 50_000  # rows of the figure in which a reader chooses what is drawn
MOST_BYTES = 2_000_000  # size of the files with the table that the page carries
LONGEST_CELL = 2000  # characters, such as of a traceback
MOST_MARKS = 200_000  # characters of an SVG; a larger figure becomes a PNG
LEVELS = 8  # an axis with more values is shortened
EMPTY = {"headings": [], "rows": [], "title": ""}


def write(folder: Path, file: Path | None = None) -> Path:
    """Write the page of a run and return its path. Equal runs give equal bytes.

    The page goes into the run's folder unless a file is given. Raises UserError if the folder holds no results, or if
    the page cannot be written.
    """
    page_file.check_results(folder)
    target = page_file.checked(folder / NAME if file is None else file)
    values = _values(published.read(folder))
    scripts = [html.file("filter.js"), *(explore.scripts() if values["explored"] else ())]
    return page_file.write(target, html.page("run.html", scripts, **values))


def _values(run: Published) -> dict[str, Any]:
    experiment = str(run.cells.attrs["title"]).removeprefix(TITLE)
    config = run_settings.config_of(run.folder)
    table = results.tidy(run.cells)
    found = contradictions.find(run.table)
    problems = _problems(run.folder / "problems.csv")
    return {
        "name": run.folder.resolve().name,
        "experiment": experiment,
        "folder": run.folder.name,
        "question": config["experiment"].get("question") or f"experiment {experiment}",
        "counts": _counts(run, len(found), problems),
        "asked": _asked(run, config),
        "figures": _figures(run),
        "explored": _explored(run, table),
        "table": _table("Numbers of all cells", table.head(MOST_ROWS)),
        "cut": len(table) if len(table) > MOST_ROWS else 0,
        "downloads": _downloads(table),
        "agreement": _agreement(found),
        "contradictions": _table("Simulated numbers that contradict exact ones beyond chance", found),
        "comparisons": found.attrs.get("comparisons", 0),
        "problems": problems,
        "dropped": _dropped(run),
        "provenance": _provenance(run),
        "again": rerun.command(config),
    }


def _counts(run: Published, contradicted: int, problems: Mapping[str, Any]) -> list[dict[str, Any]]:
    trials = int(run.cells["trials"].sum())
    return [
        {"number": f"{run.cells.sizes['cell']:,}", "what": "cells", "bad": False},
        {"number": f"{trials:,}", "what": "trials", "bad": False},
        {"number": contradicted, "what": "contradictions", "bad": bool(contradicted)},
        {"number": len(problems["rows"]), "what": "errors and warnings", "bad": bool(problems["rows"])},
    ]


def _asked(run: Published, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    cells = run.cells
    terms = [("experiment", str(cells.attrs["title"]).removeprefix(TITLE)), ("mechanism", config["mechanism"]["name"])]
    for axis in json.loads(cells.attrs["axes"]):
        levels = [value for value in dict.fromkeys(cells[axis].values.tolist()) if not blank(value)]
        if levels:
            terms.append((axis, _listed(levels)))
    trials = sorted(set(cells["trials"].values.tolist()))
    terms.append(("trials a cell", f"{trials[0]:,}" if len(trials) == 1 else f"{trials[0]:,} to {trials[-1]:,}"))
    terms.append(("neighbours", plots.NEIGHBOURS.get(relation := cells.attrs["neighbouring_relation"], relation)))
    return terms


def _listed(levels: Sequence[Any]) -> str:
    texts = [_cell(level) for level in levels]
    if len(texts) <= LEVELS:
        return ", ".join(texts)
    return f"{', '.join(texts[:3])}, ... {texts[-1]} ({len(texts)} values)"


def _figures(run: Published) -> list[dict[str, Any]]:
    shown = []
    with plots.style():
        chosen = published.chosen_names(run.cells)
        for i, (name, figure, table) in enumerate(run.experiment.figures(run.table)):
            plots.literal(figure, chosen)
            title = name.replace("_", " ")
            about = {"name": f"shown_{i}", "title": title, "caption": f"{len(table)} rows.", "headings": [], "rows": []}
            about |= {"file": f"figures/{name}.csv", "command": "tcdp-sim draw FOLDER"}
            shown.append(about | _picture(figure, f"shown_{i}", title))
    return shown


def _explored(run: Published, table: pd.DataFrame) -> Markup | None:
    """Return the data of the figure of `explore`, or None if the table is too large or plotly is not installed."""
    if find_spec("plotly") is None or len(table) > MOST_EXPLORED:
        return None
    return explore.data(run.cells, table)


def _picture(figure: Figure, name: str, title: str) -> dict[str, Any]:
    drawn = svg.inline_svg(svg.file_svg(figure), name, title, "The numbers are in the table below.")
    if len(drawn) <= MOST_MARKS:
        return {"svg": Markup(drawn), "png": ""}
    return {"svg": "", "png": Markup(svg.png_data(figure))}


def _table(title: str, frame: pd.DataFrame) -> dict[str, Any]:
    frame = frame.dropna(axis="columns", how="all")
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return {"title": title, "headings": list(map(str, frame)), "rows": rows}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return str(value)


def _downloads(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the table as CSV and LaTeX in data addresses, or nothing if they would make the page too large."""
    files = {"table.csv": ("text/csv", table.to_csv(index=False)), "table.tex": ("text/plain", latex.booktabs(table))}
    if sum(len(text) for _, text in files.values()) > MOST_BYTES:
        return []
    coded = {name: (kind, b64encode(text.encode()).decode()) for name, (kind, text) in files.items()}
    return [{"name": name, "data": Markup(f"data:{kind};base64,{text}")} for name, (kind, text) in coded.items()]


def _agreement(found: pd.DataFrame) -> str:
    comparisons = found.attrs.get("comparisons", 0)
    if not comparisons:
        return "No exact values are known to compare the simulated numbers with."
    return f"{comparisons} simulated numbers were compared with exact ones; {len(found)} differ beyond chance."


def _problems(path: Path) -> dict[str, Any]:
    """Return the table of the errors and warnings that the run has recorded for its chunks."""
    try:
        with path.open(newline="", encoding="utf-8", errors="backslashreplace") as file:
            rows = [[shortened(cell, LONGEST_CELL) for cell in row] for row in csv.reader(file)]
    except FileNotFoundError:
        return dict(EMPTY)
    except (OSError, csv.Error) as problem:  # such as a field of more than 131,072 characters
        return {**EMPTY, "headings": [path.name], "rows": [[f"it cannot be read ({problem})"]]}
    return (
        {"title": "Errors and warnings of chunks", "headings": rows[0], "rows": rows[1 : MOST_ROWS + 1]}
        if rows
        else dict(EMPTY)
    )


def _dropped(run: Published) -> Iterable[str]:
    with readable(run.folder / "results.zarr"):
        return data_notes(json.loads(run.cells.attrs.get("data", "{}")))


def _provenance(run: Published) -> list[tuple[str, str]]:
    """Return the provenance of the published numbers; time and host come from provenance.json if it is whole."""
    attributes = run.cells.attrs
    terms = [("tcdp_sim", attributes["tcdp_sim_version"]), ("seed", attributes["seed"])]
    terms += [("trials a chunk", str(attributes["trials_per_chunk"])), ("config", attributes["config_hash"])]
    terms += [
        ("snapshot", snapshot.name_of(run.folder / "results.zarr")),
        ("exact values", attributes.get("exact_code", "")),
    ]
    about = run_settings.provenance_of(run.folder)
    git = about.get("git", {})
    terms += [("computed", f"{about['time']} on {about['host']} ({about['processor']})")] if about else []
    terms += (
        [("libraries", ", ".join(f"{name} {version}" for name, version in about["versions"].items()))] if about else []
    )
    terms += (
        [("commit", f"{git['commit']}{', changed since' if git.get('dirty') else ''}")] if git.get("commit") else []
    )
    return [(term, text) for term, text in terms if text]
