"""The number of trials of a cell when `target_mcse` asks for Monte Carlo standard errors of a given size.

A pilot chooses the number, and none of its trials is in the estimate. An estimate from the trials that have chosen
their own number would be biased: they are fewest where they happen to miss the large values of a skewed law. The pilot
grows, by at most a factor GROWTH at a time, until its standard errors are within a factor COARSE of their targets. Then
the number of further trials is fixed. Each step looks at the chunks so far, in the order of their index. So every
decision is a function of (seed, law) alone: workers, batches, crashes and resumes change nothing.

The module `decisions` has the numbers of trials for `target`; `as_needed` gives them too.
"""

from collections.abc import Mapping
from math import ceil, inf, isnan

import numpy as np

from tcdp_sim.engine import decisions
from tcdp_sim.engine.decisions import Store
from tcdp_sim.engine.pending import Wanted
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.estimates import mean, proportion
from tcdp_sim.summaries.summary import Distribution, Summary

GROWTH = 4
COARSE = 2  # the pilot of a normal number has a quarter of the trials of the estimate
LEAST, MOST = 4, 4  # a pilot begins with a quarter of `trials`, and ends with a quarter of `max_trials` at the latest
MARGIN = 1.2  # times the trials that the pilot's standard error asks for, which is itself an estimate
Targets = Mapping[str, Mapping[str, float]]


def start(cells: Cells, settings: Settings, chunks: "int | np.ndarray | None" = None) -> Wanted:
    """Return the chunks that cells need at first: all of them, or their pilots' chunks if there is a target.

    `chunks` is the number of chunks without a target, by default the number in the settings; 0 for cells of other
    parts.
    """
    asked = settings.chunks if chunks is None else chunks
    if not settings.target_mcse:
        return Wanted(cells, asked)
    pilots = np.where(np.asarray(asked) > 0, first_pilot(settings.chunks), 0)
    return Wanted(cells, pilots, pilots)


def as_needed(run: Store, cells: Cells, settings: Settings) -> Wanted:
    """Return the chunks that each cell needs, as far as its stored chunks show how many its target needs."""
    wanted = start(cells, settings)
    if compared := decisions.of(cells, settings):
        return compared.more(run, wanted)
    while True:
        grown = more(run, wanted, settings)
        if (grown.chunks == wanted.chunks).all():
            return wanted
        wanted = grown


def more(run: Store, wanted: Wanted, settings: Settings) -> Wanted:
    """Return the chunks that cells need, which equal `wanted` if no pilot has ended.

    A cell that lacks a chunk keeps its number.
    """
    if not settings.target_mcse:
        return wanted
    grown = [_grown(run, cell, pilot, chunks, settings) for (cell, chunks), pilot in zip(wanted.each(), wanted.pilots)]
    pilots, chunks = np.array(grown, dtype=np.int64).reshape(-1, 2).T
    return wanted.with_chunks(chunks, pilots)


def estimate(run: Store, cell: str, settings: Settings) -> range:
    """Return the chunks of the estimate of a cell under a target, without chunks if its pilot has not ended."""
    pilot = chunks = first_pilot(settings.chunks)
    while (grown := _grown(run, cell, pilot, chunks, settings)) != (pilot, chunks):
        pilot, chunks = grown
    return range(pilot, chunks)


def _grown(run: Store, cell: str, pilot: int, chunks: int, settings: Settings) -> tuple[int, int]:
    """Return the chunks of a cell's pilot, and all that it needs, after its present ones."""
    if not chunks or pilot < chunks or not all(run.has(cell, chunk) for chunk in range(chunks)):
        return pilot, chunks
    most = -(-settings.max_trials // settings.chunk)
    return after_pilot(run.summary(cell, range(chunks)), chunks, settings.chunks, settings.target_mcse or {}, most)


def first_pilot(chunks: int) -> int:
    """Return the number of chunks with which a pilot begins, if an estimate has at least `chunks`."""
    return -(-chunks // LEAST)


def after_pilot(summary: Summary, pilot: int, least: int, targets: Targets, most: int) -> tuple[int, int]:
    """Return the number of chunks of a pilot, and the number of all chunks of the cell, given the pilot so far.

    They are equal if the pilot has to grow. Otherwise the difference is the number of chunks of the estimate, from
    `least` to `most`. A cell without the quantities of the targets needs no pilot, and its estimate has `least` chunks.
    """
    if not any(name in summary.events or name in summary.observables for name in targets):
        return 0, least
    factor = max(_excess(summary, name, target) for name, target in targets.items())
    limit = max(first_pilot(least), -(-most // MOST))
    if factor > COARSE**2 and pilot < limit:
        grown = ceil(pilot * min(factor / COARSE**2 * MARGIN, GROWTH))
        return (min(grown, limit),) * 2
    return pilot, pilot + _estimate(pilot * factor, least, most)


def _estimate(needed: float, least: int, most: int) -> int:
    """Return the number of chunks of an estimate, with its margin."""
    return max(least, ceil(min(needed * MARGIN, most)))


def predicted(summary: Summary, settings: Settings) -> int:
    """Return the number of chunks that a cell will need, estimated from trials of any number."""
    if not settings.target_mcse:
        return settings.chunks
    most = -(-settings.max_trials // settings.chunk)
    factor = max(_excess(summary, name, target) for name, target in settings.target_mcse.items())
    estimate = _estimate(summary.trials * factor / settings.chunk, settings.chunks, most)
    return estimate + max(first_pilot(settings.chunks), -(-estimate // MOST))


def _share(hits: int, trials: int) -> tuple[float, float]:
    """Return an event's frequency and standard error.

    If the event happened never or always, the standard error is computed as if one trial had the other outcome.
    """
    value = proportion(hits, trials)[0]
    return value, proportion(min(max(hits, 1), trials - 1), trials)[1] if trials > 1 else 0.5


def _excess(summary: Summary, name: str, target: Mapping[str, float]) -> float:
    """Return the factor by which the trials must grow: the squared ratio of the standard error and its target."""
    if name in summary.events:
        value, mcse = _share(summary.events[name], summary.trials)
    elif name in summary.observables:
        value, mcse = _average(summary.observables[name])
    else:
        return 0.0  # the cell has no such quantity
    wanted = target["absolute"] if "absolute" in target else target["relative"] * abs(value)
    if isnan(mcse):
        return 0.0  # all trials, or all but one, are infinite: more of them would tell nothing
    return (mcse / wanted) ** 2 if wanted else inf


def _average(distribution: Distribution) -> tuple[float, float]:
    """Return a mean and its standard error.

    Trials that are all equal do not show whether there is any spread. They count as if one of them had been off by
    their common value. If that value is zero there is no scale, and the error is infinite.
    """
    value, mcse, _ = mean(distribution)
    finite, _, _, low, high = distribution.moments.T
    if distribution.nonfinite == 0 and finite.sum() < 2:
        return value, inf
    if finite.sum() > 1 and low.min() == high.max():
        return value, abs(value) / finite.sum() if value else inf
    return value, mcse
