"""Features of an output: its values, sorted values, differences, sum, ties and lowest bits."""

from collections.abc import Callable, Mapping

import numpy as np

from tcdp_sim.core.arrays import Floats

MOST_COLUMNS = 64  # outputs with more numbers are reduced to their values and their sum
DISTINCT = 64  # a column with at most this many values in the pilot gets one cell for each
QUANTILES = 32  # cells of other columns, at quantiles of the pilot; finer cells follow in both tails
_MANTISSA = 52
_EXPONENT_BIAS = 1075  # the lowest bit of a double stands for 2^(exponent field - 1075)


def as_matrix(outputs) -> Floats:
    """Return outputs as floats of shape (trials, d).

    Vectors and tables are flattened. Texts become the codes of their letters.
    """
    outputs = np.ascontiguousarray(outputs)
    trials = len(outputs)
    if outputs.dtype.kind in "US":
        size = 4 if outputs.dtype.kind == "U" else 1
        outputs = outputs.reshape(trials, -1).view(np.uint32 if size == 4 else np.uint8)
    return outputs.reshape(trials, -1).astype(np.float64, copy=False)


def lowest_bit(x: Floats) -> Floats:
    """Return the exponent of the lowest set bit of each double, 0 for zero.

    A double with exponent e is a whole multiple of 2^e. Sums of doubles keep a trace of the size of their parts.
    """
    bits = np.ascontiguousarray(x, np.float64).view(np.int64)
    mantissa = bits & ((1 << _MANTISSA) - 1)
    exponent = (bits >> _MANTISSA) & 0x7FF
    full = np.where(exponent > 0, mantissa | (1 << _MANTISSA), mantissa)
    _, trailing = np.frexp((full & -full).astype(np.float64))
    return np.where(full == 0, 0.0, np.maximum(exponent, 1) - _EXPONENT_BIAS + trailing - 1.0)


def ties(x: Floats) -> Floats:
    """Return the number of ties in each output, shape (trials, 1)."""
    ordered = np.sort(x, axis=1)
    return np.count_nonzero(ordered[:, 1:] == ordered[:, :-1], axis=1).astype(np.float64)[:, None]


def _differences(x: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.diff(x, axis=1), nan=0.0, posinf=np.inf, neginf=-np.inf)


def _sums(x: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(x.sum(axis=1, keepdims=True), nan=0.0, posinf=np.inf, neginf=-np.inf)


KINDS: Mapping[str, Callable[[Floats], Floats]] = {  # (trials, d) -> (trials, columns)
    "value": lambda x: x,
    "sorted": lambda x: np.sort(x, axis=1),
    "difference": _differences,
    "sum": _sums,
    "ties": ties,
    "lowest bit": lowest_bit,
}


def kinds_of(pilot: Floats, bits: bool) -> tuple[str, ...]:
    """Return the kinds of features that can be informative for a pilot of shape (trials, d).

    `bits` adds the lowest bits.
    """
    columns = pilot.shape[1]
    finite = pilot[np.isfinite(pilot)]
    fractions = bool((finite != np.floor(finite)).any())
    kinds = ["value"]
    if 1 < columns <= MOST_COLUMNS:
        kinds += ["sorted", "difference"] if fractions else []
        kinds += ["sum", "ties"]
    if bits and fractions and columns <= MOST_COLUMNS:
        kinds.append("lowest bit")
    return tuple(kinds)


def named(kind: str, column: int, columns: int) -> str:
    """Return a column's name in words; `columns` is the number of values of an output."""
    if kind == "value":
        return f"output[{column}]" if columns > 1 else "output"
    if kind == "sorted":
        ends = {0: "smallest of the output", columns - 1: "largest of the output"}
        return ends.get(column, f"sorted output[{column}]")
    if kind == "lowest bit":
        return f"exponent of the lowest bit of output{f'[{column}]' if columns > 1 else ''}"
    words = {"difference": f"output[{column + 1}] - output[{column}]", "sum": "sum of the output"}
    return words.get(kind, "number of ties in the output")


def cell_edges(pilot: Floats) -> Floats:
    """Return the ascending edges between the cells of one column; a number on an edge belongs above it."""
    values = np.unique(pilot)
    if len(values) <= DISTINCT:
        return middles(values)
    n = len(pilot)
    tails = 0.5 ** np.arange(6, max(np.log2(n) - 3, 6))
    levels = np.concatenate([np.arange(1, QUANTILES) / QUANTILES, tails, 1 - tails])
    edges = np.unique(np.quantile(pilot, levels, method="lower"))
    return edges[edges > values[0]]


def middles(values: Floats) -> Floats:
    """Return separators between distinct ascending values."""
    with np.errstate(invalid="ignore", over="ignore"):
        between = 0.5 * values[1:] + 0.5 * values[:-1]
    good = (between > values[:-1]) & (between <= values[1:]) & np.isfinite(between)
    return np.where(good, between, values[1:])
