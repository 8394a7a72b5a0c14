"""The chunks that a run lacks, the parts that they belong to, and the command that computes them."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.texts import shortened
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.store import exact_columns, journal, provenance
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import parts, rerun
from tcdp_sim.study.planned import Planned
from tcdp_sim.summaries.problems import ERROR, Problem

NAMED = 3  # cells that are named
LONGEST = 300  # characters of a list of parts
JOB_FILE = "job.sh"  # as the help and the pages call it
USUAL = "results"  # the results_dir that a command need not name
Heads = Sequence[Mapping[str, Any]]


def lines(study: Planned, run: Run, wanted: Wanted, todo: Pending, heads: Heads | None = None) -> list[str]:
    """Return what is missing in lines for the user: chunks, cells, parts and a command. There are none if nothing is.

    `todo` holds the missing chunks of `wanted`. `heads` are those of the journal that say how many parts there are, by
    default the run's.
    """
    if not todo:
        return []
    extent = f"{len(todo)} of {wanted.total} chunks, in {todo.cells} of {len(wanted)} cells"
    return [
        f"missing: {extent}",
        *_cells(study, todo),
        *_parts(study, run, run.heads if heads is None else heads, todo),
    ]


def _cells(study: Planned, todo: Pending) -> Iterator[str]:
    """Yield a line for each of the first cells that lack chunks."""
    ids = study.laws.ids()
    lacking = [(place, *todo.of_cell(cell)) for place, cell in enumerate(ids) if todo.of_cell(cell)[0]]
    for place, missing, chunks in lacking[:NAMED]:
        cell = study.laws[place]
        yield f"  cell={cell.id[:16]} ({cell.where}): {missing} of {chunks} chunks"
    if len(lacking) > NAMED:
        yield f"  and {len(lacking) - NAMED} more"


def _parts(study: Planned, run: Run, heads: Heads, todo: Pending) -> Iterator[str]:
    """Yield lines with the parts that lack chunks, if the run is made of parts, and one with the command."""
    count = _count(study, heads)
    if not count:
        yield f"`{command(study)}` computes them"
        return
    numbers = _numbers(study, count, todo)
    yield from _named(study, numbers, count, _states(study, run, numbers, count))


def _states(study: Planned, run: Run, numbers: Collection[int], count: int) -> Iterator[str]:
    """Yield a line for each state of the parts that lack chunks: ended by an error, begun, and not begun."""
    whole = bool(study.settings.target_mcse)
    errors: dict[int, Problem] = {}
    for one in run.problems:
        if one.kind == ERROR and not run.has(one.cell, one.chunk):
            errors.setdefault(parts.owner(one.cell, 0 if whole else one.chunk, count), one)
    failed = errors.keys() & set(numbers)
    labels = map(parts.labelled, journal.segments(run.folder / "journal"))
    begun = {number for kind, number, all_parts in labels if (kind, all_parts) == (parts.KINDS[whole], count)}
    states = (
        ("ended by an error", failed),
        ("begun and not done (at work, killed or out of time)", (begun - failed) & set(numbers)),
        ("not begun", set(numbers) - begun - failed),
    )
    for state, own in states:
        if own:
            yield f"  {state}: {shortened(parts.in_ranges(own), LONGEST)}"
    if failed:
        first = errors[min(failed)]
        place = study.laws.place(first.cell)
        where = "" if place is None else f" ({study.laws[place].where})"
        yield f"  part {min(failed)}: cell={first.cell[:16]}{where} index={first.chunk}: {shortened(first.message)}"


def of_exact(study: Planned, heads: Heads, cells: Sequence[str], todo: Pending) -> list[str]:
    """Return the lines about cells whose exact values no part has stored, with their parts that lack no chunks."""
    if not cells:
        return []
    count = _count(study, heads)
    others = {parts.owner(cell, 0, count) for cell in cells} - _numbers(study, count, todo) if count else ()
    extent = f"missing: the exact values of {len(cells)} of {len(study.laws)} cells, which are published as NaN"
    return [extent, *(_named(study, others, count) if others else ())]


def _numbers(study: Planned, count: int, todo: Pending) -> set[int]:
    """Return the numbers of the parts that lack chunks."""
    whole = bool(study.settings.target_mcse)
    return {parts.owner(cell.id, 0 if whole else chunk, count) for cell, chunk in todo}


def _count(study: Planned, heads: Heads) -> int:
    """Return the number of parts that the newest one of them names, 0 without any."""
    newest = max((head for head in heads if provenance.PART in head), key=provenance.age, default=None)
    return parts.parsed(str(newest[provenance.PART]), bool(study.settings.target_mcse)).count if newest else 0


def _named(study: Planned, numbers: Collection[int], count: int, states: Iterable[str] = ()) -> Iterator[str]:
    yield f"missing parts: {shortened(parts.in_ranges(numbers), LONGEST)} ({len(numbers)} of {count})"
    yield from states
    yield f"`{command(study, f'part={min(numbers)}/{count}')}` computes the first of them"
    yield f"`sh {JOB_FILE} {parts.in_ranges(numbers)}` submits them alone, with the file that `tcdp-sim script` printed"


def command(study: Planned, *more: str) -> str:
    """Return the command that runs a study again in the same folder, with more words at its end."""
    s = study.settings
    try:
        words = rerun.words(s.config)
    except UserError:  # an experiment of a plug-in that is not installed
        return "the same command"
    functions = exact_columns.words(study.folder) if rerun.is_sweep(s.config) else []
    place = [f"results_dir={s.results_dir}"] if s.results_dir != USUAL else []
    verb = [] if rerun.is_sweep(s.config) else ["run"]
    return shlex.join(["tcdp-sim", *verb, *words, *functions, *place, *more])
