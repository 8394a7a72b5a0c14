"""Sums of many positive terms by their logarithms, in linear time."""

from math import floor

import numpy as np

from tcdp_sim.core.arrays import Floats


def laplace_sums(logs: Floats, target: float, eta: float) -> Floats:
    """Return log sum_{h < i} exp(logs[h] - eta |i - h - target|) for every i, -inf for i = 0.

    All terms are positive and none is subtracted, so the relative error of each sum is a few rounding errors per term.
    Terms at distances i - h above the target come from one prefix sum. Those up to it lie in a window of fixed length,
    which is the end of one block and the beginning of the next.

    `target`: the distance of the largest weight, at least 0. `eta`: the fall of the log-weight per step, above 0.
    """
    n, near = len(logs), min(floor(target), len(logs))
    place = np.arange(n)
    out = np.full(n, -np.inf)
    # beyond the target, h < i - near: exp(-eta (i - h - target))
    if near + 1 < n:
        far = np.logaddexp.accumulate(logs + eta * place)
        out[near + 1 :] = far[: n - near - 1] - eta * (place[near + 1 :] - target)
    if near:  # i - near <= h < i: exp(-eta (target - i + h))
        out = np.logaddexp(out, _windows(logs - eta * place, near) - eta * (target - place))
    return out


def _windows(logs: Floats, width: int) -> Floats:
    """Return log sum_{i - width <= h < i} exp(logs[h]) for every i."""
    n = len(logs)
    blocks = np.full((n // width + 2, width), -np.inf)
    blocks.ravel()[width : width + n] = logs  # a block of zeros stands before the first one
    ahead = np.logaddexp.accumulate(blocks, axis=1).ravel()
    behind = np.logaddexp.accumulate(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
    first = np.arange(n)  # of the window, in the padded array: h = i - width
    whole = first % width == 0
    return np.where(whole, behind[first], np.logaddexp(behind[first], ahead[first + width - 1]))
