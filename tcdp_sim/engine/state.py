"""The progress of a run in lines for the user: what is there, what is missing, and the worst standard error."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from tcdp_sim.core.streams import fingerprint
from tcdp_sim.core.texts import shortened
from tcdp_sim.engine import decisions, numerics_mismatch, stopping
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.store import columns, finished, kept_status, provenance
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.planned import Planned
from tcdp_sim.summaries import problems
from tcdp_sim.summaries.estimates import relative_mcse

if TYPE_CHECKING:
    import xarray as xr

    from tcdp_sim.store.exact_records import ExactRecords
    from tcdp_sim.study.settings import Settings
    from tcdp_sim.study.study import Study

Worst = tuple[float, str, str]  # a mean's relative MCSE, its observable, the id of its cell
NONE: Worst = (0.0, "", "")


def keep(planned: Planned, run: Run, wanted: Wanted, plan: str | None, worst: Worst | None = None) -> None:
    """Keep the progress of a run that lacks no chunk, unless it is kept; `plan` is the key of its kept plan, if any.

    `wanted` and `worst` are those of `lines`. Raises OSError.
    """
    folder = planned.folder
    if plan and kept_status.read(folder, plan) is None and not Pending(planned.laws, wanted, run.has):
        kept_status.write(folder, plan, kept_status.Progress(lines(planned, run, wanted, worst), planned.notes))


def keep_end(study: "Study", run: Run, exact: "ExactRecords | None") -> None:
    """Store the lines to print if the same command finds nothing to do. Call it once everything is published.

    Nothing is kept of a run that has warnings to repeat, that looks at its records again (`target`, `target_mcse`), or
    that reads a user's data, which may change. Raises OSError.
    """
    s = study.settings
    warned = run.damaged or run.warned or run.problems or provenance.fingerprints(run.heads) - {fingerprint()}
    if not (study.data or warned or s.target_mcse or s.target or (exact and exact.lent)):
        finished.write(s, [*study.notes, heading(s, study.plan.laws, "nothing to simulate")])


def heading(settings: "Settings", cells: Cells, message: str) -> str:
    """Return the line that says how much a run has to simulate."""
    return f"{settings.name}: {len(cells)} cells x {settings.chunks * settings.chunk:,} trials; {message}"


def lines(planned: Planned, run: Run, wanted: Wanted | None = None, worst: Worst | None = None) -> list[str]:
    """Return the progress of a run: chunks and cells, damaged files, the worst relative MCSE, what is missing.

    `wanted` holds the chunks that the cells need, and `worst` is the worst mean of all complete cells, if they are
    known. Otherwise the records are read.
    """
    s, cells = planned.settings, planned.laws
    wanted = wanted or stopping.as_needed(run, cells, s)
    missing = Pending(cells, wanted, run.has)
    done, complete = wanted.total - len(missing), len(cells) - missing.cells
    said = [f"{done} of {wanted.total} chunks, {complete} of {len(cells)} cells done", *run.mended]
    said += [f"journal/{name}: {n} damaged stretches, which are passed over" for name, n in run.damaged.items()]
    if complete:
        relative, name, cell = worst or _worst_of_records(run, wanted)
        where = cells[cells.place(cell) or 0].where
        said.append(f"worst relative standard error of a mean: {relative:.2%}, {name} of {where}")
    if s.target_mcse:
        estimates = wanted.chunks - wanted.pilots  # 0 until a pilot has ended
        most = f"the largest {estimates.max() * s.chunk:,} as far as is known"
        beside = f"and {wanted.pilots.sum() * s.chunk:,} in pilots"
        grown = f"{(estimates > s.chunks).sum()} cells need more than {s.chunks * s.chunk:,} trials"
        said.append(f"target_mcse: {grown}, {most}, {beside}")
    if compared := decisions.of(cells, s):
        compared.more(run, wanted)
        said += decisions.lines(compared)
    if missing and any(provenance.PART in head for head in run.heads):
        from tcdp_sim.engine import missing_chunks  # slow to import

        said += missing_chunks.lines(planned, run, wanted, missing)
    return [*said, *numerics_mismatch.lines(s, run.heads), *_problems(run, wanted)]


def _problems(run: Run, wanted: Wanted) -> Iterator[str]:
    relevant = problems.of_chunks(run.problems, wanted, run.has)
    for kind in (problems.ERROR, problems.WARNING):
        if of_kind := [one for one in relevant if one.kind == kind]:
            first, cells_hit = of_kind[0], len({one.cell for one in of_kind})
            where = f"cell={first.cell[:16]} index={first.chunk}"
            yield f"{len(of_kind)} {kind}s in {cells_hit} cells, such as in {where}: {shortened(first.message)}"


def _worst_of_records(run: Run, wanted: Wanted) -> Worst:
    """Return the mean with the largest relative MCSE of the cells that have all their chunks."""
    worst = NONE
    for (cell, n), pilot in zip(wanted.each(), wanted.pilots.tolist()):
        if pilot < n and all(run.has(cell, chunk) for chunk in range(n)):
            relative, name = relative_mcse(run.summary(cell, range(pilot, n)))
            worst = max(worst, (relative, name, cell)) if name else worst
    return worst


class WorstOfTable:
    """The mean with the largest relative MCSE of the rows that have gone by."""

    def __init__(self, observables: Iterable[str]) -> None:
        self._names = tuple(observables)
        self.found = NONE

    def watched(self, blocks: "Iterable[xr.Dataset]") -> "Iterator[xr.Dataset]":
        """Yield the blocks of a published table."""
        for block in blocks:
            for name in self._names:
                self._look(block, name)
            yield block

    def _look(self, block: "xr.Dataset", name: str) -> None:
        column = columns.mean(name)
        if column + columns.MCSE not in block:
            return
        mean, mcse = block[column].values, block[column + columns.MCSE].values
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(mean != 0, mcse / np.abs(mean), np.nan)
        if not np.isnan(relative).all():
            largest = np.nanmax(relative)
            ids = block["id"].values[relative == largest]
            self.found = max(self.found, (float(largest), name, max(map(str, ids))))
