"""Summaries as bytes, and back: the payload of a journal's records."""

import json
import zlib
from typing import Any

import numpy as np

from tcdp_sim.errors import UserError
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


def from_bytes(data: bytes) -> Summary:
    """The inverse of to_bytes; raises (ValueError, KeyError, zlib.error) for bytes that are not a summary's.

    What unpacks to more than the header says, or to more than MOST_BYTES, is refused before it is unpacked.
    """
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:size])
    rows = len(header["chunks"])
    bins = {name: _whole(fields["bins"]) for name, fields in header["observables"].items()}
    widths = {name: _whole(width) for name, width in header.get("batches", {}).items()}
    expected = 12 * sum(bins.values()) + 40 * rows * len(bins) + 8 * rows * sum(widths.values())
    body, offset = _unpacked(data[size:], expected), 0
    observables = {}
    for name, fields in header["observables"].items():
        parts = []
        for dtype, count in (("<i4", bins[name]), ("<i8", bins[name]), ("<f8", 5 * rows)):
            parts.append(np.frombuffer(body, dtype, count, offset))
            offset += parts[-1].nbytes
        steps, counts, moments = parts
        keys = np.cumsum(steps, dtype=np.int32)
        infinite = tuple(fields.get("infinite", (0, 0)))
        counted = (fields["exceed"], moments.reshape(rows, 5), fields["nonfinite"], infinite)
        observables[name] = Distribution(keys, counts, *counted)
        _refuse_old(observables[name], "infinite" in fields, header["cell"])
    batches = {}
    for name, width in widths.items():
        batches[name] = np.frombuffer(body, "<f8", rows * width, offset).reshape(rows, width)
        offset += batches[name].nbytes
    return Summary(header["cell"], tuple(header["chunks"]), header["trials"], observables, header["events"], batches)


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


def _refuse_old(d, counts_infinite, cell):
    """UserError if trials beyond the range that older versions kept are among these, whose values are lost.

    counts_infinite: whether the record says how many trials were infinite. Those versions counted what was below 2^-64
    as zero. Where zeros are possible, such a record cannot be told from others: its numbers stay what they were.
    """
    clipped = len(d.keys) and (np.abs(d.keys) == LARGE_KEY - 1).any()
    rounded = (d.keys == 0).any() and ((d.moments[:, 3].min() > 0) or (d.moments[:, 4].max() < 0))
    if clipped or rounded or (d.nonfinite and not counts_infinite):
        message = f"a record of cell {str(cell)[:16]} is of an older version, which lost infinite, huge and tiny values"
        raise UserError(f"{message}; simulate it again: choose another name, or remove the run's journal")
