"""AQ on real records for at most three quantiles: the mean of its rank errors."""

from math import log1p

import numpy as np

from tcdp_sim.core.arrays import Floats


def recursive_mean_error(gaps: Floats, levels: tuple[float, ...], etas: tuple[float, ...]) -> float:
    """Return the mean over quantiles and outputs of |rank - level n|, in records.

    The middle quantile (the upper one of two) is drawn first. The law of each other one depends on its place within a
    gap, over which the mean is integrated in closed form.

    `gaps`: the lengths of the n + 1 gaps between records and the ends of the domain. `etas`: the log-density lost per
    record, for each quantile.
    """
    n, m = len(gaps) - 1, len(levels)
    if m > 3:
        raise ValueError(f"m = {m} is not valid; valid: 1 to 3")
    root = m // 2
    level = levels[root]
    distance = np.abs(np.arange(n + 1) - level * n)
    weight = _weights(gaps, distance, etas[root])
    means = distance.copy()
    for i in np.flatnonzero(weight):
        if root > 0:  # records 1 to i, and a share of gap i
            target = levels[0] / level * i
            means[i] += _child(gaps[: i + 1], target, np.abs(np.arange(i + 1) - levels[0] * n), etas[0])
        if m == 3:  # the same, seen from the right end
            target = (1 - levels[2]) / (1 - level) * (n - i)
            errors = np.abs(np.arange(n - i + 1) - (1 - levels[2]) * n)
            means[i] += _child([*gaps[:i:-1].tolist(), gaps[i]], target, errors, etas[2])
    return float(weight @ means) / m


def _weights(sizes: Floats, distance: Floats, eta: float) -> Floats:
    kept = np.where(sizes > 0, distance, np.inf)
    return sizes * np.exp(-eta * (distance - kept.min())) / (sizes * np.exp(-eta * (distance - kept.min()))).sum()


def _child(sizes: Floats | list[float], target: float, errors: Floats, eta: float) -> float:
    """Return the mean error of a node whose last gap is cut at a uniform place.

    For the share s of the last gap it is (a + b s) / (c + d s), with integral b/d + (a/d - b c/d^2) log(1 + d/c).
    """
    distance = np.abs(np.arange(len(sizes)) - target)
    lengths = np.array(sizes)
    weight = lengths * np.exp(-eta * (distance - np.where(lengths > 0, distance, np.inf).min()))
    c, d = float(weight[:-1].sum()), float(weight[-1])
    if c <= 1e-300 * d:
        return float(errors[-1])
    a, b = float(weight[:-1] @ errors[:-1]) / c, float(errors[-1])  # both means
    x = d / c
    if x < 1e-6:
        return a + (b - a) * x / 2
    share = 1 - log1p(x) / x  # of the last gap, on average
    return b * share + a * (1 - share)
