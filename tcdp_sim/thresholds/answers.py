"""One call for one answer: an interior point, quantiles or a CDF of private records, and where the budget went."""

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
    """value: what was released; ledger: the steps that it cost."""

    value: Any
    ledger: tuple[Step, ...]

    @property
    def guarantee(self) -> Guarantee:
        """What all steps promise together, for substitution of one record."""
        return total(self.ledger)


def private_interior_point(
    values: Sequence[int], k: int, rho: float, omega: float, rng: np.random.Generator, beta: float = BETA
) -> Answer:
    """An element between the least and the greatest of n records in {0, ..., k - 1}, at (rho, omega)-tCDP.

    Right with probability 1 - beta if n is what is proved to suffice; a warning names that n if there are fewer.
    rho > 0, 1 < omega. The answer is an int. UserError for no records, and records outside the domain or not whole.
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
    """The quantiles at `levels` (ascending, between 0 and 1; default: the median) of n records in {0, ..., k - 1}.

    Records are whole numbers; 1.5 is a UserError: scale it first. The answer is a tuple of ints. With probability
    1 - beta each is within half a window of its rank, if n holds one; a warning names the n that does otherwise.
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
    """A StepCdf of n records in {0, ..., k - 1}: answers to all k threshold queries at once.

    method: "windows" (as many as n holds), or "medians", of `levels` rounds; the latter warns if n holds no window.
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
