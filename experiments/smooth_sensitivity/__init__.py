"""A private centre of skewed or contaminated records: smooth and global sensitivity, and interior points."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from tcdp_sim.core.numerics import integrate
from tcdp_sim.experiments import losses
from tcdp_sim.experiments.smooth_sensitivity.cost import cost_figure, cost_table
from tcdp_sim.experiments.smooth_sensitivity.drawing import error_figure, short_name
from tcdp_sim.mechanisms.smooth_sensitivity import SmoothSensitivity
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT
from tcdp_sim.store.exact_values import at_each_level

LEVEL = 0.95  # level of the quantile that is shown
TAIL, PANELS = 1e-30, 40  # panels of the integral end where the noise exceeds them with chances down to this one
UNIT = "errors in units of the records"
ERROR = columns.quantile("abs_error")
AXES = ("method", "smooth_noise", "records", "n", "smoothing", "contamination", "rho", "omega")


def chance_within(mechanism: SmoothSensitivity, radius: float) -> float:
    """Return P[|error| <= radius].

    The release is the answer plus `sensitivity` times the noise, clamped to the domain.
    """
    noise = mechanism.noise
    if noise is None:
        return np.nan
    low, high = mechanism.target - radius, mechanism.target + radius

    def upto(x: float) -> float:
        return float(noise.cdf((x - mechanism.answer) / mechanism.sensitivity))

    return (1.0 if high >= mechanism.largest else upto(high)) - (0.0 if low <= 0 else upto(low))


def error_quantile(mechanism: SmoothSensitivity, level: float) -> float:
    """The radius within which the error lies with probability `level`; NaN for interior points."""
    if mechanism.noise is None:
        return np.nan
    top = max(mechanism.target, mechanism.largest - mechanism.target)
    if chance_within(mechanism, top * (1 - 1e-12)) < level:
        return float(top)  # clamped to an end of the domain with some probability
    return float(brentq(lambda r: chance_within(mechanism, r) - level, 0.0, top, xtol=1e-9 * top, rtol=1e-12))


def mean_error(mechanism: SmoothSensitivity) -> float:
    """The mean of the error, the integral of its tail up to the largest error; NaN for interior points."""
    if mechanism.noise is None:
        return np.nan
    top, noise, scale = (
        max(mechanism.target, mechanism.largest - mechanism.target),
        mechanism.noise,
        mechanism.sensitivity,
    )
    away = mechanism.answer - mechanism.target

    def tail(error: np.ndarray) -> np.ndarray:
        above = np.where(mechanism.target + error < mechanism.largest, noise.sf((error - away) / scale), 0.0)
        return above + np.where(mechanism.target - error > 0, noise.sf((error + away) / scale), 0.0)

    near = scale * np.append(0.0, noise.isf(np.geomspace(TAIL, 0.5, PANELS)))
    ends = (0.0, top, mechanism.target, mechanism.largest - mechanism.target)
    edges = np.concatenate([np.abs(away) + near, np.abs(away) - near, ends])
    return integrate(tail, np.unique(np.clip(edges, 0.0, top))).estimate


def error_survival(mechanism: SmoothSensitivity, errors: np.ndarray) -> np.ndarray:
    """Return the probability that the error exceeds each of `errors`; NaN for interior points."""
    return np.array([1.0 if error < 0 else 1 - chance_within(mechanism, float(error)) for error in errors])


def _shifted(mechanism: SmoothSensitivity) -> losses.Moved:
    """Return the noise and its shift. Raises ValueError if the noise has another scale on the neighbour."""
    answer, scale = mechanism.neighbour
    if scale != mechanism.sensitivity:
        raise ValueError("the noise has another scale on the neighbour")
    step = abs(answer - mechanism.answer) / scale
    assert mechanism.noise is not None  # of a run that draws losses
    return losses.Moved(mechanism.noise, int(step > 0), step)


_LAWS = losses.laws_of_moves(_shifted)
SURVIVAL = {"abs_error": error_survival, **_LAWS.survival}
DELTA, PROMISED = _LAWS.delta, losses.PROMISED
EXACT = {ERROR: at_each_level(error_quantile), columns.mean("abs_error"): mean_error, **_LAWS.exact}
_INTERIOR = "the release of an interior point has a law by recursion, which gives no errors here"
UNKNOWN = {ERROR: _INTERIOR, columns.mean("abs_error"): _INTERIOR, **losses.UNKNOWN}


def rows(cell: Cell) -> Row:
    """Return one row: the 95% quantile of the error, `abs_error`, with interval and exact value, in the records' unit.

    - `sensitivity`: the factor of the noise.
    - `answer`: the statistic of the records, with contamination.
    - `target`: the statistic of the clean records. Errors are distances to it.
    """
    mechanism, row = cell.mechanism, cell.only(*AXES, "n", "guarantee", "trials")
    row |= {"n": int(cell["n"])} | cell.numbers(ERROR, "abs_error", LEVEL)
    row |= {"sensitivity": mechanism.sensitivity if mechanism.noise else np.nan, "target": mechanism.target}
    row |= {"answer": mechanism.answer, "noise_family": cell.law.get("noise", ""), "neighbours": cell.neighbours}
    share = cell.get("contamination", np.nan)
    return row | {"contamination": 0.0 if np.isnan(share) else share}


def report(table: pd.DataFrame, console) -> None:
    """Print the 95% quantile of every method's error, and the method with the smallest error at the largest n."""
    for (records, share), part in table.groupby(["records", "contamination"], sort=False):
        title = f"{records}, {share:.0%} at the upper bound: 95% quantile of |error| (units)"
        most = part[part["n"] == part["n"].max()]
        rows = map(_terminal_row, most.sort_values("abs_error").to_dict("records"))
        console.print(terminal_table(title, ("method", "n", "error", "exact", "S"), rows), soft_wrap=False)
        best = most.loc[most["abs_error"].idxmin()]
        console.print(f"{records}, n = {best['n']:,}: {short_name(best)} has the smallest error.", markup=False)
    known = table[table["abs_error_exact"].notna()]
    console.print(agreement("error", *(known["abs_error" + end] for end in WITH_EXACT), things="quantiles"))


def _terminal_row(row) -> list[str]:
    exact = "-" if isnan(row["abs_error_exact"]) else f"{row['abs_error_exact']:.4g}"
    sensitivity = "-" if isnan(row["sensitivity"]) else f"{row['sensitivity']:.3g}"
    return [short_name(row), f"{row['n']:,}", f"{row['abs_error']:.4g}", exact, sensitivity]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) errors against n for each data set and contamination, (b) costs of the noises, published and exact."""
    for rho, part in table.groupby("rho", sort=False):
        name = "error" if table["rho"].nunique() == 1 else f"error_rho{rho:g}"
        yield name, captioned(error_figure(part), part, UNIT), part
    costs = cost_table()
    yield "cost", captioned(cost_figure(costs), costs.drop(columns="rho"), "ρ-zCDP; computed, not simulated"), costs
