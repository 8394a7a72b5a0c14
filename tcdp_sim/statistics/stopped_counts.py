"""Intervals of an event's probability, if the simulation has stopped because the event happened often enough.

Let looks be at t_1 < t_2 < ... trials. The simulation stops at the first look with N hits or more, or at the last look.
An outcome is a look n and its hits h. Outcomes are ordered: an earlier look is one of a larger probability, and so are
more hits at the same look. Hits only add up, so all smaller outcomes and this one are the event

    hits at look n - 1 < N  and  hits at look n <= h,

also at the last look, where h may be below N. More probable hits make the event less probable. So the ends of an
interval of 95% are the p at which this event, and the one of all larger outcomes and this one, have probability 2.5%.
"""

from collections.abc import Callable
from math import exp

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, gammaln, xlog1py, xlogy

from tcdp_sim.summaries.estimates import CONFIDENCE

LEAST = 1e-300  # the smallest probability that is looked at


def ends(hits: int, before: int, trials: int, asked: int) -> tuple[float, float]:
    """Return the ends of the 95% interval after `hits` in `trials`, of which `before` came before the last look.

    `before` is 0 if the simulation has stopped at its first look. `asked` is N, at least 1. The interval covers with at
    least 95%, as the one of Clopper and Pearson does, to which it is equal at the first look.
    """
    half = 0.5 * (1 - CONFIDENCE)

    def few(p: float) -> float:
        return at_most(hits, before, trials, asked, p) - half

    def many(p: float) -> float:
        return half - (1 - at_most(hits - 1, before, trials, asked, p))

    return _root(many) if hits else 0.0, _root(few) if hits < trials else 1.0


def at_most(hits: int, before: int, trials: int, asked: int, p: float) -> float:
    """Return the probability of less than `asked` hits in the first `before` trials, and at most `hits` in all."""
    if hits < 0:
        return 0.0
    first = np.arange(min(asked - 1, hits, before) + 1, dtype=float)
    weight = gammaln(before + 1) - gammaln(first + 1) - gammaln(before - first + 1)
    weight = np.exp(weight + xlogy(first, p) + xlog1py(before - first, -p))
    rest, more = trials - before, hits - first
    return float((weight * np.where(more >= rest, 1.0, bdtr(np.minimum(more, rest), rest, p))).sum())


def _root(decreasing: Callable[[float], float]) -> float:
    """Return the root in (0, 1) of a decreasing function of the probability."""

    def of_log(log_p: float) -> float:
        return decreasing(min(exp(log_p), 1.0))

    return exp(float(brentq(of_log, np.log(LEAST), 0.0, xtol=1e-13)))
