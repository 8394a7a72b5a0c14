"""A comparison of two runs: whether they give the same numbers within Monte Carlo error.

The runs may have other seeds, machines, versions, trials or chunks. Cells are matched by their law. Means are compared
in standard errors. Counts of trials (events, exceedances, quantiles) are compared by Fisher's exact test. The alarms
keep the false-discovery rate over all comparisons. If the trials of a run have stopped at a decision (`target`), its
intervals give the units of its means and frequencies, and quantiles are not compared.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtri

from tcdp_sim.statistics.two_samples import FALSE_DISCOVERIES, ROUNDING, beyond_chance, same_mean, same_share
from tcdp_sim.store import columns
from tcdp_sim.summaries.estimates import NORMAL

NO_LAW = ("version", "stream")  # keys of a stored law that say how it is drawn, not what is drawn
COLUMNS = ["row", "row_there", "quantity", "here", "there", "distance", "p_value"]


@dataclass(frozen=True)
class Comparison:
    """The result of the comparison of two runs.

    - `alarms`: the numbers that differ beyond chance, worst first. The columns are `row` and `row_there` (the rows in
      the two tables), `quantity`, `here`, `there`, `distance` (in standard errors) and `p_value`. Quantiles are
      compared by the share of each run's trials below the quantile of both runs together (x_below_quantile_0.95). The
      attribute `comparisons` is the number of comparisons.
    - `identical`: number of cells with the same bits. Their numbers are not compared.
    - `compared`: number of the other cells with results in both runs.
    - `only_here`, `only_there`: number of cells with results in one run alone.
    - `resolution`: the relative difference of a mean that would give an alarm with probability 1/2 if it were the
      only one. It is the median over the compared means; NaN without any.
    """

    alarms: pd.DataFrame
    identical: int
    compared: int
    only_here: int
    only_there: int
    resolution: float


def compare(here: xr.Dataset, there: xr.Dataset) -> Comparison:
    """Compare two tables of `results.open_cells`. Raises ValueError if a law in them is not a JSON object."""
    laws, others = _laws(here), _laws(there)
    common = [(row, others[law]) for law, row in laws.items() if law in others]
    rows = np.array(common, dtype=int).reshape(-1, 2)
    same = _identical(here, there, rows)
    parts = list(_numbers(here, there, rows[~same]))
    compared = pd.concat([part for part, _ in parts], ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    alarms = beyond_chance(compared, sum(made for _, made in parts))
    alone = len(laws) - len(rows), len(others) - len(rows)
    resolution = _resolution(here, there, rows[~same], alarms.attrs["comparisons"])
    return Comparison(alarms, int(same.sum()), int((~same).sum()), *alone, resolution)


def _laws(flat) -> dict[str, int]:
    """Return the first row of each law among the cells that have results."""
    first_rows: dict[str, int] = {}
    for row in np.flatnonzero(flat["trials"].values):
        law = json.loads(flat["law"].values[row])
        if not isinstance(law, dict):
            raise ValueError("a law is not keys and values")
        first_rows.setdefault(json.dumps({k: v for k, v in law.items() if k not in NO_LAW}, sort_keys=True), int(row))
    return first_rows


def _identical(here, there, rows) -> np.ndarray:
    """Return True for each pair of cells whose counts and sums have the same bits. Derived numbers are not compared."""
    same = np.ones(len(rows), dtype=bool)
    for name in _both(here, there):
        per_cell = here[name].dims == there[name].dims == ("cell",)
        if per_cell and (name == "trials" or name.endswith(columns.COUNTED)):
            a, b = _pair(here, there, name, rows)
            same &= (a == b) | (np.isnan(a) & np.isnan(b))
    for name in _observables(here, there):
        for i, (a, b) in enumerate(_histograms(here, there, name, rows)):
            same[i] &= np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])
    return same


def _numbers(here, there, rows) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield, for each quantity, the comparisons that might be alarms and the number of comparisons."""
    trials, decided = _pair(here, there, "trials", rows), any("target" in run.attrs for run in (here, there))
    for name in _observables(here, there):
        lost = _pair(here, there, name + columns.NONFINITE, rows)
        finite = [n - k for n, k in zip(trials, lost)]
        means = _pair(here, there, columns.mean(name), rows)
        deviations = _pair(here, there, name + columns.DEVIATION, rows)
        if decided:
            deviations = _deviations(here, there, columns.mean(name), rows, finite)
        use = np.isfinite(deviations).all(axis=0) & (np.min(finite, axis=0) > 1)
        tested: tuple[Any, Any] = same_mean(*((m[use], s[use], n[use]) for m, s, n in zip(means, deviations, finite)))
        yield _kept(rows[use], columns.mean(name), means[0][use], means[1][use], *tested)
        use = np.max(lost, axis=0) > 0
        shares = [k[use] / n[use] for k, n in zip(lost, trials)]
        yield _kept(rows[use], name + columns.NONFINITE, *shares, *_shares(lost, trials, use))
        if not decided:
            yield from _quantiles(here, there, name, rows)
    for name in _proportions(here, there):
        values, hits = _pair(here, there, name, rows), _pair(here, there, name + columns.COUNT, rows)
        of = [n - k for n, k in zip(trials, _failed(here, there, name, rows))]
        use = np.isfinite(values).all(axis=0) & _same_threshold(here, there, name, rows)
        if decided:
            spread: tuple[Any, Any] = _deviations(here, there, name, rows, of)
            tested = same_mean(*((v[use], s[use], n[use]) for v, s, n in zip(values, spread, of)))
        else:
            tested = _shares(hits, of, use)
        yield _kept(rows[use], name, values[0][use], values[1][use], *tested)


