"""Text from others (names, paths, labels, messages), made harmless for terminals, logs, figures and spreadsheets."""

import csv
import os
import re
from collections.abc import Iterable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ROWS = 8192  # rows of a table that are converted to texts at a time
LONGEST_LINE = 2000  # characters of a line that somebody is to read
LONGEST_OF_A_NOTEBOOK = 500  # and of one in a notebook
NUMBER = re.compile(r"0x[0-9a-f]+|[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes a cell that begins so for a formula


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with characters that are not printable written out (\x1b, \u202e), except those in `keep`.

    Control characters and ANSI codes would command the terminal. Marks of direction would reorder the shown text. Lone
    surrogates, as in a name that is not UTF-8, cannot be written at all.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _written_out(c) for c in text)


def shortened(text: str, most: int = LONGEST_LINE) -> str:
    """Return the text, or its beginning and end if it has more than `most` characters."""
    if len(text) <= most:
        return text
    return f"{text[: most - most // 4]} ... ({len(text):,} characters) ... {text[-(most // 4) :]}"


def said(problem: object) -> str:
    """Return the message of an exception or warning, also of one that cannot be shown as text."""
    try:
        return str(problem)
    except Exception:  # a foreign class may raise anything
        return "(its message cannot be shown)"


def kind_of(message: str) -> str:
    """Return a message without its numbers: messages of one kind differ in nothing else."""
    return NUMBER.sub("#", message)


def show(value: float | str) -> str:
    """Return a coordinate as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def blank(value: object) -> bool:
    """Return True for an entry of a table without a value: None, an empty text, NaN."""
    return value is None or value == "" or (isinstance(value, float) and isnan(value))


def unmathematical(text: str) -> str:
    """Return the text in the form that Matplotlib draws literally, since a pair of `$` would begin a formula."""
    return printable(text).replace("$", r"\$")


def in_html(lines: "Iterable[str]") -> str:
    """Return lines for a notebook, shortened, the first one bold, with every text shown as text."""
    import html  # a ledger needs none of it

    first, *others = (html.escape(shortened(printable(line), LONGEST_OF_A_NOTEBOOK)) for line in lines)
    return "<br>".join([f"<b>{first}</b>", *others])


def cell(value: object) -> object:
    """Return a spreadsheet cell: text that would run as a formula gets an apostrophe, everything else is unchanged.

    Numbers stay numbers, even those given as text.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) and not _is_number(value) else value


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    """Write a DataFrame without its index, with texts harmless to spreadsheets. Raises OSError."""
    starts = range(0, len(table) or 1, ROWS)
    write_csv_parts((table.iloc[start : start + ROWS] for start in starts), path)


def write_csv_parts(parts: "Iterable[pd.DataFrame]", path: Path) -> None:
    """Write the rows of DataFrames with the same columns to one file, as `write_csv` does. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=os.linesep)
        for i, part in enumerate(parts):
            if not i:
                writer.writerow(part.columns)
            writer.writerows(zip(*(_as_written(column) for _, column in part.items())))


def _as_written(column: "pd.Series[Any]") -> list[Any]:
    """Return a column as it is written: harmless texts, floats as texts, and nothing for missing values.

    Each distinct value is converted once. The result equals the result of pandas, in a fraction of the time.
    """
    import numpy as np
    import pandas as pd

    written: list[object]
    if column.dtype == "float64":
        places, bits = pd.factorize(column.to_numpy().view("int64"))  # bits distinguish -0.0 from 0.0
        written = ["" if isnan(value) else repr(value) for value in bits.view("float64").tolist()]
    elif pd.api.types.infer_dtype(column, skipna=True) == "string":
        places, values = pd.factorize(column)  # -1 for missing values
        written = [*map(cell, values), ""]
    else:  # equal values may be written differently, as 1 and True
        return ["" if missing else cell(value) for value, missing in zip(column.to_numpy(), column.isna())]
    return list(np.array(written, dtype=object)[places])


def _written_out(character: str) -> str:
    """Return the escape sequence of a character."""
    return character.encode("unicode_escape").decode()


def _is_number(text: str) -> bool:
    """Return True if a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()  # float accepts a leading tab, which spreadsheets take for a formula
