"""Exact errors of sums of clipped values with Gaussian noise, which is the law of unit splitting."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms import PerRecordSum
from tcdp_sim.noise import Gaussian
from tcdp_sim.releases import AdditiveRelease, ClippedRelease, UnitSplitRelease
from tcdp_sim.store import columns

ERROR, SQUARED, QUANTILES = columns.mean("error"), columns.mean("squared_error"), columns.quantile("error")
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
    RMSE: _of_normal(rmse),
}
UNITS = {RMSE: "values"}
