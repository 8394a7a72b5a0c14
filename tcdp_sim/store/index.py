"""Where records lie in a journal: some hundred bytes for each cell and eight for each of its chunks."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SHIFT = 44  # a place is a segment's number and an offset of less than 16 TB, in one whole number
_FAR = 4096  # chunks ahead of twice those that are known which get room in the list; others are kept one by one


class _Entry:
    """The places of a cell's chunks, and what its records have in common."""

    __slots__ = ("count", "places", "shape")

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.places = array("Q")  # by chunk; 0: not there
        self.count = 0  # of those that are there


class Index:
    """Cell and chunk -> segment and offset of the record; and what the records of a cell have in common."""

    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}
        self._far: dict[tuple[bytes, int], int] = {}  # chunks far beyond those before them
        self._segments: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._shapes: dict[Any, Any] = {}  # equal ones are one object

    def __contains__(self, key: tuple[str, int]) -> bool:
        return self._place(*key) > 0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """(cell, chunk) of every record."""
        for cell, entry in self._entries.items():
            name = cell.hex()
            yield from ((name, chunk) for chunk, place in enumerate(entry.places) if place)
        yield from ((cell.hex(), chunk) for cell, chunk in self._far)

    def shape(self, cell: str, otherwise: Any = None) -> Any:
        """What the records of a cell have in common: what its first was entered with; else what is given."""
        entry = self._entries.get(_key(cell))
        return otherwise if entry is None else entry.shape

    def where(self, cell: str, chunk: int) -> tuple[Path, int]:
        """Segment and offset of a record's payload. KeyError for none."""
        place = self._place(cell, chunk)
        if not place:
            raise KeyError((cell, chunk))
        return self._segments[place >> _SHIFT], place & ((1 << _SHIFT) - 1)

    def enter(self, cell: str, chunk: int, segment: Path, offset: int, shape: Any = None) -> None:
        """A record, in place of another of this chunk."""
        key = _key(cell)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(self._shapes.setdefault(shape, shape))
        if segment not in self._numbers:
            self._numbers[segment] = len(self._segments)
            self._segments.append(segment)
        place = self._numbers[segment] << _SHIFT | offset
        if chunk > 2 * entry.count + _FAR:  # so that a few records of whatever numbers take no room
            self._far[key, chunk] = place
            return
        if chunk > len(entry.places):
            entry.places.extend([0] * (chunk - len(entry.places)))
        if chunk == len(entry.places):
            entry.places.append(0)  # as mostly: they come in their order
        entry.count += not entry.places[chunk]
        entry.places[chunk] = place
        if self._far:
            self._far.pop((key, chunk), None)

    def _place(self, cell, chunk) -> int:
        key = _key(cell)
        entry = self._entries.get(key)
        if entry is None:
            return 0
        if chunk < len(entry.places) and entry.places[chunk]:
            return entry.places[chunk]
        return self._far.get((key, chunk), 0) if self._far else 0


def _key(cell: str) -> bytes:
    try:
        return bytes.fromhex(cell)
    except ValueError:  # no id: nobody entered it
        return cell.encode()
