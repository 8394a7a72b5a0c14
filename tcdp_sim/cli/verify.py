"""The command `tcdp-sim verify`, which checks the certificate and computes random chunks again, bit by bit."""

import secrets
from functools import partial
from math import prod

import numpy as np
from rich.console import Console

from tcdp_sim import results
from tcdp_sim.cli.planning import planned
from tcdp_sim.cli.replay import again
from tcdp_sim.cli.run_argument import Given
from tcdp_sim.cli.say import say
from tcdp_sim.cli.user_function import code_of
from tcdp_sim.core import own_noises
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import decisions, stopping
from tcdp_sim.engine.evaluate import row
from tcdp_sim.engine.pending import Wanted
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.results.open import readable
from tcdp_sim.store import certificate, columns, table
from tcdp_sim.store.exact_records import FOLDER, ExactRecords
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_folder import existing_run
from tcdp_sim.study.settings import Settings

DIFFERENT = 1  # exit code
SAMPLE = 20  # chunks of a run, or claims of a reproduction, that are computed again
SHARE = 5  # per cent of wrong chunks for which the message states the probability of detection
CHECKED = (("cell",), ("cell", "quantile"))  # dimensions of the published numbers that are checked
NOT_OF_ITS_CHUNKS = ("data_start", "warned", "failed")
MEND = "the command that ran it computes what is missing and certifies it again"


def verify(given: Given, console: Console, sample: int = SAMPLE, function: str | None = None) -> int:
    """Check a run or a reproduction by `sample` of its chunks or claims. Return DIFFERENT if anything differs, else 0.

    The chunks of a sweep come from `function`, FILE.py:FUNCTION. Raises UserError.
    """
    from tcdp_sim.experiments.papers import verify as papers

    if not papers.is_reproduction(given.folder):
        with code_of(given.settings, function):
            return main(given.settings, console, sample)
    return 0 if papers.verify(given.folder, sample, partial(say, console)) else DIFFERENT


def main(settings: Settings, console: Console, sample: int = SAMPLE) -> int:
    """Check the certificate and `sample` random chunks. Return DIFFERENT if anything differs, else 0.

    The machine's entropy chooses the chunks, so that nobody can prepare for the choice.
    """
    if sample < 1:
        raise UserError(f"sample = {sample} is not valid; valid: a whole number of chunks, at least 1")
    own_noises.require_all(settings.noises)
    study = planned(settings)
    run = existing_run(study)
    for name, count in run.damaged.items():
        say(console, f"journal/{name}: {count} damaged stretches, which are passed over")
    certified = _certified(study, run, console)
    laws = study.plan.laws
    known = [(place, chunk) for cell, chunk in run.done if (place := laws.place(cell)) is not None]
    if not known:
        raise UserError(f"{study.folder} holds no chunk of this study; run it first")
    places = secrets.SystemRandom().sample(known, min(sample, len(known)))
    chosen = [(laws[place], chunk) for place, chunk in places]
    recomputed = _recomputed(study, run, chosen, len(known), console)
    exact = _exactly(study, chosen, console)
    published = _as_published(study, run, chosen, console)
    return 0 if certified and recomputed and exact and published else DIFFERENT


def _certified(study, run, console) -> bool:
    """Return True if nothing contradicts the certificate. A run that has not finished has none."""
    try:
        stored = certificate.read(study.folder)
    except (ValueError, OSError) as problem:
        say(console, f"NOT as certified: {certificate.NAME} cannot be read ({problem}); {MEND}")
        return False
    if stored is None:
        say(console, f"no {certificate.NAME}: the run has not finished, so only stored chunks can be checked")
        return True
    wrong, notes = certificate.check(study, run, stored)
    for line in wrong:
        say(console, f"NOT as certified: {line}")
    for line in notes:
        say(console, f"note: not what wrote the certificate: {line}")
    chunks = sum(certificate.chunks(line) for line in stored["cells"].values())
    extent = f"{len(stored['cells'])} cells, {chunks} chunks"
    say(console, f"certificate: {extent}: {MEND}" if wrong else f"certificate: {extent}, all as certified")
    return not wrong


def _recomputed(study, run, chosen, known, console) -> bool:
    """Return True if these chunks, computed again, have the stored bits."""
    different = []
    for (cell, index), chunk in zip(chosen, again(study, chosen)):
        if run.record(cell.id, index) != chunk.summary:
            different.append(f"cell={cell.id[:16]} index={index}")
    same = len(chosen) - len(different)
    say(console, f"{same} of {len(chosen)} chunks are the stored bits ({known} are stored)")
    for name in different:
        say(console, f"NOT the stored bits: {name}")
    if different:
        here = "this machine's elementary functions may differ from those of the workers (see the journal's heads)"
        say(console, f"either the store was changed, or the code, or {here}")
    else:
        say(console, _proved(len(chosen), known))
    return not different


