"""Errors of sums of clipped values with Gaussian noise, exactly: what unit splitting comes to."""

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
RMSE = "rmse"  # which no trial yields


def is_normal(mechanism: PerRecordSum) -> bool:
    """Whether the mechanism is of one sum, and its error has a normal law: else nothing here is known of it."""
    release = mechanism.release
    gaussian = isinstance(release, AdditiveRelease) and isinstance(release.noise, Gaussian)
    known = gaussian or isinstance(release, UnitSplitRelease | ClippedRelease)
    return known and len(mechanism.answers) == 1 and not mechanism.nonnegative


def scale(mechanism: PerRecordSum) -> float:
    """The standard deviation of the noise."""
    return float(np.sqrt(cast(Any, mechanism.release).var(mechanism.answers[0])))


def bias(mechanism: PerRecordSum) -> float:
    """What the sum loses to clipping, in the units of the values: at most 0."""
    return mechanism.answers[0] - mechanism.true_sums[0]


def rmse(mechanism: PerRecordSum) -> float:
    """Root of the mean squared error of the sum."""
    return float(np.hypot(scale(mechanism), bias(mechanism)))


def quantiles(mechanism: PerRecordSum, levels: Any) -> Floats:
    """Quantiles of released minus true sum: those of a normal law."""
    return bias(mechanism) + scale(mechanism) * ndtri(np.asarray(levels))


def _of_normal(value: Callable[[PerRecordSum], Any]) -> Callable[[PerRecordSum], Any]:
    """The function of a mechanism whose error is normal; NaN for others."""

    @wraps(value)
    def of_normal(mechanism: PerRecordSum) -> Any:
        return value(mechanism) if is_normal(mechanism) else np.nan

    return of_normal


EXACT = {
    ERROR: _of_normal(bias),
    SQUARED: _of_normal(lambda mechanism: rmse(mechanism) ** 2),
    QUANTILES: _of_normal(lambda mechanism: quantiles(mechanism, columns.QUANTILES)),
    RMSE: _of_normal(rmse),
}
UNITS = {RMSE: "values"}
