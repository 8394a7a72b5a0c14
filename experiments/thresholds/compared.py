"""Exact values of threshold queries, and the lines of a report on the other values and on the records."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.thresholds import LEVELS, LINEAR, Thresholds
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.ordered.thresholds.exact_rank_search import mean_rank_error
from tcdp_sim.store import columns
from tcdp_sim.summaries.estimates import UNSEEN

MIDDLE = "cdf_at_q50"
AT = {f"cdf_at_q{round(100 * level):02d}": level for level in LEVELS}
LEFT_OUT = {
    "dropped": "records outside the declared domain were dropped, and n counts the others",
    "clipped": "records outside the declared domain were moved to its ends",
    "empty": "rows with an empty cell were left out",
}


def _rank_error(mechanism: Thresholds) -> float:
    """The mean rank error of the binary search; of no other method it is known."""
    if mechanism.method != "binary_search":
        return np.nan
    return mean_rank_error(mechanism.records, (mechanism.records.n + 1) // 2, mechanism.promise.rho)


def _true_cdf(level: float) -> Callable[[Thresholds], float]:
    """Return the true CDF at the true quantile, which is the mean of a tree's and of the square root's, else NaN."""

    def value(mechanism: Thresholds) -> float:
        records = mechanism.records
        linear = mechanism.method in LINEAR
        return records.ranks([records.quantile(level)])[0] / records.n if linear else np.nan

    return value


def _exceeds_claim(mechanism: Thresholds) -> float:
    """The probability with which an error may be above its proved bound."""
    proved = "bound" in mechanism.thresholds.get("sup_error", {})
    return 1 - kept(mechanism.method, mechanism.beta) if proved else np.nan


PARTS = (columns.mean, columns.quantile)
EXCEEDS = columns.exceeds("sup_error", "bound")
EXACT: dict[str, Callable[[Thresholds], float]] = {columns.mean("median_rank_error"): _rank_error}
EXACT |= {columns.mean(name): _true_cdf(level) for name, level in AT.items()}
BOUND = {EXCEEDS: _exceeds_claim}
_ERRORS = ("sup_error", "sup_error_share", "median_rank_error", "median_value_error")
_DEPENDENT = "the errors of one release depend on each other through its tree, windows or path, and the law of"
UNKNOWN = {part(name): f"{_DEPENDENT} {name} is not computed" for name in _ERRORS for part in PARTS}
UNKNOWN[columns.mean("median_rank_error")] = "only for the binary search the law of the output is computed"
UNKNOWN |= {columns.mean(name): "the interior points of windows have no computed law, and a bias" for name in AT}
UNKNOWN |= {columns.quantile(name): f"{_DEPENDENT} {name} is not computed" for name in AT}
UNKNOWN |= losses.UNKNOWN


def left_out(done) -> str:
    """Return a line for each change to records that do not fit, from the counts of `data.ordered`."""
    return "\n".join(f"{number:,} {LEFT_OUT[what]}." for what, number in done.items())


def kept(method: str, beta: float) -> float:
    """Return the probability with which a method's error bound is proved to hold."""
    return 1 - beta - (FAILURE if method == "windows" else 0)


def interval(mean: float, mcse: float, n: int, trials: int) -> dict[str, float]:
    """Return a 95% interval of a mean of whole numbers up to n. If no two trials differ, it covers unseen outcomes."""
    half = 1.96 * mcse if mcse else n * UNSEEN / trials
    return {"_lower": max(mean - half, 0.0), "_upper": mean + half}


def lines(table: pd.DataFrame) -> list[str]:
    """Return lines on the values that are compared with exact or proved ones, and on those that are not."""
    sentences = []
    compared = {
        MIDDLE: "the CDF of trees and square root at the median",
        "median_rank_error": "the rank error of the search",
    }
    for name, what in compared.items():
        if count := int(table[f"{name}_exact"].notna().sum()):
            sentences.append(f"Compared with its exact mean: {what}, in {count} of {len(table)} cells.")
    bounded = table[table["sup_error_bound"].notna()].to_dict("records")
    if bounded:
        sentences += _bounds(bounded, len(table))
    without = sorted(table["method"][table["median_rank_error_exact"].isna()].unique())
    rest = ["the errors of the CDFs"] * bool(table["sup_error"].notna().any())
    rest += [f"the medians of {', '.join(without)}"] * bool(without)
    return sentences + [f"Not compared with anything exact: {' and '.join(rest)}."] * bool(rest)


def _bounds(rows, cells):
    least = min(1 - row["exceeds_bound"] for row in rows)
    sure = min(kept(row["method"], row["beta"]) for row in rows)
    yield (
        f"Compared with its proved bound: the largest error of the CDF, in {len(rows)} of {cells} cells; "
        f"the bound holds in {least:.1%} of the trials or more (proved: {sure:.0%} or more)."
    )
    for row in rows:
        if row["exceeds_bound_lower"] > 1 - kept(row["method"], row["beta"]):
            where = f"{row['method']} on {row['records']} at ρ = {row['rho']:g}"
            yield f"MORE OFTEN THAN PROVED beyond its bound: {where}, in {row['exceeds_bound']:.1%} of the trials."
