"""The smallest true value of a claimed number that an audit from scores would have found about every second time."""

from collections.abc import Sequence

import numpy as np

from tcdp_sim.audits import rank_bounds
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.rank_bounds import Events

VARIED = 60  # numbers of hits that are tried for each event


def least_found(one: Measure, found: Events, places: Sequence[int]) -> tuple[float, bool]:
    """Return the smallest value on some events whose expected hits give a bound above the claim, or inf.

    The flag is True if such hits are expected at twice the claim, by twice its epsilon or delta.
    """
    looks = [_of_event(one, found, place) for place in places]
    return min(value for value, _ in looks), any(double for _, double in looks)


def _of_event(one: Measure, found: Events, place: int) -> tuple[float, bool]:
    """Return the value of one event, and the flag. The hits of one sample are as seen, and those of the other vary."""
    (likely, n), (rare, m) = zip(found.hits[:, place].tolist(), found.sizes[:, place].tolist())
    more = np.unique(np.linspace(rare * n // m, n, VARIED).astype(np.int64))
    fewer = np.unique(np.linspace(0, likely * m // n, VARIED).astype(np.int64))
    high = np.concatenate([more, np.full_like(fewer, likely)])
    low = np.concatenate([np.full_like(more, rare), fewer])
    shown = one.of_event(*rank_bounds.corners(high, n, low, m, found.doubt.region)).min(axis=0)
    refutes = shown > one.claimed
    high, low = high[refutes] / n, np.maximum(low[refutes], 1) / m
    value = float(np.min(one.of_event(high, low), initial=np.inf))
    of_delta = one.delta > 0 and bool((high - np.exp(one.claimed) * low <= 2 * one.delta).any())
    return value, value <= 2 * one.claimed or of_delta
