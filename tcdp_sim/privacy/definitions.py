"""The definitions of differential privacy, as values. They say nothing about how a mechanism meets them."""

from dataclasses import dataclass, field
from functools import partial
from math import inf, sqrt
from typing import Any, NamedTuple

from tcdp_sim.core import errors
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.rounded import from_above, from_below

# a printed guarantee has six digits, rounded so that the guarantee implies what is printed
above, below = partial(from_above, digits=6), partial(from_below, digits=6)


def whole(name: str, value: Any) -> int:
    """Return `value` as a whole number from 1 to 1e300; raise ValueError for others.

    Products of larger numbers with floats overflow.
    """
    return errors.whole(name, value, 1, 10**300)


def require(met: bool, name: str, value: float, condition: str) -> None:
    """Raise ValueError naming the parameter, its value and a theorem's precondition, unless that is met."""
    if not met:
        raise ValueError(f"{name} = {value:g} is not valid; {condition}")


class RenyiLine(NamedTuple):
    """The bound D_a <= xi + rho a for 1 < a < omega, outside of events of probability delta.

    With `single` the bound is known at order omega. It holds at lower orders too, because divergences increase.
    """

    rho: float
    xi: float = 0.0
    omega: float = inf
    delta: float = 0.0
    single: bool = False

    @property
    def growth(self) -> float:
        """A rho in nats with rho a below the bound at every order a that it covers."""
        return self.xi / self.omega if self.single else self.rho


