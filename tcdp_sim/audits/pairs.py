"""Pairs of neighbouring inputs: those that are given, or patterns for vectors of answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcdp_sim.audits.identity import digest
from tcdp_sim.audits.sampling import Pair
from tcdp_sim.core.errors import UserError, whole

MOST = 10_000  # entries of a generated input


def answer_pairs(d: int, one: bool = False) -> list[tuple[Any, Any]]:
    """Neighbouring vectors of d answers to queries of sensitivity 1, as pairs of float arrays.

    one: whether a single answer may change (bins of a histogram); otherwise all may, each by up to 1. All ones against:
    the first entry 0, or 2; and, if all may change, one up and the rest down, the reverse, one half up and the other
    down, the reverse, all up, all down; and the first half ones against the second half. These are the patterns of Ding
    et al. 2018 (StatDP). An audit looks at both directions of each. Raises UserError.
    """
    try:
        d = whole("d", d, 1, MOST)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    ones, half = np.ones(d), np.arange(d) < (d + 1) // 2
    single = [np.concatenate([[value], np.ones(d - 1)]) for value in (0.0, 2.0)]
    if one or d == 1:
        return [(ones, other) for other in single]
    first = np.arange(d) == 0
    changed = [np.where(first, 2.0, 0.0), np.where(first, 0.0, 2.0), np.where(half, 2.0, 0.0), np.where(half, 0.0, 2.0)]
    pairs = [(ones, other) for other in (*single, *changed, np.full(d, 2.0), np.zeros(d))]
    return [*pairs, (half.astype(np.float64), (~half).astype(np.float64))]


def checked(given: Any, sensitivity: float | None) -> list[Pair]:
    """The pairs to audit. given: a number of answers, None for one, or pairs (data, other).

    Raises UserError for what is no pair, for two inputs that are equal, and, unless sensitivity is None, for inputs of
    numbers of which an entry differs by more, or of which one has other entries.
    """
    if given is None or isinstance(given, int):
        given = answer_pairs(1 if given is None else given)
    if not isinstance(given, Sequence) or isinstance(given, str) or not len(given):
        raise UserError("pairs is not valid; valid: a list of pairs (data, other), or the number of answers")
    return [_pair(index, pair, sensitivity) for index, pair in enumerate(given)]


def _pair(index: int, pair: Any, sensitivity: float | None) -> Pair:
    if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise UserError(f"pair {index} is not valid; valid: two inputs (data, other)")
    try:
        data, other = (np.array(side) for side in pair)
    except ValueError:
        raise UserError(f"pair {index}: an input is no array; valid: vectors or tables") from None
    for side in (data, other):
        if side.dtype.kind not in "biufUS":
            raise UserError(f"pair {index}: an input is of type {side.dtype}; valid: numbers, yes or no, texts")
    if np.array_equal(data, other):
        raise UserError(f"pair {index}: both inputs are equal; valid: two that differ")
    if sensitivity is not None and all(side.dtype.kind in "biuf" for side in (data, other)):
        _check_neighbours(index, data, other, sensitivity)
    for side in (data, other):
        side.setflags(write=False)
    return Pair(data, other, index, digest(["pair", data, other]))


def _check_neighbours(index: int, data: Any, other: Any, sensitivity: float) -> None:
    hint = "sensitivity=None audits inputs that are neighbours for another reason"
    if data.shape != other.shape:
        raise UserError(f"pair {index}: inputs of shapes {data.shape} and {other.shape} are no neighbours; {hint}")
    distance = np.abs(data.astype(np.float64) - other.astype(np.float64)).max()
    if not distance <= sensitivity * (1 + 1e-12):
        message = f"pair {index}: an entry differs by {distance:g}, so the inputs are no neighbours"
        raise UserError(f"{message}; valid: at most {sensitivity:g}; {hint}")
