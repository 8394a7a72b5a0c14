"""Methods of one or several releases with the same epsilon, which share a guarantee."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tcdp_sim.ordered.quantiles.budget import epsilon_share
from tcdp_sim.ordered.quantiles.method import Method, ledger_of
from tcdp_sim.privacy import Guarantee, PureDP


@dataclass(frozen=True)
class EqualShares(Method):
    """A method whose releases, one or several, have the same epsilon each.

    The parameters are those of `Method` and this one.

    `epsilon`: the epsilon of one release, in nats: the range of its losses, or the epsilon of pure DP if `selections`
    is False.
    """

    epsilon: float

    selections: ClassVar[bool] = True  # whether each release is an exponential mechanism

    @classmethod
    def of(cls, levels: tuple[float, ...], relation: str, guarantee: Guarantee) -> Self:
        """Return the method that spends the whole guarantee in equal shares."""
        epsilon = epsilon_share(guarantee, cls.releases_of(len(levels)), selections=cls.selections)
        return cls(levels, relation, guarantee, epsilon)

    @staticmethod
    def releases_of(m: int) -> int:
        """Return the number of releases for m quantiles."""
        return m

    @property
    def ledger(self) -> Any:
        from tcdp_sim.accounting import BoundedRange, Claimed  # imported late: no simulation needs it

        release = BoundedRange(self.epsilon) if self.selections else Claimed(PureDP(self.epsilon))
        return ledger_of([(release, self.releases_of(self.m))], self.relation)
