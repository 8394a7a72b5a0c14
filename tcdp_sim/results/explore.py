"""A page on which a reader chooses the quantities to draw against each other, from all published numbers of a run."""

from collections.abc import Mapping
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from markupsafe import Markup

from tcdp_sim import results
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.texts import blank, printable
from tcdp_sim.report import html, looks
from tcdp_sim.results import page_file, published
from tcdp_sim.results.cells import noise_labels
from tcdp_sim.results.open import readable
from tcdp_sim.results.tidy import tidy_blocks
from tcdp_sim.store import run_settings
from tcdp_sim.store.figure_record import TITLE

NAME = "explore.html"
MOST_ROWS = 200_000  # about 150 bytes each; beyond that a browser is slow
SYMBOLS = {  # matplotlib's markers as plotly names them
    "s": "square",
    "D": "diamond",
    "o": "circle",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "P": "cross",
    "d": "diamond-tall",
    "h": "hexagon",
    "p": "pentagon",
    "*": "star",
    "X": "x",
}
NUMBERS = ("value", "mcse", "lower", "upper", "exact", "bound")


def write(folder: Path, file: Path | None = None) -> Path:
    """Write the page of a run and return its path. Equal runs give equal bytes.

    The page goes into the run's folder unless a file is given. Raises UserError if the folder holds no results or too
    many, if plotly is not installed, or if the page cannot be written.
    """
    page_file.check_results(folder)
    target = page_file.checked(folder / NAME if file is None else file)
    _check_size(folder)
    library = scripts()
    cells = published.loaded(folder)
    table = results.tidy(cells)
    values = _named(folder, str(cells.attrs["title"]).removeprefix(TITLE))
    return page_file.write(target, html.page("explore.html", library, data=data(cells, table), **values))


def _check_size(folder: Path) -> None:
    """Raise UserError if a run has more numbers than a page holds, before they are all in memory.

    They are counted block by block, up to the first too many, and only where the arrays have room for so many.
    """
    with readable(folder):
        flat = results.open_cells(folder, compute_later=False)
        if sum(array.size for array in flat.data_vars.values()) <= MOST_ROWS:
            return
        total = 0
        for block in tidy_blocks(flat):
            total += len(block)
            if total > MOST_ROWS:
                message = f"{folder} has more than {MOST_ROWS:,} numbers, and a page holds no more"
                raise UserError(f"{message}; `tcdp-sim table {folder} FILE.csv` writes all of them")


def scripts() -> tuple[str, str]:
    """Return the scripts of such a page, plotly and ours. Raises UserError if plotly is not installed."""
    try:
        return str(import_module("plotly.offline").get_plotlyjs()), html.file("explore.js")
    except ImportError:
        raise UserError("`explore` needs the library plotly: pip install 'tcdp_sim[explore]'") from None


def data(cells: xr.Dataset, table: pd.DataFrame) -> Markup:
    """Return the data of `explore.js` as JSON: the tidy table of published cells."""
    return html.json_data(_data(table, noise_labels(cells)))


def _named(folder: Path, experiment: str) -> dict[str, str]:
    question = run_settings.config_of(folder)["experiment"].get("question") or f"experiment {experiment}"
    return {"name": folder.resolve().name, "experiment": experiment, "question": question}


def _data(table: pd.DataFrame, noises: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the rows by columns: places among the values of each axis, and numbers."""
    names = [name for name in table.columns if name not in (*NUMBERS, "unit", "trials", "id", "quantity")]
    axes = [axis for axis in (_coded(name, table[name]) for name in names) if len(axis["values"]) > 1]
    return {
        "axes": [axis | {"looks": _looks(axis, noises)} for axis in axes],
        "quantity": _coded("quantity", table["quantity"]),
        "units": dict(zip(table["quantity"], table["unit"])),
        "numbers": {name: [_number(value) for value in table[name].tolist()] for name in NUMBERS},
        "trials": table["trials"].tolist(),
        "ids": table["id"].tolist(),
    }


def _looks(axis: Mapping[str, Any], noises: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Return colour and symbol of each value of an axis; noises, methods and levels look as in the figures."""
    values = [str(value) for value in axis["values"]]
    if axis["name"] == "noise":
        known = ((value, noises[value]["noise_family"], noises[value]["noise_calibration"]) for value in values)
        styles = looks.noise_looks(known)
    elif axis["numeric"]:
        styles = looks.level_styles(values)
    else:
        styles = looks.noise_looks((value, "", "") for value in values)
    return [{"colour": styles[value]["color"], "symbol": SYMBOLS[styles[value]["marker"]]} for value in values]


def _coded(name: str, column: pd.Series) -> dict[str, Any]:
    """Return an axis: its values in order, and the place of each row among them, -1 where it has none."""
    known = [value for value in dict.fromkeys(column.tolist()) if not blank(value)]
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)
    values = sorted(known) if numeric else known
    places = {value: place for place, value in enumerate(values)}
    shown = [_number(value) if numeric else printable(str(value)) for value in values]
    return {"name": name, "numeric": numeric, "values": shown, "rows": [places.get(value, -1) for value in column]}


def _number(value: float) -> float | str | None:
    """Return a number as JSON has it: NaN is null, and an infinite one is a text."""
    return value if isfinite(value) else str(value) if value == value else None
