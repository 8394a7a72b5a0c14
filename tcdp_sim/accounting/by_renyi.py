"""Upper ends of a list from its Renyi divergences, for releases whose class pairs are loose when they are composed.

The adversary of bounded range chooses a pair for each release. The pair of the class dominates every choice, so several
of them together allow more than any adversary can reach. The largest divergence of the class is attained at each order,
and divergences add up. The better of both upper ends counts.
"""

from functools import lru_cache, partial
from math import exp, fsum, inf

from tcdp_sim.accounting.composed_pairs import Entries, flat
from tcdp_sim.accounting.releases.bounded_range import BoundedRange
from tcdp_sim.accounting.releases.range_law import range_renyi
from tcdp_sim.accounting.renyi import total_renyi
from tcdp_sim.core.numerics import ULP
from tcdp_sim.privacy.best_order import tightest_epsilon, tightest_log_delta
from tcdp_sim.privacy.binary_tests import binary_delta, binary_epsilon
from tcdp_sim.privacy.renyi import RenyiBound


def renyi_epsilon(entries: Entries, relation: str | None, delta: float) -> float:
    """Return an epsilon >= 0 at this delta, inf where the divergences are unknown or infinite."""
    bound = _bound(entries, relation)
    if not delta > 0 or not _is_finite(bound):
        return inf
    epsilon, order = tightest_epsilon(bound, delta)
    return min(epsilon, binary_epsilon(bound, delta, order) if order > 1 else inf)


def renyi_delta(entries: Entries, relation: str | None, epsilon: float) -> float:
    """Return a delta at this epsilon, 1 where the divergences are unknown or infinite."""
    bound = _bound(entries, relation)
    if not _is_finite(bound):
        return 1.0
    log_delta, order = tightest_log_delta(bound, epsilon)
    return min(exp(min(log_delta, 0.0)), binary_delta(bound, epsilon, order) if order > 1 else 1.0)


def _bound(entries: Entries, relation: str | None) -> RenyiBound:
    return RenyiBound(partial(_curve, entries, relation))


@lru_cache(maxsize=1024)
def _curve(entries: Entries, relation: str | None, order: float) -> float:
    """Return the largest divergence over the lists without splits."""
    best = 0.0
    for releases in flat(entries, relation):
        ranges = [(release.epsilon, times) for release, times in releases if isinstance(release, BoundedRange)]
        others = tuple((release, times) for release, times in releases if not isinstance(release, BoundedRange))
        rest = total_renyi(others, relation, order).upper if others else 0.0
        best = max(best, rest + fsum(times * range_renyi(epsilon, order).upper for epsilon, times in ranges))
    return best * (1 + 4 * ULP)


def _is_finite(bound: RenyiBound) -> bool:
    try:
        return bound(2.0) < inf
    except ValueError:  # the divergences of a sampling scheme are unknown
        return False
