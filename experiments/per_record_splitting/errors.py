"""Exact errors of sums of clipped values with Gaussian noise, which is the law of unit splitting."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, cast

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.per_record_sum import TOLERANCE, PerRecordSum
from tcdp_sim.noise import Gaussian
from tcdp_sim.per_record import AdditiveRelease, ClippedRelease, UnitSplitRelease
from tcdp_sim.store import columns

ERROR, SQUARED, QUANTILES = columns.mean("error"), columns.mean("squared_error"), columns.quantile("error")
FAR, HALVINGS = 10.0, 100  # the search for quantiles of sizes: its end in standard deviations, and its steps
RMSE = "rmse"  # computed exactly; no trial yields it


def is_normal(mechanism: PerRecordSum) -> bool:
    """Return True if the mechanism has one sum and a normal error. This module knows no other errors."""
    release = mechanism.release
    gaussian = isinstance(release, AdditiveRelease) and isinstance(release.noise, Gaussian)
    known = gaussian or isinstance(release, UnitSplitRelease | ClippedRelease)
    return known and len(mechanism.answers) == 1 and not mechanism.nonnegative


def scale(mechanism: PerRecordSum) -> float:
    """Return the standard deviation of the noise."""
    return float(np.sqrt(cast(Any, mechanism.release).var(mechanism.answers[0])))


def bias(mechanism: PerRecordSum) -> float:
    """Return the bias of the sum due to clipping, in the units of the values: at most 0."""
    return mechanism.answers[0] - mechanism.true_sums[0]


def rmse(mechanism: PerRecordSum) -> float:
    """Return the root of the mean squared error of the sum."""
    return float(np.hypot(scale(mechanism), bias(mechanism)))


def quantiles(mechanism: PerRecordSum, levels: Any) -> Floats:
    """Return the quantiles of released minus true sum, which is normal."""
    return bias(mechanism) + scale(mechanism) * ndtri(np.asarray(levels))


@lru_cache(maxsize=4)
def size_quantiles(mechanism: PerRecordSum) -> Floats:
    """Return the quantiles of the size of the error at `columns.QUANTILES`, by bisection."""
    centre, spread = abs(bias(mechanism)), scale(mechanism)
    low, high = np.zeros(len(columns.QUANTILES)), np.full(len(columns.QUANTILES), centre + FAR * spread)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        within = _within(mechanism, middle) < columns.QUANTILES
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return high


def _within(mechanism: PerRecordSum, radius: Any) -> Any:
    """Return the probability that the size of the error is at most a radius."""
    centre, spread = bias(mechanism), scale(mechanism)
    return ndtr((radius - centre) / spread) - ndtr((-radius - centre) / spread)


def mean_size(mechanism: PerRecordSum) -> float:
    """Return the mean of the size of the error, which has a folded normal law."""
    centre, spread = bias(mechanism), scale(mechanism)
    ratio = centre / spread
    return float(spread * np.sqrt(2 / np.pi) * np.exp(-ratio * ratio / 2) + centre * (1 - 2 * ndtr(-ratio)))


def relative(mechanism: PerRecordSum, sizes: Any) -> Any:
    """Return sizes of errors over the true sum; NaN for a true sum of 0, where they are infinite."""
    truth = mechanism.true_sums[0]
    return sizes / truth if truth else np.nan


def negative(mechanism: PerRecordSum) -> float:
    """Return the probability that the released sum is below 0."""
    return float(ndtr(-mechanism.answers[0] / scale(mechanism)))


def within_tolerance(mechanism: PerRecordSum) -> float:
    """Return the probability that the error is at most a tenth of the true sum."""
    return float(_within(mechanism, TOLERANCE * mechanism.true_sums[0]))


def _of_normal(value: Callable[[PerRecordSum], Any]) -> Callable[[PerRecordSum], Any]:
    """Return the function for mechanisms whose error is normal; it is NaN for others."""

    @wraps(value)
    def of_normal(mechanism: PerRecordSum) -> Any:
        return value(mechanism) if is_normal(mechanism) else np.nan

    return of_normal


EXACT = {
    ERROR: _of_normal(bias),
    SQUARED: _of_normal(lambda mechanism: rmse(mechanism) * rmse(mechanism)),  # a power would raise where it overflows
    QUANTILES: _of_normal(lambda mechanism: quantiles(mechanism, columns.QUANTILES)),
    columns.quantile("squared_error"): _of_normal(lambda mechanism: size_quantiles(mechanism) ** 2),
    columns.mean("abs_error"): _of_normal(mean_size),
    columns.quantile("abs_error"): _of_normal(size_quantiles),
    columns.mean("relative_error"): _of_normal(lambda mechanism: relative(mechanism, mean_size(mechanism))),
    columns.quantile("relative_error"): _of_normal(lambda mechanism: relative(mechanism, size_quantiles(mechanism))),
    "negative": _of_normal(negative),
    "within_10_percent": _of_normal(within_tolerance),
    RMSE: _of_normal(rmse),
}
_NOT_NORMAL = "this study knows errors that are normal alone; the experiment per_record_error has others"
UNKNOWN = dict.fromkeys((*EXACT.keys() - {RMSE},), _NOT_NORMAL) | {
    part(name): _NOT_NORMAL
    for name in ("median_relative_error", "share_within_10_percent", "share_negative")
    for part in (columns.mean, columns.quantile)
}
UNITS = {RMSE: "values"}
