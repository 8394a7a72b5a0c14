"""How many trials a cell needs: as many as its Monte Carlo standard errors ask for, decided the same way everywhere.

A cell starts with `trials`; while a target is missed it grows, by at most a factor GROWTH at a time, up to
`max_trials`. Each step looks at the summary of the chunks so far, in the order of their index, so the decision is a
function of (seed, law) alone: workers, batches, crashes and resumes change nothing.
"""

from collections.abc import Mapping
from math import ceil, inf, isnan

import numpy as np

from tcdp_sim.engine.pending import Wanted
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.estimates import mean, proportion
from tcdp_sim.summaries.summary import Distribution, Summary

GROWTH = 4
MARGIN = 1.05  # aim a little beyond the target: the standard error is itself an estimate


def more(run: Run, wanted: Wanted, settings: Settings) -> Wanted:
    """The chunks that cells need; those of `wanted` when all targets are met. What lacks a chunk stays as it is."""
    if not settings.target_mcse:
        return wanted
    most = -(-settings.max_trials // settings.chunk)
    grown = (_grown(run, cell, chunks, most, settings) for cell, chunks in wanted.each())
    return wanted.with_chunks(np.fromiter(grown, np.int64, len(wanted)))


def _grown(run: Run, cell: str, chunks: int, most: int, settings: Settings) -> int:
    if chunks >= most or not all(run.has(cell, chunk) for chunk in range(chunks)):
        return chunks
    return min(_needed(run.summary(cell, range(chunks)), chunks, settings), most)


def _needed(summary: Summary, chunks: int, settings: Settings) -> int:
    factor = max(_excess(summary, name, target) for name, target in (settings.target_mcse or {}).items())
    return chunks if factor <= 1 else ceil(chunks * min(factor * MARGIN, GROWTH))


def predicted(summary: Summary, settings: Settings) -> int:
    """The chunks that a cell will need, judged by a pilot of whatever size."""
    most = -(-settings.max_trials // settings.chunk)
    factor = max((_excess(summary, name, target) for name, target in (settings.target_mcse or {}).items()), default=0)
    needed = min(summary.trials * factor * MARGIN / settings.chunk, most)
    return max(settings.chunks, ceil(needed))


def _share(hits: int, trials: int) -> tuple[float, float]:
    """An event's share and standard error; where it never or always happened, as if it had not been so just once."""
    value = proportion(hits, trials)[0]
    return value, proportion(min(max(hits, 1), trials - 1), trials)[1] if trials > 1 else 0.5


def _excess(summary: Summary, name: str, target: Mapping[str, float]) -> float:
    """By what factor the trials have to grow: the square of the standard error over its target."""
    if name in summary.events:
        value, mcse = _share(summary.events[name], summary.trials)
    elif name in summary.observables:
        value, mcse = _average(summary.observables[name])
    else:
        return 0.0  # this cell does not have it
    wanted = target["absolute"] if "absolute" in target else target["relative"] * abs(value)
    if isnan(mcse):
        return 0.0  # infinite, all or all but one: nothing to be learnt from more of the same
    return (mcse / wanted) ** 2 if wanted else inf


def _average(distribution: Distribution) -> tuple[float, float]:
    """A mean and its standard error. Trials that are all equal have no spread to be told from that none was seen.

    So they count as if one of them had been off by their common value; zeros, which have no scale, as not known at all.
    """
    value, mcse, _ = mean(distribution)
    finite, _, _, low, high = distribution.moments.T
    if distribution.nonfinite == 0 and finite.sum() < 2:
        return value, inf
    if finite.sum() > 1 and low.min() == high.max():
        return value, abs(value) / finite.sum() if value else inf
    return value, mcse