def _exactly(study, chosen, console) -> bool:
    """Return True if the stored exact values of the cells of these chunks are the values of their functions."""
    values = known_exactly(study.settings.experiment.name)
    if not values.width:
        return True
    kept = ExactRecords(study.folder, values, study.uses)
    cells = [cell for cell in {cell.id: cell for cell, _ in chosen}.values() if kept.has(cell.id)]
    different = [cell for cell in cells if not _same(values, kept.values(cell.id), _batch(study, cell))]
    same = len(cells) - len(different)
    say(console, f"{same} of {len(cells)} cells of the sample have the exact values that their functions give")
    for cell in different:
        say(console, f"NOT what the exact functions give: {study.folder / FOLDER} of cell={cell.id[:16]}")
    if different:
        say(console, f"remove {study.folder / FOLDER}, and {MEND}")
    return not different


def _same(values, stored, batch) -> bool:
    found, problem = row(values, batch)
    return not problem and np.allclose(np.frombuffer(found, "<f8"), stored, rtol=1e-9, atol=0, equal_nan=True)


def _batch(study, cell) -> Batch:
    return Batch(cell.id, cell.law, study.plan.counts[cell.counts], ())


def _as_published(study, run, chosen, console) -> bool:
    """Return True if the published numbers of the cells of these chunks follow from their stored chunks."""
    path = study.folder / "results.zarr"
    if not path.exists():
        return True
    cells = {cell.id: cell for cell, _ in chosen}
    try:
        flat = results.open_cells(study.folder)
        with readable(path):
            there = zip(flat["id"].values, flat["trials"].values)
            rows = [row for row, (cell, trials) in enumerate(there) if trials and cell in cells]
            names = [name for name in flat.variables if flat[name].dims in CHECKED]
            flat = flat[names].isel(cell=rows).load()
            of_row = partial(_altered, study, run, cells, _decided(study, run))
            different = [line for i in range(len(rows)) if (line := of_row(flat.isel(cell=i)))]
    except UserError as problem:
        say(console, f"NOT as stored: {problem}")
        return False
    for line in different:
        say(console, f"NOT what the stored chunks give: {line}")
    same = len(rows) - len(different)
    say(console, f"{same} of {len(rows)} published cells, those of the sample, are what their stored chunks give")
    return not different


def _decided(study, run) -> Wanted | None:
    """Return the chunks of all cells of a run whose comparisons decide on them, None for other runs."""
    return stopping.as_needed(run, study.plan.laws, study.settings) if study.settings.target else None


def _altered(study, run, cells, decided, row) -> str:
    """Return the published quantities of a cell that do not follow from its chunks, or "".

    Differences as small as those between CPUs are ignored.
    """
    cell, s, count = cells[str(row["id"].values)], study.settings, int(row["trials"]) // study.settings.chunk
    chunks = stopping.estimate(run, cell.id, s) if s.target_mcse else range(count)
    chunks = decided.estimates([cell.id])[0] if decided else chunks
    if len(chunks) != count or not all(run.has(cell.id, chunk) for chunk in chunks):
        return f"trials of cell={cell.id[:16]}"
    known = known_exactly(study.settings.experiment.name)
    pilots = s.chunk if s.target_mcse else 0
    rule = decisions.rule(s)
    summaries = [run.summary(cell.id, chunks)]
    again = next(table.blocks([cell], summaries, study.plan.counts, {}, {}, known, None, study.mechanism, pilots, rule))
    published = [str(n) for n in row.data_vars if n not in again and row[n].dtype.kind == "f"]  # of other cells
    if not known.width:  # those of a sweep are code, which is not here
        published = [n for n in published if not n.endswith((columns.EXACT, columns.BOUND))]
    names = [str(n) for n in again.data_vars if again[n].dims in CHECKED and n not in NOT_OF_ITS_CHUNKS]
    same = {n: n in row and np.allclose(row[n], again[n][0], rtol=1e-9, atol=0, equal_nan=True) for n in names}
    same |= {n: bool(row[n].isnull().all()) for n in published}
    different = [n for n, is_same in same.items() if not is_same]
    if different:
        different = [n for n in different if n not in _uncomputed(study, known, cell, row)]
    return f"{', '.join(different[:3])} of cell={cell.id[:16]}" if different else ""


def _uncomputed(study, values, cell, row) -> set[str]:
    """Return the columns of exact values that `tcdp-sim finish` has published as NaN, since none were stored."""
    if not values.width or ExactRecords(study.folder, values, study.uses).has(cell.id):
        return set()
    return {name for name, *_ in values.names() if name not in row or bool(row[name].isnull().all())}


def _proved(chosen: int, known: int) -> str:
    """Return a sentence about the other chunks when `chosen` random chunks of `known` are right."""
    if chosen == known:
        return "that is every chunk"
    wrong = -(-known * SHARE // 100)
    missed = prod((known - wrong - i) / (known - i) for i in range(chosen) if known > i)
    return f"were {SHARE}% of all chunks wrong, such a sample would have found one with probability {1 - missed:.0%}"
