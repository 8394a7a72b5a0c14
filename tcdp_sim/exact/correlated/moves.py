"""How far a record that takes part in separated steps can move the output of a matrix mechanism.

Let C be a Toeplitz matrix with entries c_0 >= c_1 >= ... >= 0, and t_1 < ... < t_k the steps of a record, at least b
apart. The inner product of the columns s < t is the sum of c_m c_(m + t - s) over m < n - t. It rises neither with t
nor with t - s. So each inner product of the columns t_i < t_j is at most that of the columns (i - 1) b and (j - 1) b.
Hence the steps 0, b, 2b, ... move the output farthest. (Derived here.)

If no two columns overlap that are b apart, the squared lengths add up.
"""

from math import ceil, sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.correlated.strategies import EPS, MOST_ROWS, Strategy


def longest_move(strategy: Strategy, separation: int, participations: int) -> tuple[float, float]:
    """Return the length of a move that is attained, and a bound on all moves, for vectors of length 1.

    They are equal, up to rounding, for at most `separation` bands and for Toeplitz matrices with falling entries.
    """
    k = min(participations, ceil(strategy.steps / separation))
    if strategy.width <= separation:
        longest = sqrt(_best(strategy.lengths[None] ** 2, separation, k).item())
        return longest, longest * (1 + k * EPS)
    if strategy.falls:
        longest = sqrt(_regular(strategy, separation, k))
        return longest, longest * (1 + 8 * strategy.steps * EPS)
    if strategy.steps > MOST_ROWS:
        what = f"at most {MOST_ROWS:,} steps, at most {separation} bands, or a column that falls"
        raise ValueError(f"the sensitivity of {strategy!r} is not known; valid: {what}")
    return _bracket(strategy, separation, k)


def _regular(strategy: Strategy, separation: int, k: int) -> float:
    """Return the squared length of the move of the steps 0, b, ..., (k - 1) b."""
    steps = np.zeros((1, strategy.steps))
    steps[0, : k * separation : separation] = 1.0
    return float(np.square(strategy.pushed(steps)).sum())


def _best(weights: Floats, separation: int, k: int) -> Floats:
    """Return for each row the largest sum of at most k weights >= 0 whose places are `separation` apart or more."""
    rows, n = weights.shape
    if k * separation >= n:
        k = 0  # no limit
    best = np.zeros((n + separation, rows, k + 1))  # from this place on, with at most so many
    for i in range(n - 1, -1, -1):
        taken = best[i + separation]
        taken = np.concatenate([np.full((rows, 1), -np.inf), taken[:, :-1]], axis=1) if k else taken
        best[i] = np.maximum(best[i + 1] if n + separation > i + 1 else 0.0, taken + weights[:, i, None])
    return best[0, :, k]


def _bracket(strategy: Strategy, separation: int, k: int) -> tuple[float, float]:
    """Return a length that is attained, and a bound.

    The squared length is the sum, over the steps s and t, of the inner products of their columns. The sum over t is at
    most its maximum over all steps that go with s. Then the sum over s is at most its own maximum.
    """
    columns = strategy.columns()
    inner = columns.T @ columns
    place = np.arange(strategy.steps)
    others = np.where(np.abs(place[:, None] - place) >= separation, inner, 0.0)
    rest = _best(others, separation, k - 1) if k > 1 else 0.0
    most = _best((np.diag(inner) + rest)[None], separation, k).item()
    least = 0.0
    for start in range(min(separation, strategy.steps)):
        steps = place[start::separation][:k]
        least = max(least, float(inner[np.ix_(steps, steps)].sum()))
    return sqrt(least), sqrt(most) * (1 + 8 * strategy.steps * EPS)
