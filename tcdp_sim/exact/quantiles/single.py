"""The exponential mechanism of one quantile: the law of its rank error."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats


def single_law(records: NDArray[Any], k: float, unit: float, level: float, eta: float) -> tuple[Floats, Floats]:
    """Return rank errors with their probabilities, for the density e^(-eta error) on [0, k).

    The error is the distance of level n from the interval between the numbers of records below and up to the output.

    `unit`: the length of a record's own place: 0 for real numbers, and 1 for integers from 0 to k - 1. `eta`: the
    log-density lost per record.
    """
    values, times = np.unique(np.asarray(records), return_counts=True)
    upto = np.cumsum(times)
    target = level * upto[-1]
    ends = np.append(values[1:], np.array(k - 1 if unit else k, values.dtype))  # unsigned integers lie below 2^64
    lengths = np.concatenate([[float(values[0])], np.full(len(values), unit), (ends - values).astype(np.float64)])
    lengths[len(values) + 1 :] -= unit
    lengths[-1] += unit
    at_values = np.maximum(np.maximum(upto - times - target, target - upto), 0.0)
    errors = np.concatenate([[target], at_values, np.abs(upto - target)])
    kept = lengths > 0
    distance = errors[kept]
    score = np.log(lengths[kept]) - eta * distance
    return distance, np.exp(score - logsumexp(score))
