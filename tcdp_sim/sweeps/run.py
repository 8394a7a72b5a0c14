"""A sweep from its checked arguments to its results."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.version import __version__
from tcdp_sim.engine import clusters, decisions, parts
from tcdp_sim.mechanisms.functions import point_text
from tcdp_sim.mechanisms.functions.calls import name_of, place
from tcdp_sim.mechanisms.functions.failed_trials import FAILED, NUMBERS, WARNED
from tcdp_sim.results import sweeps as results
from tcdp_sim.results.in_notebook import Ran
from tcdp_sim.store import columns
from tcdp_sim.study import study, sweeps
from tcdp_sim.summaries.problems import first_failed_trials
from tcdp_sim.sweeps import comparisons, exact, failed_trials, in_folder, memory, pilot
from tcdp_sim.sweeps.arguments import Sweep

OTHER_GENERATOR = (
    "does not draw all its random numbers from its generator: two calls with one seed differ. Its numbers cannot be "
    "repeated"
)

HASHES = (
    "depends on hash() of a text or an object, which differs from process to process. Its numbers cannot be repeated; "
    "zlib.crc32(text.encode()) is the same everywhere"
)

COMMON_PART = (
    "adds the same random-looking numbers with every generator ({}): it seems to draw from one with a fixed seed "
    "beside its own. All chunks and cells then share these errors, and standard errors are too small; draw from the "
    "first argument alone"
)

FIXED_SEED = (
    "gives the same random-looking numbers with every generator ({}): it seems to draw from one with a fixed seed. All "
    "chunks and cells then repeat these trials, and standard errors are too small; draw from the first argument"
)


def run(sweep: Sweep, tell: Tell) -> tuple[xr.Dataset, int, str]:
    """Return the results of a sweep, the number of contradictions, and a line about comparisons.

    Raises UserError or Failure of one line.
    """
    sweep, repeats = prepared(sweep, partial(warnings.warn, stacklevel=4))
    if sweep.kept:
        flat, failed = in_folder.run(sweep, repeats, tell)
        if failed:
            warnings.warn(failed, stacklevel=3)  # the caller of tcdp_sim.sweep
        data, points = results.columns_of(flat.load()), list(sweep.points.values())
        about = flat.attrs | attributes(sweep) | in_folder.first_errors(sweep) | comparisons.in_folder(sweep)
        return _labelled(sweep, data, points, about, tell)
    for line in study.rounded(sweep.settings):
        tell(line)
    return in_memory(sweep, tell)


def kept(sweep: Sweep, tell: Tell, part: str | None = None) -> str:
    """Run or resume a sweep in its folder, or compute a part of it, such as 17/1000.

    Return a line about the cells that errors left without numbers, "" if there are none.
    """

    def warning(line: str) -> None:
        tell(f"warning: {line}")

    if part is not None:
        in_folder.part(*prepared(alone(sweep), warning), part, tell)
        return ""
    sweep, repeats = prepared(sweep, warning)
    flat, failed = in_folder.run(sweep, repeats, tell)
    endings = (columns.NONFINITE, columns.LEAST, columns.MOST)
    always = ("trials", *(event + columns.COUNT for event in NUMBERS))
    counted = [name for name in flat.data_vars if name in always or str(name).endswith(endings)]
    data, points = results.columns_of(flat[counted].load()), list(sweep.points.values())
    _check_ranges(sweep, data, points)
    _tell_of_lost(sweep, data, points, tell)
    return failed


def alone(sweep: Sweep) -> Sweep:
    """Return the sweep with the cluster of a part: one process."""
    return replace(sweep, settings=parts.alone(sweep.settings))


def in_memory(sweep: Sweep, tell: Tell) -> tuple[xr.Dataset, int, str]:
    """Return the results of a sweep without a folder."""
    points, problems = list(sweep.points.values()), memory.Problems(sweep, tell)
    simulated = results.joined(memory.simulated(sweep, problems))
    if problems.stopped and not problems.finished:
        raise problems.stopped
    data = simulated | exact.columns_of(sweep, points)
    if problems.stopped:
        tell(memory.traced(problems.stopped))
        there = f"the sweep has ended after {problems.finished} of {len(points)} cells, which it returns"
        warnings.warn(f"{problems.stopped}; {there}; {memory.OPTIONS}", stacklevel=4)
    if failed := problems.failed:
        left = f"errors left {len(failed)} of {len(points)} cells without numbers"
        warnings.warn(f"{left}, the first: {next(iter(failed.values()))}", stacklevel=4)
    for line in decisions.lines(problems.compared) if problems.compared else ():
        tell(line)
    about = attributes(sweep) | _first_errors(sweep, problems) | comparisons.attribute(sweep, problems.compared)
    return _labelled(sweep, data, points, about, tell)


def _first_errors(sweep: Sweep, problems: memory.Problems) -> dict[str, str]:
    """Return the attribute with the first failed trials of a sweep in memory."""
    order = {point_text(point): place for place, point in enumerate(sweep.points.values())}
    noted = problems.started
    places = {cell: order[point_text(point)] for cell, point in noted.points.items()}
    return failed_trials.attribute(sweep, first_failed_trials(noted.trials, places), noted.points)


def _labelled(sweep: Sweep, data: Any, points: Any, about: Any, tell: Tell) -> tuple[xr.Dataset, int, str]:
    _check_ranges(sweep, data, points)
    _tell_of_lost(sweep, data, points, tell)
    contradicted, line = exact.compared(sweep, data, points)
    names = (*sweep.options["observables"], *sweep.options["events"])
    rule, counted = decisions.rule(sweep.settings), sweep.call.counts is not None
    ordered = results.in_order(results.shown(data, sweep.levels, counted=counted, rule=rule), names)
    found = results.labelled(ordered, points, about)
    return found.assign_coords(quantile=list(sweep.levels)) if "quantile" in found.dims else found, contradicted, line


def _check_ranges(sweep: Sweep, data: Any, points: Any) -> None:
    """Raise UserError if a trial lies outside of the range that is declared for its number."""
    for name, (least, most) in sweep.options.get("ranges", {}).items():
        low, high = (np.asarray(data[name + end][1]) for end in (columns.LEAST, columns.MOST))
        outside = np.flatnonzero((low < least) | (high > most))
        if len(outside):
            i = int(outside[0])
            found = f"the trials reach from {low[i]:g} to {high[i]:g}"
            raise UserError(f"{place(points[i])}{name}: {found}; its range is {least:g} to {most:g}")


def _tell_of_lost(sweep: Sweep, data: Any, points: Any, tell: Tell) -> None:
    """Print a line about trials that are NaN or infinite, which no mean contains."""
    trials = np.asarray(data["trials"][1])
    failed = np.zeros_like(trials)
    if sweep.call.counts:
        failed = np.asarray(data[columns.lost(data)][1])
        drawn = "were drawn again" if sweep.call.counts.redraw else "are in no mean"
        for event, what in ((FAILED, f"failed and {drawn}"), (WARNED, "warned")):
            if event + columns.COUNT in data:
                _tell_of_trials(np.asarray(data[event + columns.COUNT][1]), what, trials, points, tell)
    rest = "cells are NaN or infinite, and no mean has them"
    for name in sweep.options["observables"]:
        lost = np.asarray(data[name + columns.NONFINITE][1]) - failed
        if lost.any():
            worst = int(np.argmax(lost / trials))
            example = f"{place(points[worst])}{lost[worst]:,} of {trials[worst]:,}"
            tell(f"{name}: trials of {np.count_nonzero(lost)} {rest}: {example}")


def _tell_of_trials(count: Any, what: str, trials: Any, points: Any, tell: Tell) -> None:
    """Print a line about trials that something has happened to, if there are any; `count` is their number by cell."""
    if count.any():
        worst = int(np.argmax(count / np.maximum(trials, 1)))
        example = f"{place(points[worst])}{count[worst]:,} of {trials[worst]:,}"
        tell(f"trials of {np.count_nonzero(count)} of {len(count)} cells {what}: {example}")


def prepared(sweep: Sweep, warn: Tell) -> tuple[Sweep, bool]:
    """Return the sweep with the names that its trials yield, and True if they follow from `rng`.

    `warn` gets a line about a function that draws from another generator. If its numbers do not follow from `rng`, it
    loses its identity, so that no other run counts on its numbers. Raises UserError if workers would simulate it.
    """
    clusters.worker_count(sweep.settings.cluster)
    found = pilot.tried(sweep)
    sweep, name = found.sweep, name_of(sweep.call.function)
    if found.fixed:
        warn(f"{name} {FIXED_SEED.format(', '.join(found.fixed))}")
    if found.common:
        warn(f"{name} {COMMON_PART.format(', '.join(found.common))}")
    if not found.repeats:
        why = HASHES if found.hashes else OTHER_GENERATOR
        if (cluster := sweep.settings.cluster["name"]) != "serial":
            raise UserError(
                f"cluster = {cluster!r} is not valid for {name}, which {why}, and workers "
                "could repeat each other's; valid: cluster='serial'"
            )
        warn(f"{name} {why}")
        sweep = sweep.having(function={**sweep.function, "source": None})
    return sweep, found.repeats


def ran(sweep: Sweep, seconds: float, contradictions: int, compared: str) -> Ran:
    """Return what a notebook shows of a sweep besides its results."""
    s, axes = sweep.settings, sweep.options["axes"]
    more = "a smaller target_mcse" if s.target_mcse else f"trials={2 * s.chunks * s.chunk:_}"
    if sweep.function["source"] is None:
        further = f"More trials: the same call with {more}. It computes all trials again: the function has no identity."
    elif sweep.kept:
        further = f"Kept in {s.folder}: the same call with {more} computes only what is missing."
    else:
        further = f"Not kept: with name='...' the numbers stay, and the same call with {more} computes only new trials."
    title = f"sweep of {sweep.function['name']}"
    return Ran(title, axes, len(sweep.points), seconds, contradictions, compared, further)


def attributes(sweep: Sweep) -> dict[str, Any]:
    """Return the attributes of the results."""
    about = {"title": f"sweep of {sweep.function['name']}", "tcdp_sim_version": __version__}
    return about | study.of_trials(sweep.settings) | sweeps.attributes(sweep.settings)
