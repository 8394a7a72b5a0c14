"""Cells, and a sequence of cells that takes a few hundred bytes for each: ids as bytes, the rest as compressed text."""

import hashlib
import json
import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, overload

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.texts import show

PACK = 256  # cells per pack; to read one cell, its whole pack is unpacked
RECENT = 8  # unpacked packs that are kept, so that a small study is unpacked once
ID_BYTES = 32


@dataclass(frozen=True, slots=True)
class Cell:
    """A point of the sweep.

    `id` is the sha256 of the canonical law, and `law` is the plain data from which a worker builds the mechanism.
    `coords` has the value of each axis, None if the law does not depend on it. `counts` is the digest of the data, ""
    without data. `work` is the approximate number of random numbers per trial.
    """

    id: str
    law: Mapping[str, Any]
    coords: Mapping[str, Any]
    counts: str
    guarantee: str
    noise: str
    work: float

    @property
    def where(self) -> str:
        """The coordinates as text, such as "k=10 rho=0.1"."""
        return " ".join(f"{axis}={show(value)}" for axis, value in self.coords.items() if value is not None)


class Cells(Sequence[Cell]):
    """A sequence of cells in the order of the config. Cells are unpacked on demand; a million take about 150 MB.

    `packs` has all fields but the id, of PACK cells each, and `ids` has ID_BYTES for each packed cell. `work` is the
    approximate number of random numbers per trial of each. `rows` are the packed cells of the sequence, ascending; None
    for all.
    """

    def __init__(self, packs: Sequence[bytes], ids: bytes, work: Floats, rows: Ints | None = None) -> None:
        self._packs = packs
        self._ids = ids
        self._work = work
        self._rows = rows
        self._recent: dict[int, list[Cell]] = {}

    def __len__(self) -> int:
        return len(self._work) if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[Cell]:
        return self.taken(range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cell, ...]: ...
    def __getitem__(self, index: int | slice) -> Cell | tuple[Cell, ...]:
        """Return a cell, or a tuple of the cells of a slice."""
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else tuple(self.taken(places))

    def taken(self, places: Iterable[int] | Ints) -> Iterator[Cell]:
        """Yield the cells at these places. The call is fast if consecutive places are close."""
        for place in places:
            yield self._at(int(place))

    def _at(self, place: int) -> Cell:
        row = place if self._rows is None else int(self._rows[place])
        pack, within = divmod(row, PACK)
        found = self._recent.get(pack)
        return (self._unpack(pack) if found is None else found)[within]

    def _unpack(self, pack: int) -> list[Cell]:
        """Return the cells of a pack, and keep them in place of the pack that was unpacked first."""
        if len(self._recent) == RECENT:
            del self._recent[next(iter(self._recent))]
        ids = self._ids[pack * PACK * ID_BYTES : (pack + 1) * PACK * ID_BYTES]
        found = self._recent[pack] = _unpacked(self._packs[pack], ids)
        return found

    @property
    def work(self) -> Floats:
        """The approximate number of random numbers per trial of each cell."""
        return self._work if self._rows is None else self._work[self._rows]

    def ids(self) -> Iterator[str]:
        """Return the ids of all cells without unpacking anything else."""
        rows = range(len(self._work)) if self._rows is None else self._rows
        return map(self._id, rows)

    def by_id(self) -> Iterator[tuple[int, str]]:
        """Yield the place and the id of each cell, in the order of the ids."""
        for place in map(int, self._order):
            yield place, self._id(place if self._rows is None else int(self._rows[place]))

    def _id(self, row: int) -> str:
        return self._ids[row * ID_BYTES : (row + 1) * ID_BYTES].hex()

    def digest(self) -> str:
        """Return a digest of all cells in their order. It changes if equal cells are packed in another way."""
        found = hashlib.blake2b(digest_size=16)
        rows = b"" if self._rows is None else self._rows.astype("<i8").tobytes()
        for part in (*self._packs, self._ids, rows):
            found.update(len(part).to_bytes(8, "little") + part)
        return found.hexdigest()

    def as_texts(self) -> dict[str, Any]:
        """Return all cells as texts, which JSON can hold. Cells that do not belong to the sequence stay packed."""
        parts = {"ids": self._ids, "work": self._work.astype("<f8").tobytes()}
        rows = None if self._rows is None else self._rows.tolist()
        return {name: _text(part) for name, part in parts.items()} | {
            "packs": [_text(pack) for pack in self._packs],
            "rows": rows,
        }

    @staticmethod
    def of_texts(texts: Mapping[str, Any]) -> "Cells":
        """Return the cells that `as_texts` gave."""
        packs = [b64decode(pack) for pack in texts["packs"]]
        work = np.frombuffer(b64decode(texts["work"]), "<f8")
        rows = None if texts["rows"] is None else np.array(texts["rows"], dtype=np.int64)
        return Cells(packs, b64decode(texts["ids"]), work, rows)

    def place(self, cell: str) -> int | None:
        """Return the place of the first cell with this id, None if there is none."""
        try:
            found = int(self.places([cell])[0])
        except ValueError:
            return None
        return found if found >= 0 else None

    def places(self, cells: Sequence[str]) -> Ints:
        """Return the places of the first cells with these ids, -1 where there is none.

        Raises ValueError if a text is no id.
        """
        keys = self._keys
        wanted = np.array([bytes.fromhex(cell) for cell in cells], dtype=keys.dtype)
        if not len(keys):
            return np.full(len(wanted), -1)
        at = np.searchsorted(keys, wanted, sorter=self._order)
        found = self._order[np.minimum(at, len(keys) - 1)]
        return np.where(keys[found] == wanted, found, -1)

    def distinct(self) -> "Cells":
        """Return the first cell of each id."""
        firsts = np.sort(np.unique(self._keys, return_index=True)[1])
        if len(firsts) == len(self):
            return self
        rows = firsts if self._rows is None else self._rows[firsts]
        return Cells(self._packs, self._ids, self._work, rows)

    @cached_property
    def _keys(self) -> "np.ndarray[Any, np.dtype[np.bytes_]]":
        keys = np.frombuffer(self._ids, dtype=f"S{ID_BYTES}")  # NumPy drops zeros at the end, which is harmless here
        return keys if self._rows is None else keys[self._rows]

    @cached_property
    def _order(self) -> Ints:
        """The places in the order of their keys."""
        return np.argsort(self._keys, kind="stable")


