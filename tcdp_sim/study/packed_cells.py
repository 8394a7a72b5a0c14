"""Cells, and a sequence of them that takes some hundred bytes for each: ids as bytes, all else as compressed text."""

import hashlib
import json
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, overload

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints

PACK = 256  # cells that are packed together: a single one costs the unpacking of all of these
ID_BYTES = 32


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of the sweep.

    id: sha256 of the canonical law; law: the plain description from which a worker builds the mechanism;
    coords: axis -> label, None where the law does not depend on the axis; counts: digest of its data, "" without;
    guarantee: the promise of its noise; work: rough random numbers a trial.
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
        """Its coordinates, for people."""
        return " ".join(f"{axis}={show(value)}" for axis, value in self.coords.items() if value is not None)


def show(value: float | str) -> str:
    """A coordinate, for people."""
    return f"{value:g}" if isinstance(value, float) else str(value)


class Cells(Sequence[Cell]):
    """Cells in the order of the config, unpacked when they are asked for; a million take some 150 MB.

    rows: of those among the packed ones that it consists of, ascending; None: all of them.
    """

    def __init__(self, packs: Sequence[bytes], ids: bytes, work: Floats, rows: Ints | None = None) -> None:
        self._packs = packs
        self._ids = ids
        self._work = work
        self._rows = rows
        self._last: tuple[int, list[Cell]] = (-1, [])

    def __len__(self) -> int:
        return len(self._work) if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[Cell]:
        return self.taken(range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cell, ...]: ...
    def __getitem__(self, index: int | slice) -> Cell | tuple[Cell, ...]:
        """A cell; of a slice a tuple of those in it."""
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else tuple(self.taken(places))

    def taken(self, places: Sequence[int] | Ints) -> Iterator[Cell]:
        """The cells at these places, one after the other; fast where places that follow each other are close."""
        for place in places:
            yield self._at(int(place))

    def _at(self, place: int) -> Cell:
        row = place if self._rows is None else int(self._rows[place])
        pack, within = divmod(row, PACK)
        if self._last[0] != pack:
            self._last = (
                pack,
                _unpacked(self._packs[pack], self._ids[pack * PACK * ID_BYTES : (pack + 1) * PACK * ID_BYTES]),
            )
        return self._last[1][within]

    @property
    def work(self) -> Floats:
        """Rough random numbers a trial of each."""
        return self._work if self._rows is None else self._work[self._rows]

    def ids(self) -> Iterator[str]:
        """The ids of all, without unpacking anything else."""
        rows = range(len(self._work)) if self._rows is None else self._rows
        return (self._ids[row * ID_BYTES : (row + 1) * ID_BYTES].hex() for row in rows)

    def digest(self) -> str:
        """Of all cells with all that is known of them, in their order; equal ones that are packed otherwise differ."""
        found = hashlib.blake2b(digest_size=16)
        rows = b"" if self._rows is None else self._rows.astype("<i8").tobytes()
        for part in (*self._packs, self._ids, rows):
            found.update(len(part).to_bytes(8, "little") + part)
        return found.hexdigest()

    def place(self, cell: str) -> int | None:
        """Where the first cell with this id is, None if there is none."""
        keys = self._keys
        try:
            wanted = np.array([bytes.fromhex(cell)], dtype=keys.dtype)
        except ValueError:
            return None
        at = int(np.searchsorted(keys, wanted, sorter=self._order)[0])
        found = int(self._order[at]) if at < len(keys) else -1
        return found if found >= 0 and keys[found] == wanted[0] else None

    def distinct(self) -> "Cells":
        """Of the cells with one id the first."""
        firsts = np.sort(np.unique(self._keys, return_index=True)[1])
        if len(firsts) == len(self):
            return self
        rows = firsts if self._rows is None else self._rows[firsts]
        return Cells(self._packs, self._ids, self._work, rows)

    @cached_property
    def _keys(self) -> "np.ndarray[Any, np.dtype[np.bytes_]]":
        keys = np.frombuffer(self._ids, dtype=f"S{ID_BYTES}")  # which ignores zeros at the end, in all alike
        return keys if self._rows is None else keys[self._rows]

    @cached_property
    def _order(self) -> Ints:
        """The places in the order of their keys."""
        return np.argsort(self._keys, kind="stable")


class Packer:
    """Takes cells one by one, and hands them over packed."""

    def __init__(self) -> None:
        self._packs: list[bytes] = []
        self._ids = bytearray()
        self._work = array("d")
        self._open: list[Cell] = []

    def add(self, cell: Cell) -> None:
        """One more."""
        self._ids += bytes.fromhex(cell.id)
        self._work.append(cell.work)
        self._open.append(cell)
        if len(self._open) == PACK:
            self._close()

    def cells(self) -> Cells:
        """All that were added."""
        if self._open:
            self._close()
        return Cells(self._packs, bytes(self._ids), np.array(self._work))

    def _close(self) -> None:
        self._packs.append(_packed(self._open))
        self._open = []


_FIELDS = [field.name for field in fields(Cell)][1:]  # all but the id


def _packed(cells: list[Cell]) -> bytes:
    rows = [[getattr(cell, name) for name in _FIELDS] for cell in cells]
    return zlib.compress(json.dumps(rows).encode(), 1)


def _unpacked(pack: bytes, ids: bytes) -> list[Cell]:
    rows = json.loads(zlib.decompress(pack))
    return [Cell(ids[i * ID_BYTES : (i + 1) * ID_BYTES].hex(), *row) for i, row in enumerate(rows)]
