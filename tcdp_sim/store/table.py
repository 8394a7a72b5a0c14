"""The published table: summaries become labelled rows, one for each cell."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.core import own_noises
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.texts import blank
from tcdp_sim.mechanisms import Mechanism, Observable, UserFunction, mechanism_class
from tcdp_sim.mechanisms.losses import asked_losses
from tcdp_sim.store import columns
from tcdp_sim.store.columns import BOUND, COUNT, ERROR, EXACT, INTERVAL, MCSE, QUANTILES, UPPER
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.summaries import batch
from tcdp_sim.summaries.bins import MIXED, RESOLUTION, SMALL_KEY, bin_edges, in_order, values_at
from tcdp_sim.summaries.estimates import ends_of_equal_trials, mean, proportion
from tcdp_sim.summaries.fixed_trials import FIXED, FixedTrials
from tcdp_sim.summaries.many_summaries import Names, Summaries, Together
from tcdp_sim.summaries.summary import Distribution, Summary

Source = Callable[[Sequence[str]], Summaries]
BLOCK = 1024  # cells whose summaries are in memory at a time
_NAN4 = (np.nan,) * 4
_COUNTS, _ATOMS = attrgetter("counts"), attrgetter("atoms")
_ENDS = ("lower", "upper")
_law_text = json.JSONEncoder(sort_keys=True).encode  # json.dumps would make a new encoder for every law


def _of_moments(rule: FixedTrials) -> tuple[str, ...]:
    """Return the meanings of the seven moments."""
    ends = (f"{end} end of {rule.of_mean} (NaN if all trials are equal)" for end in _ENDS)
    return "mean", "Monte Carlo standard error of the mean", *ends, "standard deviation", "smallest", "largest"


def blocks(
    cells: Sequence[Cell],
    summaries: Iterable[Summary | None] | Source,
    counts: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    problems: Mapping[tuple[str, str], int] = MappingProxyType({}),
    exact_values: ExactValues = NO_EXACT_VALUES,
    known: Callable[[Cell, Mechanism], np.ndarray] | None = None,
    mechanism: type[Mechanism] | None = None,
    pilots: int = 0,
    rule: FixedTrials = FIXED,
) -> Iterator[xr.Dataset]:
    """Yield the table in blocks of BLOCK rows, one for each cell: coordinates and every statistic.

    Statistics are NaN, with zero trials, for a cell whose summary is None. A block has the variables of the observables
    and events that one of its cells has, and none that is NaN everywhere. Memory holds the summaries of one block.

    - summaries: in the order of the cells, or a function that returns the summaries of the cells with some ids.
    - counts: the counts of the occupied bins, for every digest that a cell names.
    - problems: the number of chunks with an error or a warning, by cell id and kind.
    - exact_values: the exact values to publish with the simulated ones.
    - known: a function that returns a cell's exact values if they have been computed before.
    - mechanism: the class that declares the numbers of a trial, by default the class that the laws name.
    - rule: the intervals. Another one than FIXED needs summaries that come one by one.
    - pilots: the trials of a chunk if the first chunks of cells may be pilots, which are in no statistic; else 0.
    """
    read = summaries if callable(summaries) else _one_by_one(summaries)
    about = {"layout": columns.LAYOUT, **attributes, "exact_code": exact_values.code}
    known = known or (lambda cell, mechanism: exact_values.values(mechanism))
    kind = mechanism or mechanism_class(cells[0].law["mechanism"])
    numeric, entries = _axes(cells, issubclass(kind, UserFunction)), _Entries(counts)
    for start in range(0, len(cells), BLOCK):
        block = cells[start : start + BLOCK]
        found = read([cell.id for cell in block])
        variables = _block(kind, block, found, counts, problems, exact_values, known, rule)
        variables |= {columns.PILOT: pilot_trials(found, pilots)} if pilots else {}
        known_numbers = {name: column for name, column in variables.items() if not _is_nan(column[1])}
        yield xr.Dataset(known_numbers | entries.of(block), _coordinates(block, numeric, kind.axes), about)


def _is_nan(values: np.ndarray) -> bool:
    """Return True for numbers that are all NaN."""
    return bool(values.size and values.dtype.kind == "f" and np.isnan(values).all())


def pilot_trials(summaries: Summaries, chunk: int) -> tuple[str, np.ndarray, dict[str, str]]:
    """Return the variable with the trials before the first chunk of each summary."""
    count = len(next(iter(summaries.sums.values()))) if isinstance(summaries, Together) else 0
    firsts = [0] * count if isinstance(summaries, Together) else [s.chunks[0] if s else 0 for s in summaries]
    return _row(np.array(firsts, dtype=np.int64) * chunk, "1", "trials of the pilot, which are in no statistic")


def _one_by_one(summaries: Iterable[Summary | None]) -> Source:
    """Return the function that takes the next summaries for the next cells."""
    coming = iter(summaries)
    return lambda ids: list(islice(coming, len(ids)))


def names_together(mechanism: type[Mechanism], losses: bool = False) -> Names | None:
    """Return the names with which cells of one chunk may be read together, None if there are thresholds.

    `losses` says whether the cells have privacy losses.
    """
    if mechanism.thresholds is not Mechanism.thresholds:
        return None
    left_out = set() if losses else asked_losses(mechanism)
    return [name for name in mechanism.observables if name not in left_out], list(mechanism.events)


def statistics(mechanism: Mechanism, summary: Summary) -> xr.Dataset:
    """Return every statistic of one mechanism's trials, under the names of the table, without a cell dimension."""
    data = {"trials": _row([summary.trials], "1", "trials simulated")}
    data |= estimates(type(mechanism), [mechanism], [summary])
    return xr.Dataset(data, {"quantile": ("quantile", QUANTILES)}).isel(cell=0)


