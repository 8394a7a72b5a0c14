"""The summaries of many chunks, encoded or decoded together.

`summarise` and `to_bytes` give the same bytes for each chunk alone.
"""

import json
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.summaries.batch import bins_of, spreads, sums_of
from tcdp_sim.summaries.bins import MIXED, SMALL_KEY
from tcdp_sim.summaries.encoding import Parts
from tcdp_sim.summaries.summary import Summary

MIXED_BYTES = np.array(MIXED, "<i8").tobytes()
Encoded = tuple[bytes, float]  # an encoded summary, and the largest relative standard error of its means


def encoded(
    places: Sequence[tuple[str, int]], numbers: Mapping[str, np.ndarray], hits: Mapping[str, np.ndarray], trials: int
) -> Iterator[Encoded | None]:
    """Yield the encoded summary of each chunk, or None for a chunk that has to be summarised alone.

    Such chunks have trials that are not finite, or whose squares overflow.

    - places: the cell and the index of each chunk.
    - numbers: the trials of each observable, shape (chunks, trials); neither thresholds nor shared random numbers.
    - hits: the number of trials in which each event happened, shape (chunks,).
    """
    sums = {name: sums_of(numbers[name]) for name in sorted(numbers)}
    usual = np.ones(len(places), dtype=bool)
    for each in sums.values():
        usual &= np.isfinite(each).all(axis=1)
    arrays = {name: _Arrays(np.where(usual[:, None], numbers[name], 0.0), each) for name, each in sums.items()}
    events = [hits[name].tolist() for name in sorted(hits)]
    sizes = [each.shown for each in arrays.values()]
    template, errors = _header(sorted(hits), list(arrays), trials), _relative(sums, len(places)).tolist()
    for row, (cell, chunk) in enumerate(places):
        if not usual[row]:
            yield None
            continue
        counted = (
            encode_basestring_ascii(cell),
            chunk,
            *(each[row] for each in events),
            *(text for each in sizes for text in each[row]),
        )
        text = (template % counted).encode()
        body = zlib.compress(b"".join([part for each in arrays.values() for part in each.parts(row)]), 1)
        yield len(text).to_bytes(4, "little") + text + body, errors[row]


class _Arrays:
    """The arrays of one observable as bytes, for each of its chunks, in the form of `encoding.to_bytes`."""

    def __init__(self, x: np.ndarray, sums: np.ndarray) -> None:
        keys, counts, atoms, sizes = bins_of(x)
        self._ends = np.cumsum(sizes).tolist()
        steps = np.diff(keys, prepend=np.int32(0))
        starts = np.cumsum(sizes) - sizes
        steps[starts] = keys[starts]
        self._sizes: list[int] = sizes.tolist()
        has_atoms = np.logical_or.reduceat(atoms != MIXED, starts)
        self._has_atoms: list[bool] = has_atoms.tolist()
        self.shown = [(json.dumps(has), size) for has, size in zip(self._has_atoms, self._sizes)]
        self._atoms = atoms.astype("<i8").tobytes()
        self._steps = steps.astype("<i4").tobytes()
        self._counts = counts.astype("<i8").tobytes()
        self._moments = sums.astype("<f8").tobytes()

    def parts(self, row: int) -> tuple[bytes, bytes, bytes, bytes]:
        """Return steps, counts, moments and atoms of a chunk."""
        end = self._ends[row]
        start = end - self._sizes[row]
        own = self._moments[40 * row : 40 * row + 40]
        atoms = self._atoms[8 * start : 8 * end] if self._has_atoms[row] else b""
        return self._steps[4 * start : 4 * end], self._counts[8 * start : 8 * end], own, atoms


def _header(events: Sequence[str], observables: Sequence[str], trials: int) -> str:
    """Return the header of an encoding, to be filled with cell, chunk, hits, and for each observable atoms and bins."""
    hits = ", ".join(f"{_key(name)}: %d" for name in events)
    bins = ", ".join(
        f'{_key(name)}: {{"atoms": %s, "bins": %d, "exceed": {{}}, "nonfinite": 0}}' for name in observables
    )
    return f'{{"cell": %s, "chunks": [%d], "events": {{{hits}}}, "observables": {{{bins}}}, "trials": {trials}}}'


