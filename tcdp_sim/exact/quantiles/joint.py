"""JointExp on real records: the mean of its rank errors, and the probability that all are small."""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Bools, Floats


def joint_mean_error(gaps: Floats, levels: Sequence[float], eta: float) -> float:
    """Return the mean over quantiles and outputs of |rank - level n|, in records.

    Ascending outputs have density in proportion to exp(-eta sum_j |n_j - n p_j|). Here n_j are the numbers of records
    between outputs, and p_j the differences of levels. The cost is O(m n^2).

    `gaps`: the lengths of the n + 1 gaps between records and the ends of the domain. `eta`: the log-density lost per
    record.
    """
    allowed = np.ones((len(levels), len(gaps)), dtype=bool)
    _, mean = _totals(gaps, levels, eta, allowed)
    return mean / len(levels)


def joint_success(gaps: Floats, levels: Sequence[float], eta: float, radius: float) -> float:
    """Return the probability that |rank - level n| <= radius for all quantiles.

    `gaps`: the lengths of the n + 1 gaps between records and the ends of the domain. `eta`: the log-density lost per
    record.
    """
    allowed = _errors(len(gaps) - 1, levels) <= radius
    if not allowed.any(axis=1).all():
        return 0.0
    inside, _ = _totals(gaps, levels, eta, allowed)
    whole, _ = _totals(gaps, levels, eta, np.ones_like(allowed))
    return float(np.exp(inside - whole))


def _errors(n: int, levels: Sequence[float]) -> Floats:
    return np.abs(np.arange(n + 1) - n * np.array(levels)[:, None])


def _totals(gaps: Floats, levels: Sequence[float], eta: float, allowed: Bools) -> tuple[float, float]:
    """Return the log of the total weight of allowed gaps, and the mean of the sum of errors under it.

    The state is the gap of the last output and how many outputs it has. Each further output in it divides the weight by
    their number, because the outputs are ascending.
    """
    n, m = len(gaps) - 1, len(levels)
    targets = n * np.diff([0.0, *levels, 1.0])
    errors = _errors(n, levels)
    place = np.arange(n + 1)
    with np.errstate(divide="ignore"):
        logs = np.log(gaps)
    steps = np.where(place[:, None] > place, place[:, None] - place, np.nan)  # from the gap before, columns
    weight = np.full((n + 1, m + 1), -np.inf)  # by gap and number of outputs in it
    mean = np.zeros((n + 1, m + 1))
    weight[:, 1] = logs - eta * np.abs(place - targets[0])
    mean[:, 1] = errors[0]
    weight[~allowed[0]] = -np.inf
    for j in range(1, m):
        merged, merged_mean = _sum(weight, mean)
        moves = np.where(np.isnan(steps), -np.inf, merged - eta * np.abs(steps - targets[j]))
        fresh, fresh_mean = _sum(moves, np.broadcast_to(merged_mean, moves.shape))
        together = logs[:, None] + weight[:, 1:-1] - np.log(np.arange(2, m + 1)) - eta * targets[j]
        weight = np.concatenate([np.full((n + 1, 1), -np.inf), (logs + fresh)[:, None], together], axis=1)
        mean = np.concatenate([np.zeros((n + 1, 1)), fresh_mean[:, None], mean[:, 1:-1]], axis=1) + errors[j][:, None]
        weight[~allowed[j]] = -np.inf
    merged, merged_mean = _sum(weight, mean)
    total, average = _sum((merged - eta * np.abs(n - place - targets[m]))[None, :], merged_mean[None, :])
    return float(total[0]), float(average[0])


def _sum(weight: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return the log of the sum of weights over the last axis, and the weighted mean."""
    total = logsumexp(weight, axis=-1)
    with np.errstate(invalid="ignore"):
        shares = np.exp(weight - np.where(np.isfinite(total), total, 0.0)[..., None])
    return total, (shares * mean).sum(axis=-1)
