"""A table as a zarr tree, written one block of rows at a time, so that memory holds one block of a large table.

A table of one block is written in one go, and a small one by way of memory. In a longer one every variable grows along
its first dimension. Rows are collected until they fill a chunk, so no chunk is written twice. Values that a block lacks
read as NaN, zero or "".
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

CELLS = 8192  # rows in a chunk of a variable along `cell`, in a table of several blocks
ENTRIES = 2**20  # the same for variables with entries of their own, such as the bins of histograms
SMALL = 2**25  # bytes of a table of several blocks that is written by way of memory, at most
Place = Path | MemoryStore
Seen = Callable[[xr.Dataset], None]  # a function that gets a table
CODEC = (ZstdCodec(level=3, checksum=True),)


def write(folder: Path, blocks: Iterable[xr.Dataset]) -> None:
    """Write the blocks of a table, at least one, to a new folder. Raises OSError.

    Blocks are Datasets with the same attributes and kinds of variables. Their rows follow each other along each
    variable's first dimension. Coordinates that index a dimension are equal in all blocks.
    """
    coming = iter(blocks)
    first = _gathered(coming)
    if len(first) > 1 and sum(block.nbytes for block in first) >= SMALL:
        _write_blocks(folder, chain(_handed_over(first), coming))
        return
    files: dict[str, Any] = {}
    store = MemoryStore(files)  # zarr is twice as fast there for many small arrays
    if len(first) == 1:
        _write_whole(store, first[0], {})
    elif (whole := _joined(first)) is not None:
        dims = {
            str(column.dims[0]) for name, column in whole.variables.items() if column.dims and name not in whole.dims
        }
        _write_whole(store, whole, {dim: CELLS if dim == "cell" else ENTRIES for dim in dims})
    else:
        _write_blocks(store, _handed_over(first))
    _put(files, folder)


def watched(blocks: Iterable[xr.Dataset], seen: Seen) -> Iterator[xr.Dataset]:
    """Yield the blocks of a table. `seen` gets all its rows at the end, unless it is large or its blocks differ."""
    kept: list[xr.Dataset] = []
    size = 0
    for block in blocks:
        size += block.nbytes
        kept = [*kept, block] if size < SMALL else []
        yield block
    whole = _joined(kept) if kept else None
    if whole is not None:
        seen(whole)


def _write_whole(place: Place, table: xr.Dataset, rows: dict[str, int]) -> None:
    """Write a table that is in memory; `rows` is that of `_encoding`."""
    encoding = _encoding(table, rows)
    table.to_zarr(place, mode="w", consolidated=False, zarr_format=3, encoding=encoding, align_chunks=False)


def _joined(blocks: list[xr.Dataset]) -> xr.Dataset | None:
    """Return all rows of blocks in one table, None if some lack variables or have other widths."""
    first = blocks[0]
    for other in blocks[1:]:
        if other.variables.keys() != first.variables.keys():
            return None
        if any(other.variables[name].shape[1:] != column.shape[1:] for name, column in first.variables.items()):
            return None
    joined = {
        name: (column.dims, np.concatenate([block.variables[name].values for block in blocks]), column.attrs)
        for name, column in first.variables.items()
        if column.dims and name not in first.dims
    }
    kept = {name: column for name, column in first.variables.items() if name not in joined}
    columns = {name: joined.get(name, kept.get(name)) for name in first.variables}
    coordinates = {name: columns.pop(name) for name in first.coords}
    return xr.Dataset(columns, coordinates, first.attrs)


def _gathered(coming: Iterator[xr.Dataset]) -> list[xr.Dataset]:
    """Return the first blocks: all blocks of a small table, else at least two of them, if there are two."""
    found: list[xr.Dataset] = []
    for block in coming:
        found.append(block)
        if len(found) > 1 and sum(each.nbytes for each in found) >= SMALL:
            break
    return found


def _write_blocks(place: Place, blocks: Iterable[xr.Dataset]) -> None:
    tree = _Tree(place)
    for block in blocks:
        tree.add(block)
    tree.finish()


def _put(files: dict[str, Any], folder: Path) -> None:
    """Write the files of a tree in memory to a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.to_bytes())


def _handed_over(blocks: list[xr.Dataset]) -> Iterator[xr.Dataset]:
    """Yield the blocks and drop the reference to each, so that it can be freed."""
    while blocks:
        yield blocks.pop(0)


