"""Whether a record says what a simulation can have said: a right digest tells only that nobody has changed it since."""

import re
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tcdp_sim.summaries.bins import LARGEST_KEY
from tcdp_sim.summaries.encoding import from_bytes
from tcdp_sim.summaries.summary import Distribution, Summary

CELL = re.compile("[0-9a-f]{64}")
_FAULTS = (KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, zlib.error)


def decoded(data: bytes, trials: int | None = None) -> Summary:
    """The summary of one chunk; ValueError for everything else. trials: how many it has to have, if that is known."""
    try:
        summary = from_bytes(data)
        _check(summary, trials)
    except _FAULTS as problem:
        raise ValueError(f"no summary: {type(problem).__name__}: {problem}") from None
    return summary


def shape(summary: Summary) -> tuple[Any, ...]:
    """What the summaries of a cell's chunks have in common: names of observables, thresholds, events; batches."""
    labels = {name: tuple(sorted(d.exceed)) for name, d in summary.observables.items()}
    widths = {name: means.shape[1] for name, means in summary.batches.items()}
    return tuple(sorted(labels.items())), tuple(sorted(summary.events)), tuple(sorted(widths.items()))


def _check(summary, trials):
    _need(CELL.fullmatch(summary.cell), "its cell is no id")
    _need(len(summary.chunks) == 1 and _count(summary.chunks[0], 1 << 64), "it is not of one chunk")
    _need(_count(summary.trials, 1 << 62) and summary.trials > 0, "it has no number of trials")
    _need(trials is None or summary.trials == trials, f"it is not of {trials} trials")
    _need(_counts(summary.events, summary.trials), "an event happened more often than there were trials")
    for distribution in summary.observables.values():
        _check_distribution(distribution, summary.trials)


def _check_distribution(d: Distribution, trials: int):
    _need(_count(d.nonfinite, trials), "more trials are not finite than there were")
    infinite = len(d.infinite) == 2 and all(_count(side, trials) for side in d.infinite)
    _need(infinite and sum(d.infinite) <= d.nonfinite, "more trials are infinite than not finite")
    _need(_counts(d.exceed, trials), "a threshold is exceeded more often than there were trials")
    _need(d.counts.min(initial=1) > 0 and d.counts.max(initial=0) <= trials, "a bin has a count that cannot be")
    _need(int(d.counts.sum()) + d.nonfinite == trials, "its bins do not hold its trials")
    _need((d.keys[1:] > d.keys[:-1]).all(), "its bins are not in order")
    ends = d.keys[[0, -1]].tolist() if len(d.keys) else [0]
    _need(max(map(abs, ends)) <= LARGEST_KEY, "it has a bin that there is not")
    ((n, _, squares, low, high),) = d.moments.tolist()
    _need(n == trials - d.nonfinite, "its moments are not of its trials")
    _need(not squares < 0, "a sum of squares is negative")
    _need(n == 0 or -np.inf < low <= high < np.inf, "its smallest and largest value cannot be")


def _count(value, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _counts(counts: Mapping[str, Any], most: int) -> bool:
    return all(_count(value, most) for value in counts.values())


def _need(holds, what: str):
    if not holds:
        raise ValueError(what)
