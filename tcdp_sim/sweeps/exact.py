"""Exact values and bounds of a sweep's numbers, and their comparison with the simulated ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.exits import ended
from tcdp_sim.mechanisms.functions import Call, point_text
from tcdp_sim.mechanisms.functions.calls import place
from tcdp_sim.mechanisms.functions.returned import WrongResult, short
from tcdp_sim.results.cells import RESOLVED
from tcdp_sim.results.sweeps import Columns
from tcdp_sim.statistics import contradictions
from tcdp_sim.statistics.one_sample import usual_range
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import ExactValues, of_sweep
from tcdp_sim.study.points import Point
from tcdp_sim.sweeps.arguments import Sweep, identified
from tcdp_sim.sweeps.pilot import told
from tcdp_sim.sweeps.reference_arguments import Constant

ROUNDING = 1e-9  # error of an exact probability, at most
DECLARED = "ranges={'NAME': (least, most)} declares it"
UNBOUNDED = -np.inf, np.inf
WHAT = {"exact": "exact value", "bound": "bound"}


def quantity(sweep: Sweep, name: str) -> str:
    """Return the name of the published quantity of a number or event."""
    return columns.mean(name) if name in sweep.options["observables"] else name


class Known(NamedTuple):
    """A function of exact values or bounds.

    It has the column of its values, "exact" or "bound", and the name of its number, which may be an event.
    """

    column: str
    key: str
    name: str
    event: bool
    call: Call


def functions(sweep: Sweep) -> Iterator[Known]:
    """Yield the functions of all exact values and bounds."""
    for ending, key, calls in ((columns.EXACT, "exact", sweep.exact), (columns.BOUND, "bound", sweep.bound)):
        for name, call in calls.items():
            yield Known(quantity(sweep, name) + ending, key, name, name in sweep.options["events"], call)


def columns_of(sweep: Sweep, points: Sequence[Point]) -> dict[str, tuple[Any, Any, Any]]:
    """Return the exact values and bounds of cells as columns. Raises UserError or Failure that names the cell."""
    found: dict[str, tuple[Any, Any, Any]] = {}
    for one in functions(sweep):
        about = {"units": sweep.options["observables"].get(one.name, "1"), "long_name": f"{one.name}: {WHAT[one.key]}"}
        found[one.column] = (("cell",), np.array([value(one, point) for point in points]), about)
    return found


@dataclass(frozen=True, eq=False)
class _OfMechanism:
    """A function of the axes as a function of a mechanism."""

    known: Known
    points: Mapping[str, Point]

    def __call__(self, mechanism: Any) -> float:
        return value(self.known, self.points[point_text(mechanism.point)])


def values_of(sweep: Sweep) -> ExactValues:
    """Return the exact values and bounds of a sweep as a folder keeps them."""
    every = list(functions(sweep))
    return of_sweep({one.column: (_about(one), _OfMechanism(one, sweep.points)) for one in every})


def _about(known: Known) -> dict[str, Any]:
    """Return the key, the word and the source of a function; the source is None if it cannot be identified."""
    function = known.call.function
    constant = {"name": repr(function.value), "source": ""} if isinstance(function, Constant) else None
    found = constant or identified(function)
    return {"key": f"{known.key}.{known.name}", "word": found["name"], "source": found["source"]}


def value(known: Known, point: Mapping[str, Any]) -> float:
    """Return an exact value or bound at a point, NaN if its function refuses the point with ValueError.

    Raises UserError or Failure that names the cell.
    """
    call, where = known.call, f"{place(point)}{WHAT[known.key]} of {known.name}: "
    own = point if call.known is None else {axis: point[axis] for axis in call.known}
    try:
        found = call.function(**own)
    except ValueError:
        return np.nan
    except KeyboardInterrupt as stop:
        raise ended(stop, f"{WHAT[known.key]} of {known.name}", place(point)) from stop
    except (Exception, SystemExit) as problem:  # a function may raise anything
        raise told(where, problem) from problem
    try:
        return _probability(known.key, _number(found)) if known.event else _number(found)
    except WrongResult as problem:
        raise UserError(f"{where}{problem}") from None


def _number(found: Any) -> float:
    """Return what a function of exact values has returned as a float. Raises WrongResult."""
    try:
        array = np.asarray(found)
        plain = array.shape == () and array.dtype.kind in "biuf" and not isinstance(found, np.ma.MaskedArray)
        if plain or isinstance(found, Real):  # a fraction, an integer beyond 64 bits
            return float(found)
    except OverflowError:
        raise WrongResult("it is too large for a float") from None
    except ValueError:  # a ragged list
        pass
    raise WrongResult(f"{short(found)} is not a number")


def _probability(key: str, found: float) -> float:
    """Return an exact probability, or a bound on one, without its rounding errors. Raises WrongResult."""
    if found < -ROUNDING or (key == "exact" and found > 1 + ROUNDING):
        valid = "at least 0" if key == "bound" else "from 0 to 1"
        raise WrongResult(f"{found:g} is not valid for a probability; valid: {valid}")
    return max(found, 0.0) if key == "bound" else min(max(found, 0.0), 1.0) if found == found else found


def compared(sweep: Sweep, data: Columns, points: Sequence[Point]) -> tuple[int, str]:
    """Return the number of contradictions, and a line about all comparisons ("" without any)."""
    if not (sweep.exact or sweep.bound):
        return 0, ""
    table = pd.DataFrame(dict(_compared(sweep, data)))
    alarms = contradictions.find(table)
    made, unjudged = alarms.attrs["comparisons"], alarms.attrs["unjudged"]
    more = [f"{contradictions.not_judged(unjudged)} ({DECLARED})"] if unjudged else []
    more += [contradictions.GIVEN_SUCCESS] if sweep.call.counts and data[columns.lost(data)][1].any() else []
    if alarms.empty:
        line = f"{made} simulated numbers have an exact one or a bound beside them; none contradicts it beyond chance."
        return 0, "\n".join([line, *more])
    name, numbers = contradictions.worst_of(alarms)
    where = place(points[int(alarms["row"].iloc[0])])
    return len(alarms), "\n".join([f"{contradictions.said(alarms)}: {where}{name}: {numbers}", *more])


def _compared(sweep: Sweep, data: Columns) -> Iterator[tuple[str, Any]]:
    """Yield the columns that `contradictions.find` reads."""
    failed = np.asarray(data[columns.lost(data)][1]) if sweep.call.counts else 0
    yield "trials", np.asarray(data["trials"][1]) - failed
    for name in dict.fromkeys([*sweep.exact, *sweep.bound]):
        known = quantity(sweep, name)
        simulated, mcse, lower, upper = (data[known + end][1] for end in columns.INTERVAL)
        others = {"_mcse": mcse, "_lower": lower, "_upper": upper}
        if name in sweep.options["observables"]:
            others |= {
                "_skewness": skewness(data, name),
                "_nonfinite": np.asarray(data[name + columns.NONFINITE][1]) - failed,
            }
        for label, ending in ((name, columns.EXACT), (name + contradictions.WITHIN_BOUND, columns.BOUND)):
            if known + ending in data:
                exact = data[known + ending][1]
                exact = exact if ending == columns.EXACT else not_above(simulated, exact)
                yield from {label: simulated, f"{label}_exact": exact}.items()
                yield from ((label + end, column) for end, column in others.items())
                if name in sweep.options["observables"]:
                    ends = sweep.options.get("ranges", {}).get(name)
                    ends = ends or (UNBOUNDED if sweep.options.get("draws", True) else usual_range(simulated, exact))
                    yield from zip((f"{label}_least", f"{label}_most"), np.broadcast_arrays(simulated, *ends)[1:])


def not_above(simulated: Any, bound: Any) -> Any:
    """Return the value that a simulated number is compared with: itself where it lies below its bound."""
    return np.where(np.isnan(bound), np.nan, np.minimum(simulated, bound))


def skewness(data: Columns, observable: str) -> np.ndarray:
    """Return the sample skewness of the finite trials of every cell, as `results.sample_skewness` does for one."""
    low, high, counts, bins = (np.asarray(data[name][1]) for name in columns.histogram(observable))
    found = np.full(len(bins), np.nan)
    used = bins > 0
    starts, sizes = (np.cumsum(bins) - bins)[used], bins[used]
    scale = np.maximum(-np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)) if len(starts) else low
    scale = np.repeat(np.where(scale == 0, 1.0, scale), sizes)
    middle, width = (0.5 * low + 0.5 * high) / scale, np.maximum.reduceat((high - low) / scale, starts)
    total = np.add.reduceat(counts, starts)
    off = middle - np.repeat(np.add.reduceat(counts * middle, starts) / total, sizes)
    spread = np.sqrt(np.add.reduceat(counts * off**2, starts) / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        resolved = np.add.reduceat(counts * off**3, starts) / total / spread**3
        endings = (columns.MEAN, columns.DEVIATION, columns.LEAST, columns.MOST)
        mean, sd, least, most = (np.asarray(data[observable + ending][1])[used] for ending in endings)
        coarse = np.where(sd > 0, np.maximum(most - mean, mean - least) / sd, 0.0)
    found[used] = np.where(spread > RESOLVED * width, resolved, coarse)
    return found
