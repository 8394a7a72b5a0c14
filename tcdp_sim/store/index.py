"""The places of records in a journal: 160 bytes for a cell of one chunk, else 310 and eight for each chunk.

In a large sweep most cells have one chunk. Such a cell is kept as a whole number, which takes half of the memory.
"""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SHIFT = 44  # a place packs a file's number and an offset below 16 TB into one integer
_FAR = 4096  # a chunk further ahead than this is kept in a dictionary instead of the list


class _Entry:
    """The places of a cell's chunks, and the shape that its records share."""

    __slots__ = ("count", "places", "shape")

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.places = array("Q")  # by chunk; 0 for a missing one
        self.count = 0  # chunks that are there


class Index:
    """The journal file and offset of each chunk's record, and the shape that the records of a cell share."""

    def __init__(self) -> None:
        self._entries: dict[bytes, int | _Entry] = {}  # the number is that of `_single`
        self._usual: Any = None  # the shape of the first cell that has one
        self._far: dict[tuple[bytes, int], int] = {}  # chunks far beyond the ones before them
        self._segments: list[Path] = []
        self._numbers: dict[Path, int] = {}
        self._shapes: dict[Any, Any] = {}  # makes equal shapes one object

    def __contains__(self, key: tuple[str, int]) -> bool:
        return self._place(*key) > 0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield the cell and the chunk of every record."""
        for cell, entry in self._entries.items():
            name = cell.hex()
            places = (entry >> 1,) if isinstance(entry, int) else entry.places
            yield from ((name, chunk) for chunk, place in enumerate(places) if place)
        yield from ((cell.hex(), chunk) for cell, chunk in self._far)

    def shape(self, cell: str, otherwise: Any = None) -> Any:
        """Return the shape that a cell's records share, as given with its first record, or `otherwise`."""
        entry = self._entries.get(_key(cell))
        if entry is None:
            return otherwise
        return self._shape_of(entry)

    def where(self, cell: str, chunk: int) -> tuple[Path, int]:
        """Return the file and the offset of a record's payload. Raises KeyError if there is none."""
        place = self._place(cell, chunk)
        if not place:
            raise KeyError((cell, chunk))
        return self._segments[place >> _SHIFT], place & ((1 << _SHIFT) - 1)

    def enter(self, cell: str, chunk: int, segment: Path, offset: int, shape: Any = None) -> None:
        """Enter the place of a chunk's record, in place of any earlier one."""
        key, place = _key(cell), self._packed(segment, offset)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._without_chunks(shape)
        if isinstance(entry, int):
            if chunk == 0:
                self._entries[key] = _single(place, bool(entry & 1))
                return
            entry = _opened(entry, self._shape_of(entry))
        self._entries[key] = entry
        if chunk > 2 * entry.count + _FAR:  # a few records with large numbers must not take much room
            self._far[key, chunk] = place
            return
        if chunk > len(entry.places):
            entry.places.extend([0] * (chunk - len(entry.places)))
        if chunk == len(entry.places):
            entry.places.append(0)  # the usual case: chunks come in order
        entry.count += not entry.places[chunk]
        entry.places[chunk] = place
        if self._far:
            self._far.pop((key, chunk), None)

    def _packed(self, segment: Path, offset: int) -> int:
        """Return the place of a record as one number."""
        if segment not in self._numbers:
            self._numbers[segment] = len(self._segments)
            self._segments.append(segment)
        return self._numbers[segment] << _SHIFT | offset

    def _without_chunks(self, shape: Any) -> int | _Entry:
        """Return the entry of a new cell."""
        if self._usual is None:
            self._usual = shape
        if shape is None or shape == self._usual:
            return _single(0, shape is not None)
        return _Entry(self._shapes.setdefault(shape, shape))

    def _shape_of(self, entry: int | _Entry) -> Any:
        """Return the shape of a cell's records."""
        if isinstance(entry, int):
            return self._usual if entry & 1 else None
        return entry.shape

    def _place(self, cell, chunk) -> int:
        """Return the packed place of a chunk's record, 0 if there is none."""
        key = _key(cell)
        entry = self._entries.get(key)
        if entry is None:
            return 0
        if isinstance(entry, int):
            return 0 if chunk else entry >> 1
        if chunk < len(entry.places) and entry.places[chunk]:
            return entry.places[chunk]
        return self._far.get((key, chunk), 0) if self._far else 0


def _single(place: int, is_usual: bool) -> int:
    """Return the number of a cell that has chunk 0 at a place, or no chunk at place 0.

    Its records have the usual shape, or no known shape.
    """
    return place << 1 | is_usual


def _opened(single: int, shape: Any) -> _Entry:
    """Return the full entry of a cell that was stored as one integer."""
    entry = _Entry(shape)
    if single >> 1:
        entry.places.append(single >> 1)
        entry.count = 1
    return entry


def _key(cell: str) -> bytes:
    """Return a cell's id in bytes."""
    try:
        return bytes.fromhex(cell)
    except ValueError:  # not an id, so it was never entered
        return cell.encode()
