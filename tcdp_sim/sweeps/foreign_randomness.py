"""Randomness that does not come from a sweep's generator: a fixed seed beside it, and hashes of texts."""

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tcdp_sim.mechanisms.base import Draws

FEWEST, MOST = 20, 100  # trials of a call in which a common part can be seen
FIRST, ALL = 4, 20  # calls at first, and in all if the first ones leave a doubt
DOUBT, CERTAIN = 0.2, 1e-9  # p-values
STRUCTURE = 0.5  # autocorrelation of a pattern, such as of an index or of strata; 5 standard errors of random numbers
PLAIN = (int, float, complex, bool, type(None))  # types whose hashes are the same in every process, except for None


@contextmanager
def other_hashes() -> Iterator[None]:
    """Let `hash` give other values for texts and objects during the block, as it does in another process."""
    given = builtins.hash

    def other(value: Any, /) -> int:
        found = given(value)
        return found if isinstance(value, PLAIN) else given((found, "another process"))

    builtins.hash = other
    try:
        yield
    finally:
        builtins.hash = given


def common_part(call: Callable[[int, int], Draws], trials: int, most: int) -> tuple[str, ...]:
    """Return the names of numbers that have a random-looking part in common with every generator.

    `call(i, trials)` is the function with its generator number i, and `most` is the most trials to spend on the first
    calls. Numbers of exchangeable trials are named with probability CERTAIN at most.

    The test is Friedman's: the trials of a call are ranked, and the ranks of a trial are added up over calls with other
    generators. If numbers follow from the generator, each order of the trials is equally likely. A common part that is
    a pattern along the trials, such as an index, is no random number.
    """
    trials = min(trials, MOST, most // FIRST)
    if trials < FEWEST:
        return ()
    calls = [call(number, trials) for number in range(FIRST)]
    doubted = [name for name in calls[0] if _p_value(_ranks(calls, name)) < DOUBT]
    if not doubted:
        return ()
    calls += [call(number, trials) for number in range(FIRST, ALL)]
    return tuple(name for name in doubted if _is_common(_ranks(calls, name)))


def _is_common(ranks: np.ndarray) -> bool:
    return _p_value(ranks) < CERTAIN and not _has_pattern(ranks.mean(axis=0))


def _ranks(calls: list[Draws], name: str) -> np.ndarray:
    """Return the ranks of the trials of each call, minus their mean; equal trials share theirs."""
    values = np.array([np.nan_to_num(np.asarray(each[name], dtype=float), nan=-np.inf) for each in calls])
    more, less = ((values[:, :, None] > values[:, None]), (values[:, :, None] < values[:, None]))
    return 0.5 * (more.sum(axis=2) - less.sum(axis=2))


def _p_value(ranks: np.ndarray) -> float:
    """Return the p-value of Friedman's test, 1 if all trials of all calls are equal."""
    from scipy.special import chdtrc  # slow to import

    trials = ranks.shape[1]
    spread = (ranks**2).sum() / (trials - 1)
    return float(chdtrc(trials - 1, (ranks.sum(axis=0) ** 2).sum() / spread)) if spread else 1.0


def _has_pattern(means: np.ndarray) -> bool:
    """Return True if the mean ranks ascend, descend or repeat, and so correlate with themselves some trials later."""
    lags = range(1, len(means) // 4 + 1)
    return any(np.corrcoef(means[lag:], means[:-lag])[0, 1] > STRUCTURE for lag in lags)