def _block(mechanism, cells, summaries, counts, problems, exact_values, known, rule):
    """Return the variables of some cells: name -> (dimensions, values, attributes)."""
    at_once = isinstance(summaries, Together)
    built = [] if at_once and not exact_values.width else [_built(mechanism, c, counts[c.counts]) for c in cells]
    trials = [summaries.trials] * len(cells) if at_once else [s.trials if s else 0 for s in summaries]
    data = {"trials": _row(trials, "1", "trials simulated")}
    warned = [problems.get((cell.id, "warning"), 0) for cell in cells]
    data["warned"] = _row(warned, "1", "chunks in which something warned (problems.csv says what)")
    failed = [int((cell.id, "error") in problems) for cell in cells]
    data["failed"] = _row(failed, "1", "1 if an error left the cell without numbers (problems.csv says which)")
    data |= estimates_together(mechanism, summaries) if at_once else estimates(mechanism, built, summaries, False, rule)
    exact: dict[str, tuple] = {}
    estimated = columns.quantities(data)
    if exact_values.width:
        exact = exact_values.tabulate([known(cell, one) for cell, one in zip(cells, built)], _declared(mechanism))
        data = _with_exact(data, exact)
    for name in estimated:
        data[name][2][columns.KNOWN] = exact_values.reason(name) if _lacks(data, exact, name) else ""
    return data if at_once else data | batch_means(mechanism, summaries)


def _lacks(data, exact, name) -> bool:
    """Return True if a cell that has a quantity has neither its exact value nor a bound on it, at all levels."""
    lacking = ~np.isnan(data[name][1])
    for kind in (EXACT, BOUND):
        if name + kind in exact:
            known = ~np.isnan(exact[name + kind][1])
            lacking &= ~(known if known.ndim == 1 else known.all(axis=1)[:, None])
    return bool(lacking.any())


def _built(mechanism, cell, counts):
    """Return the mechanism of a cell, or its thresholds alone if its noise is of a class that is not here."""
    return mechanism.build(cell.law, counts) if own_noises.is_here(cell.law) else _Thresholds(cell.law)


class _Thresholds:
    """The thresholds of a cell, as its law has them."""

    def __init__(self, law: Mapping[str, Any]) -> None:
        self.thresholds = law.get(own_noises.THRESHOLDS, {})


def _with_exact(data, exact):
    """Return variables in order: each exact value and bound after the interval of its quantity, others at the end."""
    out = {}
    for name, column in data.items():
        out[name] = column
        quantity = name.removesuffix(UPPER)
        beside = [quantity + kind for kind in (EXACT, BOUND) if name != quantity and quantity + kind in exact]
        out |= {other: exact[other] for other in beside}
    return out | exact


def _declared(mechanism: type[Mechanism]) -> dict[str, dict[str, str]]:
    """Return the attributes of every quantity that a trial may yield."""
    parts = ((columns.mean, "mean"), (columns.quantile, "quantile"))
    found = {
        part(name): {"units": about.unit, "long_name": f"{about.meaning}: {said}"}
        for name, about in mechanism.observables.items()
        for part, said in parts
    }
    return found | {name: {"units": "1", "long_name": f"P[{said}]"} for name, said in mechanism.events.items()}


