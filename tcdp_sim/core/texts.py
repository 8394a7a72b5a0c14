"""Text that others chose (names, paths, labels, messages), made harmless for terminals, logs, figures, spreadsheets."""

import csv
import os
from collections.abc import Iterable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ROWS = 8192  # of a table that are made into texts at a time
LONGEST_LINE = 2000  # characters of a line that somebody is to read
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet take a cell for a formula


def printable(text: str, keep: str = "") -> str:
    """The text with what is not printable written out: \\x1b, \\u202e. `keep`: characters that stay, such as line ends.

    Control characters and ANSI codes would command the terminal, marks of direction would reorder what is read, and
    lone surrogates (a name that is no UTF-8) cannot be written at all.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _written_out(c) for c in text)


def shortened(text: str, most: int = LONGEST_LINE) -> str:
    """Return the text, or its beginning and its end where it has more characters than `most`."""
    if len(text) <= most:
        return text
    return f"{text[: most - most // 4]} ... ({len(text):,} characters) ... {text[-(most // 4) :]}"


def blank(value: object) -> bool:
    """Return True for what stands in a table where there is no value: None, an empty text, NaN."""
    return value is None or value == "" or (isinstance(value, float) and isnan(value))


def unmathematical(text: str) -> str:
    """The text as Matplotlib draws it literally: a pair of `$` would set what is between them as a formula."""
    return printable(text).replace("$", r"\$")


def cell(value: object) -> object:
    """A cell of a table for spreadsheets: text that would be run as a formula behind an apostrophe, all else as it is.

    Numbers stay numbers, also those that come as text.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) and not _is_number(value) else value


def write_csv(table: "pd.DataFrame", path: Path) -> None:
    """Write a DataFrame without its index, its text cells harmless to spreadsheets. Raises OSError."""
    starts = range(0, len(table) or 1, ROWS)
    write_csv_parts((table.iloc[start : start + ROWS] for start in starts), path)


def write_csv_parts(parts: "Iterable[pd.DataFrame]", path: Path) -> None:
    """Write the rows of DataFrames with the same columns, one after the other, as `write_csv` does. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=os.linesep)
        for i, part in enumerate(parts):
            if not i:
                writer.writerow(part.columns)
            writer.writerows(zip(*(_as_written(column) for _, column in part.items())))


def _as_written(column: "pd.Series[Any]") -> list[Any]:
    """A column with its texts harmless to spreadsheets, its floats as texts, and nothing for what is missing.

    Each different value is asked for once. pandas writes the same, in several times the time.
    """
    import numpy as np
    import pandas as pd

    written: list[object]
    if column.dtype == "float64":
        places, bits = pd.factorize(column.to_numpy().view("int64"))  # bits tell -0.0 from 0.0
        written = ["" if isnan(value) else repr(value) for value in bits.view("float64").tolist()]
    elif pd.api.types.infer_dtype(column, skipna=True) == "string":
        places, values = pd.factorize(column)  # -1 for what is missing
        written = [*map(cell, values), ""]
    else:  # what is equal may be written differently, as 1 and True
        return ["" if missing else cell(value) for value, missing in zip(column.to_numpy(), column.isna())]
    return list(np.array(written, dtype=object)[places])


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()  # a tab in front is none of a number