def _deviations(here, there, name, rows, trials) -> tuple[np.ndarray, np.ndarray]:
    """Return for both runs the standard deviations of trials that follow from the intervals.

    The intervals of a run with a target hold at any number of trials, and so do the units that they give.
    """
    lower, upper = (_pair(here, there, name + end, rows) for end in (columns.LOWER, columns.UPPER))
    first, second = (0.5 * (high - low) / NORMAL * np.sqrt(n) for low, high, n in zip(lower, upper, trials))
    return first, second


def _failed(here, there, name, rows):
    """Return the trials of both runs that failed and so count in no other frequency, 0 if they are not counted."""
    counting = all(run.attrs.get("on_error") == "count" for run in (here, there))
    if not counting or name in columns.OF_TRIALS:
        return 0, 0
    return tuple(run[columns.lost(run)].values[rows[:, side]] for side, run in enumerate((here, there)))


def _quantiles(here, there, name, rows) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield comparisons of the shares below the quantiles of both runs together.

    Given the union of the trials, the counts have the law of Fisher's test.
    """
    q = here["quantile"].values
    cuts = [_cuts(a, b, q) for a, b in _histograms(here, there, name, rows)]
    which = np.repeat(np.arange(len(rows)), [len(cut) for cut in cuts])
    if len(which):
        level, below_a, n_a, below_b, n_b = np.concatenate(cuts).T
        quantity = np.array([f"{name}_below_quantile_{value:g}" for value in q], dtype=object)[level]
        tested = same_share(below_a, n_a, below_b, n_b)
        yield _kept(rows[which], quantity, below_a / n_a, below_b / n_b, *tested)


def _cuts(a, b, q) -> np.ndarray:
    """Return rows (index of q, trials of a below the cut, all trials of a, trials of b below the cut, all trials of b).

    The cut is the edge of a bin that is nearest to the q-quantile. Quantiles in one atom have the same cut, which is
    listed once. An edge beyond all trials is left out.
    """
    keys = np.union1d(a[0], b[0])
    below = [_cumulative(own, counts, keys) for own, counts in (a, b)]
    total, trials = below[0] + below[1], (a[1].sum(), b[1].sum())
    cut, level = np.unique(np.searchsorted((total[1:] + total[:-1]) / 2, q * sum(trials)), return_index=True)
    inner = (total[cut] > 0) & (total[cut] < sum(trials))
    columns = np.broadcast_arrays(level, below[0][cut], trials[0], below[1][cut], trials[1])
    return np.stack(columns, axis=1)[inner]


def _cumulative(own, counts, keys) -> np.ndarray:
    """Return the number of trials below the first of the bins with these keys, and up to each of them."""
    up_to = np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate([[0], up_to[np.searchsorted(own, keys, side="right")]])


def _kept(rows, quantity, a, b, distance, p_value) -> tuple[pd.DataFrame, int]:
    use = p_value <= FALSE_DISCOVERIES
    names = quantity[use] if isinstance(quantity, np.ndarray) else quantity
    parts = (rows[use, 0], rows[use, 1], names, a[use], b[use], distance[use], p_value[use])
    return pd.DataFrame(dict(zip(COLUMNS, parts)), columns=COLUMNS), len(use)


def _shares(hits, trials, use):
    return same_share(hits[0][use], trials[0][use], hits[1][use], trials[1][use])


def _same_threshold(here, there, name, rows):
    """Return True for each pair of cells with the same threshold of exceedance. Quantities without one give True."""
    threshold = columns.threshold_of(name)
    if threshold is None:
        return np.ones(len(rows), dtype=bool)
    a, b = _pair(here, there, threshold, rows)
    return np.abs(a - b) <= ROUNDING * np.abs(a)


def _resolution(here, there, rows, made) -> float:
    parts = [np.zeros(0)]
    for name in _observables(here, there):
        mcse = np.hypot(*_pair(here, there, columns.mean(name) + columns.MCSE, rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(mcse / np.abs(_pair(here, there, columns.mean(name), rows)[0]))
    errors = np.concatenate(parts)
    errors = errors[np.isfinite(errors)]
    return float(-ndtri(FALSE_DISCOVERIES / made / 2) * np.median(errors)) if len(errors) else np.nan


def _both(here, there) -> list[str]:
    return sorted(str(name) for name in here.data_vars if name in there)


def _observables(here, there) -> list[str]:
    return columns.observables(_both(here, there))


def _proportions(here, there) -> list[str]:
    return columns.proportions(_both(here, there))


def _pair(here, there, name, rows) -> tuple[np.ndarray, np.ndarray]:
    return here[name].values[rows[:, 0]], there[name].values[rows[:, 1]]


def _histograms(here, there, name, rows):
    """Yield the two histograms of each pair of cells: (middles, counts) of occupied bins, ascending."""
    return zip(*(_ragged(flat, name, rows[:, side]) for side, flat in enumerate((here, there))))


def _ragged(flat, name, rows):
    lower, upper, counts, bins = (flat[part].values for part in columns.histogram(name))
    middles, ends = 0.5 * lower + 0.5 * upper, np.cumsum(bins)
    for row in rows:
        entries = slice(ends[row - 1] if row else 0, ends[row])
        yield middles[entries], counts[entries]
