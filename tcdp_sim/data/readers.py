"""Reading of columns of CSV and Parquet files as text, row by row; nothing in a file is ever run."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.paths import at_home
from tcdp_sim.data.checks import choice, joined, quoted

Row = tuple[str | None, ...]


def read_rows(path: Path | str, columns: Sequence[str]) -> Iterator[Row]:
    """Return the cells of the named columns as text, row by row; an empty cell is None.

    Text is never interpreted: "NA", "None", "null" and " A" are labels. A CSV file has UTF-8, commas and a header row,
    and a cell without a character is empty. A line without a character is skipped, except between other lines of a file
    with one column, where it is an empty cell. In Parquet null and NaN are empty. Memory does not grow with the rows.
    Raises UserError that says in one line which file is wrong and why.
    """
    found, suffix = _found(path)
    return READERS[suffix](found, columns)


def read_header(path: Path | str) -> list[str]:
    """Return the names of the columns of a file that `read_rows` reads. Raises UserError."""
    found, suffix = _found(path)
    return HEADERS[suffix](found)


def _found(path: Any) -> tuple[Path, str]:
    """Return the path of a file that is there, and the end of its name that tells its type. Raises UserError."""
    if not isinstance(path, (str, PathLike)):
        raise UserError(f"{quoted(path)} is not a path; valid: text, in quotes")
    path = Path(at_home(path))
    suffix = next((suffix for suffix in READERS if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise UserError(f"{path}: the file type is not known by its name; valid: {', '.join(READERS)}", str(path))
    with _readable(path):
        if not path.exists():
            raise UserError(f"{path}: there is no such file (looked in {Path.cwd()})", str(path))
        if not path.is_file():
            raise UserError(f"{path} is a directory or a device; valid: one file {', '.join(READERS)}", str(path))
    return path, suffix


def chosen_rows(where: str, spec: Mapping[str, Any], columns: Sequence[str]) -> Iterator[Row]:
    """Yield the cells of the named columns in the rows that a specification chooses, as `read_rows` gives them.

    A specification has `file` (one of the package's samples) or `path`, and optionally `only`, the text that rows must
    have in certain columns. Errors call the specification by the name `where`.
    """
    only = spec.get("only") or {}
    if not (isinstance(only, Mapping) and all(isinstance(key, str) for key in only)):
        raise UserError(f"{where}: only = {quoted(only)} is not valid; valid: {{column: text}}")
    wanted, own = tuple(str(text) for text in only.values()), len(columns)
    for row in _all_rows(where, spec, [*columns, *only]):
        if row[own:] == wanted:
            yield row[:own]


def _all_rows(where: str, spec: Mapping[str, Any], columns: list[str]) -> Iterator[Row]:
    """Yield the cells of the named columns in all rows."""
    if (spec.get("file") is None) == (spec.get("path") is None):
        raise UserError(f"{where}: one of file and path has to be given; valid: a sample's name, or a path")
    if spec.get("path") is not None:
        yield from map(tuple, read_rows(spec["path"], columns))
        return
    folder = resources.files("tcdp_sim.data") / "files"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".csv"))
    with resources.as_file(folder / choice(f"{where}: file", spec["file"], names)) as path:
        yield from map(tuple, read_rows(path, columns))


def _csv_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a CSV file. Raises UserError."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with _readable(path), opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        header = next((row for row in reader if row), None)
        if header is None:
            raise UserError(f"{path} is empty; valid: a header row with the names of the columns, then rows", str(path))
        places = _places(path, header, columns)
        blank = 0
        for row in reader:
            if len(row) == len(header):
                yield from repeat((None,) * len(places), blank if len(header) == 1 else 0)
                yield tuple(row[place] or None for place in places)
                blank = 0
            elif not row:
                blank += 1
            else:
                line = f"{path}, line {reader.line_num}"
                raise UserError(f"{line}: {len(row)} cells; valid: {len(header)}, as in the header", str(path))


def _csv_header(path: Path) -> list[str]:
    """Return the first row of a CSV file that has a character, empty if there is none. Raises UserError."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with _readable(path), opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        return next((row for row in csv.reader(file, strict=True) if row), [])


def _parquet_header(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file. Raises UserError."""
    from pyarrow import ArrowException, parquet

    with _readable(path, ArrowException), parquet.ParquetFile(path) as file:
        return list(file.schema_arrow.names)


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a Parquet file. Raises UserError."""
    from pyarrow import ArrowException, parquet

    with _readable(path, ArrowException), parquet.ParquetFile(path) as file:
        _places(path, file.schema_arrow.names, columns)
        for batch in file.iter_batches(columns=list(dict.fromkeys(columns))):
            yield from zip(*(_text(batch.column(name)) for name in columns))


READERS = {".csv": _csv_rows, ".csv.gz": _csv_rows, ".parquet": _parquet_rows}
HEADERS = {".csv": _csv_header, ".csv.gz": _csv_header, ".parquet": _parquet_header}


def _text(column: Any) -> list[str | None]:
    """Return an Arrow column as text; 1.0 becomes "1", because integers with gaps are stored as floats."""
    import pyarrow
    from pyarrow import compute

    if pyarrow.types.is_floating(column.type):
        column = compute.if_else(compute.is_nan(column), None, column)
    return column.cast(pyarrow.string()).to_pylist()


def _places(path: Path, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the places of columns in a header. Raises UserError unless each is there once."""
    for column in columns:
        if header.count(column) != 1:
            wrong = "stands in the header more than once" if column in header else "is not there"
            raise UserError(f"{path}: column {quoted(column)} {wrong}; its columns: {joined(header)}", str(path))
    return [header.index(column) for column in columns]


@contextmanager
def _readable(path: Path, *more: type[Exception]) -> Iterator[Any]:
    """Turn the errors of damaged or foreign files into a UserError of one line."""
    mistakes: tuple[type[Exception], ...] = (OSError, EOFError, UnicodeError, zlib.error, csv.Error, *more)
    try:
        yield
    except mistakes as error:
        reason = (str(error).splitlines() or [""])[0]
        raise UserError(f"{path} cannot be read ({type(error).__name__}: {reason[:150]})", str(path)) from None
