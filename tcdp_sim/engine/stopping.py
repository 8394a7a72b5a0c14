"""The number of trials of a cell when `target_mcse` asks for Monte Carlo standard errors of a given size.

A cell starts with `trials`. While a target is missed it grows, by at most a factor GROWTH at a time, up to
`max_trials`. Each step looks at the summary of the chunks so far, in the order of their index. So the decision is a
function of (seed, law) alone: workers, batches, crashes and resumes change nothing.
"""

from collections.abc import Mapping
from math import ceil, inf, isnan

import numpy as np

from tcdp_sim.engine.pending import Wanted
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.estimates import mean, proportion
from tcdp_sim.summaries.summary import Distribution, Summary

GROWTH = 4
MARGIN = 1.05  # aim a little beyond the target, because the standard error is itself an estimate


def as_needed(run: Run, cells: Cells, settings: Settings) -> Wanted:
    """Return the chunks that each cell needs, as far as its stored chunks show how many its target needs."""
    wanted = Wanted(cells, settings.chunks)
    while True:
        grown = more(run, wanted, settings)
        if (grown.chunks == wanted.chunks).all():
            return wanted
        wanted = grown


def more(run: Run, wanted: Wanted, settings: Settings) -> Wanted:
    """Return the chunks that cells need, which equal `wanted` if all targets are met.

    A cell that lacks a chunk keeps its number.
    """
    if not settings.target_mcse:
        return wanted
    most = -(-settings.max_trials // settings.chunk)
    grown = (_grown(run, cell, chunks, most, settings) for cell, chunks in wanted.each())
    return wanted.with_chunks(np.fromiter(grown, np.int64, len(wanted)))


def _grown(run: Run, cell: str, chunks: int, most: int, settings: Settings) -> int:
    """Return the number of chunks that a cell needs after its present ones, 0 for a cell of another part."""
    if not chunks or chunks >= most or not all(run.has(cell, chunk) for chunk in range(chunks)):
        return chunks
    return needed(run.summary(cell, range(chunks)), chunks, settings.target_mcse or {}, most)


def needed(summary: Summary, chunks: int, targets: Mapping[str, Mapping[str, float]], most: int) -> int:
    """Return the number of chunks that a cell needs after its present ones, at most `most`."""
    factor = max(_excess(summary, name, target) for name, target in targets.items())
    wanted = chunks if factor <= 1 else ceil(chunks * min(factor * MARGIN, GROWTH))
    return max(chunks, min(wanted, most))


def predicted(summary: Summary, settings: Settings) -> int:
    """Return the number of chunks that a cell will need, estimated from a pilot of any size."""
    most = -(-settings.max_trials // settings.chunk)
    factor = max((_excess(summary, name, target) for name, target in (settings.target_mcse or {}).items()), default=0)
    needed = min(summary.trials * factor * MARGIN / settings.chunk, most)
    return max(settings.chunks, ceil(needed))


def _share(hits: int, trials: int) -> tuple[float, float]:
    """Return an event's frequency and standard error.

    If the event happened never or always, the standard error is that of one trial with the other outcome.
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
