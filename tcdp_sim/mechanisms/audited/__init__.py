"""Methods of the package that `experiment=audit` tests at their claims, and with a planted bug."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.allocation import ALLOCATIONS
from tcdp_sim.mechanisms.audited.candidates import CANDIDATES
from tcdp_sim.mechanisms.audited.keys import KEYS
from tcdp_sim.mechanisms.audited.ledgers import LEDGERS
from tcdp_sim.mechanisms.audited.method import AuditedMethod
from tcdp_sim.mechanisms.audited.prefix_sums import PREFIX_SUMS
from tcdp_sim.mechanisms.audited.quantiles import QUANTILES

METHODS: dict[str, AuditedMethod] = LEDGERS | KEYS | QUANTILES | PREFIX_SUMS | ALLOCATIONS | CANDIDATES
TILE = 2**15  # trials drawn at a time


@dataclass(frozen=True)
class AuditedRelease:
    """The release of an audited method, as it is or with its planted bug."""

    name: str
    planted: bool

    @property
    def method(self) -> AuditedMethod:
        """The method."""
        return METHODS[self.name]

    def sample(self, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        """Return the losses or labels of independent trials on one of the neighbours, shape (trials,)."""
        sizes = [min(TILE, trials - start) for start in range(0, trials, TILE)]
        return np.concatenate([self.method.draw(self.planted, first, size, rng=rng) for size in sizes])


__all__ = ["METHODS", "AuditedMethod", "AuditedRelease"]
