"""Events in words that fit the outputs: a label, a yes or no, a range of numbers, some combinations of values."""

from typing import Any

import numpy as np

from tcdp_sim.audits.scores import Additive, Atoms, Column, Score

MOST_PARTS = 4  # ranges or combinations that are listed; an event of more is described by its score


def event(score: Score, threshold: float, upper: bool) -> str:
    """Return the event {score >= threshold}, or {score < threshold} unless `upper`, in words."""
    if isinstance(score, Column) and score.opposite and 0 < threshold <= 1:
        return score.words if upper else score.opposite
    found = None
    if isinstance(score, Additive):
        found = _of_steps(score, threshold, upper)
    elif isinstance(score, Atoms):
        found = _of_atoms(score, threshold, upper)
    return found or f"{score.words} {'>=' if upper else '<'} {threshold:.10g}"


def _of_steps(score: Additive, threshold: float, upper: bool) -> str | None:
    """Return the event of a score that depends on one column alone, as ranges of the column; else None."""
    telling = [number for number, steps in enumerate(score.steps) if len(np.unique(steps)) > 1]
    if len(telling) != 1:
        return None
    number = telling[0]
    others = sum(float(steps[0]) for place, steps in enumerate(score.steps) if place != number)
    inside = ((score.steps[number] + others >= threshold) == upper).tolist()
    words, opposite = score.names[number]
    edges = score.edges[number].tolist()
    if opposite and len(edges) == 1:
        return words if inside[1] else opposite
    ends = [-np.inf, *edges, np.inf]
    ranges: list[list[float]] = []
    for low, high, holds in zip(ends, ends[1:], inside):
        if holds and ranges and ranges[-1][1] == low:
            ranges[-1][1] = high
        elif holds:
            ranges.append([low, high])
    return " or ".join(_range(words, *each) for each in ranges) if 0 < len(ranges) <= MOST_PARTS else None


def _range(words: str, low: float, high: float) -> str:
    """Return low <= x < high in words."""
    if low == -np.inf:
        return f"{words} < {high:.10g}"
    return f"{words} >= {low:.10g}" if high == np.inf else f"{low:.10g} <= {words} < {high:.10g}"


def _of_atoms(score: Atoms, threshold: float, upper: bool) -> str | None:
    """Return the combinations of values that make the event, or those that do not if these are fewer; else None.

    A combination without any output has a log ratio of 0 and is not listed.
    """
    inside, seen = (score.ratios >= threshold) == upper, score.ratios != 0
    fewer = bool((inside & seen).sum() <= MOST_PARTS)
    codes = np.flatnonzero((inside if fewer else ~inside) & seen)
    if not 0 < len(codes) <= MOST_PARTS or not score.names:
        return None
    return (" or " if fewer else " and ").join(_combination(score, int(code), fewer) for code in codes)


def _combination(score: Atoms, code: int, equal: bool) -> str:
    """Return one combination of values in words, or that the output is another one."""
    parts: list[Any] = []
    for (words, opposite), value in zip(score.names, score.values(code)):
        if opposite:
            parts += [words] if value else []
        else:
            parts.append(f"{words} = {value}")
    text = " and ".join(parts) or " and ".join(opposite for _, opposite in score.names)
    return text if equal else f"not ({text})"
