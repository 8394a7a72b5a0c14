"""The simulation of a sweep without a folder on the workers of a cluster."""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import schedule
from tcdp_sim.engine.progress import ProgressLine
from tcdp_sim.engine.schedule import Executor
from tcdp_sim.engine.simulate import Done, Record
from tcdp_sim.mechanisms.functions import law_of
from tcdp_sim.mechanisms.functions.calls import place
from tcdp_sim.mechanisms.functions.returned import WrongResult
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.points import Point
from tcdp_sim.summaries.encoding import from_bytes
from tcdp_sim.summaries.problems import ERROR
from tcdp_sim.summaries.summary import Summary, merged
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.memory import BLOCK, Cells, Columns, after_pilot, columns_of, first_chunks
from tcdp_sim.sweeps.pilot import Raised, in_a_line
from tcdp_sim.sweeps.progress import Tally
from tcdp_sim.sweeps.shown import carried


def on_workers(sweep: Sweep, cells: Cells, executor: Executor, tell: Tell, failed: dict[str, str]) -> Iterator[Columns]:
    """Yield the columns of consecutive cells, simulated on the workers of an executor.

    With on_error=continue, `failed` gets a line for each cell that has an error, by its id.
    """
    pilots, wanted = (np.full(len(cells.points), chunks) for chunks in first_chunks(sweep))
    done: dict[str, dict[int, bytes]] = {cell: {} for cell in cells.ids}
    todo = [(i, chunk) for i in range(len(wanted)) for chunk in range(int(wanted[i]))]
    with ProgressLine(Tally(len(todo), sweep.chunk), executor.silent) as line:
        while todo:
            _received(sweep, cells, todo, executor, done, line, tell, failed)
            todo = _grown(sweep, cells, pilots, wanted, done, failed)
    for start in range(0, len(wanted), BLOCK):
        own = slice(start, start + BLOCK)
        block = ((cell, done.pop(cell), pilot) for cell, pilot in zip(cells.ids[own], pilots[own]))
        yield columns_of(
            sweep, [None if cell in failed else merged(_parts(each)[pilot:]) for cell, each, pilot in block]
        )


def _received(sweep, cells, todo, executor, done, line, tell, failed) -> None:
    """Simulate pairs (place of a cell, chunk) on workers and keep what arrives."""
    at = {cell: i for i, cell in enumerate(cells.ids)}
    warned: set[str] = set()

    def receive(arrived: Done) -> None:
        for record in arrived.records:
            problem = _heed(record, cells.points[at[record.cell]], warned, tell)
            if problem is None:
                assert record.summary is not None  # a record without one has an error
                done[record.cell][record.chunk] = record.summary
            elif sweep.on_error == "raise":
                raise problem
            else:
                failed.setdefault(record.cell, str(problem))
        line.advance(len(arrived.records))

    pairs = ((_cell(sweep, cells, i), chunk) for i, chunk in todo if cells.ids[i] not in failed)
    schedule.simulate(executor, pairs, len(todo), {"": None}, sweep.seed, sweep.chunk, receive, carried(sweep))


def _heed(record: Record, point: Point, warned: set[str], tell: Tell) -> Exception | None:
    """Return the error of a chunk, if it has one, and tell each warning once."""
    for problem in record.problems:
        where = place(point)
        if problem.kind == ERROR:
            wrong, said = f"{WrongResult.__name__}: ", in_a_line(problem.message)
            return UserError(f"{where}{said[len(wrong) :]}") if said.startswith(wrong) else Raised(f"{where}{said}")
        if problem.message not in warned:
            warned.add(problem.message)
            tell(f"warning: {where}{problem.message}")
    return None


def _cell(sweep: Sweep, cells: Cells, i: int) -> Cell:
    """Return a cell as a task needs it."""
    law = law_of(sweep.function, cells.points[i])
    law |= {"stream": cells.streams[i]} if cells.streams[i] else {}
    return Cell(cells.ids[i], law, {}, "", "", "", 1.0)


def _grown(
    sweep: Sweep, cells: Cells, pilots: Any, wanted: Any, done: dict[str, dict[int, bytes]], failed: Collection[str]
) -> list[tuple[int, int]]:
    """Return the further chunks after those of pilots, as pairs (place of a cell, chunk)."""
    todo: list[tuple[int, int]] = []
    for i, cell in enumerate(cells.ids if sweep.target_mcse else ()):
        before = int(wanted[i])
        if pilots[i] == before and cell not in failed:
            pilots[i], wanted[i] = after_pilot(sweep, _parts(done[cell]))
            todo += [(i, chunk) for chunk in range(before, int(wanted[i]))]
    return todo


def _parts(records: dict[int, bytes]) -> list[Summary]:
    """Return the summaries of the chunks of a cell."""
    return [from_bytes(records[chunk]) for chunk in sorted(records)]
