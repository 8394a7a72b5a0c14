"""Errors and warnings of simulated chunks, as data: stored with their chunk, and listed at the end of the run."""

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tcdp_sim.core import texts
from tcdp_sim.core.texts import kind_of
from tcdp_sim.core.texts import shortened as shortened

ERROR, WARNING = "error", "warning"
OF_TRIALS = {ERROR: "trial", WARNING: "trial warning"}  # the first trial of each kind in a chunk; `where` is JSON
WHAT = {kind: what for what, kind in OF_TRIALS.items()}
MOST_LISTED = 5
FAILED_TRIALS = "errors.csv"


@dataclass(frozen=True)
class Problem:
    """An error or a warning of one chunk; `where` is its traceback, or file and line."""

    cell: str
    chunk: int
    kind: str
    message: str
    where: str


def of_chunks(problems: Iterable[Problem], wanted: Mapping[str, int], has) -> list[Problem]:
    """Return the problems that concern a run: errors of chunks it lacks, and others of chunks it has.

    `wanted` is the number of chunks of each cell id, and has(cell id, chunk) is True for a finished chunk.
    """
    of_wanted = (one for one in problems if one.chunk < wanted.get(one.cell, 0))
    relevant = [one for one in of_wanted if has(one.cell, one.chunk) == (one.kind != ERROR)]
    return sorted(relevant, key=lambda one: (one.kind, one.cell, one.chunk, one.message, one.where))


def counts(problems: Iterable[Problem]) -> dict[tuple[str, str], int]:
    """Return the number of chunks with a problem of each kind, by cell id and kind."""
    chunks = {(one.cell, one.kind, one.chunk) for one in problems}
    totals: dict[tuple[str, str], int] = {}
    for cell, kind, _ in chunks:
        totals[cell, kind] = totals.get((cell, kind), 0) + 1
    return totals


def report(problems: list[Problem], where: Mapping[str, str], path: Path | None, say) -> None:
    """Write all problems to a CSV (no file if there are none) and print the first of each kind.

    `where` gives the coordinates of each cell id. If `path` is None, nothing is written.
    """
    if path is not None:
        _write([one for one in problems if one.kind not in WHAT], where, path)
    all_of_them = f"; all, with where they come from: {path}" if path else ", such as"
    for kind in (ERROR, WARNING):
        of_kind = [one for one in problems if one.kind == kind]
        if of_kind:
            cells = len({one.cell for one in of_kind})
            say(f"{len(of_kind)} {kind}s in {cells} cells{all_of_them}")
        for one in of_kind[:MOST_LISTED]:
            place = f"cell={one.cell[:16]} index={one.chunk} ({where.get(one.cell, '')})"
            say(f"  {kind} in {place}: {shortened(one.message)}")


def first_failed_trials(problems: Iterable[Problem], order: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the first failed trial of each cell and kind, by cell, chunk and trial.

    `order` gives the place of each cell id. A trial has the keys cell, chunk, trial, kind (error or warning), message,
    count (draws of its kind) and state, which is that of the generator before it.
    """
    found = [{"cell": one.cell, "chunk": one.chunk, "kind": WHAT[one.kind], "message": one.message}
             | json.loads(one.where) for one in problems if one.kind in WHAT]  # fmt: skip
    first: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in sorted(found, key=lambda one: (order[one["cell"]], one["chunk"], one["trial"], one["message"])):
        key = one["cell"], one["kind"], kind_of(one["message"])
        if key in first:
            first[key]["count"] += one["count"]
        else:
            first[key] = one
    return list(first.values())


def write_failed_trials(
    problems: Iterable[Problem], where: Mapping[str, str], order: Mapping[str, int], path: Path
) -> None:
    """Write the first failed trial of each cell and kind to a CSV; remove the file if there is none."""
    found = first_failed_trials(problems, order)
    if not found:
        path.unlink(missing_ok=True)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        names = ["coordinates", "cell", "chunk", "trial", "kind", "message", "count", "state"]
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for one in found:
            row = {"coordinates": where.get(one["cell"], ""), **one, "state": json.dumps(one["state"])}
            writer.writerow({name: texts.cell(value) for name, value in row.items()})


def _write(problems: list[Problem], where: Mapping[str, str], path: Path) -> None:
    """Write all problems to a CSV; remove the file if there are none."""
    if not problems:
        path.unlink(missing_ok=True)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["coordinates", *(field.name for field in fields(Problem))])
        writer.writeheader()
        rows = ({"coordinates": where.get(one.cell, ""), **asdict(one)} for one in problems)
        writer.writerows({name: texts.cell(value) for name, value in row.items()} for row in rows)