def _encoding(part: xr.Dataset, rows: dict[str, int]) -> dict[Any, dict[str, Any]]:
    """Return the storage options of the variables.

    `rows` gives the chunk length of the dimension that is split; the others are stored whole.
    """
    encoding: dict[Any, dict[str, Any]] = {name: {"compressors": CODEC} for name in part.variables}
    for name in part.variables if rows else ():
        dims, shape = part[name].dims, part[name].shape
        encoding[name]["chunks"] = tuple(rows.get(str(dim), max(size, 1)) for dim, size in zip(dims, shape))
    return encoding


class _Tree:
    """A tree that is being written."""

    def __init__(self, place: Place):
        self._place = place
        self._columns: dict[str, _Column] = {}
        self._rows: dict[str, int] = {}  # rows so far, by dimension

    def add(self, block: xr.Dataset) -> None:
        """Append the rows of a block."""
        growing = {str(name): str(v.dims[0]) for name, v in block.variables.items() if v.dims and name not in v.dims}
        if new := [name for name in growing if name not in self._columns]:
            self._create(block, new, growing)
        for name, column in self._columns.items():
            if name in growing:
                column.add(block.variables[name].values, self._rows.get(growing[name], 0))
        for dim in set(growing.values()):
            self._rows[dim] = self._rows.get(dim, 0) + block.sizes[dim]

    def _create(self, block, new, growing):
        """Create empty arrays from one row of the block, so that xarray describes their types."""
        rows = {growing[name]: CELLS if growing[name] == "cell" else ENTRIES for name in new}
        sample = block.isel({dim: slice(1) for dim in rows})
        if self._columns:  # the tree has its coordinates already
            sample = xr.Dataset({name: sample[name].variable for name in new}, attrs=block.attrs)
        mode: Any = "a" if self._columns else "w"
        sample.to_zarr(
            self._place,
            mode=mode,
            consolidated=False,
            zarr_format=3,
            encoding=_encoding(sample, rows),
            align_chunks=False,
        )
        group = zarr.open_group(self._place, mode="r+")
        for name in new:
            array = group[name]
            array.resize((0, *array.shape[1:]))
            self._columns[name] = _Column(array, growing[name])

    def finish(self) -> None:
        """Write the rows that do not fill a chunk, and extend every variable to the length of its dimensions."""
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
        self._start = self._waiting = 0  # rows that are written, and rows that wait for a full chunk
        self._pieces: list[np.ndarray] = []

    def add(self, values: np.ndarray, start: int) -> None:
        """Append rows that begin at `start`; missing rows before them are blank."""
        self._pad(start)
        self._pieces.append(values)
        self._waiting += len(values)
        if self._waiting >= self._array.chunks[0]:
            self._write(self._waiting // self._array.chunks[0] * self._array.chunks[0])

    def finish(self, rows: int) -> None:
        """Write the waiting rows and extend the variable to `rows` rows."""
        self._pad(rows)
        self._write(self._waiting)

    @property
    def width(self) -> int:
        """The length of the second dimension so far."""
        return self._array.shape[1]

    def widen(self, width: int) -> None:
        """Extend the second dimension to `width` with blanks."""
        if width > self.width:
            self._array.resize((self._array.shape[0], width, *self._array.shape[2:]))

    def _pad(self, rows):
        """Extend the variable to `rows` with blank rows, which are chunks that are never written."""
        lacking = rows - self._start - self._waiting
        if lacking > 0:
            self._write(self._waiting)
            self._start += lacking
            self._array.resize((self._start, *self._array.shape[1:]))

    def _write(self, rows):
        """Write this many of the waiting rows."""
        if not rows:
            return
        waiting = self._joined()
        shape = (self._start + rows, *waiting.shape[1:])
        self._array.resize(shape)
        self._array[self._start :] = waiting[:rows]
        self._start, self._waiting = self._start + rows, self._waiting - rows
        self._pieces = [waiting[rows:].copy()] if self._waiting else []

    def _joined(self):
        """Return the waiting rows, padded to the largest width: cells may have fewer batches of trials than others."""
        if len(self._array.shape) == 1:
            return np.concatenate(self._pieces)
        width = max(self._array.shape[1], *(piece.shape[1] for piece in self._pieces))
        wide = (np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=np.nan) for p in self._pieces)
        return np.concatenate(list(wide))
