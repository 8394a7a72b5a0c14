"""Checks that a record can come from a simulation; a right digest only shows that nobody has changed it since.

The arrays of many records are checked together, because checking them one by one would dominate the opening of a run.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tcdp_sim.summaries.bins import LARGE_KEY, LARGEST_KEY, MIXED, WITHIN, values_at
from tcdp_sim.summaries.encoding import MOST_TOGETHER, TOGETHER, Parts, assembled, parts_of
from tcdp_sim.summaries.scales import exponents
from tcdp_sim.summaries.summary import Summary

MOST_TRIALS = 10**12  # trials of a cell in any study
ROUNDING = 1e-6  # relative error of a sum of numbers of both signs, generous
CELL = re.compile("[0-9a-f]{64}")
_FAULTS = (KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, zlib.error)
Place = TypeVar("Place")


class Entry(NamedTuple):
    """An index entry of a record: its cell, its chunk, and the shape that the summaries of the cell share."""

    cell: str
    chunk: int
    shape: tuple[Any, ...]


def decoded(data: bytes, trials: int | None = None) -> Summary:
    """Return the summary of one chunk. Raises ValueError for an invalid one, or one of another number of trials."""
    try:
        parts = parts_of(data)
        _check([parts], trials)
        return assembled(parts)
    except _FAULTS as problem:
        raise ValueError(f"no summary: {type(problem).__name__}: {problem}") from None


def entries(records: Iterable[tuple[Place, bytes]], trials: int | None = None) -> Iterator[tuple[Place, Entry | None]]:
    """Yield each place with the entry of its record, or None if `decoded` would refuse the record."""
    waiting: list[tuple[Place, Parts | None]] = []
    size = 0
    for place, data in records:
        try:
            parts = parts_of(data)
            size += len(parts.body)
        except (ValueError, *_FAULTS):
            parts = None
        waiting.append((place, parts))
        if len(waiting) == TOGETHER or size > MOST_TOGETHER:
            yield from _entered(waiting, trials)
            waiting, size = [], 0
    yield from _entered(waiting, trials)


def shape(summary: Summary) -> tuple[Any, ...]:
    """Return the common shape of a cell's summaries: names of observables, thresholds and events, and batches."""
    labels = {name: d.exceed for name, d in summary.observables.items()}
    return _shape(labels, summary.events, {name: means.shape[1] for name, means in summary.batches.items()})


def _shape(labels: Mapping[str, Iterable[str]], events: Iterable[str], widths: Mapping[str, int]) -> tuple[Any, ...]:
    """Return the shape with all names sorted."""
    observables = sorted((name, tuple(sorted(exceed))) for name, exceed in labels.items())
    return tuple(observables), tuple(sorted(events)), tuple(sorted(widths.items()))


def _entered(records: Sequence[tuple[Place, Parts | None]], trials: int | None) -> Iterator[tuple[Place, Entry | None]]:
    """Yield each place with its entry, checking all records together first."""
    each = [parts for _, parts in records if parts]
    right = _are_right(each, trials)
    for place, parts in records:
        yield place, _entry(parts) if parts and (right or _are_right([parts], trials)) else None


def _entry(parts: Parts) -> Entry:
    """Return the entry of checked parts."""
    header = parts.header
    labels = {name: fields["exceed"] for name, fields in header["observables"].items()}
    return Entry(header["cell"], header["chunks"][0], _shape(labels, header["events"], parts.widths))


def _are_right(records: Sequence[Parts], trials: int | None) -> bool:
    """Return True if all records are valid."""
    try:
        _check(records, trials)
    except (ValueError, *_FAULTS):
        return False
    return True


def _check(records: Sequence[Parts], trials: int | None) -> None:
    """Raise ValueError, or one of _FAULTS, unless all records are valid."""
    for parts in records:
        _check_header(parts.header, trials)
    _check_arrays(records)


