"""A finder of one interior point for each of several small data sets, which answers threshold queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from tcdp_sim.ordered.interior import budget
from tcdp_sim.ordered.interior.ledger import Step, total
from tcdp_sim.ordered.interior.level_profile import LevelProfile
from tcdp_sim.ordered.interior.records_needed import FAILURE, BudgetSplit, required_records
from tcdp_sim.ordered.interior.release import ReleaseParameters, released_points, sample
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee

# The measured cost of one point, in random numbers of 10 ns: fixed, for each element, for each distinct value.
A_POINT, AN_ELEMENT, A_VALUE = 5e4, 15, 120


@dataclass(frozen=True)
class Finder:
    """A finder of an interior point of elements of {0, ..., k - 1}, at the guarantee `target`.

    Neighbours substitute one element. The number of elements is public and fixed: `size`, or `needed` if that is None.
    `family` and `calibration` describe the noise.
    """

    k: int
    target: Guarantee
    failure: float = FAILURE
    size: int | None = None
    family: str = "sinh_normal"
    calibration: str = "tight"

    @property
    def log2_k(self) -> float:
        """The number of bits of the domain's elements, at least 1."""
        return float(max((self.k - 1).bit_length(), 1))

    @cached_property
    def _budget_split(self) -> BudgetSplit:
        return budget.split_budget(self.target, self.log2_k, family=self.family, calibration=self.calibration)

    @cached_property
    def needed(self) -> int:
        """The number of elements that is proved to suffice with this failure probability."""
        return required_records(self._budget_split, self.log2_k, self.failure)

    @property
    def m(self) -> int:
        """The number of elements that the finder takes."""
        return self.needed if self.size is None else self.size

    @cached_property
    def parameters(self) -> ReleaseParameters:
        """The public parameters of the release."""
        return budget.release_parameters(self._budget_split, self.log2_k, self.m, self.failure)

    @cached_property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger of one point."""
        split = budget.default_split(self.target, self.log2_k, self.family, "tight", self.calibration)
        return budget.ledger(self._budget_split, self.target, split, "tight", self.calibration)

    @property
    def guarantee(self) -> TCDP | ZCDP:
        """The guarantee of one point."""
        return cast(TCDP | ZCDP, total(self.ledger))

    def work(self, distinct: float) -> float:
        """Return the forecast cost of one point, in random numbers, for elements with so many distinct values."""
        return A_POINT + AN_ELEMENT * self.m + A_VALUE * min(distinct, self.m)

    def find(self, values: Sequence[int], *, rng: np.random.Generator) -> int:
        """Return the element of one release on these m elements. It may fail to be an interior point."""
        profile = LevelProfile.of(values, self.k)
        (element,) = released_points(profile, sample(profile, self.parameters, 1, rng=rng), rng=rng)
        return cast(int, element)  # this selection always answers