class Packer:
    """A builder of `Cells` that takes cells one by one."""

    def __init__(self) -> None:
        self._packs: list[bytes] = []
        self._ids = bytearray()
        self._work = array("d")
        self._open: list[Cell] = []

    def add(self, cell: Cell) -> None:
        """Add a cell."""
        self._ids += bytes.fromhex(cell.id)
        self._work.append(cell.work)
        self._open.append(cell)
        if len(self._open) == PACK:
            self._close()

    def cells(self) -> Cells:
        """Return all added cells."""
        if self._open:
            self._close()
        return Cells(self._packs, bytes(self._ids), np.array(self._work))

    def _close(self) -> None:
        self._packs.append(_packed(self._open))
        self._open = []


def _text(data: bytes) -> str:
    return b64encode(data).decode()


_FIELDS = [field.name for field in fields(Cell)][1:]  # all but the id


def _packed(cells: list[Cell]) -> bytes:
    rows = [[getattr(cell, name) for name in _FIELDS] for cell in cells]
    return zlib.compress(json.dumps(rows).encode(), 1)


def _unpacked(pack: bytes, ids: bytes) -> list[Cell]:
    rows = json.loads(zlib.decompress(pack))
    return [Cell(ids[i * ID_BYTES : (i + 1) * ID_BYTES].hex(), *row) for i, row in enumerate(rows)]