def _check_header(header: Mapping[str, Any], expected: int | None) -> None:
    """Raise ValueError, or one of _FAULTS, unless the numbers of a header are possible."""
    chunks, trials = header["chunks"], header["trials"]
    _need(CELL.fullmatch(header["cell"]), "its cell is no id")
    _need(_count(trials, 1 << 62) and trials > 0, "it has no number of trials")
    _need(len(chunks) == 1 and _count(chunks[0], MOST_TRIALS // trials), "it is not of one chunk")
    _need(expected is None or trials == expected, "it is not of the run's number of trials")
    _need(_counts(header["events"], trials), "an event happened more often than there were trials")
    for fields in header["observables"].values():
        nonfinite, infinite = fields["nonfinite"], fields.get("infinite", (0, 0))
        _need(_count(nonfinite, trials), "more trials are not finite than there were")
        if nonfinite or "infinite" in fields:
            sides = len(infinite) == 2 and all(_count(side, trials) for side in infinite)
            _need(sides and sum(infinite) <= nonfinite, "more trials are infinite than not finite")
        _need(_counts(fields["exceed"], trials), "a threshold is exceeded more often than there were trials")


def _check_arrays(records: Sequence[Parts]) -> None:
    """Raise ValueError unless the arrays of these records, of one chunk each, are possible."""
    steps, counts, moments, atoms = _arrays(records)
    bins = np.array([each for parts in records for each in parts.bins.values()], dtype=np.int64)
    finite = np.array([trials for parts in records for trials in _finite(parts)], dtype=np.int64)
    ends = np.cumsum(bins)
    starts = ends - bins
    owner = np.repeat(np.arange(len(bins)), bins)
    _need(((counts > 0) & (counts <= finite[owner])).all(), "a bin has a count that cannot be")
    totals = np.concatenate([[0], np.cumsum(counts)])
    _need((totals[ends] - totals[starts] == finite).all(), "its bins do not hold its trials")
    places = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    keys = places[1:] - places[starts][owner]
    rising = np.diff(keys, prepend=0) > 0
    rising[starts[bins > 0]] = True
    _need(rising.all(), "its bins are not in order")
    size = np.abs(keys)
    _need(((size <= LARGEST_KEY) & (size != LARGE_KEY - 1)).all(), "it has a bin that there is not")
    n, total, squares, low, high = moments.T
    _need((n == finite).all(), "its moments are not of its trials")
    _need(not (squares < 0).any(), "a sum of squares is negative")
    _need(((n == 0) | ((low > -np.inf) & (low <= high) & (high < np.inf))).all(), "its ends cannot be")
    exponent = exponents(low, high)
    within = [np.ldexp(np.where(n > 0, end, 0.0), -exponent) for end in (low, high)]
    slack, mean = ROUNDING * np.maximum(*np.abs(within)), total / np.maximum(n, 1)
    _need(
        ((within[0] - slack <= mean) & (mean <= within[1] + slack)).all(),
        "its sum cannot be",
    )
    has_atoms = np.array([size > 0 for parts in records for size in parts.atoms.values()], dtype=bool)[owner]
    _check_atoms(atoms, keys[has_atoms], low[owner[has_atoms]], high[owner[has_atoms]])


def _check_atoms(atoms: np.ndarray, keys: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Raise ValueError unless the values of bins with these keys lie in them, and between the least and the largest."""
    _need(((atoms >= MIXED) & (atoms <= WITHIN)).all(), "a single value is not in its bin")
    value = values_at(keys, atoms)
    inside = (atoms == MIXED) | ((low <= value) & (value <= high))
    _need((inside & ((keys != 0) | (atoms <= 0))).all(), "a single value cannot be")


def _arrays(records: Sequence[Parts]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the steps, counts, moments and atoms of all observables, concatenated; moments have five columns."""
    pieces: tuple[list[bytes], ...] = ([], [], [], [])
    for parts in records:
        at = 0
        for bins, atoms in zip(parts.bins.values(), parts.atoms.values()):
            for piece, size in zip(pieces, (4 * bins, 8 * bins, 40, 8 * atoms)):
                piece.append(parts.body[at : at + size])
                at += size
    steps, counts, moments, atoms_found = (
        np.frombuffer(b"".join(piece), kind) for piece, kind in zip(pieces, ("<i4", "<i8", "<f8", "<i8"))
    )
    return steps, counts, moments.reshape(-1, 5), atoms_found


def _finite(parts: Parts) -> Iterator[int]:
    """Return the number of finite trials of each observable."""
    trials = parts.header["trials"]
    return (trials - fields["nonfinite"] for fields in parts.header["observables"].values())


def _count(value: Any, most: int) -> bool:
    """Return True for an integer from 0 to `most`."""
    return type(value) is int and 0 <= value <= most


def _counts(counts: Mapping[str, Any], most: int) -> bool:
    """Return True if all values are integers from 0 to `most`."""
    values = counts.values()  # a generator would take twice the time, for every record of a run
    return not values or ({*map(type, values)} == {int} and min(values) >= 0 and max(values) <= most)


def _need(holds: Any, what: str) -> None:
    """Raise ValueError with this text unless the condition holds."""
    if not holds:
        raise ValueError(what)
