"""Summaries as bytes, and back: the payload of a journal's records."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.errors import UserError
from tcdp_sim.summaries.bins import LARGE_KEY
from tcdp_sim.summaries.summary import Distribution, Summary

MOST_BYTES = 1 << 26  # of an encoded summary's arrays: 40 observables with every bin occupied have less


def to_bytes(summary: Summary) -> bytes:
    """A self-contained, machine-independent encoding: JSON header and compressed arrays; no pickle."""
    arrays: list[np.ndarray] = []
    header: dict[str, Any] = {"cell": summary.cell, "chunks": summary.chunks, "trials": summary.trials}
    header["events"] = dict(summary.events)
    header["observables"] = {}
    if summary.batches:
        header["batches"] = {name: summary.batches[name].shape[1] for name in summary.batches}
    for name in sorted(summary.observables):  # the order in which the header's keys come back
        d = summary.observables[name]
        header["observables"][name] = {"bins": len(d.keys), "exceed": dict(d.exceed), "nonfinite": d.nonfinite}
        if d.nonfinite:
            header["observables"][name]["infinite"] = d.infinite
        steps = d.keys.copy()
        steps[1:] -= d.keys[:-1]  # mostly ones: they compress to nothing
        arrays += [steps.astype("<i4"), d.counts.astype("<i8"), d.moments.astype("<f8")]
    arrays += [summary.batches[name].astype("<f8") for name in sorted(summary.batches)]
    text = json.dumps(header, sort_keys=True).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(b"".join(a.tobytes() for a in arrays), 1)


def peek(data: bytes) -> tuple[str, int]:
    """(cell id, chunk index) of an encoded one-chunk summary, without decoding its arrays."""
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header["cell"], header["chunks"][0]


class Parts(NamedTuple):
    """An encoded summary that is unpacked: its header, bins by observable, widths of batches, and bytes of its arrays.

    Of each observable, in the order of the header, steps from key to key (<i4), counts (<i8) and five moments a chunk
    (<f8) follow each other; then come the batches (<f8).
    """

    header: Mapping[str, Any]
    bins: Mapping[str, int]
    widths: Mapping[str, int]
    body: bytes


def parts_of(data: bytes) -> Parts:
    """What an encoded summary consists of; (ValueError, KeyError, zlib.error) for bytes that are not one's.

    What unpacks to more than the header says, or to more than MOST_BYTES, is refused before it is unpacked.
    """
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(str(data[4:size], "utf-8"))
    rows = len(header["chunks"])
    bins = {name: _whole(fields["bins"]) for name, fields in header["observables"].items()}
    widths = {name: _whole(width) for name, width in header.get("batches", {}).items()}
    expected = 12 * sum(bins.values()) + 40 * rows * len(bins) + 8 * rows * sum(widths.values())
    return Parts(header, bins, widths, _unpacked(data[size:], expected))


def from_bytes(data: bytes) -> Summary:
    """The inverse of to_bytes; raises as `parts_of`, and UserError for the record of an older version."""
    return assembled(parts_of(data))


def assembled(parts: Parts) -> Summary:
    """The summary that consists of these parts; UserError for the record of an older version."""
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
        usual = len(keys) and keys[0] > 0 and keys[-1] < LARGE_KEY - 1  # keys ascend
        if counts_no_infinite(fields) or (not usual and _lost(observables[name])):
            message = f"a record of cell {str(header['cell'])[:16]} is of an older version, which lost infinite, huge"
            again = "simulate it again: choose another name, or remove the run's journal"
            raise UserError(f"{message} and tiny values; {again}")
    batches = {}
    for name, width in parts.widths.items():
        batches[name] = np.frombuffer(body, "<f8", rows * width, offset).reshape(rows, width)
        offset += batches[name].nbytes
    return Summary(header["cell"], tuple(header["chunks"]), header["trials"], observables, header["events"], batches)


def counts_no_infinite(fields: Mapping[str, Any]) -> bool:
    """Whether an observable has trials that are not finite, and its header does not say how many were infinite.

    So did versions that kept no values beyond a certain range (`lost_values`).
    """
    return bool(fields["nonfinite"]) and "infinite" not in fields


def lost_values(keys: NDArray[Any], least: ArrayLike, most: ArrayLike) -> bool:
    """Whether there are trials beyond the range that older versions kept: their values are lost.

    least, most: value of all trials, or of those of each key's observable. Those versions counted what was below 2^-64
    as zero. Where zeros are possible, such a record cannot be told from others: its numbers stay what they were.
    """
    if (np.abs(keys) == LARGE_KEY - 1).any():
        return True
    zero = keys == 0
    return bool(zero.any() and (zero & ((np.asarray(least) > 0) | (np.asarray(most) < 0))).any())


def _lost(d: Distribution) -> bool:
    return lost_values(d.keys, d.moments[:, 3].min(), d.moments[:, 4].max())


def _whole(value) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"an encoded summary has a size of {value!r}")
    return value


def _unpacked(data: bytes, size: int) -> bytes:
    if size > MOST_BYTES:
        raise ValueError(f"an encoded summary says that it has {size} bytes of arrays; at most {MOST_BYTES} are read")
    stream = zlib.decompressobj()
    body = stream.decompress(data, size + 1)
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"an encoded summary has not the {size} bytes of arrays that its header says")
    return body
