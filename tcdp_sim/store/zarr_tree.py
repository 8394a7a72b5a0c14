"""A table as a zarr tree, written one block of rows at a time, so that memory holds one block of a large table.

A table of one block is written in one go, and a small one by way of memory. In a longer one every variable grows along
its first dimension. Rows are collected until they fill a chunk, so no chunk is written twice, except chunks of texts if
a longer text comes. Values that a block lacks read as NaN, zero or "".

Texts are bytes of fixed width in UTF-8, which xarray opens as ordinary strings. The root has consolidated metadata,
which list the variables in the order of the blocks.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import ZstdCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.errors import UnstableSpecificationWarning
from zarr.storage import MemoryStore

from tcdp_sim.store import columns

CELLS = 8192  # rows in a chunk of a variable along `cell`, in a table of several blocks
ENTRIES = 2**20  # the same for variables with entries of their own, such as the bins of histograms
SMALL = 2**26  # bytes of a table of several blocks that is written by way of memory, at most
Place = Path | MemoryStore
Seen = Callable[[xr.Dataset], None]  # a function that gets a table
CODEC = (ZstdCodec(level=3, checksum=True),)
METADATA = "zarr.json"


def write(folder: Path, blocks: Iterable[xr.Dataset]) -> None:
    """Write the blocks of a table, at least one, to a new folder. Raises OSError.

    Blocks are Datasets with the same attributes and kinds of variables. Their rows follow each other along each
    variable's first dimension. Coordinates that index a dimension are equal in all blocks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableSpecificationWarning)  # of bytes of fixed width
        reasons: dict[str, str] = {}
        order = _written(folder, (_with_bytes(_noted(block, reasons)) for block in blocks))
        _consolidate(folder, order, reasons)


def _noted(block: xr.Dataset, reasons: dict[str, str]) -> xr.Dataset:
    """Return a block, and keep the reasons why its cells have no exact values, which other blocks may lack."""
    found = {str(name): column.attrs.get(columns.KNOWN) for name, column in block.variables.items()}
    reasons |= {name: reason for name, reason in found.items() if reason}
    return block


def _written(folder: Path, coming: Iterator[xr.Dataset]) -> Sequence[str]:
    """Write the arrays of a table, and return the names of its variables in their order."""
    first = _gathered(coming)
    if len(first) > 1 and sum(block.nbytes for block in first) >= SMALL:
        return _write_blocks(folder, chain(_handed_over(first), coming))
    store = MemoryStore(files := dict[str, Any]())  # zarr is twice as fast there for many small arrays
    if len(first) == 1:
        order = _write_whole(store, first[0], {})
    elif (whole := _joined(first)) is not None:
        dims = {
            str(column.dims[0]) for name, column in whole.variables.items() if column.dims and name not in whole.dims
        }
        order = _write_whole(store, whole, {dim: CELLS if dim == "cell" else ENTRIES for dim in dims})
    else:
        order = _write_blocks(store, _handed_over(first))
    _put(files, folder)
    return order


def _with_bytes(block: xr.Dataset) -> xr.Dataset:
    """Return a block whose texts are bytes of fixed width."""
    texts = {name: column for name, column in block.variables.items() if column.dtype.kind == "O"}
    coded = {
        name: (column.dims, _bytes(column.values), {**column.attrs, "_Encoding": "utf-8"})
        for name, column in texts.items()
    }
    return block.assign(coded)


def _bytes(texts: np.ndarray) -> np.ndarray:
    """Return texts in UTF-8, padded to a width of few significant bits, so that longer texts seldom need more."""
    found = [text.encode() for text in texts.ravel().tolist()]
    longest = max(map(len, found), default=0)
    step = max(8, 2 ** (longest.bit_length() - 3))
    return np.array(found, dtype=f"S{max(-(-longest // step), 1) * step}").reshape(texts.shape)


def _consolidate(folder: Path, order: Sequence[str], reasons: dict[str, str]) -> None:
    """Store the metadata of all arrays in the root, in this order, once their attributes are complete."""
    arrays = {name: json.loads((folder / name / METADATA).read_bytes()) for name in order}
    for name in columns.settle({name: about["attributes"] for name, about in arrays.items()}, reasons):
        (folder / name / METADATA).write_text(json.dumps(arrays[name], indent=2))
    root = json.loads((folder / METADATA).read_bytes())
    root["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": arrays}
    (folder / METADATA).write_text(json.dumps(root, indent=2))


