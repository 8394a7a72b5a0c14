"""The exact values and bounds that the parts of a sweep compute and store, each for its own cells."""

import time
from collections.abc import Iterator, Mapping

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.store import part_values
from tcdp_sim.store.memories import PART_VALUES
from tcdp_sim.store.part_values import Functions, Values
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.parts import Part
from tcdp_sim.study.study import Study
from tcdp_sim.sweeps import exact
from tcdp_sim.sweeps.arguments import Sweep, identified
from tcdp_sim.sweeps.reference_arguments import Constant

PATIENCE = 2.0  # seconds of computing before a message


def functions_of(sweep: Sweep) -> Functions:
    """Return the word and the digest of the function of each column. Raises UserError if a function has no identity."""
    found = {}
    for column, key, name, _, call in exact.functions(sweep):
        if isinstance(call.function, Constant):
            found[column] = {"key": f"{key}.{name}", "word": repr(call.function.value), "source": ""}
            continue
        known = identified(call.function)
        if known["source"] is None:
            raise UserError(
                f"{key}.{name} = {known['name']} is not valid with part: its values cannot be told from those of "
                "another function; write it as a function of the file"
            )
        found[column] = {"key": f"{key}.{name}", "word": known["name"], "source": known["source"]}
    return found


def store(sweep: Sweep, study: Study, functions: Functions, part: Part, tell: Tell) -> None:
    """Compute the exact values and bounds of the cells of a part that it has not stored yet, and store them.

    Raises UserError, or Failure that names the cell if a function fails.
    """
    if functions:
        own = [cell for cell in study.plan.laws if part.has(cell.id, 0)]
        stored = part_values.given_by(study.folder, functions, part)
        there = stored.rows if stored is not None else None
        lacking = [cell for cell in own if there is None or cell.id not in there]
        if lacking or there is None:
            _write(sweep, study, functions, lacking, part, tell)
        part_values.forget_others(study.folder, functions, part)


def _write(sweep: Sweep, study: Study, functions: Functions, cells: list[Cell], part: Part, tell: Tell) -> None:
    until, told = time.monotonic() + PATIENCE, False
    with part_values.writer(study.folder, functions, PART_VALUES.now(), part) as append:
        for done, cell in enumerate(cells):
            if not told and time.monotonic() > until:
                tell(f"the exact values of {len(cells) - done} cells to compute")
                told = True
            append(cell.id, _row(sweep, cell))


def of_whole(sweep: Sweep, study: Study) -> Mapping[str, Mapping[str, float]]:
    """Return the exact values and bounds of all cells of a sweep by column and point.

    What parts have stored of the same functions is not computed again. In a folder with values of parts, all values are
    stored, and the values of other functions are removed.
    """
    if not part_values.exist(study.folder):
        return exact.by_point(sweep)
    functions = functions_of(sweep)
    stored = part_values.given_by(study.folder, functions)
    known = dict(_unchanged(sweep, study, stored)) if stored is not None else {}
    cells = list(study.plan.laws)
    rows = [known[cell.id] if cell.id in known else _row(sweep, cell) for cell in cells]
    if functions and len(known) < len(cells):
        with part_values.writer(study.folder, functions, PART_VALUES.now()) as append:
            for cell, row in zip(cells, rows):
                append(cell.id, row)
    part_values.forget_others(study.folder, functions)
    texts = [str(cell.law["point"]) for cell in cells]
    table = np.array(rows).reshape(len(cells), len(functions))
    return {column: dict(zip(texts, table[:, at].tolist())) for at, column in enumerate(sorted(functions))}


def _unchanged(sweep: Sweep, study: Study, stored: Values) -> Iterator[tuple[str, Floats]]:
    """Yield the rows that were computed with what is here, none if one of them differs when it is computed again."""
    now = PART_VALUES.now()
    same = [cell for cell in study.plan.laws if stored.made_with.get(cell.id) == now]
    if same and _row(sweep, same[0]).tobytes() == stored.rows[same[0].id].tobytes():
        yield from ((cell.id, stored.rows[cell.id]) for cell in same)


def _row(sweep: Sweep, cell: Cell) -> Floats:
    """Return the exact values and bounds of a cell, ordered by column."""
    point = sweep.points[str(cell.law["point"])]
    found = {known.column: exact.value(known, point) for known in exact.functions(sweep)}
    return np.array([found[column] for column in sorted(found)])
