"""The brackets of a list of releases: the worst of its composed pairs, in the worst direction."""

from functools import lru_cache
from math import fsum, inf

import numpy as np

from tcdp_sim.accounting.composed_pairs import Entries, all_attained, has_loose_pairs, worlds
from tcdp_sim.accounting.releases.release import Case, Laws
from tcdp_sim.accounting.single import best_profile, closed_epsilon, closed_profile, exact_profile
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.any_loss import AnyLoss
from tcdp_sim.exact.losses.lists import bracket, expected, infinite
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.exact.losses.tilts import Crude

_WIDE = 0.1  # of the upper end: the widest bracket whose middle is the estimate
_BELOW = 1 - 1e-15  # times a number: less than it, after rounding
_SMALL = 1e-9  # of an epsilon: the least size to which the tolerance is relative


@lru_cache(maxsize=64)
def cases_of_list(entries: Entries, relation: str | None, attained: bool) -> tuple[Case, ...]:
    """Return the composed pairs, as `worlds` does, and keep them."""
    return tuple(worlds(entries, relation, attained))


@lru_cache(maxsize=256)
def least_epsilon(entries: Entries, relation: str | None, delta: float, share: float) -> Bounds:
    """Return the least epsilon >= 0 at a delta, to a relative tolerance."""
    if delta == 1:
        return Bounds(0.0, 0.0, 0.0)
    best = best_profile(entries) if delta > 0 else None
    if best is not None:
        low, _, high = closed_epsilon(best, delta, share / 4, _SMALL)
        found, rough = _safe(low, high), False
    else:
        found, rough = _composed_epsilon(entries, relation, delta, share)
    if not (rough or has_loose_pairs(entries, relation)):
        return found
    from tcdp_sim.accounting.by_renyi import renyi_epsilon  # imported late, as few lists need it

    return _at_most(found, renyi_epsilon(entries, relation, delta))


@lru_cache(maxsize=1024)
def least_delta(entries: Entries, relation: str | None, epsilon: float, share: float) -> Bounds:
    """Return the least delta at an epsilon >= 0, to a relative tolerance."""
    best = best_profile(entries)
    found = best(epsilon) if best is not None else _composed_delta(entries, relation, epsilon, share)
    if not has_loose_pairs(entries, relation):
        return found
    from tcdp_sim.accounting.by_renyi import renyi_delta

    return _at_most(found, renyi_delta(entries, relation, epsilon))


def _composed_epsilon(entries: Entries, relation: str | None, delta: float, share: float) -> tuple[Bounds, bool]:
    """Return epsilon in closed form if there is one, and from the composed pairs if that leaves too much open.

    The second value is True if no grid was fine enough and the bracket is still wide.
    """
    profile = closed_profile(entries) if delta > 0 else None
    if profile is not None:
        closed = closed_epsilon(profile, delta)
        if closed.upper - closed.lower <= share * max(closed.upper, _SMALL):
            return closed, False
    found, rough = _answer(entries, relation, epsilon_question(delta, lambda high: share * max(high, _SMALL)))
    if profile is not None:
        low = max(found.lower, closed.lower)
        found = _safe(low, max(low, min(found.upper, closed.upper)))
    if delta > 0 and rough and _is_wide(found):
        found = _within(found, *_epsilon_of_parts(entries, relation, delta, share))
    return found, rough and _is_wide(found)


def _composed_delta(entries: Entries, relation: str | None, epsilon: float, share: float) -> Bounds:
    """Return delta as `_composed_epsilon` does epsilon."""
    profile = exact_profile(entries)
    if profile is not None:
        closed = profile(epsilon)
        if closed.upper - closed.lower <= share * closed.upper:
            return closed
    found, rough = _answer(entries, relation, delta_question(epsilon, lambda high: share * high))
    if profile is not None:
        low = max(found.lower, closed.lower)
        found = _safe(low, max(low, min(found.upper, closed.upper)))
    if rough and _is_wide(found):
        found = _within(found, *_delta_of_parts(entries, relation, epsilon, share))
    return found


def infinite_loss(entries: Entries, relation: str | None) -> float:
    """Return the probability of an infinite loss in the worst case and direction, from above."""
    return max((infinite(way)[1] for case in cases_of_list(entries, relation, False) for way in case), default=0.0)


def size_of_losses(entries: Entries, relation: str | None) -> float:
    """Return the root mean square of the sum of losses in the largest case, at least 1e-9, over finite ones."""
    cases = cases_of_list(entries, relation, False) if entries else ()
    sums = [Crude(tuple((law.crude(), times) for law, times in way)) for case in cases for way in case]
    parts = [each.cumulants(0.0)[1:] for each in sums if each.finite]
    return max([1e-9, *(float(np.hypot(mean, np.sqrt(square))) for mean, square in parts)])


