"""Scores from a file: the columns `score` and `in`, and `run` and `canary` if the file has them."""

from collections import Counter
from pathlib import Path

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.data.readers import Row, read_header, read_rows

SIDES = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}  # in lower case


def read(path: Path | str, runs: str) -> tuple[Floats, Floats]:
    """Return the scores inside and outside. Raises UserError, also if the rows cannot be what `runs` says they are."""
    columns = read_header(path)
    more: list[str] = [name for name in ("run", "canary") if name in columns]
    rows = list(read_rows(path, ["score", "in", *more]))
    scores, inside = _numbers(path, rows), np.array([_side(path, row[1]) for row in rows], dtype=bool)
    labels = {name: [row[2 + place] for row in rows] for place, name in enumerate(more)}
    if empty := [name for name, column in labels.items() if None in column]:
        raise UserError(f"{path}: column {empty[0]} has empty cells; valid: a label in each row", str(path))
    if runs == "one":
        _check_one_run(path, labels)
    else:
        _check_many_runs(path, labels, inside)
    for side, name in ((True, "in = 1"), (False, "in = 0")):
        if np.count_nonzero(inside == side) < 2:
            raise UserError(f"{path}: fewer than two rows have {name}; valid: at least two scores of each", str(path))
    return scores[inside], scores[~inside]


def _numbers(path: Path | str, rows: list[Row]) -> Floats:
    """Return the column of scores. Raises UserError."""
    missing = sum(score is None or score.strip().lower() == "nan" for score, *_ in rows)
    if missing:
        valid = "numbers, and -inf or inf for an output that the mechanism withheld"
        raise UserError(f"{path}: {missing:,} of {len(rows):,} scores are missing; valid: {valid}", str(path))
    texts = [row[0] or "" for row in rows]
    try:
        if grouped := next((text for text in texts if "_" in text), ""):  # Python reads 1_000 as 1000
            raise ValueError(f": {grouped!r}")
        return np.array([float(text) for text in texts])
    except ValueError as mistake:
        text = str(mistake).partition(": ")[2]
        raise UserError(f"{path}: score {text} is no number; valid: numbers, -inf, inf", str(path)) from None


def _side(path: Path | str, text: str | None) -> bool:
    """Return whether a cell of the column `in` says inside. Raises UserError."""
    word = (text or "").strip().lower()
    if word not in SIDES:
        raise UserError(f"{path}: in = {word or 'empty'} is not valid; valid: 1 (inside), 0 (outside)", str(path))
    return SIDES[word]


def _check_one_run(path: Path | str, labels: dict[str, list[str | None]]) -> None:
    """Raise UserError unless the rows can be the canaries of one run."""
    if (number := len(set(labels.get("run", [])))) > 1:
        valid = "one run, or runs=many with one score for each run"
        raise UserError(f"{path}: column run has {number:,} runs; valid: {valid}", str(path))
    for canary, number in Counter(labels.get("canary", [])).most_common(1):
        if number > 1:
            raise UserError(f"{path}: canary {canary} has {number:,} scores; valid: one for each canary", str(path))


def _check_many_runs(path: Path | str, labels: dict[str, list[str | None]], inside) -> None:
    """Raise UserError unless the rows can be scores of independent runs, and every canary is as often in as out."""
    for run, number in Counter(labels.get("run", [])).most_common(1):
        if number > 1:
            valid = "one score for each run, or runs=one for the canaries of a single run"
            raise UserError(f"{path}: run {run} has {number:,} scores, which may depend on each other; valid: {valid}")
    canaries = labels.get("canary", [])
    excess: Counter[str | None] = Counter()
    for canary, side in zip(canaries, inside):
        excess[canary] += 1 if side else -1
    uneven = [canary for canary, number in excess.items() if number]
    if len(excess) > 1 and uneven:
        valid = "as many rows with in = 1 as with in = 0 for each canary (how-to: Audits from scores)"
        raise UserError(f"{path}: canary {uneven[0]} is not as often inside as outside; valid: {valid}", str(path))
