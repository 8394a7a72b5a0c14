"""The encoding of summaries as bytes, which are the payload of a journal's records."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.errors import UserError
from tcdp_sim.summaries.bins import LARGE_KEY
from tcdp_sim.summaries.summary import Distribution, Summary, merged

TOGETHER, MOST_TOGETHER = 256, 1 << 20  # records that are handled together, and the approximate bytes of their arrays
MOST_BYTES = 1 << 26  # size limit of an encoded summary's arrays; 40 observables with every bin occupied need less


def to_bytes(summary: Summary) -> bytes:
    """Return a self-contained, machine-independent encoding: JSON header and compressed arrays, no pickle."""
    arrays: list[np.ndarray] = []
    header: dict[str, Any] = {"cell": summary.cell, "chunks": summary.chunks, "trials": summary.trials}
    header["events"] = dict(summary.events)
    header["observables"] = {}
    if summary.batches:
        header["batches"] = {name: summary.batches[name].shape[1] for name in summary.batches}
    for name in sorted(summary.observables):  # the sorted JSON header has the same order
        d = summary.observables[name]
        header["observables"][name] = {"bins": len(d.keys), "exceed": dict(d.exceed), "nonfinite": d.nonfinite}
        if d.nonfinite:
            header["observables"][name]["infinite"] = d.infinite
        steps = d.keys.copy()
        steps[1:] -= d.keys[:-1]  # mostly ones, which compress well
        arrays += [steps.astype("<i4"), d.counts.astype("<i8"), d.moments.astype("<f8")]
    arrays += [summary.batches[name].astype("<f8") for name in sorted(summary.batches)]
    text = json.dumps(header, sort_keys=True).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(b"".join(a.tobytes() for a in arrays), 1)


def peek(data: bytes) -> tuple[str, int]:
    """Return the cell id and the chunk of an encoded one-chunk summary without decoding its arrays."""
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header["cell"], header["chunks"][0]


class Parts(NamedTuple):
    """An unpacked summary: header, bins by observable, widths of batches, and bytes of its arrays.

    The arrays of each observable follow in the order of the header: steps from key to key (<i4), counts (<i8) and five
    moments for each chunk (<f8). Then come the batches (<f8).
    """

    header: Mapping[str, Any]
    bins: Mapping[str, int]
    widths: Mapping[str, int]
    body: bytes


def parts_of(data: bytes) -> Parts:
    """Return the parts of an encoded summary. Raises ValueError, KeyError or zlib.error for other bytes.

    An encoding that would unpack to more bytes than its header says, or more than MOST_BYTES, is refused before that.
    """
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(str(data[4:size], "utf-8"))
    rows = len(header["chunks"])
    bins = {name: fields["bins"] for name, fields in header["observables"].items()}
    widths = dict(header["batches"]) if "batches" in header else {}
    for sizes in (bins, widths):
        for value in sizes.values():
            if type(value) is not int or value < 0:
                raise ValueError(f"an encoded summary has a size of {value!r}")
    expected = 12 * sum(bins.values()) + 40 * rows * len(bins) + 8 * rows * sum(widths.values())
    return Parts(header, bins, widths, _unpacked(data[size:], expected))


def from_bytes(data: bytes) -> Summary:
    """Return the summary of an encoding. Raises the errors of `parts_of`, and UserError for an older version."""
    return assembled(parts_of(data))


def assembled(parts: Parts) -> Summary:
    """Return the summary with these parts. Raises UserError for a record of an older version."""
    header, body, rows, offset = parts.header, parts.body, len(parts.header["chunks"]), 0
    observables = {}
    for name, fields in header["observables"].items():
        arrays = []
        for dtype, count in (("<i4", parts.bins[name]), ("<i8", parts.bins[name]), ("<f8", 5 * rows)):
            arrays.append(np.frombuffer(body, dtype, count, offset))
            offset += arrays[-1].nbytes
        steps, counts, moments = arrays
        keys = steps.cumsum(dtype=np.int32)
        infinite = tuple(fields.get("infinite", (0, 0)))
        counted = (fields["exceed"], moments.reshape(rows, 5), fields["nonfinite"], infinite)
        observables[name] = Distribution(keys, counts, *counted)
        usual = len(keys) and keys[0] > 0 and keys[-1] < LARGE_KEY - 1  # enough, because keys ascend
        if counts_no_infinite(fields) or (not usual and _lost(observables[name])):
            message = f"a record of cell {str(header['cell'])[:16]} is of an older version, which lost infinite, huge"
            again = "simulate it again: choose another name, or remove the run's journal"
            raise UserError(f"{message} and tiny values; {again}")
    batches = {}
    for name, width in parts.widths.items():
        batches[name] = np.frombuffer(body, "<f8", rows * width, offset).reshape(rows, width)
        offset += batches[name].nbytes
    return Summary(header["cell"], tuple(header["chunks"]), header["trials"], observables, header["events"], batches)


def pooled(records: Iterable[bytes]) -> Summary:
    """Return the merged summary of encoded summaries of one chunk each, all of one cell and of the same shape.

    It has the bits of `merged`. The arrays of many records are added at once, which takes a third of the time. Raises
    the errors of `from_bytes`.
    """
    return merged(map(_added, _groups(map(parts_of, records))))


def _groups(each: Iterable[Parts]) -> Iterator[Sequence[Parts]]:
    group: list[Parts] = []
    size = 0
    for parts in each:
        group.append(parts)
        size += len(parts.body)
        if len(group) == TOGETHER or size > MOST_TOGETHER:
            yield group
            group, size = [], 0
    if group:
        yield group


def _added(group: Sequence[Parts]) -> Summary:
    """Return the summary of records of one chunk each; the chunks stay in this order."""
    first = group[0].header
    pieces: dict[str, tuple[list[bytes], ...]] = {name: ([], [], []) for name in group[0].bins}
    means: dict[str, list[bytes]] = {name: [] for name in group[0].widths}
    for parts in group:
        body, at = parts.body, 0
        for name, bins in parts.bins.items():
            ends = at, at + 4 * bins, at + 12 * bins, at + 12 * bins + 40
            for piece, start, end in zip(pieces[name], ends, ends[1:]):
                piece.append(body[start:end])
            at = ends[-1]
        for name, width in parts.widths.items():
            means[name].append(body[at : at + 8 * width])
            at += 8 * width
    headers = [parts.header for parts in group]
    observables = {}
    for name in pieces:
        found = _distribution([header["observables"][name] for header in headers], pieces[name])
        if found is None:
            return merged(map(assembled, group))  # which says what is wrong
        observables[name] = found
    batches = {name: np.frombuffer(b"".join(means[name]), "<f8").reshape(len(group), -1) for name in means}
    events = {name: sum(header["events"][name] for header in headers) for name in first["events"]}
    chunks = tuple(header["chunks"][0] for header in headers)
    return Summary(first["cell"], chunks, sum(header["trials"] for header in headers), observables, events, batches)


def _distribution(fields: Sequence[Any], pieces: Sequence[Sequence[bytes]]) -> Distribution | None:
    """Return the sum of the distributions of an observable, or None if one of them is of an older version."""
    steps, counts, moments = (
        np.frombuffer(b"".join(piece), kind) for piece, kind in zip(pieces, ("<i4", "<i8", "<f8"))
    )
    moments = moments.reshape(-1, 5)
    bins = np.array([each["bins"] for each in fields])
    places = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    keys = places[1:] - np.repeat(places[np.cumsum(bins) - bins], bins)
    low, high = (np.repeat(column, bins) for column in (moments[:, 3], moments[:, 4]))
    if any(map(counts_no_infinite, fields)) or lost_values(keys, low, high):
        return None
    least = keys.min(initial=0)
    table = np.zeros(int(keys.max(initial=least) - least) + 1, np.int64)
    np.add.at(table, keys - least, counts)
    used = np.flatnonzero(table)
    exceed = {label: sum(each["exceed"][label] for each in fields) for label in fields[0]["exceed"]}
    sides = [each.get("infinite", (0, 0)) for each in fields]
    infinite = sum(side[0] for side in sides), sum(side[1] for side in sides)
    nonfinite = sum(each["nonfinite"] for each in fields)
    return Distribution((used + least).astype(np.int32), table[used], exceed, moments, nonfinite, infinite)


def counts_no_infinite(fields: Mapping[str, Any]) -> bool:
    """Return True if an observable has non-finite trials but no count of infinite ones.

    Such records come from versions that kept no values beyond a certain range (see `lost_values`).
    """
    return bool(fields["nonfinite"]) and "infinite" not in fields


def lost_values(keys: NDArray[Any], least: ArrayLike, most: ArrayLike) -> bool:
    """Return True if there are trials beyond the range that older versions kept, so that their values are lost.

    `least` and `most` are the extremes of all trials, or of those of each key's observable. Those versions counted
    values below 2^-64 as zero. Where zeros are possible, such a record looks like any other and its numbers stay as
    they were.
    """
    if (np.abs(keys) == LARGE_KEY - 1).any():
        return True
    zero = keys == 0
    return bool(zero.any() and (zero & ((np.asarray(least) > 0) | (np.asarray(most) < 0))).any())


def _lost(d: Distribution) -> bool:
    """Return True if a distribution has lost values."""
    return lost_values(d.keys, d.moments[:, 3].min(), d.moments[:, 4].max())


def _unpacked(data: bytes, size: int) -> bytes:
    """Return the unpacked arrays. Raises ValueError unless they have `size` bytes."""
    if size > MOST_BYTES:
        raise ValueError(f"an encoded summary says that it has {size} bytes of arrays; at most {MOST_BYTES} are read")
    stream = zlib.decompressobj()
    body = stream.decompress(data, size + 1)
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"an encoded summary does not have the {size} bytes of arrays that its header states")
    return body