class Guarantee:
    """The base class of the privacy definitions.

    The mechanism states which data sets are neighbours. Every bound holds in both directions: for (x, x') and (x', x).

    Examples
    --------
    >>> from tcdp_sim.privacy import Guarantee, ZCDP
    >>> isinstance(ZCDP(0.1), Guarantee)
    True
    """

    @property
    def epsilon_delta(self) -> tuple[float, float] | None:
        """Epsilon in nats and delta (0 for pure DP), if the guarantee is (epsilon, delta)-DP; otherwise None."""
        return None

    @property
    def rho_omega(self) -> tuple[float, float] | None:
        """Rho in nats and omega, if the guarantee is D_a <= rho a for all orders 1 < a < omega; otherwise None.

        omega is inf for zCDP.
        """
        return None

    @property
    def renyi_line(self) -> RenyiLine | None:
        """The line that bounds the Renyi divergences, if the guarantee is such a bound; otherwise None."""
        return None

    @property
    def is_pure(self) -> bool:
        """True for epsilon-DP."""
        return self.epsilon_delta is not None and not self.epsilon_delta[1]

    @property
    def is_approx(self) -> bool:
        """True for (epsilon, delta)-DP with delta > 0."""
        return self.epsilon_delta is not None and self.epsilon_delta[1] > 0

    @property
    def is_concentrated(self) -> bool:
        """True for D_a <= rho a: tCDP, and zCDP with xi = 0."""
        return self.rho_omega is not None

    @property
    def sufficient_epsilon(self) -> float | None:
        """An epsilon in nats such that epsilon-DP implies the guarantee; None if none is known."""
        if self.epsilon_delta is not None:
            return self.epsilon_delta[0]
        return None if self.rho_omega is None else sqrt(2 * self.rho_omega[0])  # Bun-Steinke 2016, Proposition 4

    def simplest(self) -> "Guarantee":
        """Return an equivalent guarantee in the simplest notion.

        Conversions, compositions, ledgers and audits read a guarantee by this method. A notion from outside of the
        package returns the strongest notion of the package that it implies.
        """
        return self

    def _freeze(self, **checked: Any) -> None:
        """Set checked fields of a frozen dataclass."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """The guarantee of epsilon-differential privacy.

    Source: Dwork and Roth (2014), Definition 2.4 [DR14].

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, in nats, at least 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> print(PureDP(1.0))
    1-DP
    """

    epsilon: float

    def __post_init__(self) -> None:
        self._freeze(epsilon=scalar("epsilon", self.epsilon, 0, closed=True))

    @property
    def epsilon_delta(self) -> tuple[float, float]:
        return self.epsilon, 0.0

    def __str__(self) -> str:
        return f"{above(self.epsilon)}-DP"


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """The guarantee of (epsilon, delta)-differential privacy.

    Source: Dwork and Roth (2014), Definition 2.4 [DR14].

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, in nats, at least 0.
    delta : float
        Probability in (0, 1]. The guarantee is empty at delta = 1, which a conversion at delta = 1 returns.
    source : str
        Theorem by which the guarantee was derived, "" if there is none. Comparisons ignore it.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxDP
    >>> print(ApproxDP(1.0, 1e-6))
    (1, 1e-06)-DP
    """

    epsilon: float
    delta: float
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        epsilon = scalar("epsilon", self.epsilon, 0, closed=True)
        self._freeze(epsilon=epsilon, delta=scalar("delta", self.delta, 0, 1, finite=False))
        if not isinstance(self.source, str):
            raise ValueError(f"source = {self.source!r} is not valid; valid: a text")

    @property
    def epsilon_delta(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def __str__(self) -> str:
        return f"({above(self.epsilon)}, {above(self.delta)})-DP"


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """The guarantee of (xi, rho)-zero-concentrated DP: D_a <= xi + rho a for all orders a > 1.

    Source: Bun and Steinke (2016), Definition 1 [BS16].

    Parameters
    ----------
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    xi : float
        Intercept of the bound, in nats, at least 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> print(ZCDP(0.1))
    0.1-zCDP
    """

    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        self._freeze(rho=scalar("rho", self.rho, 0), xi=scalar("xi", self.xi, 0, closed=True))

    @property
    def rho_omega(self) -> tuple[float, float] | None:
        return None if self.xi else (self.rho, inf)

    @property
    def renyi_line(self) -> RenyiLine:
        return RenyiLine(self.rho, self.xi)

    def __str__(self) -> str:
        return f"{above(self.rho)}-zCDP" if self.xi == 0 else f"({above(self.xi)}, {above(self.rho)})-zCDP"


@dataclass(frozen=True)
class ApproxZCDP(Guarantee):
    """The guarantee of delta-approximate (xi, rho)-zCDP.

    There are events of probability at least 1 - delta, and (xi, rho)-zCDP holds given these events. The case delta = 0
    is (xi, rho)-zCDP. The case rho = 0 is (xi, delta)-DP.

    Source: Bun and Steinke (2016), Definitions 12 and 36 [BS16].

    Parameters
    ----------
    delta : float
        Probability in [0, 1].
    rho : float
        Slope of the bound on the Renyi divergence, in nats, at least 0.
    xi : float
        Intercept of the bound, in nats, at least 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxZCDP
    >>> print(ApproxZCDP(1e-6, 0.1))
    1e-06-approximate 0.1-zCDP
    """

    delta: float
    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        delta = scalar("delta", self.delta, 0, 1, closed=True, finite=False)
        rho = scalar("rho", self.rho, 0, closed=True)
        self._freeze(delta=delta, rho=rho, xi=scalar("xi", self.xi, 0, closed=True))

    def simplest(self) -> Guarantee:
        """Return zCDP for delta = 0, and pure or approximate DP for rho = 0 (Bun-Steinke 2016 [BS16], Section 8)."""
        if self.rho:
            return self if self.delta else ZCDP(self.rho, self.xi)
        source = "Bun-Steinke 2016, Lemma 38 with rho = 0"
        return ApproxDP(self.xi, self.delta, source) if self.delta else PureDP(self.xi)

    @property
    def renyi_line(self) -> RenyiLine:
        return RenyiLine(self.rho, self.xi, delta=self.delta)

    def __str__(self) -> str:
        inner = f"{above(self.rho)}" if self.xi == 0 else f"({above(self.xi)}, {above(self.rho)})"
        return f"{above(self.delta)}-approximate {inner}-zCDP"


@dataclass(frozen=True)
class MeanConcentratedDP(Guarantee):
    """The guarantee of (mu, tau)-mean-concentrated DP.

    The privacy loss Z has E Z <= mu, and Z - E Z is tau-subgaussian. Subgaussian means that E e^(l (Z - E Z)) <= e^(l^2
    tau^2 / 2) for every real l.

    Source: Dwork and Rothblum (2016) [DR16]; Bun and Steinke (2016), Definition 23 [BS16].

    Parameters
    ----------
    mu : float
        Bound on the mean of the privacy loss, in nats, at least 0.
    tau : float
        Subgaussian parameter of the privacy loss, in nats, above 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import MeanConcentratedDP
    >>> print(MeanConcentratedDP(0.1, 0.5))
    (0.1, 0.5)-mCDP
    """

    mu: float
    tau: float

    def __post_init__(self) -> None:
        self._freeze(mu=scalar("mu", self.mu, 0, closed=True), tau=scalar("tau", self.tau, 0))

    def __str__(self) -> str:
        return f"({above(self.mu)}, {above(self.tau)})-mCDP"


@dataclass(frozen=True)
class RDP(Guarantee):
    """The guarantee of (order, epsilon)-Renyi DP: D_order <= epsilon.

    Renyi divergences increase with the order, so D_a <= epsilon also holds for every order a below. The case
    order = inf is epsilon-DP.

    Source: Mironov (2017), Definition 4 [Mir17].

    Parameters
    ----------
    order : float
        Order of the Renyi divergence, above 1; may be inf.
    epsilon : float
        Bound on the Renyi divergence, in nats, at least 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import RDP
    >>> print(RDP(2.0, 0.1))
    (2, 0.1)-RDP
    """

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        order = scalar("order", self.order, 1, finite=False)
        self._freeze(order=order, epsilon=scalar("epsilon", self.epsilon, 0, closed=True))

    def simplest(self) -> Guarantee:
        """Return pure DP for order = inf."""
        return PureDP(self.epsilon) if self.order == inf else self

    @property
    def renyi_line(self) -> RenyiLine:
        return RenyiLine(0.0, self.epsilon, self.order, single=True)

    def __str__(self) -> str:
        return f"({below(self.order)}, {above(self.epsilon)})-RDP"


@dataclass(frozen=True)
class TCDP(Guarantee):
    """The guarantee of (rho, omega)-truncated concentrated DP: D_a <= rho a for all orders 1 < a < omega.

    The case omega = inf is rho-zCDP.

    Source: Bun et al. (2018), Definition 1 [BDRS18].

    Parameters
    ----------
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    omega : float
        Order below which the bound holds, above 1; may be inf.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> print(TCDP(0.1, 20.0))
    (0.1, 20)-tCDP
    """

    rho: float
    omega: float

    def __post_init__(self) -> None:
        self._freeze(rho=scalar("rho", self.rho, 0), omega=scalar("omega", self.omega, 1, finite=False))

    @property
    def rho_omega(self) -> tuple[float, float]:
        return self.rho, self.omega

    def simplest(self) -> Guarantee:
        """Return zCDP for omega = inf."""
        return ZCDP(self.rho) if self.omega == inf else self

    @property
    def renyi_line(self) -> RenyiLine:
        return RenyiLine(self.rho, omega=self.omega)

    def __str__(self) -> str:
        return f"({above(self.rho)}, {below(self.omega)})-tCDP"


@dataclass(frozen=True)
class ApproxTCDP(Guarantee):
    """The guarantee of delta-approximate (rho, omega)-tCDP.

    There are events of probability at least 1 - delta, and (rho, omega)-tCDP holds given these events. The case
    delta = 0 is tCDP. The case omega = inf is delta-approximate rho-zCDP, whose definition is transferred here.

    Source: Bun and Steinke (2016), Definition 36 [BS16]; Bun et al. (2018), Definition 1 [BDRS18].

    Parameters
    ----------
    delta : float
        Probability in [0, 1].
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    omega : float
        Order below which the bound holds, above 1; may be inf.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxTCDP
    >>> print(ApproxTCDP(1e-6, 0.1, 20.0))
    1e-06-approximate (0.1, 20)-tCDP
    """

    delta: float
    rho: float
    omega: float

    def __post_init__(self) -> None:
        self._freeze(delta=scalar("delta", self.delta, 0, 1, closed=True, finite=False))
        self._freeze(rho=scalar("rho", self.rho, 0), omega=scalar("omega", self.omega, 1, finite=False))

    def simplest(self) -> Guarantee:
        """Return tCDP or zCDP for delta = 0, and approximate zCDP for omega = inf."""
        if self.delta == 0:
            return TCDP(self.rho, self.omega).simplest()
        return ApproxZCDP(self.delta, self.rho) if self.omega == inf else self

    @property
    def renyi_line(self) -> RenyiLine:
        return RenyiLine(self.rho, omega=self.omega, delta=self.delta)

    def __str__(self) -> str:
        return f"{above(self.delta)}-approximate ({above(self.rho)}, {below(self.omega)})-tCDP"


Notion = PureDP | ApproxDP | ZCDP | ApproxZCDP | MeanConcentratedDP | RDP | TCDP | ApproxTCDP


def known(guarantee: object) -> Guarantee:
    """Return `guarantee` itself if it is a notion of privacy; raise ValueError otherwise."""
    if isinstance(guarantee, Guarantee) and type(guarantee) is not Guarantee:
        return guarantee
    names = ", ".join(kind.__name__ for kind in Guarantee.__subclasses__())
    raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: {names}")


def simplest(guarantee: Guarantee) -> Notion:
    """Return `guarantee` in the simplest notion of the package.

    Raises ValueError for an argument that is no guarantee, and for a notion that names none of the package.
    """
    found = known(guarantee).simplest().simplest()  # a notion from outside names one of the package
    if isinstance(found, Notion):
        return found
    raise ValueError(f"{guarantee} implies no known notion of privacy; valid: a notion whose `simplest` names one")
