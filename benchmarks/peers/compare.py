"""Measurements as rows for the reader: the answer, its distance to the trusted value, its cost beside ours."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.peers import trusted
from benchmarks.peers.questions import QUESTIONS, Question

OURS = "ours"
SLACK = 1e-8  # relative error of a trusted value and of rounding; a claim that is more wrong is reported


@dataclass(frozen=True)
class Row:
    """One contestant's answer to one question.

    `error` is comparable among answers of one kind, and inf where the truth contradicts the claim. `above` is the upper
    end minus the truth. Both are None where there is no such number.
    """

    who: str
    answer: str
    kind: str
    error: float | None
    above: float | None
    told: str
    cpu: float | None
    ratio: float | None
    note: str


def compared(runs: list[dict[str, Any]]) -> list[tuple[Question, list[Row]]]:
    """Return every question that was answered, with its rows, ours first.

    Each run of `runs` has "who", "question", and either "answer" and "cpu" or "failed". A row has the first answer and
    the median of the CPU seconds, which is a measured one if the number of repeats is odd.
    """
    found = []
    for question in QUESTIONS:
        asked = [run for run in runs if run["question"] == question.name]
        names = sorted(dict.fromkeys(run["who"] for run in asked), key=lambda who: not who.startswith(OURS))
        if names:
            found.append((question, _rows(question, {who: [r for r in asked if r["who"] == who] for who in names})))
    return found


def _rows(question: Question, runs: dict[str, list[dict[str, Any]]]) -> list[Row]:
    truth = getattr(trusted, question.trusted)(**question.parameters) if question.trusted else None
    costs = {who: _cost(question, each) for who, each in runs.items()}
    base = costs.get(OURS)
    return [_row(who, runs[who][0], truth, costs[who], costs[who] and base and costs[who] / base) for who in runs]


def _cost(question: Question, runs: list[dict[str, Any]]) -> float | None:
    """Return CPU seconds. For contestants that drew fewer numbers than asked they are scaled up."""
    spent = [run["cpu"] for run in runs if "cpu" in run]
    if not spent:
        return None
    answer = runs[0]["answer"] or {}
    drawn = question.parameters["count"] / answer["count"] if answer.get("kind") == "draws" else 1
    return median(spent) * drawn


def _row(who: str, run: dict[str, Any], truth: Any, cost: float | None, ratio: float | None) -> Row:
    if "failed" in run:
        return Row(who, "none", "failed", None, None, "", None, None, run["failed"])
    answer = run["answer"]
    if answer is None:
        return Row(who, "", "", None, None, "", cost, ratio, run.get("note", ""))
    error, above, told = (None, None, "") if truth is None else _ERRORS[answer["kind"]](answer, truth)
    return Row(who, _text(answer), answer["kind"], error, above, told, cost, ratio, answer["note"])


def _text(answer: dict[str, Any]) -> str:
    """Return the answer itself, if it is one number or two."""
    if answer["kind"] in ("draws", "cells"):
        return f"{answer['count']:,}"
    numbers = [answer[key] for key in ("low", "high", "value") if key in answer]
    if isinstance(numbers[0], list):
        return f"{len(numbers[0])} values"
    return ", ".join(f"{number:.7g}" for number in numbers)


def _relative(values: Any, truth: Any) -> list[float]:
    """Return the differences from the truth: relative for lists, absolute for numbers."""
    if isinstance(truth, list):
        return [(value - true) / true for value, true in zip(values, truth, strict=True)]
    return [values - truth]


def _slack(truth: Any) -> float:
    return SLACK if isinstance(truth, list) else SLACK * abs(truth)


def _of_bracket(answer: dict[str, Any], truth: Any) -> tuple[float, float, str]:
    low, high = _relative(answer["low"], truth), _relative(answer["high"], truth)
    width = max(b - a for a, b in zip(low, high))
    outside = max([*low, *(-b for b in high)])
    if outside > _slack(truth):
        return math.inf, math.inf, f"width {width:.1e}; the truth is outside by {outside:.1e}"
    return width, max(high), f"width {width:.1e}"


def _of_upper(answer: dict[str, Any], truth: Any) -> tuple[float, float, str]:
    above = _relative(answer["value"], truth)
    if -min(above) > _slack(truth):
        return math.inf, math.inf, f"no upper bound: {min(above):.1e}"
    return max(above), max(above), f"+{max(above):.1e}"


def _of_estimate(answer: dict[str, Any], truth: Any) -> tuple[float, None, str]:
    error = max(map(abs, _relative(answer["value"], truth)))
    return error, None, f"±{error:.1e}"


def _of_draws(answer: dict[str, Any], truth: tuple[float, float]) -> tuple[None, None, str]:
    mean, deviation = truth
    return None, None, f"{(answer['mean_square'] - mean) / deviation * answer['count'] ** 0.5:+.1f} s.e."


_ERRORS: dict[str, Callable[[dict[str, Any], Any], tuple[float | None, float | None, str]]] = {
    "bracket": _of_bracket,
    "upper bound": _of_upper,
    "estimate": _of_estimate,
    "draws": _of_draws,
}


def better(rows: list[Row]) -> tuple[list[str], list[str]]:
    """Return (names that are cheaper than ours, names that are nearer to the truth)."""
    ours = next((row for row in rows if row.who == OURS), None)
    if ours is None:
        return [], []
    others = [row for row in rows if not row.who.startswith(OURS)]
    cheaper = [row.who for row in others if row.ratio is not None and row.ratio < 1]
    return cheaper, [row.who for row in others if _nearer(row, ours)]


def _nearer(row: Row, ours: Row) -> bool:
    """Return True if `row` is nearer to the truth, by the errors of one kind or else by the upper ends."""
    pairs = (row.error, ours.error) if row.kind == ours.kind else (row.above, ours.above)
    return pairs[0] is not None and pairs[1] is not None and pairs[0] < pairs[1] - SLACK * abs(pairs[1])
