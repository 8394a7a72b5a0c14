"""The budget of one selection, when several selections share a guarantee."""

from collections.abc import Callable

from tcdp_sim.core.errors import real
from tcdp_sim.privacy import ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.definitions import concentrated
from tcdp_sim.privacy.least_rho import bounded_range_epsilon, pure_epsilon

STEPS = 40  # halvings of the interval in which an epsilon is searched, each of which costs a ledger
CLOSE = 1e-4  # relative


def range_epsilon(guarantee: Guarantee, times: int) -> float:
    """Return the largest epsilon whose bounded range, in `times` adaptive selections, implies the guarantee.

    Pure DP divides epsilon by the number of selections. zCDP and tCDP divide rho and use the least rho of bounded
    range, which a finite omega does not lower. For (epsilon, delta) the ledger's upper end decides.

    Parameters
    ----------
    guarantee : PureDP, ZCDP, TCDP or ApproxDP
        The guarantee of all selections together.
    times : int
        The number of selections, at least 1.

    Returns
    -------
    float
        The epsilon of one selection, in nats, rounded down.

    Raises
    ------
    ValueError
        If the guarantee is of another kind, or is empty.

    References
    ----------
    Dong, Durfee, Rogers (2020), https://arxiv.org/abs/1909.13830

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP, ZCDP
    >>> range_epsilon(PureDP(1.0), 4), round(range_epsilon(ZCDP(0.5), 4), 4)
    (0.25, 1.007)
    """
    from tcdp_sim.accounting import BoundedRange  # imported late: workers need no accounting

    return _share(guarantee, times, bounded_range_epsilon, BoundedRange)


def pure_share(guarantee: Guarantee, times: int) -> float:
    """Return the largest epsilon of pure DP that `times` adaptive releases may have each under the guarantee.

    Parameters
    ----------
    guarantee : PureDP, ZCDP, TCDP or ApproxDP
        The guarantee of all releases together.
    times : int
        The number of releases, at least 1.

    Returns
    -------
    float
        The epsilon of one release, in nats, rounded down.

    Raises
    ------
    ValueError
        If the guarantee is of another kind, or is empty.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> round(pure_share(ZCDP(0.5), 1), 6)
    1.043627
    """
    from tcdp_sim.accounting import Claimed

    return _share(guarantee, times, pure_epsilon, lambda epsilon: Claimed(PureDP(epsilon)))


def _share(
    guarantee: Guarantee, times: int, of_rho: Callable[[float], float], release: Callable[[float], object]
) -> float:
    if isinstance(guarantee, PureDP):
        return real("epsilon", guarantee.epsilon, 0) / times
    if concentrated(guarantee):
        return of_rho(real("rho", guarantee.rho, 0) / times)
    if isinstance(guarantee, ApproxDP):
        return _within(guarantee, times, release)
    raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: PureDP, ZCDP, TCDP or ApproxDP")


def _within(guarantee: ApproxDP, times: int, release: Callable[[float], object]) -> float:
    """Return an epsilon, within a relative 1e-4 of the largest one, whose ledger keeps (epsilon, delta)."""
    from tcdp_sim.accounting import Ledger

    def kept(share: float) -> bool:
        return Ledger([(release(share), times)]).delta(guarantee.epsilon).upper <= guarantee.delta

    low = real("epsilon", guarantee.epsilon, 0) / times  # basic composition
    high = 2 * low
    while kept(high) and high < 100:
        low, high = high, 2 * high
    for _ in range(STEPS):
        if high - low <= CLOSE * low:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
