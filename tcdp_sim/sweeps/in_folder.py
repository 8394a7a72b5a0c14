"""A sweep that is kept in a folder, as a run like any other."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import xarray as xr

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import parts
from tcdp_sim.engine.numerics_mismatch import check_code, function_of
from tcdp_sim.engine.run import cannot_write, execute
from tcdp_sim.engine.shown import Shown, disagreeing
from tcdp_sim.engine.user_function_task import Carried
from tcdp_sim.mechanisms.functions import at, shipped
from tcdp_sim.mechanisms.functions.calls import name_of, place
from tcdp_sim.results.open import open_cells, with_provenance
from tcdp_sim.store import exact_records
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.part_folder import open_part
from tcdp_sim.store.run_folder import Run, is_started, open_run
from tcdp_sim.study.parts import parsed
from tcdp_sim.study.settings import NO_PARTS, settings
from tcdp_sim.study.study import Study, prepare
from tcdp_sim.summaries.problems import ERROR, first_failed_trials
from tcdp_sim.sweeps import exact, failed_trials, pilot, stale_chunks
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.shown import carried

NO_IDENTITY = "cannot be identified (no name or source, or it carries more than plain data): nothing is resumed"
NOT_REPEATED = "gives numbers that do not follow from its generator: nothing is resumed"
OTHER = "the stored chunks in this folder are of another source of this function: none of them is used"
OTHER_ON_ERROR = (
    "the stored chunks in this folder are of another on_error: on_error=count has chunks of its own, and none of them "
    "is used"
)
CHANGED = (
    "the function draws other numbers than before although its source is the same (its environment, a file or a "
    "library has changed): its stored chunks are discarded"
)


def run(sweep: Sweep, repeats: bool, tell: Tell) -> tuple[xr.Dataset, str]:
    """Run or resume a sweep in its folder, and publish it. Raises UserError or Failure.

    Return the published table of cells, whose columns may be on the disk still, and a line about the cells that errors
    left without numbers, "" if there are none. `repeats` says whether the function's numbers follow from its generator.
    """
    study = study_of(sweep)
    begun = open_run(study) if is_started(study) else None
    if sweep.function["source"] is None:
        tell(f"{name_of(sweep.call.function)} {NO_IDENTITY if repeats else NOT_REPEATED}")
        stale_chunks.forget(begun, sweep.function)
    elif begun is not None and begun.done:  # without a readable record nothing is stored that could differ
        for line in _told_of_others(study, begun, sweep):
            tell(line)
    values = exact.values_of(sweep)
    _check_exact(values, sweep)
    if not values.width:
        exact_records.forget(study.folder)  # no `finish` may publish those of another call
    published: list[xr.Dataset] = []
    with shipped(sweep.options, sweep.call):
        try:
            failed = execute(study, tell, values, published.append, begun)
        except Failure as problem:
            raise _named_after_cell(study, problem) from problem
    flat = with_provenance(published[0], study.folder) if published else open_cells(study.folder, compute_later=False)
    left = f"errors left {failed} of {len(study.plan.laws)} cells without numbers (see problems.csv)"
    return flat, f"{left}, the first: {_first_error(study)}" if failed else ""


def first_errors(sweep: Sweep) -> dict[str, str]:
    """Return the attribute with the first failed trials of a sweep in a folder."""
    if not sweep.call.counts:
        return {}
    study = prepare(sweep.settings)
    order = {cell: place for place, cell in enumerate(study.plan.laws.ids())}
    s = sweep.settings
    most = -(-s.max_trials // s.chunk) if s.target_mcse or s.target else s.chunks
    own = [one for one in open_run(study).problems if one.cell in order and one.chunk < most]
    found = first_failed_trials(own, order)
    places = {one["cell"]: order[one["cell"]] for one in found}
    points = list(sweep.points.values())
    return failed_trials.attribute(sweep, found, {cell: points[at_row] for cell, at_row in places.items()})


def _named_after_cell(study: Study, problem: Failure) -> Exception:
    """Return the failure of a run as the error of its first chunk with one, which names the cell."""
    first = "" if isinstance(problem, pilot.Raised) else _first_error(study)  # an exact value names its cell itself
    form = study.simulated.call.form if isinstance(study.simulated, Carried) else ""
    more = ", and on_error=count takes failed trials for missing" if form == "one" else ""
    kept = (
        f"finished chunks are kept in {study.folder}: the same call goes on, on_error=continue with other cells{more}"
    )
    return pilot.Raised(f"{first}; {kept}") if first else problem


def _first_error(study: Study) -> str:
    """Return the first error of a chunk after the name of its cell, "" if there is none."""
    for one in open_run(study).problems:
        found = study.plan.laws.place(one.cell)
        if one.kind == ERROR and found is not None:
            return str(pilot.of_chunk(one.message, at(study.plan.laws[found].law)))
    return ""


def part(sweep: Sweep, repeats: bool, name: str, tell: Tell) -> None:
    """Compute a part of a sweep, such as 17/1000, in this process alone.

    Nothing is published. `repeats` is that of `run`. Raises UserError or Failure.
    """
    values = _values_in_parts(sweep, repeats, name)
    own = settings(sweep.settings.config | {"part": name})
    study = replace(prepare(parts.alone(own)), simulated=carried(sweep))
    opened = open_part(study, parsed(name, bool(own.target_mcse)))  # refuses the folder of another run
    try:
        check_code(study.settings, opened.heads, _later, str(study.folder))  # before anything is discarded
        if _disagreeing(opened, sweep):
            tell(f"part {name}: {CHANGED}")
            opened.forget()
            exact_records.forget(study.folder, opened.part)  # their functions may read the same
    except OSError as problem:
        raise cannot_write(study, problem) from problem
    with shipped(sweep.options, sweep.call):
        parts.compute(study, tell, values)


def _values_in_parts(sweep: Sweep, repeats: bool, name: str) -> ExactValues:
    """Return the exact values and bounds. Raises UserError if a sweep cannot be computed in parts."""
    if sweep.settings.target:
        raise UserError(f"part = {name!r} {NO_PARTS}")
    if sweep.function["source"] is None:
        why = "cannot be told from those of another function" if repeats else "do not follow from its generator"
        raise UserError(f"part = {name!r} is not valid for {name_of(sweep.call.function)}: its numbers {why}")
    values = exact.values_of(sweep)
    for about in values.functions.values():
        if about["source"] is None:
            raise UserError(
                f"{about['key']} = {about['word']} is not valid with part: its values cannot be told from those of "
                "another function; write it as a function of the file"
            )
    _check_exact(values, sweep)
    return values


def _check_exact(values: ExactValues, sweep: Sweep) -> None:
    """Raise what the functions of exact values raise at the first cell, before anything is simulated."""
    values.values(sweep.kind(sweep.function, next(iter(sweep.points.values()))))


@contextmanager
def in_parts(sweep: Sweep, repeats: bool, name: str) -> Iterator[ExactValues]:
    """Let this process simulate the cells of a sweep during the block, and give its exact values.

    Raises UserError if it cannot be computed in parts such as `name`.
    """
    values = _values_in_parts(sweep, repeats, name)
    with shipped(sweep.options, sweep.call):
        yield values


@contextmanager
def here(sweep: Sweep) -> Iterator[ExactValues]:
    """Let this process simulate the cells of a sweep during the block, and give its exact values."""
    with shipped(sweep.options, sweep.call):
        yield exact.values_of(sweep)


def study_of(sweep: Sweep) -> Study:
    """Return the study of a sweep, with the function that simulates it."""
    return replace(prepare(sweep.settings), simulated=carried(sweep))


def _told_of_others(study: Study, run: Run, sweep: Sweep) -> Iterator[str]:
    """Yield a line if the stored chunks are of another source, or are not what the function gives now."""
    if all(function_of(head) != sweep.function for head in run.heads):
        yield OTHER_ON_ERROR if any(_alike(function_of(head), sweep.function) for head in run.heads) else OTHER
        return
    check_code(study.settings, run.heads, _later, str(study.folder))  # before anything is discarded
    if _disagreeing(run, sweep):
        yield CHANGED
        stale_chunks.forget(run, sweep.function)
        exact_records.forget(study.folder)  # their functions may read the same


def _alike(one: Any, other: Mapping[str, Any]) -> bool:
    """Return True for functions that differ by nothing but whether failed trials are counted."""
    theirs = dict(one) if isinstance(one, Mapping) else {}
    return all(theirs.get(key) == other[key] for key in ("module", "name", "source"))


def _later(line: str) -> None:
    """Print nothing: the run itself warns of other code."""


def _disagreeing(run: Run, sweep: Sweep) -> bool:
    """Return True if the function draws other trials now than a head of its chunks shows."""

    def repeated(each: Shown) -> bool:
        try:
            with warnings.catch_warnings(action="ignore"):  # the simulation itself repeats them
                return each.repeats(sweep.call)
        except Exception as problem:  # nothing is discarded for it: a file may be back soon
            if sweep.settings.on_error != "continue":
                raise pilot.told(place(each.point), problem) from problem
            return True

    own = [head for head in run.heads if function_of(head) == sweep.function]
    with shipped(sweep.options, sweep.call):
        return bool(disagreeing(own, repeated))
