"""Bounds on Renyi divergences that follow from a guarantee, and the best (epsilon, delta) that follows from a bound.

All values are scalars in nats. Planning calls these functions millions of times, so they use math and not numpy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import exp, expm1, inf, log, log1p, sinh, sqrt, tanh, ulp

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, Guarantee, MeanConcentratedDP, PureDP, simplest
from tcdp_sim.privacy.minimum import least

TINY = ulp(0.0)  # the smallest positive float; positive numbers that underflow are rounded up to it
_LOG_RANGE = (-40.0, 709.0)  # range of log(order - 1); below, the order is 1 in double precision
_GRID = 96
_TOLERANCE = 1e-6  # of log(order - 1), where the answer is flat


@dataclass(frozen=True)
class RenyiBound:
    """A bound on the Renyi divergences between neighbours in both directions, as a function of the order.

    D_order <= bound(order) holds for 1 < order <= highest. The highest order is included, because its divergence is the
    limit of the lower orders. At higher orders the bound is inf.

    Parameters
    ----------
    curve : callable
        Function of the order, in nats, which is called for 1 <= order <= highest only.
    highest : float
        Highest order at which the bound is known, above 1; inf by default.

    Raises
    ------
    ValueError
        If highest is not above 1.

    References
    ----------
    Mironov (2017), Definition 4, https://arxiv.org/abs/1702.07476

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

    References
    ----------
    Bun, Steinke (2016), Definition 1 and Proposition 4, https://doi.org/10.1007/978-3-662-53641-4_24
    Bun, Dwork, Rothblum, Steinke (2018), Definition 1, https://doi.org/10.1145/3188745.3188946

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, renyi_bound
    >>> renyi_bound(TCDP(0.1, 20.0))(10.0)
    1.0
    """
    match simplest(guarantee):
        case PureDP(epsilon=epsilon):
            return RenyiBound(partial(pure_renyi, epsilon))
        case ZCDP(rho=rho, xi=xi):
            return RenyiBound(partial(_affine, xi, rho))
        case TCDP(rho=rho, omega=omega):
            return RenyiBound(partial(_affine, 0.0, rho), omega)
        case RDP(order=order, epsilon=epsilon):
            return RenyiBound(partial(_affine, epsilon, 0.0), order)
        case MeanConcentratedDP(mu=mu, tau=tau):
            slope = scalar("tau^2 / 2", max(0.5 * tau * tau, TINY), 0)
            return RenyiBound(partial(_affine, min(mu - slope, 0.0), slope))
    raise ValueError(f"{guarantee} bounds no Renyi divergence: with probability delta anything may happen")


def _affine(intercept: float, slope: float, order: float) -> float:
    return intercept + slope * order


def pure_renyi(epsilon: float, order: float) -> float:
    """Return the largest Renyi divergence that epsilon-DP allows, which is that of randomised response.

    With e = epsilon it is log[(sinh(a e) - sinh((a-1) e)) / sinh e] / (a-1), computed in forms that lose no digits.

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

    References
    ----------
    Bun, Steinke (2016), Proposition 4, proof, https://doi.org/10.1007/978-3-662-53641-4_24

    Examples
    --------
    >>> from tcdp_sim.privacy import pure_renyi
    >>> round(pure_renyi(1.0, 2.0), 4)
    0.7353
    """
    if order == inf:
        return epsilon
    excess, half = order - 1, tanh(0.5 * epsilon)
    y = excess * epsilon
    if y < 1e-9:  # mean and variance of the loss; the next term is y^2 times smaller
        return epsilon * (half + 0.5 * y * (1 - half * half))
    if y <= 1:  # cosh(e/2 + y) / cosh(e/2) = 1 + 2 sinh^2(y/2) + tanh(e/2) sinh(y): no cancellation
        return log1p(2 * sinh(0.5 * y) ** 2 + half * sinh(y)) / excess
    return epsilon - log1p(exp(-epsilon) * -expm1(-2 * y) / (1 + exp(-epsilon - 2 * y))) / excess


def tightest_epsilon(bound: RenyiBound, delta: float) -> tuple[float, float]:
    """Return the least epsilon for which (epsilon, delta)-DP follows from a Renyi bound, and its order.

    At the best order a, epsilon = D_a + log(1 - 1/a) + (log(1/delta) - log a) / (a - 1). Every order gives a valid
    epsilon, so a search that stops early only loses sharpness.

    Parameters
    ----------
    bound : RenyiBound
        Bound on the Renyi divergences between neighbours.
    delta : float
        Probability in (0, 1].

    Returns
    -------
    epsilon : float
        The least epsilon, in nats, at least 0.
    order : float
        The order that gives it. It is 1 where epsilon = 0 follows from the KL divergence.

    Raises
    ------
    ValueError
        If delta is outside (0, 1].

    References
    ----------
    Canonne, Kamath, Steinke (2020), Proposition 12, https://arxiv.org/abs/2004.00010v4

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, renyi_bound, tightest_epsilon
    >>> epsilon, order = tightest_epsilon(renyi_bound(ZCDP(0.1)), 1e-6)
    >>> round(epsilon, 4), round(order, 2)
    (2.1419, 11.66)
    """
    delta = scalar("delta", delta, 0, 1, finite=False)
    if delta >= total_variation(bound):
        return 0.0, 1.0
    log_one_over_delta = -log(delta)

    def epsilon(excess: float) -> float:
        chance = log_one_over_delta - log1p(excess)
        return bound.curve(1 + excess) - log1p(1 / excess) + chance / excess

    value, order = _least(epsilon, bound.highest)
    return max(value, 0.0), order


def tightest_log_delta(bound: RenyiBound, epsilon: float) -> tuple[float, float]:
    """Return the log of the least delta for which (epsilon, delta)-DP follows from a Renyi bound, and its order.

    This is the inverse of `tightest_epsilon`. At the best order a,
    log delta = (a-1)(D_a - epsilon) + (a-1) log(1 - 1/a) - log a.

    Parameters
    ----------
    bound : RenyiBound
        Bound on the Renyi divergences between neighbours.
    epsilon : float
        Epsilon in nats, at least 0.

    Returns
    -------
    log_delta : float
        The natural logarithm of the least delta, at most 0.
    order : float
        The order that gives it. It is 1 where the KL divergence gives it.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite.

    References
    ----------
    Canonne, Kamath, Steinke (2020), Proposition 12, https://arxiv.org/abs/2004.00010v4

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, renyi_bound, tightest_log_delta
    >>> log_delta, order = tightest_log_delta(renyi_bound(ZCDP(0.1)), 2.0)
    >>> round(log_delta, 3), round(order, 2)
    (-12.351, 10.98)
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)

    def log_delta(excess: float) -> float:
        return excess * (bound.curve(1 + excess) - epsilon - log1p(1 / excess)) - log1p(excess)

    value, order = _least(log_delta, bound.highest)
    cap = log(max(total_variation(bound), TINY))
    return (value, order) if value < cap else (cap, 1.0)


