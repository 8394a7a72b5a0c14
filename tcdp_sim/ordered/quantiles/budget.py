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

    Source: Dong et al. (2020) [DDR20].

    `selections`: True if epsilon is the range of the losses of each release, as for exponential mechanisms. False if
    the releases are known to be epsilon-DP only.
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
    """Return a function of epsilon: True if so many releases with this epsilon each keep the guarantee."""
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
