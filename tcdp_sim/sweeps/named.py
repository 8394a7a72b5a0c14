"""A sweep that is kept in a folder, as a run like any other."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import parts
from tcdp_sim.engine.carried import Carried
from tcdp_sim.engine.run import execute
from tcdp_sim.engine.simulate import Batch, Task, one_chunk
from tcdp_sim.mechanisms.functions import shipped
from tcdp_sim.mechanisms.functions.calls import name_of
from tcdp_sim.store import recorded
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.study import groups
from tcdp_sim.study.settings import Settings, settings
from tcdp_sim.study.study import Study, prepare
from tcdp_sim.sweeps import exact, pilot, stored
from tcdp_sim.sweeps.arguments import MAX_TRIALS, Sweep

NO_IDENTITY = "cannot be identified (no name or source, or it carries more than plain data): nothing is resumed"
NOT_REPEATED = "does not draw from its generator alone: nothing is resumed"
OTHER = "the stored chunks in this folder are of another source of this function: none of them is used"
OTHER_FUNCTION = "the stored chunks in this folder are of another function ({}): none of them is used"
CHANGED = (
    "a stored chunk differs from the function's present numbers although its source is the same (its environment, a "
    "file or a library has changed): the stored chunks of this function are discarded"
)


def run(sweep: Sweep, repeats: bool, tell: Tell) -> Settings:
    """Run or resume a sweep in its folder, publish it, and return its settings. Raises UserError or Failure.

    `repeats` says whether the function's numbers follow from its generator.
    """
    study = study_of(sweep)
    if sweep.function["source"] is None or not repeats:
        tell(f"{name_of(sweep.call.function)} {NO_IDENTITY if repeats else NOT_REPEATED}")
        stored.forget(study, sweep.function)
    elif (study.folder / "run.json").exists():
        for line in _told_of_others(study, sweep):
            tell(line)
    values = _exact(sweep)
    with shipped(sweep.options, sweep.call):
        if failed := execute(study, tell, values):
            raise Failure(f"errors left {failed} of {len(study.plan.laws)} cells without numbers (see problems.csv)")
    return study.settings


def part(sweep: Sweep, repeats: bool, name: str, tell: Tell) -> Settings:
    """Compute a part of a sweep, such as 17/1000, in this process alone, and return the settings of the whole sweep.

    Nothing is published. `repeats` is that of `run`. Raises UserError or Failure.
    """
    if sweep.function["source"] is None or not repeats:
        why = "cannot be told from those of another function" if repeats else "do not follow from its generator"
        raise UserError(f"part = {name!r} is not valid for {name_of(sweep.call.function)}: its numbers {why}")
    whole = settings(config_of(sweep))
    own = settings(config_of(sweep) | {"part": name})
    study = replace(prepare(parts.alone(own)), simulated=Carried(sweep.options, sweep.call))
    with shipped(sweep.options, sweep.call):
        if failed := parts.compute(study, tell):
            raise Failure(
                f"errors left {failed} cells of part {name} without numbers; the same command tries them again"
            )
    return whole


@contextmanager
def simulating(sweep: Sweep) -> Iterator[Settings]:
    """Let this process simulate the cells of a sweep during the block, and give the sweep's settings."""
    sweep, _ = pilot.tried(sweep)
    with shipped(sweep.options, sweep.call):
        yield settings(config_of(sweep))


def study_of(sweep: Sweep) -> Study:
    """Return the study of a sweep, with the function that simulates it."""
    return replace(prepare(settings(config_of(sweep))), simulated=Carried(sweep.options, sweep.call))


def config_of(sweep: Sweep) -> dict[str, Any]:
    """Return the config of a sweep: every key of a study, as plain data."""
    assert sweep.folder is not None
    plain = json.loads(json.dumps({"sweep": dict(sweep.sweep), "also": dict(sweep.also)}))
    return plain | {
        "name": sweep.folder.name,
        "results_dir": str(sweep.folder.parent),
        "seed": sweep.seed,
        "trials": sweep.trials,
        "chunk": sweep.chunk,
        "target_mcse": sweep.target_mcse,
        "max_trials": max(MAX_TRIALS, sweep.trials),
        "invalid": "refuse",
        "numerics": "warn",
        "on_error": "raise",
        "share": list(sweep.share),
        "experiment": {"name": groups.KEPT["experiment"], "question": "", "axes": {}},
        "mechanism": {"name": groups.KEPT["mechanism"], **json.loads(json.dumps(sweep.options))},
        "data": {"name": "one_bin"},
        "cluster": dict(sweep.cluster),
    }


def _told_of_others(study: Study, sweep: Sweep) -> Iterator[str]:
    """Yield a line if the stored chunks are of another source, or are not what the function gives now."""
    before = recorded.config_of(study.folder)["mechanism"].get("function")
    if before != sweep.function:
        yield _other(before or {}, sweep.function)
        return
    run = open_run(study)
    laws = study.plan.laws
    places = ((laws.place(cell), chunk) for cell, chunk in run.done)
    first = next(((laws[place], chunk) for place, chunk in places if place is not None), None)
    if first is not None and run.record(first[0].id, first[1]) != _again(sweep, *first):
        yield CHANGED
        stored.forget(study, sweep.function)


def _other(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the line about stored chunks of another function, or of another source of this one."""
    places = [f"{each.get('module')}:{each.get('name')}" for each in (before, now)]
    return OTHER if places[0] == places[1] else OTHER_FUNCTION.format(places[0])


def _again(sweep: Sweep, cell: Any, chunk: int) -> bytes:
    """Return the encoded summary of a chunk, simulated again."""
    with shipped(sweep.options, sweep.call):
        return one_chunk(Task(sweep.seed, sweep.chunk, (Batch(cell.id, cell.law, None, (chunk,)),)))


@dataclass(frozen=True)
class OfPoints(ExactValues):
    """Exact values of a sweep, computed before the run and looked up by the point of a mechanism."""

    digest: str = ""

    @property
    def code(self) -> str:
        """A digest of the values themselves, since their functions may have no identity."""
        return self.digest

    @property
    def modules(self) -> list[str]:
        """No module defines the values."""
        return []


@dataclass(frozen=True, eq=False)
class _Known:
    """The values of one quantity by the text of the point."""

    values: Mapping[str, float]

    def __call__(self, mechanism: Any) -> float:
        return self.values[exact.point_text(mechanism.point)]


def _exact(sweep: Sweep) -> ExactValues:
    """Return the exact values and bounds of a sweep."""
    columns = exact.columns_of(sweep, list(sweep.points.values()))
    found: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    digest = hashlib.blake2b(digest_size=16)
    for column, (_, values, _) in columns.items():
        quantity, kind = exact.kind_of(column)
        found[kind][quantity] = _Known(dict(zip(sweep.points, values.tolist())))
        digest.update(f"{column}\0".encode() + values.astype("<f8").tobytes())
    return OfPoints(*found, digest=digest.hexdigest() if columns else "")
