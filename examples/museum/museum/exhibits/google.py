"""Bugs of Google's differential privacy libraries: the accountant of Python, and Go code written anew."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import ApproxDP, PureDP

# The Renyi accountant for one replaced record: a clipped sum moves by 2 C, not by C.

DELTA = 0.01
SUMS = pair([1.0], [-1.0], "one record replaced")


def clipped_sum(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the sum of values clipped to [-1, 1], with normal noise of standard deviation 1."""
    return np.clip(values, -1, 1).sum() + rng.normal(0, 1, trials)


def _accounted() -> tuple[Any, Any]:
    """Return the claims of two accountants of dp_accounting for one replaced record: Renyi, and privacy losses."""
    if not find_spec("dp_accounting"):
        return None, None
    import dp_accounting
    from dp_accounting import pld, rdp

    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountants = rdp.RdpAccountant(neighboring_relation=relation), pld.PLDAccountant(relation)
    event = dp_accounting.GaussianDpEvent(1.0)
    renyi, losses = (accountant.compose(event).get_epsilon(DELTA) for accountant in accountants)
    return ApproxDP(renyi, DELTA), ApproxDP(losses, DELTA)


RENYI, LOSSES = _accounted()

# Distinct values of a key: each value is counted for one random user, and then the users' values are bounded.

BOUND = 1
USERS = {f"user {i}": [i] for i in range(12)}
OUTLIER = pair(USERS, {**USERS, "outlier": list(range(12))}, "one user added or removed")


def distinct_values(users: dict[str, list[int]], rng: np.random.Generator) -> float:
    """Return the noisy number of distinct values: first one user for each value, then BOUND values for each user."""
    owners: dict[int, list[str]] = {}
    for user, values in users.items():
        for value in values:
            owners.setdefault(value, []).append(user)
    chosen = [who[rng.integers(len(who))] for who in owners.values()]
    count = sum(min(chosen.count(user), BOUND) for user in set(chosen))
    return count + rng.laplace(0, BOUND)


def bounded_distinct_values(users: dict[str, list[int]], rng: np.random.Generator) -> float:
    """Return the noisy number of distinct values: first BOUND values of each user, then the distinct ones."""
    kept = {v for values in users.values() for v in rng.permutation(values)[:BOUND].tolist()}
    return len(kept) + rng.laplace(0, BOUND)


# Thresholded counts: the threshold is rounded down to an integer.

CUT, DECAY = 5.99, float(np.exp(-1.0))
PERSON = pair(1, 0, "one record added or removed")


def _geometric(rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return two-sided geometric noise for epsilon = 1."""
    return rng.geometric(1 - DECAY, trials) - rng.geometric(1 - DECAY, trials)


def _released(count: int, cut: float, rng: np.random.Generator, trials: int) -> list[Any]:
    """Return noisy counts of at least `cut`, None for lower ones and for an empty partition."""
    if count == 0:
        return [None] * trials
    return [int(x) if x >= cut else None for x in count + _geometric(rng, trials)]


def cut_down(count: int, rng: np.random.Generator, trials: int) -> list[Any]:
    """Return counts of at least the threshold, rounded down."""
    return _released(count, np.floor(CUT), rng, trials)


def cut_up(count: int, rng: np.random.Generator, trials: int) -> list[Any]:
    """Return counts of at least the threshold, rounded up."""
    return _released(count, np.ceil(CUT), rng, trials)


CUT_DELTA = float(DECAY ** (np.ceil(CUT) - 1) / (1 + DECAY))  # the noise is at least 5

EXHIBITS = [
    Exhibit(
        "google_replace_one", ("google/differential-privacy/issues/378", "google/differential-privacy/pull/464"),
        "dp-accounting 0.6.0", False,
        "The Renyi accountant takes the noise multiplier of a clipped sum as it is for replaced records too, "
        "though a sum then moves by twice the clipping bound.",
        "the claim of the accountant of privacy losses, which doubles it", clipped_sum, clipped_sum, RENYI, SUMS,
        trials=200_000, repaired_claim=LOSSES, needs="dp_accounting",
    ),
    Exhibit(
        "google_distinct", ("google/differential-privacy/pull/84",), "Privacy on Beam before July 2021", True,
        "DistinctPerKey gives each value to one random user before it bounds the values of a user. A user "
        "with many values takes those of others, and most are dropped.",
        "values bounded first", distinct_values, bounded_distinct_values, PureDP(1.0), OUTLIER, trials=5000,
    ),
    Exhibit(
        "google_threshold", ("google/differential-privacy/pull/101",), "Go library before February 2022", True,
        "ThresholdedResult converts the threshold of a count to an integer, which rounds it down.",
        "the threshold rounded up", cut_down, cut_up, ApproxDP(1.0, CUT_DELTA), PERSON, trials=50_000,
    ),
]  # fmt: skip
