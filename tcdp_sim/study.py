"""A study from config to figures: plan, run or resume, publish, draw. One function a stage."""

import errno
import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console

import tcdp_sim
from tcdp_sim import axes, clusters, config, engine, plots, provenance, results, store, sweep
from tcdp_sim.data import load_counts
from tcdp_sim.errors import UserError
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.progress import ProgressLine
from tcdp_sim.simulate import fingerprint
from tcdp_sim.store import Run

MOST_CHUNKS = 10**7
BYTES_PER_CHUNK = 20_000  # of journal, typical for six observables; only for the plan


@dataclass(frozen=True)
class Study:
    """A checked config: every cell valid, nothing run yet."""

    settings: config.Settings
    raw: Mapping[str, Any]
    mechanism: type[Mechanism]
    plan: sweep.Plan

    @property
    def folder(self) -> Path:
        """Where the run's results are."""
        return self.settings.folder

    @property
    def identity(self) -> dict[str, Any]:
        """What stored numbers depend on besides their cells."""
        s = self.settings
        return {"experiment": s.experiment, "seed": str(s.seed), "chunk": s.chunk, "format": 1}


def prepare(raw: Mapping[str, Any]) -> Study:
    """Check a resolved config and lay out its cells. Raises UserError; runs and writes nothing."""
    checked = config.settings(raw)
    clusters.worker_count(raw["cluster"])
    mechanism = mechanism_class(raw["mechanism"]["name"])
    options = {key: value for key, value in raw["mechanism"].items() if key != "name"}
    config.known_keys("mechanism", options, mechanism.options)
    if missing := [name for name in mechanism.options if name not in options]:
        raise UserError(f"mechanism.{missing[0]} is missing; give it a value")
    mechanism.check_options(options)
    found = {name: axes.points(block, mechanism.axes, name) for name, block in config.blocks(raw).items()}
    noises = {name: config.named("noise", name) for name in config.options("noise")}
    plan = sweep.plan(found, mechanism, options, _loader(raw), noises, checked.invalid)
    chunks = len(plan.laws) * checked.chunks
    if chunks > MOST_CHUNKS:
        raise UserError(f"{chunks:.3g} chunks are too many; valid: {MOST_CHUNKS:,}; raise chunk or lower trials")
    return Study(checked, raw, mechanism, plan)


def show_plan(study: Study, console: Console) -> None:
    """Say what a run would do: cells, chunks, trials, estimated time and bytes. Touches nothing."""
    s, cells = study.settings, study.plan.laws
    done = _existing(study)
    todo = engine.pending(cells, s.chunks, done)
    workers = clusters.worker_count(study.raw["cluster"])
    seconds = sum(cell.work for cell, _ in todo) * s.chunk * engine.FIRST_GUESS / workers
    _say(console, f"{s.name}: {len(cells)} cells x {s.chunks * s.chunk:,} trials in {s.chunks} chunks, seed {s.seed}")
    _say(console, f"to simulate: {len(todo)} of {len(cells) * s.chunks} chunks, {len(todo) * s.chunk:,} trials")
    _say(console, f"estimated: {seconds:.3g} s on {workers} workers, {len(todo) * BYTES_PER_CHUNK / 1e6:.3g} MB")
    _say(console, f"folder: {study.folder}")
    for reason in config.absent_blocks(study.raw):
        _say(console, reason)
    _show_skipped(study, console)


def execute(study: Study, console: Console) -> None:
    """Simulate what is missing, publish the snapshot. Raises KeyboardInterrupt that says what is kept."""
    s = study.settings
    _show_skipped(study, console)
    run = _open(study)
    for name, count in run.damaged.items():
        _say(console, f"journal/{name}: {count} damaged stretches; what they held is simulated again")
    todo = engine.pending(study.plan.laws, s.chunks, run.has)
    total = len(study.plan.laws) * s.chunks
    _say(console, f"{s.name}: {len(study.plan.laws)} cells x {s.chunks * s.chunk:,} trials; {_how_much(todo, total)}")
    if todo:
        try:
            _simulate(study, run, todo, console)
        except KeyboardInterrupt:
            written = _open(study)  # read again: the signal may have come between a record and its entry in `run`
            kept = total - len(engine.pending(study.plan.laws, s.chunks, written.has))
            said = f"{kept} of {total} chunks are kept in {study.folder}; the same command goes on from there"
            raise KeyboardInterrupt(said) from None
        except OSError as problem:
            raise _cannot_write(study, problem) from problem
    try:
        run.publish(_dataset(study, run))
    except OSError as problem:
        raise _cannot_write(study, problem) from problem


