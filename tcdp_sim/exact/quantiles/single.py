"""The exponential mechanism of one quantile: the law of its rank error."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats


def single_law(records: Iterable[float], k: float, unit: float, level: float, eta: float) -> tuple[Floats, Floats]:
    """Return rank errors with their probabilities, for the density e^(-eta error) on [0, k).

    The error is the distance of level n from the interval between the numbers of records below and up to the output.

    Parameters
    ----------
    records : iterable of numbers
        The records.
    k : float
        The length of the domain.
    unit : float
        The length of a record's own place: 0 for real numbers, and 1 for integers from 0 to k - 1.
    level : float
        The level of the quantile, in (0, 1).
    eta : float
        The log-density lost per record.

    Returns
    -------
    tuple of ndarray
        The errors in records and their probabilities, both of the same length.

    Examples
    --------
    >>> errors, chances = single_law([1.0], 2.0, 0.0, 0.5, 1.0)
    >>> errors.tolist(), chances.tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    times = Counter(records)
    target = level * sum(times.values())
    lengths, errors = [], []
    place: float = 0
    before = 0
    for value in sorted(times):
        lengths += [float(value - place), unit]
        errors += [abs(before - target), max(before - target, target - before - times[value], 0.0)]
        place, before = value + (1 if unit else 0), before + times[value]
    lengths.append(float(k - place))
    errors.append(abs(before - target))
    kept = np.array(lengths) > 0
    distance = np.array(errors)[kept]
    score = np.log(np.array(lengths)[kept]) - eta * distance
    return distance, np.exp(score - logsumexp(score))
