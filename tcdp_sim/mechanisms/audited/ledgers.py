"""Lists of releases at the epsilon that a ledger states for a delta."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.method import AuditedMethod, rounded_up
from tcdp_sim.mechanisms.ledger.releases import Spec, accounted, pair_of, read_list
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ApproxDP, Guarantee, PureDP
from tcdp_sim.samplers.release_pairs import NoisePair


@dataclass(frozen=True, kw_only=True)
class ReleaseList(AuditedMethod):
    """All releases of a list. A trial yields their total privacy loss.

    `releases`: the releases that the ledger accounts for, as the lists of the mechanism `ledger`. `made`: the releases
    that are made if the bug is planted; None for the releases of the ledger. `share`: the share of epsilon that is
    claimed if the bug is planted.
    """

    releases: tuple[Spec, ...]
    made: tuple[Spec, ...] | None = None
    delta: float
    share: float = 1.0

    def claim(self, planted: bool) -> Guarantee:
        epsilon = accounted(*self._read(self.releases)).epsilon(self.delta).upper
        epsilon = rounded_up(epsilon * self.share if planted else epsilon)
        return ApproxDP(epsilon, self.delta) if self.delta else PureDP(epsilon)

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        made = self.made if planted and self.made else self.releases
        total = np.zeros(trials)
        for release in self._read(made)[1]:
            pair = pair_of(release, "forward")
            for _ in range(release["times"]):
                total += pair.loss(pair.draw(first, trials, rng=rng))
        return total

    @staticmethod
    def _read(releases: tuple[Spec, ...]) -> tuple[str, list[Spec]]:
        return read_list("audited", {"releases": list(releases)})


@dataclass(frozen=True, kw_only=True)
class NewKey(AuditedMethod):
    """A noisy count that is released above a threshold, and an answer with Gaussian noise. A trial yields their loss.

    The key has one record on the first neighbour and none on the second, where it is never released.

    `threshold`: the threshold in counts. With the planted bug it is lower by one record. `answer`: the noise of the
    answer, which changes by 1.
    """

    noise: Laplace
    threshold: float
    answer: Gaussian
    delta: float

    def claim(self, planted: bool) -> Guarantee:
        from tcdp_sim.accounting import Additive, Ledger, Thresholded

        releases: list[Any] = [Thresholded(self.noise, self.threshold), Additive(self.answer)]
        return ApproxDP(rounded_up(Ledger(releases, "add_remove").epsilon(self.delta).upper), self.delta)

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        answer = NoisePair(self.answer, 1.0)
        loss = answer.loss(answer.draw(first, trials, rng=rng))
        threshold = self.threshold - planted
        shown = np.zeros(trials, bool)
        if first:
            shown = 1 + self.noise.sample(size=trials, rng=rng) > threshold
        return np.where(shown, np.inf, loss + np.log1p(-self.noise.sf(threshold - 1)))


def _gaussian(scale: float, **more: Any) -> Spec:
    return {"noise": "gaussian", "scale": scale, **more}


_NOISES = (_gaussian(4.0, times=2), _gaussian(9.0, sensitivity=2.0, times=4), {"noise": "laplace", "scale": 3.0})
_SELECTION: Spec = {"bounded_range": 0.8, "larger_loss": 0.5}

LEDGERS: dict[str, AuditedMethod] = {
    "ledger_noises": ReleaseList(
        releases=_NOISES,
        made=(*_NOISES, _gaussian(2.0)),
        delta=0.02,
        bug="the ledger forgets a release",
    ),
    "ledger_discrete_gaussian": ReleaseList(
        releases=({"noise": "discrete_gaussian", "sigma": 1.0, "times": 2},),
        delta=0.1,
        share=0.9,
        bug="the claimed epsilon is 10% too small",
    ),
    "ledger_responses": ReleaseList(
        releases=({"response": 0.4, "k": 3, "times": 3},),
        delta=0.0,
        share=0.9,
        bug="the claimed epsilon is 10% too small",
    ),
    "ledger_bounded_range": ReleaseList(
        releases=(_SELECTION | {"times": 2},),
        made=(_SELECTION | {"times": 3},),
        delta=0.02,
        bug="one selection more than the ledger has",
    ),
    "ledger_samples": ReleaseList(
        releases=(_gaussian(1.0, sampled=0.1, times=10),),
        made=(_gaussian(1.0, sampled=0.1, sensitivity=2.0, times=10),),
        delta=0.02,
        bug="answers change by 2, and by 1 in the ledger",
    ),
    "ledger_new_key": NewKey(
        noise=Laplace(1.0),
        threshold=4.25,
        answer=Gaussian(1.5),
        delta=0.02,
        bug="the threshold is lower by one record",
    ),
}
