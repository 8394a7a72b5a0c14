"""The computation of one part of a run by this process alone, without scheduler, port, lock or shared file."""

import numpy as np

from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import exact, stopping
from tcdp_sim.engine.numerics_mismatch import check_heads
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.run import cannot_write, damages, report, simulate_all
from tcdp_sim.engine.workers import Workers
from tcdp_sim.store import journal, kept_plan
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.store.part_folder import PartRun, open_part
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import parts
from tcdp_sim.study.parts import Part, owner
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study

ALONE = {"name": "serial"}


def alone(settings: Settings) -> Settings:
    """Return the settings with the cluster of a part: this process."""
    return settings.model_copy(update={"cluster": ALONE})


def compute(study: Study, tell: Tell, exact_values: ExactValues = NO_EXACT_VALUES) -> None:
    """Simulate the missing chunks of the part that the settings name.

    The exact values of its cells are computed and stored, too. Nothing is published. Raises Failure at the first error
    of a chunk, with on_error=continue at the end.
    """
    part = study.settings.own_part
    if part is None:
        raise UserError("part is not given; give part=I/N")
    run = open_part(study, part)
    try:
        _compute(study, run, tell, exact_values)
    except OSError as problem:
        raise cannot_write(study, problem) from problem


def _compute(study: Study, run: PartRun, tell: Tell, exact_values: ExactValues) -> None:
    s, cells, name = study.settings, study.plan.laws, f"part {run.part}"
    for line in [*study.notes, *damages(run), *run.mended]:
        tell(line)
    check_heads(s, run.heads, tell)
    if s.noises:
        kept_plan.keep(study)  # for `tcdp-sim finish`, which has no code; every part writes the same
    wanted = stopping.start(cells, study.settings, share(study, run.part))
    todo = Pending(cells, wanted, run.has)
    total = sum(run.size(cell, chunks) for cell, chunks in wanted.each())
    tell(f"{s.name}, {name}: {len(todo)} of its {total} chunks to simulate, in this process alone")
    failed: set[str] = set()
    with Workers(s, tell) as workers:
        try:
            wanted = simulate_all(study, run, todo, wanted, failed, workers, tell)
        finally:
            report(study, run, wanted, tell, None)
        if exact_values.width:
            exact.complete(study, exact_values, workers, tell)
    if failed:
        raise Failure(f"errors left {len(failed)} cells of {name} without numbers; the same command tries them again")
    tell(f"{s.name}, {name}: done; {_next(study, run)}")


def share(study: Study, part: Part) -> Ints:
    """Return the number of chunks of each cell that has chunks of the part, 0 for other cells."""
    chunks = study.settings.chunks
    own = (chunks if part.size(cell, chunks) else 0 for cell in study.plan.laws.ids())
    return np.fromiter(own, np.int64, len(study.plan.laws))


def _next(study: Study, run: PartRun) -> str:
    """Return what is left to do: other parts, or the publication."""
    if _has_all(study, run):
        return f"all chunks are there now: `tcdp-sim finish {study.folder}` publishes them"
    return f"once the other parts are done too, `tcdp-sim finish {study.folder}` publishes them"


def _has_all(study: Study, run: PartRun) -> bool:
    """Return True if all chunks of the study are there.

    The journal is read only if every part that could lack a chunk has begun a file, so most parts read nothing.
    """
    part, s = run.part, study.settings
    names = journal.segments(run.folder / "journal")
    labels = [parts.labelled(name) for name in names if part.may_be_in(name) is False]
    begun = {part.number, *(number for _, number, _ in labels)}
    for cell in study.plan.laws.ids():
        for chunk in range(s.chunks):
            there = owner(cell, 0 if part.whole_cells else chunk, part.count) in begun
            if not there and not run.stored(cell, chunk):
                return False
    whole = Run(run.folder, run.identity)
    return not Pending(study.plan.laws, stopping.as_needed(whole, study.plan.laws, study.settings), whole.has)
