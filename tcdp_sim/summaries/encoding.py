"""The encoding of summaries as bytes, which are the payload of a journal's records."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.summaries.bins import MIXED
from tcdp_sim.summaries.summary import Distribution, Summary, merged

TOGETHER, MOST_TOGETHER = 256, 1 << 20  # records that are handled together, and the approximate bytes of their arrays
SPARSE = 16  # keys are counted in a table of their range unless it is so many times longer than they are
MOST_BYTES = 1 << 26  # size limit of an encoded summary's arrays; 20 observables with every bin occupied need less


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
        has_atoms = bool((d.atoms != MIXED).any())
        header["observables"][name] = {"atoms": has_atoms, "bins": len(d.keys), "exceed": dict(d.exceed)}
        header["observables"][name]["nonfinite"] = d.nonfinite
        if d.nonfinite:
            header["observables"][name]["infinite"] = d.infinite
        steps = d.keys.copy()
        steps[1:] -= d.keys[:-1]  # mostly ones, which compress well
        arrays += [steps.astype("<i4"), d.counts.astype("<i8"), d.moments.astype("<f8")]
        arrays += [d.atoms.astype("<i8")] if has_atoms else []
    arrays += [summary.batches[name].astype("<f8") for name in sorted(summary.batches)]
    text = json.dumps(header, sort_keys=True).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(b"".join(a.tobytes() for a in arrays), 1)


def peek(data: bytes) -> tuple[str, int]:
    """Return the cell id and the chunk of an encoded one-chunk summary without decoding its arrays."""
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header["cell"], header["chunks"][0]


class Parts(NamedTuple):
    """An unpacked summary: header, bins by observable, widths of batches, and bytes of its arrays.

    The arrays of each observable follow in the order of the header: steps from key to key (<i4), counts (<i8), five
    moments for each chunk (<f8) and, if any bin has one, atoms (<i8). Then come the batches (<f8). `atoms` has the
    number of atoms of each observable: the number of its bins, or 0.
    """

    header: Mapping[str, Any]
    bins: Mapping[str, int]
    atoms: Mapping[str, int]
    widths: Mapping[str, int]
    body: bytes


def parts_of(data: bytes) -> Parts:
    """Return the parts of an encoded summary. Raises ValueError, KeyError or zlib.error for other bytes.

    An encoding that would unpack to more bytes than its header says, or more than MOST_BYTES, is refused before that.
    """
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(str(data[4:size], "utf-8"))
    rows = len(header["chunks"])
    bins = {name: _whole(fields["bins"]) for name, fields in header["observables"].items()}
    atoms = {name: bins[name] if _yes(fields["atoms"]) else 0 for name, fields in header["observables"].items()}
    widths = {name: _whole(width) for name, width in header.get("batches", {}).items()}
    expected = 12 * sum(bins.values()) + 40 * rows * len(bins) + 8 * (sum(atoms.values()) + rows * sum(widths.values()))
    return Parts(header, bins, atoms, widths, _unpacked(data[size:], expected))


def from_bytes(data: bytes) -> Summary:
    """Return the summary of an encoding. Raises the errors of `parts_of`."""
    return assembled(parts_of(data))


def assembled(parts: Parts) -> Summary:
    """Return the summary with these parts."""
    header, body, rows, offset = parts.header, parts.body, len(parts.header["chunks"]), 0
    observables = {}
    for name, fields in header["observables"].items():
        arrays = []
        bins = parts.bins[name]
        for dtype, count in (("<i4", bins), ("<i8", bins), ("<f8", 5 * rows), ("<i8", parts.atoms[name])):
            arrays.append(np.frombuffer(body, dtype, count, offset))
            offset += arrays[-1].nbytes
        steps, counts, moments, atoms = arrays
        atoms = atoms if len(atoms) == bins else np.full(bins, MIXED)
        keys = steps.cumsum(dtype=np.int32)
        infinite = tuple(fields.get("infinite", (0, 0)))
        counted = (fields["exceed"], moments.reshape(rows, 5), fields["nonfinite"], infinite)
        observables[name] = Distribution(keys, counts, atoms, *counted)
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
    sums = map(_added, _groups(map(parts_of, records)))
    first = list(islice(sums, 2))
    if len(first) == 1 and list(first[0].chunks) == sorted(first[0].chunks):
        return first[0]  # its bits, sooner
    return merged(chain(first, sums))


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
    pieces: dict[str, tuple[list[bytes], ...]] = {name: ([], [], [], []) for name in group[0].bins}
    means: dict[str, list[bytes]] = {name: [] for name in group[0].widths}
    for parts in group:
        body, at = parts.body, 0
        for name, bins in parts.bins.items():
            ends = np.cumsum([at, 4 * bins, 8 * bins, 40, 8 * parts.atoms[name]]).tolist()
            for piece, start, end in zip(pieces[name], ends, ends[1:]):
                piece.append(body[start:end])
            if not parts.atoms[name]:
                pieces[name][-1][-1] = np.full(bins, MIXED, "<i8").tobytes()
            at = ends[-1]
        for name, width in parts.widths.items():
            means[name].append(body[at : at + 8 * width])
            at += 8 * width
    headers = [parts.header for parts in group]
    observables = {
        name: _distribution([header["observables"][name] for header in headers], pieces[name]) for name in pieces
    }
    batches = {name: np.frombuffer(b"".join(means[name]), "<f8").reshape(len(group), -1) for name in means}
    events = {name: sum(header["events"][name] for header in headers) for name in first["events"]}
    chunks = tuple(header["chunks"][0] for header in headers)
    return Summary(first["cell"], chunks, sum(header["trials"] for header in headers), observables, events, batches)


def _distribution(fields: Sequence[Any], pieces: Sequence[Sequence[bytes]]) -> Distribution:
    """Return the sum of the distributions of an observable."""
    steps, counts, moments, atoms = (
        np.frombuffer(b"".join(piece), kind) for piece, kind in zip(pieces, ("<i4", "<i8", "<f8", "<i8"))
    )
    bins = np.array([each["bins"] for each in fields])
    places = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    keys = places[1:] - np.repeat(places[np.cumsum(bins) - bins], bins)
    used, where = _distinct(keys)
    sums = np.zeros(len(used), np.int64)
    np.add.at(sums, where, counts)
    lowest, highest = np.full(len(used), np.iinfo(np.int64).max), np.full(len(used), MIXED)
    np.minimum.at(lowest, where, atoms)
    np.maximum.at(highest, where, atoms)
    exceed = {label: sum(each["exceed"][label] for each in fields) for label in fields[0]["exceed"]}
    sides = [each.get("infinite", (0, 0)) for each in fields]
    infinite = sum(side[0] for side in sides), sum(side[1] for side in sides)
    same = np.where(lowest == highest, lowest, MIXED)
    counted = (exceed, moments.reshape(-1, 5), sum(each["nonfinite"] for each in fields), infinite)
    return Distribution(used.astype(np.int32), sums, same, *counted)


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys, ascending, and the place of each key among them."""
    least = int(keys.min(initial=0))
    span = int(keys.max(initial=least)) - least + 1
    if span > SPARSE * len(keys):
        return np.unique(keys, return_inverse=True)
    found = np.zeros(span, bool)
    found[keys - least] = True
    return np.flatnonzero(found) + least, (np.cumsum(found) - 1)[keys - least]


def _yes(value) -> bool:
    """Return an answer in a header. Raises ValueError unless it is True or False."""
    if type(value) is not bool:
        raise ValueError(f"an encoded summary has {value!r} for an answer")
    return value


def _whole(value) -> int:
    """Return a size in a header. Raises ValueError unless it is an integer >= 0."""
    if type(value) is not int or value < 0:
        raise ValueError(f"an encoded summary has a size of {value!r}")
    return value


def _unpacked(data: bytes, size: int) -> bytes:
    """Return the unpacked arrays. Raises ValueError unless they have `size` bytes."""
    if size > MOST_BYTES:
        raise ValueError(f"an encoded summary says that it has {size} bytes of arrays; at most {MOST_BYTES} are read")
    stream = zlib.decompressobj()
    body = stream.decompress(data, size + 1)
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"an encoded summary does not have the {size} bytes of arrays that its header states")
    return body
