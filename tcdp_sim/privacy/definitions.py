"""Privacy guarantees as values: what a mechanism promises, and nothing about how it keeps it."""

from dataclasses import dataclass

from tcdp_sim.errors import real


class Guarantee:
    """Base of the privacy definitions. The neighbouring relation is the mechanism's to state."""

    def _freeze(self, **checked) -> None:
        for name, value in checked.items():
            if not isinstance(value, float):
                raise ValueError(f"{name} = {value!r} is not valid; valid: one number, not an array")
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-differential privacy; epsilon >= 0 in nats."""

    epsilon: float

    def __post_init__(self):
        self._freeze(epsilon=real("epsilon", self.epsilon, 0, closed=True))

    def __str__(self):
        return f"{self.epsilon:.6g}-DP"


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy; epsilon >= 0 in nats, 0 < delta < 1."""

    epsilon: float
    delta: float

    def __post_init__(self):
        self._freeze(epsilon=real("epsilon", self.epsilon, 0, closed=True), delta=real("delta", self.delta, 0, 1))

    def __str__(self):
        return f"({self.epsilon:.6g}, {self.delta:.6g})-DP"


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """(xi, rho)-zero-concentrated DP: D_a <= xi + rho a for all orders a > 1; rho > 0, xi >= 0, in nats.

    Source: Bun-Steinke 2016, Definition 1.
    """

    rho: float
    xi: float = 0.0

    def __post_init__(self):
        self._freeze(rho=real("rho", self.rho, 0), xi=real("xi", self.xi, 0, closed=True))

    def __str__(self):
        return f"{self.rho:.6g}-zCDP" if self.xi == 0 else f"({self.xi:.6g}, {self.rho:.6g})-zCDP"


@dataclass(frozen=True)
class TCDP(Guarantee):
    """(rho, omega)-truncated concentrated DP: D_a <= rho a for all orders 1 < a < omega; rho > 0, omega > 1.

    omega = inf is rho-zCDP. Source: Bun-Dwork-Rothblum-Steinke 2018, Definition 1.
    """

    rho: float
    omega: float

    def __post_init__(self):
        self._freeze(rho=real("rho", self.rho, 0), omega=real("omega", self.omega, 1, finite=False))

    def __str__(self):
        return f"({self.rho:.6g}, {self.omega:.6g})-tCDP"
