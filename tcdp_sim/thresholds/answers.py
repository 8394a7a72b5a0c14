"""Functions that return one private answer with its ledger: an interior point, quantiles or a CDF."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.errors import choice
from tcdp_sim.interior.ledger import Step, total
from tcdp_sim.interior.records_needed import BETA
from tcdp_sim.privacy import Guarantee
from tcdp_sim.thresholds.finder import Finder
from tcdp_sim.thresholds.medians import Medians, plan_medians
from tcdp_sim.thresholds.quantiles import plan_quantiles
from tcdp_sim.thresholds.records import Records
from tcdp_sim.thresholds.windows import Windows, plan_windows

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


def private_interior_point(
    values: Sequence[int], k: int, rho: float, omega: float, rng: np.random.Generator, beta: float = BETA
) -> Answer:
    """Return an element between the least and the greatest of n records, at (rho, omega)-tCDP.

    The element is right with probability 1 - beta if n is large enough for the proof. If n is smaller, a warning names
    the sufficient n. Privacy holds for every n.

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order.
    k : int
        Size of the domain, at least 1. It may have any number of digits.
    rho, omega : float
        The guarantee; rho > 0 in nats, omega > 1. Neighbours substitute one record.
    rng : numpy.random.Generator
        The source of randomness.
    beta : float
        The failure probability, in (0, 1).

    Returns
    -------
    Answer
        Its value is an int.

    Raises
    ------
    UserError
        If there are no records, or if a record is not a whole number or outside the domain.
    ValueError
        If rho, omega or beta is out of range.

    References
    ----------
    Bun, Dwork, Rothblum, Steinke (2018), Section 5.3, https://doi.org/10.1145/3188745.3188946

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> answer = private_interior_point([3] * 3000, 16, 0.5, 20.0, rng)
    >>> answer.value, str(answer.guarantee)
    (3, '(0.5, 20)-tCDP')
    """
    data = Records.of(values, k)
    wide = Finder(data.k, rho, omega, beta)
    _warn(data.n, wide.needed)
    finder = Finder(data.k, rho, omega, beta, data.n)
    return Answer(finder.find(data.sorted.tolist(), rng), finder.ledger)


def private_quantiles(
    values: Sequence[int],
    k: int,
    rho: float,
    omega: float,
    rng: np.random.Generator,
    levels: Sequence[float] = (0.5,),
    beta: float = BETA,
) -> Answer:
    """Return the quantiles at `levels` of n records, at (rho, omega)-tCDP together.

    With probability 1 - beta the rank of each quantile is right within half a window, if n is at least the size of a
    window. If n is smaller, a warning names that size. Privacy holds for every n.

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order. Scale decimals first.
    k : int
        Size of the domain, at least 1.
    rho, omega : float
        The guarantee of all quantiles together; rho > 0 in nats, omega > 1. Neighbours substitute one record.
    rng : numpy.random.Generator
        The source of randomness.
    levels : sequence of float
        Levels in (0, 1), ascending. The default is the median.
    beta : float
        The failure probability, in (0, 1).

    Returns
    -------
    Answer
        Its value is a tuple of ints.

    Raises
    ------
    UserError
        If there are no records, if a record is not valid, or if the levels are not valid.
    ValueError
        If rho, omega or beta is out of range.

    References
    ----------
    Bun, Dwork, Rothblum, Steinke (2018), Section 5.3, https://doi.org/10.1145/3188745.3188946

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> answer = private_quantiles(list(range(16)) * 400, 16, 0.5, 20.0, rng, levels=(0.25, 0.75))
    >>> 2 <= answer.value[0] <= 5, 10 <= answer.value[1] <= 13
    (True, True)
    """
    data = Records.of(values, k)
    plan = plan_quantiles(levels, data.n, data.k, rho, omega, beta)
    _warn(data.n, plan.finder.needed)
    return Answer(plan.run(data, rng).breakpoints, plan.ledger)


def private_cdf(
    values: Sequence[int],
    k: int,
    rho: float,
    omega: float,
    rng: np.random.Generator,
    method: str = "windows",
    levels: int = 4,
    beta: float = BETA,
) -> Answer:
    """Return a private estimate of the CDF of n records, which answers all k threshold queries at once.

    Parameters
    ----------
    values : sequence of int
        The records, whole numbers from 0 to k - 1, in any order.
    k : int
        Size of the domain, at least 1.
    rho, omega : float
        The guarantee; rho > 0 in nats, omega > 1. Neighbours substitute one record.
    rng : numpy.random.Generator
        The source of randomness.
    method : str
        "windows" uses as many windows as n records hold. "medians" halves the records in `levels` rounds.
    levels : int
        Number of rounds of "medians", from 1 to 12.
    beta : float
        The failure probability, in (0, 1).

    Returns
    -------
    Answer
        Its value is a StepCdf, in records.

    Raises
    ------
    UserError
        If a record or `levels` is not valid, or if n records hold no window ("windows"). With "medians" too few
        records give a warning only.
    ValueError
        If the method is not known, or if rho, omega or beta is out of range.

    References
    ----------
    Bun, Nissim, Stemmer, Vadhan (2015), Differentially Private Release and Learning of Threshold Functions,
    https://arxiv.org/abs/1504.07553

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> answer = private_cdf(list(range(16)) * 1000, 16, 0.5, 20.0, rng)
    >>> abs(answer.value(7) - 8000) < 2000
    True
    """
    data = Records.of(values, k)
    if choice("method", method, CDF_METHODS) == "windows":
        plan: Windows | Medians = plan_windows(data.n, data.k, rho, omega, beta)
    else:
        plan = plan_medians(levels, data.n, data.k, rho, omega, beta)
        _warn(data.n, plan.finder.needed)
    return Answer(plan.run(data, rng), plan.ledger)


def _warn(n: int, needed: int) -> None:
    if n < needed:
        warnings.warn(
            f"n = {n} records: success is proved from n = {needed} at this budget and domain; privacy holds anyway",
            stacklevel=3,
        )
