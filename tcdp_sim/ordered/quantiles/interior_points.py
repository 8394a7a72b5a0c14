"""Quantiles as interior points of windows of ranks, the method of `tcdp_sim.ordered.thresholds`."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.ordered.quantiles.method import Method
from tcdp_sim.ordered.thresholds.quantiles import Quantiles, plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.privacy import TCDP


@dataclass(frozen=True)
class InteriorPoints(Method):
    """Each quantile is an interior point of a window of ranks around its own. The method is ours.

    Its error grows with the iterated logarithm of the domain, and not with its logarithm. Neighbours substitute a
    record, the domain has integers, and the guarantee is tCDP (with sinh-normal noise) or zCDP (with Gaussian noise).

    The parameters are those of `Method` and these.

    Source: Bun et al. (2018), Section 5.3 [BDRS18].

    Parameters
    ----------
    n, k : int
        The number of records, and the size of the domain.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> line = Line([3] * 3000, 16, "integers")
    >>> method = InteriorPoints((0.5,), "substitute", TCDP(0.5, 20.0), line.n, line.k)
    >>> method.sample(line, 1, rng=np.random.default_rng(1)).tolist()
    [[3]]
    """

    n: int
    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relation != "substitute":
            raise UserError(f"neighbours = {self.relation} is not valid for interior points; valid: substitute")

    def check(self, line: Line) -> None:
        """Raise UserError unless the domain has integers, and ValueError unless the guarantee allows a plan."""
        if line.kind != "integers":
            raise UserError("domain = reals is not valid for interior points; valid: integers")
        _ = self.plan

    @cached_property
    def plan(self) -> Quantiles:
        """The public parameters of the release."""
        family = "sinh_normal" if isinstance(self.guarantee, TCDP) else "gaussian"
        return plan_quantiles(self.levels, self.n, self.k, self.guarantee, family=family)

    @property
    def ledger(self) -> Any:
        from tcdp_sim.ordered.interior.accounted import as_ledger  # imported late: no simulation needs it

        return as_ledger(self.plan.ledger)

    def work(self, line: Line) -> float:
        return float(self.plan.work(Records.of(line.values.tolist(), line.k)))

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        self.check(line)
        records = Records.of(line.values.tolist(), line.k)
        runs = [self.plan.run(records, rng=rng).breakpoints for _ in range(trials)]
        return np.array(runs, dtype=np.uint64)
