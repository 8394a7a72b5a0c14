"""A table as a zarr tree, written a block of rows at a time, so that memory holds one block whatever the table has.

A table of one block is written in one go. Of a longer one every variable grows along its first dimension: rows are
collected until they fill a chunk, so no chunk is written twice. What a block lacks reads as NaN, zero or "".
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

CELLS = 8192  # rows of a chunk of what cells have, in a table of several blocks
ENTRIES = 2**20  # of what has entries of its own, such as the bins of histograms
CODEC = (ZstdCodec(level=3, checksum=True),)


def write(folder: Path, blocks: Iterable[xr.Dataset]) -> None:
    """Write the blocks of a table, at least one, to a new folder. Raises OSError.

    Blocks are Datasets with the same attributes and kinds of variables; their rows follow each other along each
    variable's first dimension. Coordinates that index a dimension are the same in all of them.
    """
    coming = iter(blocks)
    first = list(islice(coming, 2))
    if len(first) == 1:
        _write_one(folder, first[0])
        return
    tree = _Tree(folder)
    for block in chain(_handed_over(first), coming):
        tree.add(block)
    tree.finish()


def _write_one(folder: Path, table: xr.Dataset) -> None:
    """A tree of one block: made in memory, where zarr takes half as long for as many small arrays as a table has."""
    files: dict[str, Any] = {}
    table.to_zarr(MemoryStore(files), mode="w", consolidated=False, zarr_format=3, encoding=_encoding(table, {}))
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.to_bytes())


def _handed_over(blocks: list[xr.Dataset]) -> Iterator[xr.Dataset]:
    while blocks:
        yield blocks.pop(0)


def _encoding(part: xr.Dataset, rows: dict[str, int]) -> dict[Any, dict[str, Any]]:
    """How variables are stored; rows: of a chunk, by the dimension that is cut, the others being whole."""
    encoding: dict[Any, dict[str, Any]] = {name: {"compressors": CODEC} for name in part.variables}
    for name in part.variables if rows else ():
        dims, shape = part[name].dims, part[name].shape
        encoding[name]["chunks"] = tuple(rows.get(str(dim), max(size, 1)) for dim, size in zip(dims, shape))
    return encoding


class _Tree:
    """A tree that is being written."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._columns: dict[str, _Column] = {}
        self._rows: dict[str, int] = {}  # so far, by dimension

    def add(self, block: xr.Dataset) -> None:
        growing = {str(name): str(v.dims[0]) for name, v in block.variables.items() if v.dims and name not in v.dims}
        if new := [name for name in growing if name not in self._columns]:
            self._create(block, new, growing)
        for name, column in self._columns.items():
            if name in growing:
                column.add(block[name].values, self._rows.get(growing[name], 0))
        for dim in set(growing.values()):
            self._rows[dim] = self._rows.get(dim, 0) + block.sizes[dim]

    def _create(self, block, new, growing):
        """Empty arrays, described by xarray from one row of the block, so that it reads them as what they are."""
        rows = {growing[name]: CELLS if growing[name] == "cell" else ENTRIES for name in new}
        sample = block.isel({dim: slice(1) for dim in rows})
        if self._columns:  # what stands has its coordinates already
            sample = xr.Dataset({name: sample[name].variable for name in new}, attrs=block.attrs)
        mode: Any = "a" if self._columns else "w"
        sample.to_zarr(
            self._folder,
            mode=mode,
            consolidated=False,
            zarr_format=3,
            encoding=_encoding(sample, rows),
            align_chunks=False,
        )
        group = zarr.open_group(self._folder, mode="r+")
        for name in new:
            array = group[name]
            array.resize((0, *array.shape[1:]))
            self._columns[name] = _Column(array, growing[name])

    def finish(self) -> None:
        """Write what does not fill a chunk; every variable is as long as its dimensions."""
        for column in self._columns.values():
            column.finish(self._rows[column.dim])
        wide = [column for column in self._columns.values() if column.width_dim]
        for column in wide:
            column.widen(max(other.width for other in wide if other.width_dim == column.width_dim))


class _Column:
    """A variable that grows along its first dimension."""

    def __init__(self, array, dim: str):
        self.dim = dim
        names: tuple[str, ...] = array.metadata.dimension_names or ()
        self.width_dim = names[1] if len(names) > 1 else ""
        self._array = array
        self._start = self._waiting = 0  # rows that are written, and that wait for a chunk to be full
        self._pieces: list[np.ndarray] = []

    def add(self, values: np.ndarray, start: int) -> None:
        """Rows from `start` on; what lies before them and was not given is blank."""
        self._pad(start)
        self._pieces.append(values)
        self._waiting += len(values)
        if self._waiting >= self._array.chunks[0]:
            self._write(self._waiting // self._array.chunks[0] * self._array.chunks[0])

    def finish(self, rows: int) -> None:
        """All that waits; the variable then has so many rows."""
        self._pad(rows)
        self._write(self._waiting)

    @property
    def width(self) -> int:
        """Of what is written, along its second dimension."""
        return self._array.shape[1]

    def widen(self, width: int) -> None:
        """Blank up to that width."""
        if width > self.width:
            self._array.resize((self._array.shape[0], width, *self._array.shape[2:]))

    def _pad(self, rows):
        """Blank rows up to that one: chunks that nobody writes are blank."""
        lacking = rows - self._start - self._waiting
        if lacking > 0:
            self._write(self._waiting)
            self._start += lacking
            self._array.resize((self._start, *self._array.shape[1:]))

    def _write(self, rows):
        if not rows:
            return
        waiting = self._joined()
        shape = (self._start + rows, *waiting.shape[1:])
        self._array.resize(shape)
        self._array[self._start :] = waiting[:rows]
        self._start, self._waiting = self._start + rows, self._waiting - rows
        self._pieces = [waiting[rows:].copy()] if self._waiting else []

    def _joined(self):
        """What waits, as wide as the widest: of batches of trials the cells of a block may have fewer than others."""
        if len(self._array.shape) == 1:
            return np.concatenate(self._pieces)
        width = max(self._array.shape[1], *(piece.shape[1] for piece in self._pieces))
        wide = (np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=np.nan) for p in self._pieces)
        return np.concatenate(list(wide))
