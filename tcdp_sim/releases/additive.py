"""The answer plus noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import AsGiven
from tcdp_sim.noise import Noise
from tcdp_sim.releases import policies
from tcdp_sim.releases.base import Release, one_influence


@dataclass(frozen=True)
class AdditiveRelease(Release):
    """q + noise, for any real q and a noise with plain numbers as parameters; its error does not depend on q."""

    noise: Noise

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise) or self.noise.shape != ():
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: one noise with numbers as parameters")

    def cdf(self, q: Any, x: Any) -> AsGiven:
        return self.noise.cdf(np.subtract(x, q))

    def sf(self, q: Any, x: Any) -> AsGiven:
        return self.noise.sf(np.subtract(x, q))

    def ppf(self, q: Any, u: Any) -> AsGiven:
        return q + self.noise.ppf(u)

    def bias(self, q: Any) -> AsGiven:
        return np.zeros(np.shape(q))[()]

    def var(self, q: Any) -> AsGiven:
        return np.full(np.shape(q), self.noise.var())[()]

    def kurtosis(self, q: Any) -> AsGiven:
        return np.full(np.shape(q), self.noise.kurtosis())[()]

    def median_abs_error(self, q: Any) -> AsGiven:
        return np.full(np.shape(q), self.noise.isf(0.25))[()]

    def sample(self, rng: np.random.Generator, q: Any, size: Any = None) -> AsGiven:
        return q + self.noise.sample(rng, np.shape(q) if size is None else size)

    def policy(self, influence: Any) -> AsGiven:
        """D_1 where D_a = a D_1 (Gaussian), else P tanh(P / 2), P = `pure_policy`; both in nats."""
        return policies.additive(self.noise, influence)

    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        return self.noise, one_influence(influence)

    def pure_policy(self, influence: Any) -> AsGiven:
        """The largest privacy loss at influence t >= 0, in nats: pure DP of each record; inf where there is none."""
        return policies.pure(self.noise, influence)
