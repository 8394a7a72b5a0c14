"""Prefix sums by factorisation mechanisms at the (epsilon, delta) of their Gaussian noise."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.method import AuditedMethod, rounded_up
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.prefix_sums import Factorisation, SquareRoot, Tree
from tcdp_sim.privacy import ApproxDP, Guarantee

K = 16
COUNTS = np.full(K, 3.0)


@dataclass(frozen=True, kw_only=True)
class PrefixSums(AuditedMethod):
    """All prefix sums of a histogram, with noise for the sensitivity of a factorisation. A trial yields their loss.

    `sigma`: the standard deviation of the noise, in units of the sensitivity. `planted_sensitivity`: the sensitivity
    that the noise is made for if the bug is planted. `added`, `removed`: the bin of a record that the first neighbour
    has more, and of one that it has less; -1 for no record.
    """

    factorisation: Factorisation
    sigma: float = 1.0
    planted_sensitivity: float
    added: int = 0
    removed: int = -1
    delta: float = 0.02

    def claim(self, planted: bool) -> Guarantee:
        from tcdp_sim.accounting import Additive, Ledger  # imported late: workers need no accounting

        epsilon = Ledger([Additive(Gaussian(self.sigma))]).epsilon(self.delta).upper
        return ApproxDP(rounded_up(epsilon), self.delta)

    @property
    def neighbours(self) -> str:  # type: ignore[override]
        """The neighbouring relation of the claim."""
        return "add_remove" if self.removed < 0 else "substitute"

    @property
    def change(self) -> Floats:
        """The prefix sums of the first neighbour minus the prefix sums of the second."""
        bins = np.arange(K)
        return np.cumsum((bins == self.added) * 1.0 - (bins == self.removed))

    def scale(self, planted: bool) -> float:
        """Return the standard deviation of the noise."""
        return self.sigma * (self.planted_sensitivity if planted else self.factorisation.sensitivity)

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        scale, change = self.scale(planted), self.change
        sums = np.cumsum(COUNTS) + (change if first else 0.0)
        noise = np.asarray(Gaussian(scale).sample(size=(trials, self.factorisation.noises), rng=rng))
        outputs = sums + self.factorisation.errors(noise)
        direction = _precision(self.factorisation) @ change / scale**2
        return (outputs - np.cumsum(COUNTS) - 0.5 * change) @ direction


@lru_cache(maxsize=8)
def _precision(factorisation: Any) -> Floats:
    """Return the inverse of the covariance of all errors, for noise of variance 1."""
    left = factorisation.errors(np.eye(factorisation.noises))
    return np.asarray(np.linalg.inv(left.T @ left))


PREFIX_SUMS: dict[str, AuditedMethod] = {
    "prefix_sums_square_root": PrefixSums(
        factorisation=SquareRoot(K, "substitute"),
        planted_sensitivity=SquareRoot(K, "add_remove").sensitivity,
        removed=13,
        bug="noise for add_remove under substitution",
    ),
    "prefix_sums_tree": PrefixSums(
        factorisation=Tree(K, "add_remove", 2),
        planted_sensitivity=1.0,
        bug="noise for the sensitivity of one level",
    ),
}