def draw(settings: config.Settings, console: Console) -> None:
    """Table, CSV and figures from the published snapshot alone: neither the sweep nor its data are looked at."""
    experiment = importlib.import_module(f"tcdp_sim.experiments.{settings.experiment}")
    table = experiment.reference(_published(settings))
    experiment.report(table, console)
    try:
        with plots.style():
            saved = plots.save_all(experiment.figures(table), settings.folder / "figures")
    except OSError as problem:
        said = f"the figures in {settings.folder} cannot be written ({_reason(problem)})"
        raise UserError(f"{said}; once that is put right, mode=draw draws them") from problem
    for path in saved:
        _say(console, f"figure: {path}")
    _say(console, f"results: {settings.folder / 'results.zarr'}")


def _published(settings):
    path, snapshots = settings.folder / "results.zarr", settings.folder / "snapshots"
    names = {snapshot.name for snapshot in snapshots.iterdir()} if snapshots.is_dir() else ()
    if path.is_dir() and names and not store.intact(path, names):  # a lost file of an array would read as zeros
        raise UserError(f"{path} is damaged (its bytes have changed); {results.MEND}")
    cells = results.open_cells(settings.folder)
    if cells.attrs.get("title") != _title(settings):
        said = f"{path} holds {cells.attrs.get('title')!r}, not {_title(settings)!r}"
        raise UserError(f"{said}; choose that experiment or another name")
    with results.readable(path):
        return cells.load()


def _title(settings) -> str:
    return f"tcdp_sim experiment {settings.experiment}"


def _simulate(study, run, todo, console):
    s = study.settings
    work = {cell.id: cell.work for cell in study.plan.laws}
    expected = fingerprint()
    foreign = set()

    def receive(done):
        if done.fingerprint != expected and done.fingerprint not in foreign:
            _foreign_numerics(s, console)
            foreign.add(done.fingerprint)
        for cell, chunk, summary in done.records:
            writer.append(cell, chunk, summary)
        line.advance(len(done.records), sum(work[cell] for cell, _, _ in done.records))

    with (
        clusters.connect(study.raw["cluster"]) as executor,
        run.writer(provenance.record(study.folder, study.raw)) as writer,
        ProgressLine(len(todo), sum(work[cell.id] for cell, _ in todo), s.chunk) as line,
    ):
        engine.simulate(executor, todo, study.plan.counts, s.seed, s.chunk, receive)


def _dataset(study, run):
    s = study.settings
    whole = [all(run.has(cell.id, chunk) for chunk in range(s.chunks)) for cell in study.plan.cells]
    summaries = (
        run.summary(cell.id, range(s.chunks)) if done else None for cell, done in zip(study.plan.cells, whole)
    )
    return results.tabulate(study.plan.cells, summaries, study.plan.counts, _attributes(study))


def _attributes(study) -> dict[str, Any]:
    s = study.settings
    names = [axis for axis in study.mechanism.axes if any(axis in cell.coords for cell in study.plan.cells)]
    if "omega_sqrt_rho" in names:
        names.remove("omega")  # a coordinate that follows from the others
    law = json.dumps([study.identity, s.trials, [cell.id for cell in study.plan.cells]])
    return {
        "title": _title(s),
        "axes": json.dumps(names),
        "seed": str(s.seed),
        "trials_per_chunk": s.chunk,
        "config_hash": hashlib.sha256(law.encode()).hexdigest(),
        "tcdp_sim_version": tcdp_sim.__version__,
        "neighbouring_relation": study.mechanism.neighbours,
    }


def _open(study) -> Run:
    try:
        return Run(study.folder, study.identity)
    except OSError as problem:
        said = f"the results folder {study.folder} cannot be written or read ({_reason(problem)})"
        raise UserError(f"{said}; choose another results_dir") from None


def _cannot_write(study, problem: OSError) -> Exception:
    """The one line for a full, vanished or locked disk in the middle of a run; what is no file's error as it is."""
    if problem.errno is None:
        return problem
    when = "there is room" if problem.errno in (errno.ENOSPC, errno.EDQUOT) else "that is put right"
    return UserError(
        f"writing to {study.folder} failed ({_reason(problem)}); what was finished is kept: "
        f"once {when}, the same command goes on from there"
    )


def _reason(problem: OSError) -> str:
    said = problem.strerror or str(problem)
    where = problem.filename2 or problem.filename
    return f"{where}: {said}" if where else said


def _existing(study):
    return _open(study).has if (study.folder / "run.json").exists() else lambda cell, chunk: False


def _say(console, text: str) -> None:
    console.print(text, markup=False)  # brackets in a path are no markup


def _how_much(todo, total):
    return "nothing to simulate" if not todo else f"{len(todo)} of {total} chunks to simulate"


def _show_skipped(study, console):
    for reason in study.plan.skipped:
        _say(console, f"left out: {reason}")


def _foreign_numerics(settings, console):
    message = "a worker's elementary functions differ from this machine's in the last bits"
    if settings.numerics == "strict":
        raise UserError(f"{message}; numerics=warn accepts that")
    _say(console, f"warning: {message}: its numbers are right, but not bit-identical")


def _loader(raw):
    @cache
    def load(name, k):
        return load_counts(config.data_spec(raw, name), None if k == "declared" else k)

    return load
