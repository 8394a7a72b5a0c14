"""The command `tcdp-sim merge`, which adds the chunks of another run of the same study. The order has no effect."""

from functools import partial
from pathlib import Path

from rich.console import Console

from tcdp_sim.cli import run as running
from tcdp_sim.cli.planning import planned
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.engine import missing_chunks, shown, stopping
from tcdp_sim.engine.numerics_mismatch import check_heads, check_same
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.run import cannot_write
from tcdp_sim.store import exact_columns, exact_records, provenance, run_settings
from tcdp_sim.store.run_folder import Run, open_run
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.union import union


def main(settings: Settings, other: str, console: Console) -> int:
    """Copy the chunks of the folder `other` that this run lacks, then run it. Return the exit code of `tcdp-sim run`.

    Afterwards the run has the cells and trials of both. If the other run was computed in parts and chunks are still
    missing, nothing is run: other parts or `tcdp-sim finish` follow. Raises UserError for a run of another seed, chunk
    size, experiment or mechanism, and if a chunk that both have differs in its bits.
    """
    study = planned(settings)
    folder = _other_folder(other, study.folder)
    try:
        theirs = Run(folder, study.identity)
    except OSError as problem:
        raise UserError(f"{folder} cannot be read ({reason(problem)})") from None
    for name, count in theirs.damaged.items():
        say(console, f"{folder}/journal/{name}: {count} damaged stretches, which are passed over")
    study = union(study, planned(run_settings.settings_of(folder)))
    check_heads(study.settings, theirs.heads, partial(say, console), str(folder))
    published = exact_columns.of_folders(study, [study.folder, folder])
    ours = open_run(study)
    check_same(study.settings, [*theirs.heads, *ours.heads], partial(say, console), f"{study.folder} and {folder}")
    try:
        with ours.lock():
            message = _copy(study, theirs, ours, folder)
            exact_records.copy(folder, study.folder)
    except OSError as problem:
        raise cannot_write(study, problem) from problem
    say(console, message)
    s = study.settings
    say(console, f"the run has {len(study.plan.laws)} cells x {s.chunks * s.chunk:,} trials now, those of both")
    if published.unknown:
        say(console, f"missing: the exact values of {len(published.unknown)} cells, which are published as NaN")
    if any(provenance.PART in head for head in theirs.heads) and (missing := _missing(study, theirs.heads)):
        say_all(console, [*missing, f"`tcdp-sim finish {study.folder}` publishes what is there"])
        return 0
    return running.main(study.settings, console, published if published.width else None)


def _missing(study, heads) -> list[str]:
    run = open_run(study)
    wanted = stopping.as_needed(run, study.plan.laws, study.settings)
    return missing_chunks.lines(study.planned, run, wanted, Pending(study.plan.laws, wanted, run.has), heads)


def _other_folder(other: str, ours: Path) -> Path:
    """Return the folder that `other` names. Raises UserError if it holds no run, or if it is ours."""
    folder = run_settings.run_folder(other)
    if folder.resolve() == ours.resolve():
        raise UserError(f"{folder} is this run itself")
    return folder


def _copy(study, theirs, ours, folder) -> str:
    shared = [key for key in theirs.done if ours.has(*key)]
    if clash := [key for key in shared if ours.record(*key) != theirs.record(*key)]:
        cell, chunk = clash[0]
        example = f"chunk {chunk} of cell {cell[:16]}"
        raise UserError(f"{folder} and {study.folder} differ in {len(clash)} chunks that both have, such as {example}")
    absent = [key for key in theirs.done if not ours.has(*key)]
    missing = [key for key in absent if ours.fits(key[0], theirs.record(*key))]
    planned = {"cells": len(study.plan.laws), "chunks": len(study.plan.laws) * study.settings.chunks}
    about = provenance.record(study.folder, study.settings.config, study.config_hash, study.data, planned, study.uses)
    if foreign := provenance.fingerprints(theirs.heads) - {about["numerics_fingerprint"]}:
        about[provenance.FOREIGN] = sorted(foreign)
    about |= shown.joined(theirs.heads)
    with ours.writer(about) as writer:
        added = set(missing)
        for problem in theirs.problems:  # chunks with errors are not there, so only warnings of added chunks are noted
            if (problem.cell, problem.chunk) in added:
                writer.note(problem)
        for cell, chunk in missing:
            writer.append(cell, chunk, theirs.record(cell, chunk))
    strange = len(absent) - len(missing)
    unknown = len({cell for cell, _ in theirs.done if study.plan.laws.place(cell) is None})
    left_out = f"; {strange} do not fit the chunks of their cells and are passed over" if strange else ""
    unseen = f"; {unknown} of its cells are in neither run's settings, and no table shows them" if unknown else ""
    return f"{len(missing)} chunks added from {folder}; {len(shared)} were there already{left_out}{unseen}"