def total_variation(bound: RenyiBound) -> float:
    """Return the largest total variation distance that the KL divergence allows, which is delta at epsilon = 0.

    It is the lesser of sqrt(KL / 2) (Pinsker) and sqrt(1 - e^-KL) (Bretagnolle-Huber). KL is bounded by D_a at an order
    a just above 1.
    """
    kl = bound.curve(min(1 + 1e-12, bound.highest))
    return sqrt(min(0.5 * kl, -expm1(-kl)))


def _least(f: Callable[[float], float], highest: float) -> tuple[float, float]:
    """Return the least value of f(order - 1) over 1 < order <= highest, and its order.

    The search uses a grid in log(order - 1), then `least` around its best point. If the bound is a true Renyi
    curve then (a-1) D_a is convex and f is unimodal. Otherwise the answer is still a value of f. In floating point, 1 +
    (highest - 1) never exceeds highest, so f is evaluated at the domain's end and never beyond.
    """
    low, step, high, points = _grid(highest)
    values = [f(point) for point in points]
    best = min(range(_GRID + 1), key=values.__getitem__)
    ends = max(low + step * (best - 1), low), min(low + step * (best + 1), high)
    value, place = least(lambda x: f(exp(x)), *ends, _TOLERANCE)
    excess = exp(place)
    if not value < values[best]:
        value, excess = values[best], points[best]
    return value, 1 + excess


@lru_cache(maxsize=256)
def _grid(highest: float) -> tuple[float, float, float, list[float]]:
    """Return the first log(order - 1), the step, the last one, and order - 1 at all points."""
    low, high = _LOG_RANGE[0], min(log(highest - 1), _LOG_RANGE[1])
    step = (high - low) / _GRID
    return low, step, high, [exp(low + step * i) for i in range(_GRID)] + [min(exp(high), highest - 1)]
