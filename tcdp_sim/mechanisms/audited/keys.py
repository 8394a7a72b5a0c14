"""Private sets of keys at their (epsilon, delta), on neighbours of which one has a person more."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.method import AuditedMethod, rounded_up
from tcdp_sim.mechanisms.partition_selection import PartitionSelection
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Laplace
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.selection.keys import OptimalApproxDP, ReleaseCurve, ThresholdCurve


@dataclass(frozen=True, kw_only=True)
class Keys(AuditedMethod):
    """A set of keys, each released with the probability of a curve. A trial yields the number of released keys.

    `curve`: the probability of release by the number of records. `planted_curve`: the curve of the method with its bug,
    if that is another one. `others`: the records of other people at each key. `added`, `planted_added`: the records
    that the person adds to each key, as allowed and with the bug.
    """

    curve: ReleaseCurve
    planted_curve: ReleaseCurve | None = None
    others: tuple[int, ...] = (0,)
    added: int = 1
    planted_added: int = 1
    epsilon: float = 1.0
    labels: ClassVar[bool] = True

    @property
    def of_one_key(self) -> Guarantee:
        """The guarantee of the release of one key."""
        return ApproxDP(self.epsilon, rounded_up(self.curve.spent_delta(self.epsilon)))

    def claim(self, planted: bool) -> Guarantee:
        return self.of_one_key

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        curve = self.planted_curve if planted and self.planted_curve else self.curve
        records = np.array(self.others, np.int64)
        if first:
            records += self.planted_added if planted else self.added
        keys = PartitionSelection(curve, self.of_one_key, records[records > 0])
        return np.asarray(keys.simulate(rng, trials)["keys"])


@dataclass(frozen=True, kw_only=True)
class SeveralKeys(Keys):
    """A person's new keys, at the delta of the ledger. The planted bug claims the guarantee of one key."""

    curve: ThresholdCurve

    def claim(self, planted: bool) -> Guarantee:
        from tcdp_sim.accounting import Ledger, Thresholded  # imported late: workers need no accounting

        keys = 1 if planted else len(self.others)
        noisy = Thresholded(self.curve.noise, self.curve.threshold, self.curve.comparison, keys)
        return ApproxDP(self.epsilon, rounded_up(Ledger([noisy], "add_remove").delta(self.epsilon).upper))


KEYS: dict[str, AuditedMethod] = {
    "keys_above": Keys(
        curve=ThresholdCurve(DiscreteLaplace(1.0), 4.0, ">"),
        planted_curve=ThresholdCurve(DiscreteLaplace(1.0), 4.0, ">="),
        bug="the threshold of > is compared by >=",
    ),
    "keys_at_least": Keys(
        curve=ThresholdCurve(DiscreteGaussian(1.5), 5.0, ">="),
        others=(2,),
        planted_added=2,
        bug="a person has two records at a key",
    ),
    "keys_several": SeveralKeys(
        curve=ThresholdCurve(Laplace(4.0), 11.0),
        others=(0, 0, 0),
        bug="the claim is that of one key per person",
    ),
    "keys_best": Keys(
        curve=OptimalApproxDP(1.0, 0.01),
        others=(2,),
        planted_added=2,
        bug="a person has two records at a key",
    ),
}