def _at_most(bounds: Bounds, upper: float) -> Bounds:
    """Return the bracket with another upper end, if that is smaller."""
    if upper >= bounds.upper:
        return bounds
    return _safe(min(bounds.lower, upper), upper)


def _is_wide(bounds: Bounds) -> bool:
    return bounds.lower < (1 - _WIDE) * bounds.upper


def _within(bounds: Bounds, low: float, high: float) -> Bounds:
    """Return the bracket where it meets another one of the same number."""
    high = min(bounds.upper, high)
    return _safe(max(bounds.lower, min(low, high)), high)


def _epsilon_of_parts(entries: Entries, relation: str | None, delta: float, tolerance: float) -> tuple[float, float]:
    """Return an epsilon below, as more releases reveal no less, and one above, by basic composition."""
    total = sum(times for _, times in entries)
    if total == 1:
        profile = exact_profile(entries)
        closed = closed_epsilon(profile, delta, tolerance / 4, _SMALL) if profile else Bounds(0.0, inf, inf)
        return closed.lower, closed.upper
    if least_delta(entries, relation, 0.0, tolerance).upper <= delta:
        return 0.0, 0.0
    parts = [(((release, 1),), times) for release, times in entries]
    low = max(least_epsilon(part, relation, delta, tolerance).lower for part, _ in parts)
    share = delta / total * _BELOW
    return low, fsum(times * least_epsilon(part, relation, share, tolerance).upper for part, times in parts) / _BELOW


def _delta_of_parts(entries: Entries, relation: str | None, epsilon: float, tolerance: float) -> tuple[float, float]:
    """Return a delta below, as more releases reveal no less, and one above, by basic composition."""
    total = sum(times for _, times in entries)
    if total == 1:
        return 0.0, 1.0
    parts = [(((release, 1),), times) for release, times in entries]
    low = max(least_delta(part, relation, epsilon, tolerance).lower for part, _ in parts)

    def summed(loss: float) -> float:
        return fsum(times * least_delta(part, relation, loss, tolerance).upper for part, times in parts) / _BELOW

    return low, min(summed(epsilon / total * _BELOW), summed(0.0))


def _safe(low: float, high: float) -> Bounds:
    """Return a bracket with its middle as the estimate, or the safe end where the middle says little."""
    return Bounds(low, 0.5 * (low + high) if high - low <= _WIDE * abs(high) else high, high)


def answer(entries: Entries, relation: str | None, question: Question) -> Bounds:
    """Return the bracket of the worst composed pair."""
    return _answer(entries, relation, question)[0]


def _answer(entries: Entries, relation: str | None, question: Question) -> tuple[Bounds, bool]:
    """Return the bracket of the worst composed pair, and True if it is wide because no grid is fine enough."""
    if not entries:
        return Bounds(0.0, 0.0, 0.0), False
    low, high = worst(cases_of_list(entries, relation, False), question)
    rough = _is_wide(Bounds(low, high, high))
    if not all_attained(entries, relation):
        low = min(worst(cases_of_list(entries, relation, True), question)[0], high)
    return _safe(low, high), rough


def worst(cases: tuple[Case, ...], question: Question) -> tuple[float, float]:
    """Return the larger lower end and the larger upper end of all cases and directions, the likely worst one first."""
    ways = [way for case in cases for way in ((case.forward,) if case.forward is case.backward else case)]
    if len(ways) > 1:
        ways.sort(key=lambda way: -_expected(way, question))
    low = high = -np.inf
    for way in ways:
        found = _ends(way, question, low)
        low, high = max(low, found[0]), max(high, found[1])
    return float(low), float(high)


def _expected(way: Laws, question: Question) -> float:
    """Return the expected answer, by which the likely worst direction comes first."""
    return 0.0 if any(isinstance(law, AnyLoss) for law, _ in way) else expected(way, question)


def _ends(way: Laws, question: Question, known: float) -> tuple[float, float]:
    """Return the ends for one case and direction."""
    law, times = way[0]
    if len(way) == 1 and isinstance(law, AnyLoss):
        return law.ends(times, question, known)
    if any(isinstance(each, AnyLoss) for each, _ in way):
        valid = "valid: a ledger of its own, or noise and shifts for which the loss rises with the output"
        raise ValueError(f"a MixturePair whose loss neither rises nor falls is composed with no other release; {valid}")
    return bracket(way, question, known)