def watched(blocks: Iterable[xr.Dataset], seen: Seen) -> Iterator[xr.Dataset]:
    """Yield the blocks of a table. `seen` gets all its rows at the end, unless it is large or its blocks differ."""
    kept: list[xr.Dataset] = []
    reasons: dict[str, str] = {}
    size = 0
    for block in blocks:
        _noted(block, reasons)
        size += block.nbytes
        kept = [*kept, block] if size < SMALL else []
        yield block
    whole = _joined(kept) if kept else None
    if whole is not None:
        columns.settle({str(name): column.attrs for name, column in whole.variables.items()}, reasons)
        seen(whole)


def _write_whole(place: Place, table: xr.Dataset, rows: dict[str, int]) -> list[str]:
    """Write a table that is in memory, and return the names of its variables; `rows` is as for `_encoding`."""
    encoding = _encoding(table, rows)
    table.to_zarr(place, mode="w", consolidated=False, zarr_format=3, encoding=encoding, align_chunks=False)
    return list(map(str, table.variables))


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


def _write_blocks(place: Place, blocks: Iterable[xr.Dataset]) -> list[str]:
    """Write a table block by block, and return the names of its variables in the order that the blocks have."""
    tree, order = _Tree(place), list[str]()
    for block in blocks:
        tree.add(block)
        order = _merged(order, list(map(str, block.variables)))
    tree.finish()
    return order


def _merged(order: list[str], names: Sequence[str]) -> list[str]:
    """Return an order with further names, each after the one that precedes it among `names`."""
    if set(names) <= set(order):
        return order
    merged, place = list(order), 0
    for name in names:
        if name not in merged:
            merged.insert(place, name)
        place = merged.index(name) + 1
    return merged


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
            self._columns[name] = _Column(self._place, array, growing[name])

    def finish(self) -> None:
        """Write the rows that do not fill a chunk, and extend every variable to the length of its dimensions."""
        for column in self._columns.values():
            column.finish(self._rows[column.dim])
        wide = [column for column in self._columns.values() if column.width_dim]
        for column in wide:
            column.widen(max(other.width for other in wide if other.width_dim == column.width_dim))


class _Column:
    """A variable that grows along its first dimension."""

    def __init__(self, place: Place, array, dim: str):
        self.dim = dim
        self._place = place
        names: tuple[str, ...] = array.metadata.dimension_names or ()
        self.width_dim = names[1] if len(names) > 1 else ""
        self._array = array
        self._start = self._waiting = 0  # rows that are written, and rows that wait for a full chunk
        self._pieces: list[np.ndarray] = []

    def add(self, values: np.ndarray, start: int) -> None:
        """Append rows that begin at `start`; missing rows before them are blank."""
        self._pad(start)
        if values.dtype.kind == "S" and values.itemsize > self._array.dtype.itemsize:
            self._make_room(values.itemsize)
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

    def _make_room(self, width: int) -> None:
        """Give every text this many bytes. The chunks so far are written again, one by one."""
        old, name = self._array, self._array.basename
        about = _metadata(self._place, name)
        about["data_type"]["configuration"]["length_bytes"] = width
        _set_metadata(self._place, name, about)
        self._array = zarr.open_group(self._place, mode="r+")[name]
        for start in range(0, self._start, old.chunks[0]):
            rows = slice(start, start + old.chunks[0])
            self._array[rows] = old[rows].astype(f"S{width}")

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


def _metadata(place: Place, name: str) -> Any:
    """Return the metadata of an array."""
    if isinstance(place, Path):
        return json.loads((place / name / METADATA).read_bytes())
    return json.loads(place._store_dict[f"{name}/{METADATA}"].to_bytes())


def _set_metadata(place: Place, name: str, about: Any) -> None:
    """Replace the metadata of an array."""
    text = json.dumps(about, indent=2).encode()
    if isinstance(place, Path):
        (place / name / METADATA).write_bytes(text)
    else:
        place._store_dict[f"{name}/{METADATA}"] = default_buffer_prototype().buffer.from_bytes(text)
