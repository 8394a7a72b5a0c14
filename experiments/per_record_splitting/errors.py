"""Errors of sums of clipped values with Gaussian noise, exactly: what unit splitting comes to."""

from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from tcdp_sim.arrays import Floats
from tcdp_sim.mechanisms import PerRecordSum
from tcdp_sim.store import columns

ERROR, SQUARED, QUANTILES = columns.mean("error"), columns.mean("squared_error"), columns.quantile("error")
RMSE = "rmse"  # which no trial yields


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


EXACT = {
    ERROR: bias,
    SQUARED: lambda mechanism: rmse(mechanism) ** 2,
    QUANTILES: lambda mechanism: quantiles(mechanism, columns.QUANTILES),
    RMSE: rmse,
}
UNITS = {RMSE: "values"}