def estimates_together(mechanism: type[Mechanism], found: Together):
    """Return the variables of `estimates` for cells whose summaries were read together."""
    rows = {name: batch.rows_of_bins(sums, *found.bins[name], QUANTILES) for name, sums in found.sums.items()}
    return estimates_of_rows(mechanism, rows, found.hits, found.trials)


def estimates(mechanism, built, summaries, every: bool = True, rule: FixedTrials = FIXED):
    """Return the variables of observables and events: name -> (dimensions, values, attributes).

    They cover every observable and event, or only the ones that one of the summaries has.
    """
    data: dict[str, tuple] = {}
    thresholds = [one.thresholds for one in built]
    there = {name for summary in summaries if summary for name in (*summary.observables, *summary.events)}
    for name, about in mechanism.observables.items():
        if not every and name not in there:
            continue
        distributions = [s.observables.get(name) if s else None for s in summaries]
        data |= _moments(name, about, distributions, rule) | _quantiles(name, about, distributions, rule)
        data |= _histogram(name, about, distributions)
        data |= _exceedances(name, about, distributions, [t.get(name, {}) for t in thresholds], rule)
    for name, meaning in mechanism.events.items():
        if not every and name not in there:
            continue
        hits = [_hits(mechanism, name, s.events, s.trials) if s and name in s.events else None for s in summaries]
        data |= _proportions(name, "cell", f"P[{meaning}]", hits, rule)
    return data


def estimates_of_rows(mechanism, rows: Mapping[str, batch.Rows], hits: Mapping[str, np.ndarray], trials: int):
    """Return the variables of `estimates` for cells of one chunk that were computed together."""
    data: dict[str, tuple] = {}
    for name, row in rows.items():
        about = mechanism.observables[name]
        data |= _moment_variables(
            name, about, _with_ends(row.moments, about, trials), np.zeros(len(row.bins), np.int64)
        )
        data |= _quantile_variables(name, about, row.quantiles)
        data |= _histogram_variables(name, about, row.keys, row.counts, row.atoms, row.bins)
    for name, meaning in mechanism.events.items():
        table = _frequencies(mechanism, name, hits, trials)
        data |= _proportion_variables(name, "cell", f"P[{meaning}]", table, hits[name], FIXED)
    return data


def _hits(mechanism, name, events, trials):
    """Return how often an event has happened in how many trials, None in no trial; failed trials are missing."""
    there = trials if name in mechanism.of_trials else trials - events.get(mechanism.missing, 0)
    return (events[name], there) if there else None


def _frequencies(mechanism, name, hits, trials):
    """Return the estimates of an event's probability, shape (4, cells), as `_proportions` does."""
    missing = mechanism.missing
    if not missing or name in mechanism.of_trials or not hits[missing].any():
        return batch.proportions(hits[name], trials)
    found = [_hits(mechanism, name, {name: int(n), missing: int(lost)}, trials)
             for n, lost in zip(hits[name], hits[missing])]  # fmt: skip
    return np.array([proportion(*hit) if hit else _NAN4 for hit in found], dtype=float).reshape(-1, 4).T


def batch_means(mechanism, summaries):
    """Return means over batches in the order of the trials, for cells with common random numbers."""
    units = {name: about.unit for name, about in mechanism.observables.items()}
    names = dict.fromkeys(name for summary in summaries if summary for name in summary.batches)
    out = {}
    width = max((means.size for s in summaries if s for means in s.batches.values()), default=0)
    for name in names:
        batch_means = [s.batches[name].ravel() if s and name in s.batches else np.zeros(0) for s in summaries]
        table = np.full((len(batch_means), width), np.nan)  # all share a dimension, hence one width
        for row, means in zip(table, batch_means):
            row[: len(means)] = means
        meaning = f"{name}: means over batches of trials"
        out[columns.batch_mean(name)] = _row(table, units.get(name, "1"), meaning, ("cell", "batch"))
    return out


