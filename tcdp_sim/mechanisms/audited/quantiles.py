"""Several private quantiles at their epsilon, on records of which one is removed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.audited.method import AuditedMethod
from tcdp_sim.ordered.quantiles import Independent, Joint, Line, Method, Recursive
from tcdp_sim.privacy import Guarantee, PureDP

DOMAIN = 8
SPREAD = (1.0, 1.5, 2.0, 6.0, 6.5, 7.0)
HIGH = (7.4, 7.5, 7.6, 7.7, 7.8, 7.9)


@dataclass(frozen=True, kw_only=True)
class QuantileMethod(AuditedMethod):
    """The quantiles of some records, of which the second neighbour lacks one. A trial yields their gaps.

    The gaps are those between the records of the first neighbour. Together they are one label.

    `records`: the records of the first neighbour, ascending. `removed`: the place of the record that the second
    neighbour lacks. `planted_epsilon`: the epsilon whose noise the method adds if the bug is planted.
    """

    kind: type[Any]
    levels: tuple[float, ...]
    records: tuple[float, ...] = SPREAD
    removed: int = 0
    planted_epsilon: float
    epsilon: float = 1.0
    labels: ClassVar[bool] = True

    def claim(self, planted: bool) -> Guarantee:
        return PureDP(self.epsilon)

    def method(self, planted: bool) -> Method:
        """Return the method as it is, or with its bug."""
        spent = PureDP(self.planted_epsilon if planted else self.epsilon)
        made: Method = self.kind.of(self.levels, "add_remove", spent)
        return made

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        records = self.records if first else np.delete(self.records, self.removed)
        outputs = self.method(planted).sample(Line(records, DOMAIN, "reals"), trials, rng=rng)
        places = (len(self.records) + 1) ** np.arange(len(self.levels))
        return np.asarray(np.searchsorted(self.records, outputs) @ places, np.float64)


QUANTILES: dict[str, AuditedMethod] = {
    "quantile_exponential": QuantileMethod(
        kind=Independent,
        levels=(0.25,),
        planted_epsilon=2.0,
        bug="scores are divided by half of their sensitivity",
    ),
    "quantiles_joint": QuantileMethod(
        kind=Joint,
        levels=(0.5, 0.75),
        records=HIGH,
        removed=3,
        planted_epsilon=2.0,
        bug="scores are divided by half of their sensitivity",
    ),
    "quantiles_recursive": QuantileMethod(
        kind=Recursive,
        levels=(0.25, 0.5, 0.75),
        planted_epsilon=2.0,
        bug="each of two rounds spends the whole epsilon",
    ),
}
