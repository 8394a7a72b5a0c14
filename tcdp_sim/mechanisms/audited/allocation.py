"""One random step of t, at epsilons that were computed from its exact law."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.method import AuditedMethod, rounded_up
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ApproxDP, Guarantee


@dataclass(frozen=True, kw_only=True)
class OneStep(AuditedMethod):
    """Sums of t steps with Gaussian noise, and a record that takes part in one of them. A trial yields their loss.

    The first neighbour has the record. No theorem of this package states epsilon for a delta, so the exact value is a
    constant here.

    `sigma`: the standard deviation of the noise, over the length of the record's vector. `planted_epsilon`: the epsilon
    that is claimed if the bug is planted; None for the epsilon of Poisson sampling with probability 1 / t.
    """

    sigma: float
    steps: int
    delta: float
    epsilon: float
    planted_epsilon: float | None = None

    def claim(self, planted: bool) -> Guarantee:
        if not planted:
            return ApproxDP(self.epsilon, self.delta)
        return ApproxDP(self.planted_epsilon or self._of_poisson(), self.delta)

    def _of_poisson(self) -> float:
        from tcdp_sim.accounting import Additive, Ledger, Sampled  # imported late: workers need no accounting

        step = Sampled(Additive(Gaussian(self.sigma)), 1 / self.steps)
        return rounded_up(Ledger([(step, self.steps)], "add_remove").epsilon(self.delta).upper)

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        sums = self.sigma * rng.standard_normal((trials, self.steps))
        if first:
            sums[np.arange(trials), rng.integers(self.steps, size=trials)] += 1.0
        return np.asarray(logsumexp((sums - 0.5) / self.sigma**2, axis=1) - np.log(self.steps))


ALLOCATIONS: dict[str, AuditedMethod] = {
    "allocation_poisson": OneStep(
        sigma=0.7,
        steps=2,
        delta=0.3,
        epsilon=0.501334,
        bug="the claim is that of Poisson sampling",
    ),
    "allocation_steps": OneStep(
        sigma=1.0,
        steps=20,
        delta=0.01,
        epsilon=0.463282,
        planted_epsilon=0.145554,
        bug="the claim is that of 100 steps",
    ),
}
