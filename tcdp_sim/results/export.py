"""Published results as a table of chosen numbers, and as a file: CSV, LaTeX, Markdown or text."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.texts import write_csv_parts
from tcdp_sim.mechanisms.axes import PUBLISHED
from tcdp_sim.report import latex
from tcdp_sim.results.open import open_cells, readable
from tcdp_sim.results.selected import arranged, selected
from tcdp_sim.results.tidy import tidy, tidy_blocks

FILES = (".csv", ".md", ".tex", ".txt")
SIDES = ("rows", "columns")
NAMING = (*SIDES, "where")  # choices that hold names of axes


def _value(row: pd.Series) -> float:
    """Return the simulated number of a row, or the exact one where nothing is simulated."""
    return float(row["exact"] if np.isnan(row["value"]) else row["value"])


def chosen(path, choices: Mapping[str, Any], cell: Callable[[pd.Series], Any] = _value) -> pd.DataFrame:
    """Return some rows of the frame `tidy` of a run, or its numbers in a table with chosen rows and columns.

    `choices`: `quantity`, `level` and `where` choose rows: a value or a list; `where` has them by axis. `rows` and
    `columns` are axes along the sides of the table, `quantity` and `level` among them. One that varies and is not named
    goes to the other side. The entries are the simulated values, or the exact ones where nothing is simulated. `cell`:
    an entry of the table, given its row of the frame.
    """
    given = {name: value for name, value in choices.items() if value is not None}
    frame = tidy(path)
    given = {name: _published(value, frame) if name in NAMING else value for name, value in given.items()}
    sides = [given.pop(side, None) for side in SIDES]
    frame = selected(frame, **given)
    return frame if sides == [None, None] else arranged(frame, sides[0], sides[1], cell)


def _published(named: Any, frame: pd.DataFrame) -> Any:
    """Return a choice with the published names of axes that it calls as a sweep does."""
    if isinstance(named, Mapping):
        return {_published(name, frame): value for name, value in named.items()}
    if isinstance(named, str):
        return named if named in frame else PUBLISHED.get(named, named)
    return [_published(name, frame) for name in named] if isinstance(named, list | tuple) else named


def export(path, target, **choices: Any) -> Path:
    """Write the frame `tidy` of a run, or the table `chosen` of it, to a file and return its path.

    Parameters
    ----------
    path : str or Path
        The folder of a run, or the zarr tree in it.
    target : str or Path
        The file: its name ends in .csv, .md (Markdown), .txt or .tex (LaTeX, booktabs).
    **choices
        As for `chosen`. In a table with chosen rows or columns, numbers have their standard errors in parentheses, but
        for CSV.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UserError
        If the name has another ending, if there are no results to open, if a choice is not valid, or if the file cannot
        be written.

    Examples
    --------
    >>> export("results/small", "small.csv")  # doctest: +SKIP
    >>> export("results/small", "small.tex", quantity="linf_error_mean", rows="k")  # doctest: +SKIP
    """
    target = Path(at_home(target))
    if target.suffix not in FILES:
        raise UserError(f"{target} ends in none of {', '.join(FILES)}; give a name that does")
    with readable(path):
        flat = open_cells(path, compute_later=False)
    try:
        if target.suffix == ".csv" and not choices:
            write_csv_parts(tidy_blocks(flat), target)
        else:
            target.write_text(_text(path, target.suffix, choices), "utf-8", newline="")
    except OSError as problem:
        raise UserError(f"{target} cannot be written ({reason(problem)})") from None
    return target


def _text(path, ending: str, choices: Mapping[str, Any]) -> str:
    """Return a table as the text of a file."""
    crossed = any(choices.get(side) is not None for side in SIDES)
    if ending == ".csv":
        return chosen(path, choices).to_csv(index=crossed)
    if ending == ".tex":
        found = chosen(path, choices, lambda row: latex.with_error(_value(row), row["mcse"]))
        return latex.crossed(found) if crossed else latex.booktabs(found)
    found = chosen(path, choices, lambda row: _plain(latex.with_error(_value(row), row["mcse"])))
    if not crossed:
        found = found.map(lambda value: f"{value:.6g}" if isinstance(value, float) else value).replace("nan", "")
    return _markdown(found, crossed) if ending == ".md" else f"{found.to_string(index=crossed)}\n"


def _plain(number: str) -> str:
    """Return a number in LaTeX as plain text."""
    return number.strip("$").replace(r"\infty", "inf").replace(r" \times 10^{", "e").rstrip("}")


def _markdown(table: pd.DataFrame, crossed: bool) -> str:
    """Return a table in Markdown."""
    table = table.reset_index() if crossed else table
    names = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in table]
    lines = [names, ["---"] * len(names), *table.astype(str).to_numpy().tolist()]
    return "".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |\n" for line in lines)
