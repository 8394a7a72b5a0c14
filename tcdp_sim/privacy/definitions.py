"""The definitions of differential privacy, as values. They say nothing about how a mechanism meets them."""

from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, TypeGuard, cast

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

    def _freeze(self, **checked: Any) -> None:
        """Set checked fields of a frozen dataclass."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """The guarantee of epsilon-differential privacy.

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, in nats, at least 0.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite.

    References
    ----------
    Dwork, Roth (2014), Definition 2.4, https://doi.org/10.1561/0400000042

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

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, in nats, at least 0.
    delta : float
        Probability in (0, 1]. The guarantee is empty at delta = 1, which a conversion at delta = 1 returns.
    source : str
        Theorem by which the guarantee was derived, "" if there is none. Comparisons ignore it.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Dwork, Roth (2014), Definition 2.4, https://doi.org/10.1561/0400000042

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

    Parameters
    ----------
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    xi : float
        Intercept of the bound, in nats, at least 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Bun, Steinke (2016), Definition 1, https://doi.org/10.1007/978-3-662-53641-4_24

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

    def __str__(self) -> str:
        return f"{above(self.rho)}-zCDP" if self.xi == 0 else f"({above(self.xi)}, {above(self.rho)})-zCDP"


@dataclass(frozen=True)
class ApproxZCDP(Guarantee):
    """The guarantee of delta-approximate (xi, rho)-zCDP.

    There are events of probability at least 1 - delta, and (xi, rho)-zCDP holds given these events. The case delta = 0
    is (xi, rho)-zCDP. The case rho = 0 is (xi, delta)-DP.

    Parameters
    ----------
    delta : float
        Probability in [0, 1].
    rho : float
        Slope of the bound on the Renyi divergence, in nats, at least 0.
    xi : float
        Intercept of the bound, in nats, at least 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Bun, Steinke (2016), Definitions 12 and 36, https://doi.org/10.1007/978-3-662-53641-4_24

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

    def __str__(self) -> str:
        inner = f"{above(self.rho)}" if self.xi == 0 else f"({above(self.xi)}, {above(self.rho)})"
        return f"{above(self.delta)}-approximate {inner}-zCDP"


@dataclass(frozen=True)
class MeanConcentratedDP(Guarantee):
    """The guarantee of (mu, tau)-mean-concentrated DP.

    The privacy loss Z has E Z <= mu, and Z - E Z is tau-subgaussian. Subgaussian means that E e^(l (Z - E Z)) <= e^(l^2
    tau^2 / 2) for every real l.

    Parameters
    ----------
    mu : float
        Bound on the mean of the privacy loss, in nats, at least 0.
    tau : float
        Subgaussian parameter of the privacy loss, in nats, above 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Dwork, Rothblum (2016), https://arxiv.org/abs/1603.01887
    Bun, Steinke (2016), Definition 23, https://doi.org/10.1007/978-3-662-53641-4_24

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

    Parameters
    ----------
    order : float
        Order of the Renyi divergence, above 1; may be inf.
    epsilon : float
        Bound on the Renyi divergence, in nats, at least 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Mironov (2017), Definition 4, https://arxiv.org/abs/1702.07476

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

    def __str__(self) -> str:
        return f"({below(self.order)}, {above(self.epsilon)})-RDP"


@dataclass(frozen=True)
class TCDP(Guarantee):
    """The guarantee of (rho, omega)-truncated concentrated DP: D_a <= rho a for all orders 1 < a < omega.

    The case omega = inf is rho-zCDP.

    Parameters
    ----------
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    omega : float
        Order below which the bound holds, above 1; may be inf.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Bun, Dwork, Rothblum, Steinke (2018), Definition 1, https://doi.org/10.1145/3188745.3188946

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

    def __str__(self) -> str:
        return f"({above(self.rho)}, {below(self.omega)})-tCDP"


@dataclass(frozen=True)
class ApproxTCDP(Guarantee):
    """The guarantee of delta-approximate (rho, omega)-tCDP.

    There are events of probability at least 1 - delta, and (rho, omega)-tCDP holds given these events. The case
    delta = 0 is tCDP. The case omega = inf is delta-approximate rho-zCDP, whose definition is transferred here.

    Parameters
    ----------
    delta : float
        Probability in [0, 1].
    rho : float
        Slope of the bound on the Renyi divergence, in nats, above 0.
    omega : float
        Order below which the bound holds, above 1; may be inf.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Bun, Steinke (2016), Definition 36, https://doi.org/10.1007/978-3-662-53641-4_24
    Bun, Dwork, Rothblum, Steinke (2018), Definition 1, https://doi.org/10.1145/3188745.3188946

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

    def __str__(self) -> str:
        return f"{above(self.delta)}-approximate ({above(self.rho)}, {below(self.omega)})-tCDP"


Notion = PureDP | ApproxDP | ZCDP | ApproxZCDP | MeanConcentratedDP | RDP | TCDP | ApproxTCDP


def concentrated(guarantee: object) -> TypeGuard[TCDP | ZCDP]:
    """Return True for a guarantee that bounds D_a by rho a: TCDP, or ZCDP with xi = 0."""
    return isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)


def known(guarantee: object) -> Notion:
    """Return `guarantee` itself if it is one of the definitions above; raise ValueError otherwise."""
    if isinstance(guarantee, Guarantee) and type(guarantee) in Guarantee.__subclasses__():
        return cast(Notion, guarantee)
    names = ", ".join(kind.__name__ for kind in Guarantee.__subclasses__())
    raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: {names}")


def simplest(guarantee: Guarantee) -> Notion:
    """Return the equivalent guarantee in the simplest notion.

    RDP of order inf becomes pure DP. tCDP with omega = inf becomes zCDP. Approximate zCDP with rho = 0 or delta = 0
    becomes pure DP, zCDP or (epsilon, delta)-DP (Bun-Steinke 2016, Section 8). Approximate tCDP with omega = inf or
    delta = 0 becomes approximate zCDP or tCDP.
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
        case ApproxTCDP(delta=delta, rho=rho, omega=omega) if omega == inf:
            return ApproxZCDP(delta, rho) if delta > 0 else ZCDP(rho)
        case ApproxTCDP(delta=0, rho=rho, omega=omega):
            return TCDP(rho, omega)
    return notion
