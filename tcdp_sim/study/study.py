"""A study: a checked config, its cells, and its folder. What is done with one is in `modes`, one file each."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tcdp_sim
from tcdp_sim.data import load_counts
from tcdp_sim.engine import clusters, stopping
from tcdp_sim.errors import UserError
from tcdp_sim.log import LOG
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import cells, points
from tcdp_sim.study import settings as config

MOST_CHUNKS = 10**7


@dataclass(frozen=True)
class Study:
    """A checked config: every cell valid, nothing run yet."""

    settings: config.Settings
    raw: Mapping[str, Any]
    mechanism: type[Mechanism]
    plan: cells.Plan

    @property
    def folder(self) -> Path:
        """Where the run's results are."""
        return self.settings.folder

    @property
    def identity(self) -> dict[str, Any]:
        """What stored numbers depend on besides their cells."""
        s = self.settings
        return {"experiment": s.experiment, "seed": str(s.seed), "chunk": s.chunk, "format": 1}

    @property
    def config_hash(self) -> str:
        """A digest of all that the published numbers depend on."""
        s = self.settings
        law = json.dumps([self.identity, s.trials, s.target_mcse, [cell.id for cell in self.plan.cells]], default=str)
        return hashlib.sha256(law.encode()).hexdigest()

    @property
    def data(self) -> dict[str, dict[str, Any]]:
        """Name -> source, records and what was left out, of the data sets of which there is something to tell."""
        return {name: counts.about for name, counts in self.plan.data.items()}

    def attributes(self) -> dict[str, Any]:
        """What a published snapshot says about itself."""
        s = self.settings
        names = [axis for axis in self.mechanism.axes if any(axis in cell.coords for cell in self.plan.cells)]
        if "omega_sqrt_rho" in names:
            names.remove("omega")  # a coordinate that follows from the others
        return {
            "title": title(s),
            "axes": json.dumps(names),
            "seed": str(s.seed),
            "trials_per_chunk": s.chunk,
            "trials_per_cell": s.chunks * s.chunk,  # at least: a target may ask for more
            "share": json.dumps(s.share),
            "config_hash": self.config_hash,
            "tcdp_sim_version": tcdp_sim.__version__,
            "neighbouring_relation": self.mechanism.neighbours,
            **({"data": json.dumps(self.data)} if self.data else {}),
        }

    def open(self) -> Run:
        """The run's folder, created if it is new; UserError if it cannot be, or belongs to another run."""
        try:
            return Run(self.folder, self.identity)
        except OSError as problem:
            said = f"the results folder {self.folder} cannot be written or read ({reason(problem)})"
            raise UserError(f"{said}; choose another results_dir") from None

    def existing(self) -> Run:
        """The folder of a run that has begun; UserError if there is none."""
        if not (self.folder / "run.json").exists():
            raise UserError(f"{self.folder} holds no run; run the same command without mode first")
        return self.open()


def title(settings: config.Settings) -> str:
    """What a snapshot of these settings is called."""
    return f"tcdp_sim experiment {settings.experiment}"


def reason(problem: OSError) -> str:
    """Which file, and what is wrong with it."""
    said = problem.strerror or str(problem)
    where = problem.filename2 or problem.filename
    return f"{where}: {said}" if where else said


def say(console, text: str) -> None:
    """A line for people, and for the run's log where one is kept."""
    console.print(text, markup=False)  # brackets in a path are no markup
    LOG.info(text)


def say_notes(study: Study, console) -> None:
    """What is not as it was written: cells that invalid=skip left out, records that do not count, more trials."""
    for why in study.plan.skipped:
        say(console, f"left out: {why}")
    say_data(study.data, console)
    s = study.settings
    if s.chunks * s.chunk != s.trials:
        exact = f"; chunk={s.trials} would run {s.trials:,}" if s.trials < s.chunk else ""
        told = f"trials = {s.trials:,} are rounded up to {s.chunks * s.chunk:,}: whole chunks of {s.chunk:,}"
        say(console, told + exact)


def say_data(data: Mapping[str, Mapping[str, Any]], console) -> None:
    """Where data sets are from, and what was left out of them."""
    for name, about in data.items():
        say(console, f"data {name}: {about['records']:,} records of {about['source']}")


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
    stopping.check(checked.target_mcse, mechanism)
    found = {name: points.points(block, mechanism.axes, name) for name, block in config.blocks(raw).items()}
    noises = {name: config.named("noise", name) for name in config.options("noise")}
    if "data" not in mechanism.axes and str(raw["data"]["name"]) != config.DEFAULT_DATA:
        told = f"data = {raw['data']['name']} is not read by {mechanism.name}"
        raise UserError(f"{told}; what it reads are its axes: {', '.join(mechanism.axes)}")
    for axis in checked.share:
        if axis not in mechanism.axes:
            raise UserError(f"share: {axis!r} is not an axis of {mechanism.name}; valid: {', '.join(mechanism.axes)}")
    plan = cells.plan(found, mechanism, options, _loader(raw), noises, checked.invalid, checked.share)
    chunks = len(plan.laws) * checked.chunks
    if chunks > MOST_CHUNKS:
        raise UserError(f"{chunks:.3g} chunks are too many; valid: {MOST_CHUNKS:,}; raise chunk or lower trials")
    return Study(checked, raw, mechanism, plan)


def _loader(raw):
    @cache
    def load(name, k):
        return load_counts(config.data_spec(raw, name), None if k == "declared" else k)

    return load