def _key(name: str) -> str:
    return json.dumps(name).replace("%", "%%")


def _relative(sums: Mapping[str, np.ndarray], count: int) -> Any:
    """Return the largest relative standard error of the means of each chunk, as `estimates.relative_mcse` does."""
    worst = np.full(count, np.nan)
    for each in sums.values():
        mean, mcse, _ = spreads(each)
        with np.errstate(all="ignore"):
            worst = np.fmax(worst, np.where(mean == 0, np.nan, mcse / np.abs(mean)))
    return worst


Bins = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Together(NamedTuple):
    """The summaries of cells of one chunk each, all with the same numbers and events, and with finite trials.

    - trials: the number of trials of each cell.
    - sums: the moments of each observable, shape (cells, 5).
    - bins: keys, counts and atoms of the occupied bins of all cells, and how many bins each cell has, by observable.
    - hits: the number of trials in which each event happened.
    """

    trials: int
    sums: Mapping[str, np.ndarray]
    bins: Mapping[str, Bins]
    hits: Mapping[str, np.ndarray]


Summaries = Together | Sequence[Summary | None]
Names = tuple[Collection[str], Collection[str]]  # the observables and the events of a trial


def together(records: Sequence[Parts], names: Names) -> Together | None:
    """Return the summaries of records of one chunk each, or None if one has to be read alone.

    That holds for records with names other than these, with thresholds, with shared random numbers, and with trials
    that are not finite or below 2^-64.
    """
    first = records[0].header
    if first["observables"].keys() != set(names[0]) or first["events"].keys() != set(names[1]):
        return None
    if not all(_is_like(each.header, first) for each in records):
        return None
    ends = [0] * len(records)
    sums, bins = {}, {}
    for name in first["observables"]:
        sizes, atoms = [each.bins[name] for each in records], [each.atoms[name] for each in records]
        sums[name], bins[name] = _arrays(records, ends, sizes, atoms)
        if not _are_usual(bins[name][0], bins[name][-1], sums[name]):
            return None
        ends = [end + 12 * size + 40 + 8 * more for end, size, more in zip(ends, sizes, atoms)]
    hits = {name: np.array([each.header["events"][name] for each in records]) for name in first["events"]}
    return Together(first["trials"], sums, bins, hits)


def _is_like(header: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    """Return True if a header has the names of the first in its order, one chunk, and finite trials only."""
    observables = header["observables"]
    if list(observables) != list(first["observables"]) or header["events"].keys() != first["events"].keys():
        return False
    if any(fields["nonfinite"] or fields["exceed"] for fields in observables.values()):
        return False
    return header["trials"] == first["trials"] and len(header["chunks"]) == 1 and "batches" not in header


def _arrays(
    records: Sequence[Parts], starts: Sequence[int], sizes: Sequence[int], atoms: Sequence[int]
) -> tuple[np.ndarray, Bins]:
    """Return the moments and the bins of one observable, whose arrays begin at these places of the bodies."""
    steps, counts, moments, values = [], [], [], []
    for parts, start, size, more in zip(records, starts, sizes, atoms):
        body, counted, ended = parts.body, start + 4 * size, start + 12 * size
        steps.append(body[start:counted])
        counts.append(body[counted:ended])
        moments.append(body[ended : ended + 40])
        values.append(body[ended + 40 : ended + 40 + 8 * more] if more else MIXED_BYTES * size)
    bins = np.array(sizes)
    first = np.cumsum(bins) - bins
    places = np.concatenate([[0], np.cumsum(np.frombuffer(b"".join(steps), "<i4"), dtype=np.int64)])
    keys = places[1:] - np.repeat(places[first], bins)
    whole = (np.frombuffer(b"".join(each), "<i8").astype(np.int64) for each in (counts, values))
    found = (keys.astype(np.int32), *whole, bins)
    return np.frombuffer(b"".join(moments), "<f8").astype(np.float64).reshape(-1, 5), found


def _are_usual(keys: np.ndarray, bins: np.ndarray, sums: np.ndarray) -> bool:
    """Return True if all cells have bins and no number is below 2^-64."""
    return bool((bins > 0).all() and np.isfinite(sums).all() and np.abs(keys).max() < SMALL_KEY)
