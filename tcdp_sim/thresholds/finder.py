"""One interior point of each of several small data sets: what the threshold queries are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from tcdp_sim.interior import budget
from tcdp_sim.interior.ledger import Step, total
from tcdp_sim.interior.level_profile import LevelProfile
from tcdp_sim.interior.records_needed import BETA, Parts, required_n
from tcdp_sim.interior.release import Recipe, outputs, sample
from tcdp_sim.privacy import TCDP, ZCDP

# What one point costs in random numbers of 10 ns (measured): by itself, for each element and for each distinct value.
A_POINT, AN_ELEMENT, A_VALUE = 5e4, 15, 120


@dataclass(frozen=True)
class Finder:
    """An interior point of `size` elements of {0, ..., k - 1} at (rho, omega)-tCDP, for substitution of one of them.

    size: public and fixed, or None for what is proved to suffice (`needed`) with failure probability beta.
    family, calibration: of the noise.
    """

    k: int
    rho: float
    omega: float
    beta: float = BETA
    size: int | None = None
    family: str = "sinh_normal"
    calibration: str = "tight"

    @property
    def log2_k(self) -> float:
        """The bits of the domain."""
        return float(max((self.k - 1).bit_length(), 1))

    @cached_property
    def _bought(self) -> Parts:
        return budget.parts(self.rho, self.omega, self.log2_k, family=self.family, calibration=self.calibration)

    @cached_property
    def needed(self) -> int:
        """How many elements are proved to suffice."""
        return required_n(self._bought, self.log2_k, self.beta)

    @property
    def m(self) -> int:
        """The size of the data sets it is made for."""
        return self.needed if self.size is None else self.size

    @cached_property
    def recipe(self) -> Recipe:
        """Its public parameters."""
        return budget.recipe(self._bought, self.log2_k, self.m, self.beta)

    @cached_property
    def ledger(self) -> tuple[Step, ...]:
        """Where the budget of one point goes."""
        split = budget.default_split(self.rho, self.omega, self.log2_k, self.family, "tight", self.calibration)
        return budget.ledger(self._bought, self.rho, self.omega, split, "tight", self.calibration)

    @property
    def guarantee(self) -> TCDP | ZCDP:
        """What one point costs."""
        return cast(TCDP | ZCDP, total(self.ledger))

    def work(self, distinct: float) -> float:
        """Return the cost of one point of elements with so many distinct values, in random numbers, for forecasts."""
        return A_POINT + AN_ELEMENT * self.m + A_VALUE * min(distinct, self.m)

    def find(self, values: Sequence[int], rng: np.random.Generator) -> int:
        """One release on these m elements; whether it is an interior point is for the caller to see."""
        profile = LevelProfile.of(values, self.k)
        (element,) = outputs(profile, sample(profile, self.recipe, rng, 1), rng)
        return cast(int, element)  # this selection always answers