class _Entries:
    """The occupied counts of every data set, each stored once, and the place of each cell's counts."""

    def __init__(self, counts):
        self._counts = counts
        self._starts: dict[str, int] = {}
        self._size = 0

    def of(self, cells):
        """Return the variables of some cells; `data_counts` holds only data sets that no earlier cell had."""
        new = [digest for digest in dict.fromkeys(cell.counts for cell in cells) if digest not in self._starts]
        for digest in new:
            self._starts[digest] = self._size
            self._size += len(self._counts[digest])
        counts = np.concatenate([np.zeros(0, np.int64), *(self._counts[digest] for digest in new)])
        starts, sizes = zip(*((self._starts[cell.counts], len(self._counts[cell.counts])) for cell in cells))
        return {
            "data_counts": _row(counts, "counts", "occupied bins", "data_entry"),
            "data_start": _row(starts, "1", "first entry of the cell's data_counts"),
            "data_size": _row(sizes, "1", "how many entries it has"),
        }


def _axes(cells, every: bool) -> dict[str, bool]:
    """Return True for each axis of the cells whose values are all numbers; `every` keeps axes without any value."""
    numeric: dict[str, bool] = {}
    used = set()
    for cell in cells:
        for axis, value in cell.coords.items():
            numeric[axis] = numeric.get(axis, True) and (value is None or isinstance(value, float))
            if axis not in used and (every or not (value is None or blank(value))):
                used.add(axis)
    return {axis: is_number for axis, is_number in numeric.items() if axis in used}


def _coordinates(cells, numeric, axes):
    """Return the coordinates of a block."""
    out = {}
    for axis, is_number in numeric.items():
        column = [cell.coords.get(axis) for cell in cells]
        blank = np.nan if is_number else ""
        shown = [f"{value:.12g}" if isinstance(value, float) and not is_number else value for value in column]
        values = [blank if value is None else value for value in shown]  # numbers mixed with names are texts
        declared = axes.get(axis, Axis(axis, axis))
        unit, meaning = declared.unit or "1", declared.meaning or axis
        out[declared.published] = _row(np.array(values, dtype=float if is_number else object), unit, meaning)
    texts = {
        "id": ("digest of the cell's law and data", [cell.id for cell in cells]),
        "guarantee": ("guarantee of the release", [cell.guarantee for cell in cells]),
        "noise_law": ("distribution that is added, with its parameters", [cell.noise for cell in cells]),
        "law": ("mechanism of the cell as JSON", [_law_text(cell.law) for cell in cells]),
    }
    for name, (meaning, column) in texts.items():
        out[name] = _row(np.array(column, dtype=object), "1", meaning)
    out["quantile"] = _row(QUANTILES, "1", "level of the quantile", "quantile")
    return out


def _name_error(variables, estimate):
    """Give an estimate the attribute that names its standard error."""
    variables[estimate][2][ERROR] = estimate + MCSE


def _row(values, unit, meaning, dims="cell"):
    return (dims, np.asarray(values), {"units": unit, "long_name": meaning})


def _moments(name, about, distributions, rule=FIXED):
    rows = np.array([_moment_row(d, about, rule) for d in distributions], dtype=float).T
    lost = [d.nonfinite if d else 0 for d in distributions]
    out = _moment_variables(name, about, rows, lost, rule)
    if any(d and any(d.infinite) for d in distributions):  # the remaining non-finite trials are NaN
        for side, sign in enumerate(("minus", "plus")):
            infinite = [d.infinite[side] if d else 0 for d in distributions]
            meaning = f"{about.meaning}: trials that are {sign} infinity"
            out[name + columns.INFINITE[side]] = _row(infinite, "1", meaning)
    return out


def _moment_variables(name, about, rows, lost, rule=FIXED):
    names = [columns.mean(name) + end for end in INTERVAL]
    names += [name + end for end in (columns.DEVIATION, columns.LEAST, columns.MOST)]
    out = {n: _row(r, about.unit, f"{about.meaning}: {m}") for n, r, m in zip(names, rows, _of_moments(rule))}
    _name_error(out, names[0])
    return out | {name + columns.NONFINITE: _row(lost, "1", f"{about.meaning}: trials that are not finite")}


def _with_ends(moments, about: Observable, trials: int):
    """Return the moments of rows with the interval's ends where all trials are equal and the numbers have a bound."""
    if np.isinf(about.least) and np.isinf(about.most):
        return moments
    moments = moments.copy()
    for row in np.flatnonzero(moments[5] == moments[6]):
        ends = ends_of_equal_trials(float(moments[0, row]), trials, about.least, about.most)
        moments[2:4, row] = [end if np.isfinite(end) else np.nan for end in ends]
    return moments


