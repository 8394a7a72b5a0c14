"""The budget of one release, when several releases share a guarantee."""

from collections.abc import Callable

from tcdp_sim.core.errors import real
from tcdp_sim.privacy import Guarantee, PureDP
from tcdp_sim.privacy.least_rho import bounded_range_epsilon, pure_epsilon

STEPS = 40  # halvings of the interval in which an epsilon is searched, each of which costs a ledger
CLOSE = 1e-4  # relative


def epsilon_share(guarantee: Guarantee, times: int, *, selections: bool) -> float:
    """Return the largest epsilon of each of several adaptive releases, which together keep a guarantee.

    Pure DP divides epsilon by the number of releases. zCDP and tCDP divide rho, and take the epsilon whose least rho
    this is; a finite omega does not lower it. For (epsilon, delta) the ledger's upper end decides, and the result lies
    within a relative 1e-4 of the largest one.

    Parameters
    ----------
    guarantee : PureDP, ZCDP, TCDP or ApproxDP
        The guarantee of all releases together.
    times : int
        The number of releases, at least 1.
    selections : bool
        True if epsilon is the range of the losses of each release, as for exponential mechanisms. False if the releases
        are known to be epsilon-DP only.

    Returns
    -------
    float
        The epsilon of one release, in nats.

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
    >>> epsilon_share(PureDP(1.0), 4, selections=True), round(epsilon_share(ZCDP(0.5), 4, selections=True), 4)
    (0.25, 1.007)
    >>> round(epsilon_share(ZCDP(0.5), 4, selections=False), 4)
    0.5053
    """
    if guarantee.rho_omega is not None:
        rho = guarantee.rho_omega[0] / times
        return bounded_range_epsilon(rho) if selections else pure_epsilon(rho)
    if guarantee.epsilon_delta is None:
        raise ValueError(f"guarantee = {guarantee!r} is not valid; valid: PureDP, ZCDP, TCDP or ApproxDP")
    epsilon, delta = guarantee.epsilon_delta
    share = real("epsilon", epsilon, 0) / times
    return _largest(share, _keeps(epsilon, delta, times, selections)) if delta else share


def _keeps(total: float, delta: float, times: int, selections: bool) -> Callable[[float], bool]:
    """Return the function that tells whether so many releases with this epsilon each keep the guarantee."""
    from tcdp_sim.accounting import BoundedRange, Claimed, Ledger  # imported late: workers need no accounting

    def kept(epsilon: float) -> bool:
        release = BoundedRange(epsilon) if selections else Claimed(PureDP(epsilon))
        return Ledger([(release, times)]).delta(total).upper <= delta

    return kept


def _largest(low: float, kept: Callable[[float], bool]) -> float:
    """Return the largest epsilon that is kept, rounded down by at most a relative 1e-4; `low` is kept."""
    high = 2 * low
    while kept(high) and high < 100:
        low, high = high, 2 * high
    for _ in range(STEPS):
        if high - low <= CLOSE * low:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
