"""Bounds on Renyi divergences that follow from a guarantee.

All values are scalars in nats. Planning calls these functions millions of times, so they use math and not numpy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, expm1, inf, log1p, sinh, tanh, ulp

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.definitions import Guarantee, MeanConcentratedDP, PureDP, simplest

TINY = ulp(0.0)  # the smallest positive float; positive numbers that underflow are rounded up to it


@dataclass(frozen=True)
class RenyiBound:
    """A bound on the Renyi divergences between neighbours in both directions, as a function of the order.

    D_order <= bound(order) holds for 1 < order <= highest. The highest order is included, because its divergence is the
    limit of the lower orders. At higher orders the bound is inf.

    Source: Mironov (2017), Definition 4 [Mir17].

    Parameters
    ----------
    curve : callable
        Function of the order, in nats, which is called for 1 <= order <= highest only.
    highest : float
        Highest order at which the bound is known, above 1; inf by default.

    Examples
    --------
    >>> from tcdp_sim.privacy import RenyiBound
    >>> bound = RenyiBound(lambda order: 0.1 * order, highest=20.0)
    >>> bound(10.0), bound(30.0)
    (1.0, inf)
    """

    curve: Callable[[float], float]
    highest: float = inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "highest", scalar("highest", self.highest, 1, finite=False))

    def __call__(self, order: float) -> float:
        """Return the bound at one order; raise ValueError unless the order is above 1."""
        order = scalar("order", order, 1, finite=False)
        return self.curve(order) if order <= self.highest else inf


def renyi_bound(guarantee: Guarantee) -> RenyiBound:
    """Return the bound on Renyi divergences that a guarantee implies.

    At order a, the notions give:

    - PureDP: the exact worst case (`pure_renyi`).
    - ZCDP: xi + rho a.
    - TCDP: rho a, for orders up to omega.
    - RDP: epsilon, for orders up to its own.
    - MeanConcentratedDP: min(mu, tau^2 / 2) + (a - 1) tau^2 / 2; `to_zcdp` gives the reason.

    Source: Bun and Steinke (2016), Definition 1 and Proposition 4 [BS16]; Bun et al. (2018), Definition 1 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        Any guarantee that bounds Renyi divergences.

    Returns
    -------
    RenyiBound
        The bound, with its highest order.

    Raises
    ------
    ValueError
        If the guarantee is (epsilon, delta)-DP or approximate zCDP with delta > 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, renyi_bound
    >>> renyi_bound(TCDP(0.1, 20.0))(10.0)
    1.0
    """
    simple = simplest(guarantee)
    line = simple.renyi_line
    if isinstance(simple, PureDP):
        return RenyiBound(partial(pure_renyi, simple.epsilon))
    if isinstance(simple, MeanConcentratedDP):
        slope = scalar("tau^2 / 2", max(0.5 * simple.tau * simple.tau, TINY), 0)
        return RenyiBound(Affine(min(simple.mu, slope), slope, 1.0))
    if line is not None and not line.delta:
        return RenyiBound(Affine(line.xi, line.rho), line.omega)
    raise ValueError(f"{guarantee} bounds no Renyi divergence: with probability delta anything may happen")


@dataclass(frozen=True)
class Affine:
    """The curve first + slope * (order - start), whose best order for a conversion solves one equation."""

    first: float
    slope: float
    start: float = 0.0

    def __call__(self, order: float) -> float:
        return self.first + self.slope * (order - self.start)


def pure_renyi(epsilon: float, order: float) -> float:
    """Return the largest Renyi divergence that epsilon-DP allows, which is that of randomised response.

    With e = epsilon it is log[(sinh(a e) - sinh((a-1) e)) / sinh e] / (a-1), computed in forms that lose no digits.

    Source: Bun and Steinke (2016), Proposition 4, proof [BS16].

    Parameters
    ----------
    epsilon : float
        Epsilon of the pure DP, in nats, at least 0.
    order : float
        The order a, at least 1. Order 1 gives the KL divergence, and inf gives epsilon.

    Returns
    -------
    float
        The divergence, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import pure_renyi
    >>> round(pure_renyi(1.0, 2.0), 4)
    0.7353
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True, finite=False)
    if scalar("order", order, 1, closed=True, finite=False) == inf:
        return epsilon
    excess, half = order - 1, tanh(0.5 * epsilon)
    y = excess * epsilon
    if y < 1e-9:  # mean and variance of the loss; the next term is y^2 times smaller
        return epsilon * (half + 0.5 * y * (1 - half * half))
    if y <= 1:  # cosh(e/2 + y) / cosh(e/2) = 1 + 2 sinh^2(y/2) + tanh(e/2) sinh(y): no cancellation
        return log1p(2 * sinh(0.5 * y) ** 2 + half * sinh(y)) / excess
    return epsilon - log1p(exp(-epsilon) * -expm1(-2 * y) / (1 + exp(-epsilon - 2 * y))) / excess
