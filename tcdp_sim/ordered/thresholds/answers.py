"""Functions that return one private answer with its ledger: an interior point, quantiles or a CDF."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.errors import choice
from tcdp_sim.ordered.interior.ledger import Step, total
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.ordered.thresholds.finder import Finder
from tcdp_sim.ordered.thresholds.medians import Medians, plan_medians
from tcdp_sim.ordered.thresholds.quantiles import plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.windows import Windows, plan_windows
from tcdp_sim.privacy import Guarantee

CDF_METHODS = ("windows", "medians")


@dataclass(frozen=True)
class Answer:
    """A released value with its ledger.

    Parameters
    ----------
    value : object
        The released value.
    ledger : tuple of Step
        The steps of the release with their guarantees.

    Examples
    --------
    >>> Answer(3, ()).value
    3
    """

    value: Any
    ledger: tuple[Step, ...]

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all steps together, for substitution of one record."""
        return total(self.ledger)

    @property
    def accounting(self) -> Any:
        """The same steps as a `tcdp_sim.accounting.Ledger`, for tight brackets of epsilon, delta and attack risks."""
        from tcdp_sim.ordered.interior.accounted import (
            as_ledger,  # imported late, because no simulation needs exact laws
        )

        return as_ledger(self.ledger)


def private_interior_point(
    values: Sequence[int], k: int, guarantee: Guarantee, failure: float = FAILURE, *, rng: np.random.Generator
) -> Answer:
    """Return an element between the least and the greatest of n records.

    The element is right with probability 1 - failure if n is large enough for the proof. If n is smaller, a warning
    names the sufficient n. Privacy holds for every n.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order.
    k : int
        Size of the domain, at least 1. It may have any number of digits.
    guarantee : TCDP or ZCDP
        The guarantee. Neighbours substitute one record.
    failure : float
        The failure probability, in (0, 1).
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Answer
        Its value is an int.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> rng = np.random.default_rng(1)
    >>> answer = private_interior_point([3] * 3000, 16, TCDP(0.5, 20.0), rng=rng)
    >>> answer.value, str(answer.guarantee)
    (3, '(0.5, 20)-tCDP')
    """
    data = Records.of(values, k)
    wide = Finder(data.k, guarantee, failure)
    _warn(data.n, wide.needed)
    finder = Finder(data.k, guarantee, failure, data.n)
    return Answer(finder.find(data.sorted.tolist(), rng=rng), finder.ledger)


def private_quantiles(
    values: Sequence[int],
    k: int,
    guarantee: Guarantee,
    level: Sequence[float] = (0.5,),
    failure: float = FAILURE,
    *,
    rng: np.random.Generator,
) -> Answer:
    """Return the quantiles of n records at one or several levels.

    With probability 1 - failure the rank of each quantile is right within half a window, if n is at least the size of a
    window. If n is smaller, a warning names that size. Privacy holds for every n.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order. Scale decimals first.
    k : int
        Size of the domain, at least 1.
    guarantee : TCDP or ZCDP
        The guarantee of all quantiles together. Neighbours substitute one record.
    level : sequence of float
        Levels in (0, 1), ascending. The default is the median.
    failure : float
        The failure probability, in (0, 1).
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Answer
        Its value is a tuple of ints.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> rng = np.random.default_rng(1)
    >>> answer = private_quantiles(list(range(16)) * 400, 16, TCDP(0.5, 20.0), level=(0.25, 0.75), rng=rng)
    >>> 2 <= answer.value[0] <= 5, 10 <= answer.value[1] <= 13
    (True, True)
    """
    data = Records.of(values, k)
    plan = plan_quantiles(level, data.n, data.k, guarantee, failure)
    _warn(data.n, plan.finder.needed)
    return Answer(plan.run(data, rng=rng).breakpoints, plan.ledger)


def private_cdf(
    values: Sequence[int],
    k: int,
    guarantee: Guarantee,
    method: str = "windows",
    rounds: int = 4,
    failure: float = FAILURE,
    *,
    rng: np.random.Generator,
) -> Answer:
    """Return a private estimate of the CDF of n records, which answers all k threshold queries at once.

    Source: Bun et al. (2015) [BNSV15].

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order.
    k : int
        Size of the domain, at least 1.
    guarantee : TCDP or ZCDP
        The guarantee. Neighbours substitute one record.
    method : str
        "windows" uses as many windows as n records hold. "medians" halves the records in `rounds` rounds.
    rounds : int
        Number of rounds of "medians", from 1 to 12.
    failure : float
        The failure probability, in (0, 1).
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Answer
        Its value is a StepCdf, in records.

    Raises
    ------
    UserError
        If a record or `rounds` is not valid, or if n records hold no window ("windows"). With "medians" too few records
        give a warning only.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> rng = np.random.default_rng(1)
    >>> answer = private_cdf(list(range(16)) * 1000, 16, TCDP(0.5, 20.0), rng=rng)
    >>> abs(answer.value(7) - 8000) < 2000
    True
    """
    data = Records.of(values, k)
    if choice("method", method, CDF_METHODS) == "windows":
        plan: Windows | Medians = plan_windows(data.n, data.k, guarantee, failure)
    else:
        plan = plan_medians(rounds, data.n, data.k, guarantee, failure)
        _warn(data.n, plan.finder.needed)
    return Answer(plan.run(data, rng=rng), plan.ledger)


def _warn(n: int, needed: int) -> None:
    if n < needed:
        warnings.warn(
            f"n = {n} records: success is proved from n = {needed} at this budget and domain; privacy holds anyway",
            stacklevel=3,  # the caller
        )
