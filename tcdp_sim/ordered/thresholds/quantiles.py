"""T3: single quantiles, each of which is an interior point of a window of ranks around its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from tcdp_sim.core.errors import UserError, real
from tcdp_sim.ordered.interior.ledger import Step, rho_and_omega
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.ordered.thresholds.finder import Finder
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf, window
from tcdp_sim.privacy import TCDP, Guarantee


@dataclass(frozen=True)
class Quantiles:
    """A plan for the p-quantiles of n records, which share rho evenly. Neighbours substitute a record.

    With probability 1 - failure each quantile is within m / 2 ranks of rank ceil(p n), where m is the finder's window.
    """

    levels: tuple[float, ...]
    n: int
    finder: Finder

    @property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger, with one line for each quantile. A substitution changes a window at most once."""
        cost, inner, source = self.finder.guarantee, self.finder.ledger, "window of fixed ranks, one interior point"
        return tuple(Step(f"quantile {p:g}", cost, source, inner=inner) for p in self.levels)

    def work(self, data: Records) -> float:
        """Return the forecast cost of one release, in random numbers. It is right within a factor of about 2."""
        return len(self.levels) * self.finder.work(data.distinct_among(self.finder.m))

    def run(self, data: Records, *, rng: np.random.Generator) -> StepCdf:
        """Return the step function of one release."""
        m, elements = self.finder.m, []
        for p in self.levels:
            start = self.rank(p) - (m + 1) // 2
            elements.append(self.finder.find(window(data.sorted, start, m, 0, self.finder.k - 1), rng=rng))
        ranks = [0, *(self.rank(p) for p in self.levels), self.n]
        middle = [(a + b) / 2 for a, b in pairwise(ranks)]
        return StepCdf(tuple(np.maximum.accumulate(np.array(elements, dtype=object)).tolist()), tuple(middle), self.n)

    def rank(self, p: float) -> int:
        """Return the rank of the p-quantile, from 1 to n."""
        return min(max(ceil(p * self.n), 1), self.n)


def plan_quantiles(
    level: Sequence[float],
    n: int,
    k: int,
    guarantee: Guarantee,
    failure: float = FAILURE,
    size: int | None = None,
    family: str = "sinh_normal",
    calibration: str = "tight",
) -> Quantiles:
    """Return a plan for quantiles of n records in {0, ..., k - 1}, at this guarantee together.

    All windows have the given `size`. By default it is the size that is proved to suffice, but at most n. Raises
    UserError unless the levels are in (0, 1) and ascending.
    """
    rho, omega = rho_and_omega(guarantee)
    probabilities = tuple(real("quantile", p, 0, 1) for p in level)
    if not probabilities or list(probabilities) != sorted(set(probabilities)):
        raise UserError(f"quantiles = {list(level)} is not valid; valid: ascending numbers between 0 and 1")
    if n < 1:
        raise UserError(f"n = {n} is not valid; valid: at least 1 record")
    finder_arguments = (k, TCDP(rho / len(probabilities), omega), failure / len(probabilities))
    wide = Finder(*finder_arguments, None, family, calibration)
    return Quantiles(
        probabilities, n, Finder(*finder_arguments, min(wide.needed, n) if size is None else size, family, calibration)
    )
