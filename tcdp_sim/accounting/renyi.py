"""The Renyi divergences of a ledger, which add up over its releases in each case and direction."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf

from tcdp_sim.accounting.composed_pairs import Entries, flat, renyi_total
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.claimed import is_renyi
from tcdp_sim.accounting.releases.release import Case, Laws, Release
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.privacy.definitions import RenyiLine

_NOTHING = Bounds(0.0, 0.0, 0.0)


def total_renyi(entries: Entries, relation: str | None, order: float) -> Bounds:
    """Return the bracket of the larger divergence of both directions, in the worst case."""
    return _worst(_list(releases, relation, order) for releases in flat(entries, relation))


def _list(releases: tuple[tuple[Release, int], ...], relation: str | None, order: float) -> Bounds:
    """Return the bracket for a list without splits."""
    noisy = _answers(releases, order)
    plain = [(release, times) for release, times in releases if not is_renyi(release) and type(release) is not Additive]
    lower, upper = (noisy + _composed(plain, relation, order, attained) for attained in (True, False))
    total = renyi_total(releases)
    if total is not None:
        upper = upper + _claimed(total, order)
    return Bounds(min(lower.lower, upper.upper), upper.estimate, upper.upper)


def _answers(releases: Iterable[tuple[Release, int]], order: float) -> Bounds:
    """Return the sum for answers plus noise, whose divergence may have a closed form. It holds for both directions."""
    found = [(release, times) for release, times in releases if type(release) is Additive]
    bounds = (renyi_divergence(each.noise, each.sensitivity, order) * times for each, times in found)
    return sum(bounds, _NOTHING)


def _claimed(total: RenyiLine, order: float) -> float:
    if order > total.omega or total.delta:
        return inf
    return total.xi if total.single else total.xi + total.rho * order


def _composed(plain: list[tuple[Release, int]], relation: str | None, order: float, attained: bool) -> Bounds:
    """Return the largest sum of divergences. Single releases suffice, because divergences add up."""
    additive = [(release, times) for release, times in plain if isinstance(release, Additive)]
    others = [(release, times) for release, times in plain if not isinstance(release, Additive)]
    known = sum((additive_renyi(release, order) * times for release, times in additive), _NOTHING)
    choices = [[(case, times) for case in _cases(release, relation, attained)] for release, times in others]
    sums = (
        _sum(((case[way], times) for case, times in parts), order)
        for parts in product(*choices)
        for way in _ways(parts)
    )
    return known + _worst(sums)


def _ways(parts: Sequence[tuple[Case, int]]) -> tuple[int, ...]:
    """Return the directions that differ."""
    return (0,) if all(case.forward is case.backward for case, _ in parts) else (0, 1)


def _cases(release: Release, relation: str | None, attained: bool) -> tuple[Case, ...]:
    """Return the cases of one release. Laws of a class have the largest divergence of its pairs at each order."""
    return (release.attained_last(relation, 1) if attained else None) or release.cases(relation, 1)


def additive_renyi(release: Additive, order: float) -> Bounds:
    """Return the divergence of additive noise, which holds at orders whose weight lies beyond all points of a law."""
    return renyi_divergence(release.noise, release.sensitivity, order)


def _sum(parts: Iterable[tuple[Laws, int]], order: float) -> Bounds:
    total = _NOTHING
    for laws, times in parts:
        for law, count in laws:
            total = total + law.renyi(order) * (times * count)
    return total


def _worst(bounds: Iterable[Bounds]) -> Bounds:
    best = _NOTHING
    for found in bounds:
        best = Bounds(*(max(one, other) for one, other in zip(best, found)))
    return best
