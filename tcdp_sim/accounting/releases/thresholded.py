"""Histograms that release only the keys whose noisy count exceeds a threshold."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.accounting.releases.additive import additive_loss
from tcdp_sim.accounting.releases.release import Case, Release, need_relation
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.atoms import DENSITY
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.noise import Noise
from tcdp_sim.privacy.relation import ABSENT

COMPARISONS = (">", ">=")


@dataclass(frozen=True)
class Thresholded(Release):
    """Noisy counts of the keys that have records, released where they pass a threshold.

    A key of the record in question may be new: without the record it is never released, so its release shows that the
    record is there. It may also be old, and then the release is post-processing of a noisy count. Several releases of
    one ledger entry have the same keys, so each number of new keys is composed before the worst one is taken.

    Source: Korolova et al. (2009) [KKMN09].

    Parameters
    ----------
    noise : Noise
        The noise of a count, log-concave.
    threshold : float
        The threshold, in counts, above `least_records`.
    comparison : {">", ">="}
        The comparison that a noisy count has to pass. It matters for noise on a lattice.
    keys : int
        The largest number of keys to which one record adds 1, from 1 to 255; at most 20 under substitution.
    least_records : int
        The number of records, at least 1, that a key needs before its count gets noise at all. A key of fewer records
        is never released. (PipelineDP calls this a pre-threshold, and subtracts `least_records` - 1 from counts.)

    Examples
    --------
    >>> from tcdp_sim.accounting import Ledger, Thresholded
    >>> from tcdp_sim.noise import Laplace
    >>> keys = Thresholded(Laplace(1.0), 15.0)
    >>> round(Ledger([keys], relation="add_remove").epsilon(1e-6).upper, 4)
    1.0
    """

    noise: Noise
    threshold: float
    comparison: str = ">"
    keys: int = 1
    least_records: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: a noise, such as Laplace(1.0)")
        additive_loss(self.noise, 1.0)
        object.__setattr__(self, "least_records", whole("least_records", self.least_records, 1, 2**53))
        object.__setattr__(self, "threshold", scalar("threshold", self.threshold, self.least_records))
        choice("comparison", self.comparison, COMPARISONS)
        object.__setattr__(self, "keys", whole("keys", self.keys, 1, 255))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return a case for each number of new keys; under substitution, among the keys left and the keys entered."""
        need_relation(self, relation)
        added = [self._with_new(new, times) for new in range(self.keys + 1)]
        if relation in ABSENT:
            return tuple(added)
        return tuple(Case(a.forward + b.backward, a.backward + b.forward) for a in added for b in added)

    def _with_new(self, new: int, times: int) -> Case:
        """Return the case of a record whose keys are old but for some new ones."""
        old = ((additive_loss(self.noise, 1.0), times * (self.keys - new)),) if new < self.keys else ()
        shown, hidden = self._new_key()
        if not new:
            return Case(old, old)
        return Case((*old, (shown, times * new)), (*old, (hidden, times * new)))

    def _new_key(self) -> tuple[AtomicLoss, AtomicLoss]:
        """Return the laws of a new key with the record under P, and under Q."""
        beyond = self.threshold - self.least_records
        probability = float(self.noise.sf(beyond))
        if self.comparison == ">=" and self.noise.is_discrete:
            probability += float(np.exp(self.noise.logpdf(beyond)))
        low, high = probability * (1 - DENSITY), min(probability * (1 + DENSITY) + TINY, 1.0)
        hidden = -np.log1p(-probability)  # the loss of silence, for the data set without the record
        slack = DENSITY * float(hidden) / (1 - probability) + TINY
        shown = AtomicLoss(np.array([-hidden]), np.array([1 - probability]), (low, high), 0.0, DENSITY, slack)
        return shown, AtomicLoss(np.array([hidden]), np.array([1.0]), (0.0, 0.0), 0.0, 1e-15, slack)
