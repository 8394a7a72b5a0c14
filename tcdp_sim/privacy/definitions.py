"""Privacy guarantees as values: what a mechanism promises, and nothing about how it keeps it."""

from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeGuard, cast

from tcdp_sim.core import errors
from tcdp_sim.core.errors import scalar


def whole(name: str, value: Any) -> int:
    """`value` as a whole number from 1 to 1e300, beyond which products with floats overflow; ValueError for others."""
    return errors.whole(name, value, 1, 10**300)


def require(met: bool, name: str, value: float, condition: str) -> None:
    """Raise ValueError naming the parameter, its value and a theorem's precondition, unless that is met."""
    if not met:
        raise ValueError(f"{name} = {value:g} is not valid; {condition}")


class Guarantee:
    """Base of the privacy definitions. The neighbouring relation is the mechanism's to state.

    Relations between neighbours go both ways: every bound holds for (x, x') and for (x', x).
    """

    def _freeze(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-differential privacy; epsilon >= 0 in nats."""

    epsilon: float

    def __post_init__(self) -> None:
        self._freeze(epsilon=scalar("epsilon", self.epsilon, 0, closed=True))

    def __str__(self) -> str:
        return f"{self.epsilon:.6g}-DP"


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy; epsilon >= 0 in nats, 0 < delta <= 1.

    delta = 1 promises nothing; it is what a conversion at delta = 1 returns. `source` tells by which theorem the
    guarantee was obtained ("" if it was not derived) and does not enter comparisons.
    """

    epsilon: float
    delta: float
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        epsilon = scalar("epsilon", self.epsilon, 0, closed=True)
        self._freeze(epsilon=epsilon, delta=scalar("delta", self.delta, 0, 1, finite=False))
        if not isinstance(self.source, str):
            raise ValueError(f"source = {self.source!r} is not valid; valid: a text")

    def __str__(self) -> str:
        return f"({self.epsilon:.6g}, {self.delta:.6g})-DP"


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """(xi, rho)-zero-concentrated DP: D_a <= xi + rho a for all orders a > 1; rho > 0, xi >= 0, in nats.

    Source: Bun-Steinke 2016, Definition 1.
    """

    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        self._freeze(rho=scalar("rho", self.rho, 0), xi=scalar("xi", self.xi, 0, closed=True))

    def __str__(self) -> str:
        return f"{self.rho:.6g}-zCDP" if self.xi == 0 else f"({self.xi:.6g}, {self.rho:.6g})-zCDP"


@dataclass(frozen=True)
class ApproxZCDP(Guarantee):
    """delta-approximate (xi, rho)-zCDP: events of probability >= 1 - delta, given which (xi, rho)-zCDP holds.

    0 <= delta <= 1; rho >= 0, xi >= 0, in nats. delta = 0 is (xi, rho)-zCDP, rho = 0 is (xi, delta)-DP.
    Source: Bun-Steinke 2016, Definitions 12 and 36.
    """

    delta: float
    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        delta = scalar("delta", self.delta, 0, 1, closed=True, finite=False)
        rho = scalar("rho", self.rho, 0, closed=True)
        self._freeze(delta=delta, rho=rho, xi=scalar("xi", self.xi, 0, closed=True))

    def __str__(self) -> str:
        inner = f"{self.rho:.6g}" if self.xi == 0 else f"({self.xi:.6g}, {self.rho:.6g})"
        return f"{self.delta:.6g}-approximate {inner}-zCDP"


@dataclass(frozen=True)
class MeanConcentratedDP(Guarantee):
    """(mu, tau)-mean-concentrated DP: the privacy loss Z has E Z <= mu, and Z - E Z is tau-subgaussian.

    E e^(l (Z - E Z)) <= e^(l^2 tau^2 / 2) for every real l; mu >= 0, tau > 0, in nats.
    Source: Dwork-Rothblum 2016; Bun-Steinke 2016, Definition 23.
    """

    mu: float
    tau: float

    def __post_init__(self) -> None:
        self._freeze(mu=scalar("mu", self.mu, 0, closed=True), tau=scalar("tau", self.tau, 0))

    def __str__(self) -> str:
        return f"({self.mu:.6g}, {self.tau:.6g})-mCDP"


@dataclass(frozen=True)
class RDP(Guarantee):
    """(order, epsilon)-Renyi DP: D_order <= epsilon; order > 1, epsilon >= 0 in nats.

    By monotonicity D_a <= epsilon for every a <= order too. order = inf is epsilon-DP. Source: Mironov 2017.
    """

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        order = scalar("order", self.order, 1, finite=False)
        self._freeze(order=order, epsilon=scalar("epsilon", self.epsilon, 0, closed=True))

    def __str__(self) -> str:
        return f"({self.order:.6g}, {self.epsilon:.6g})-RDP"


@dataclass(frozen=True)
class TCDP(Guarantee):
    """(rho, omega)-truncated concentrated DP: D_a <= rho a for all orders 1 < a < omega; rho > 0, omega > 1.

    omega = inf is rho-zCDP. Source: Bun-Dwork-Rothblum-Steinke 2018, Definition 1.
    """

    rho: float
    omega: float

    def __post_init__(self) -> None:
        self._freeze(rho=scalar("rho", self.rho, 0), omega=scalar("omega", self.omega, 1, finite=False))

    def __str__(self) -> str:
        return f"({self.rho:.6g}, {self.omega:.6g})-tCDP"


Notion = PureDP | ApproxDP | ZCDP | ApproxZCDP | MeanConcentratedDP | RDP | TCDP


def concentrated(guarantee: object) -> TypeGuard[TCDP | ZCDP]:
    """Return True for a guarantee that bounds D_a by rho a: TCDP, or ZCDP with xi = 0."""
    return isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)


def known(guarantee: object) -> Notion:
    """`guarantee` itself if it is one of the definitions above; ValueError otherwise."""
    if isinstance(guarantee, Guarantee) and type(guarantee) in Guarantee.__subclasses__():
        return cast(Notion, guarantee)
    names = ", ".join(kind.__name__ for kind in Guarantee.__subclasses__())
    raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: {names}")


def simplest(guarantee: Guarantee) -> Notion:
    """The same statement in the simplest notion that can make it; nothing is lost.

    RDP of order inf is pure DP; tCDP with omega = inf is zCDP; approximate zCDP is pure DP, zCDP or (epsilon, delta)-DP
    when rho or delta is zero (Bun-Steinke 2016, Section 8).
    """
    notion = known(guarantee)
    match notion:
        case RDP(order=order, epsilon=epsilon) if order == inf:
            return PureDP(epsilon)
        case TCDP(rho=rho, omega=omega) if omega == inf:
            return ZCDP(rho)
        case ApproxZCDP(delta=delta, rho=rho, xi=xi) if rho == 0:
            return ApproxDP(xi, delta, "Bun-Steinke 2016, Lemma 38 with rho = 0") if delta > 0 else PureDP(xi)
        case ApproxZCDP(delta=0, rho=rho, xi=xi):
            return ZCDP(rho, xi)
    return notion