def _moment_row(d: Distribution | None, about: Observable, rule: FixedTrials = FIXED):
    if d is None:
        return (np.nan,) * 7
    centre, mcse, deviation = mean(d)
    least, most = d.moments[:, 3].min(), d.moments[:, 4].max()
    ends = rule.mean(d, centre, mcse)
    if least == most:  # equal trials say nothing about their spread
        ends = ends_of_equal_trials(centre, d.moments[:, 0].sum(), about.least, about.most)
    return (centre, mcse, *(end if np.isfinite(end) else np.nan for end in ends), deviation, least, most)


def _quantiles(name, about, distributions, rule=FIXED):
    return _quantile_variables(name, about, rule.quantiles(distributions, QUANTILES), rule)


def _quantile_variables(name, about, table, rule=FIXED):
    meanings = (
        f"quantile, read from bins at most {RESOLUTION:.2%} of the value wide (exact in bins with one value)",
        "Monte Carlo standard error of the quantile",
        *(f"{end} end of {rule.of_quantile} of the quantile" for end in _ENDS),
    )
    out = {
        columns.quantile(name) + end: _row(part, about.unit, f"{about.meaning}: {text}", ("cell", "quantile"))
        for end, part, text in zip(INTERVAL, table, meanings)
    }
    _name_error(out, columns.quantile(name))
    return out


def _histogram(name, about, distributions):
    keys = [d.keys if d else np.zeros(0, np.int32) for d in distributions]
    counts, atoms = ([part(d) if d else np.zeros(0, np.int64) for d in distributions] for part in (_COUNTS, _ATOMS))
    sizes = [len(k) for k in keys]
    return _histogram_variables(name, about, *map(np.concatenate, (keys, counts, atoms)), sizes)


def _histogram_variables(name, about, keys, counts, atoms, sizes):
    values = {}
    if len(keys) and np.abs(keys).max() >= SMALL_KEY:  # smaller keys ascend with the values of their bins
        order = np.lexsort((in_order(keys), np.repeat(np.arange(len(sizes)), sizes)))
        keys, counts, atoms = keys[order], counts[order], atoms[order]
    if (atoms != MIXED).any():
        meaning = f"{about.meaning}: the value of all trials in the bin, NaN if they may differ"
        values[columns.atom(name)] = _row(values_at(keys, atoms), about.unit, meaning, columns.entry(name))
    entry, (*edges, count, bins) = columns.entry(name), columns.histogram(name)
    out = {
        edge: _row(part, about.unit, f"{about.meaning}: {end} edge of the bin", entry)
        for edge, part, end in zip(edges, bin_edges(keys), _ENDS)
    }
    out[count] = _row(counts, "1", f"{about.meaning}: trials in the bin", entry)
    out |= values
    out[bins] = _row(sizes, "1", f"{about.meaning}: occupied bins of the cell along {entry}")
    out[bins][2]["sample_dimension"] = entry  # the name that the CF conventions have for such a count
    return out


def _exceedances(name, about, distributions, thresholds, rule=FIXED):
    out = {}
    for label in dict.fromkeys(label for row in thresholds for label in row):
        values = [row.get(label, np.nan) for row in thresholds]
        hits = [(d.exceed[label], d.values) if d and label in d.exceed else None for d in distributions]
        out[columns.threshold(name, label)] = _row(values, about.unit, f"{about.meaning}: {label} threshold")
        meaning = f"P[{about.meaning} > its {label} threshold]"
        out |= _proportions(columns.exceeds(name, label), "cell", meaning, hits, rule)
    return out


def _proportions(name, dims, meaning, hits, rule=FIXED):
    table = np.array([rule.proportion(name, *hit) if hit else _NAN4 for hit in hits], dtype=float).T
    return _proportion_variables(name, dims, meaning, table, [hit[0] if hit else 0 for hit in hits], rule)


def _proportion_variables(name, dims, meaning, table, counts, rule=FIXED):
    remarks = ("", ": Monte Carlo standard error", f": lower end of {rule.of_frequency}", ": upper end")
    out = {name + end: _row(r, "1", meaning + text, dims) for end, r, text in zip(INTERVAL, table, remarks)}
    _name_error(out, name)
    return out | {name + COUNT: _row(counts, "1", f"{meaning}: trials in which it happened")}
