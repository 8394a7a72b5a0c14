"""The brackets of a list of releases: the worst of its composed pairs, in the worst direction."""

from functools import lru_cache

import numpy as np

from tcdp_sim.accounting.releases.release import Case
from tcdp_sim.accounting.worlds import Entries, all_attained, has_loose_pairs, worlds
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.lists import bracket, expected, infinite
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.exact.losses.tilts import Crude

FINEST = 1e-5  # relative tolerance of the profile behind a posterior
_SMALL = 1e-9  # of an epsilon: the least size to which the tolerance is relative


@lru_cache(maxsize=64)
def cases_of_list(entries: Entries, relation: str | None, attained: bool) -> tuple[Case, ...]:
    """Return the composed pairs, as `worlds` does, and keep them."""
    return tuple(worlds(entries, relation, attained))


@lru_cache(maxsize=256)
def least_epsilon(entries: Entries, relation: str | None, delta: float, share: float) -> Bounds:
    """Return the least epsilon >= 0 at a delta, to a relative tolerance."""
    found = _answer(entries, relation, epsilon_question(delta, lambda high: share * max(high, _SMALL)))
    if not has_loose_pairs(entries, relation):
        return found
    from tcdp_sim.accounting.by_renyi import renyi_epsilon  # imported late, as few lists need it

    return _at_most(found, renyi_epsilon(entries, relation, delta))


@lru_cache(maxsize=1024)
def least_delta(entries: Entries, relation: str | None, epsilon: float, share: float) -> Bounds:
    """Return the least delta at an epsilon >= 0, to a relative tolerance."""
    found = _answer(entries, relation, delta_question(epsilon, lambda high: share * high))
    if not has_loose_pairs(entries, relation):
        return found
    from tcdp_sim.accounting.by_renyi import renyi_delta

    return _at_most(found, renyi_delta(entries, relation, epsilon))


def both_directions(case: Case) -> tuple[Case, ...]:
    """Return the case in both directions, or in one if they are the same."""
    return (case,) if case.forward is case.backward else (case, Case(case.backward, case.forward))


def profile_of_pair(pair: Case, e: float) -> Bounds:
    """Return H(e) of the forward direction of a composed pair, at any e."""
    low, high = bracket(pair[e < 0], delta_question(abs(e), lambda most: FINEST * most))
    value = Bounds(low, 0.5 * (low + high), high)
    return value if e >= 0 else (1 - np.exp(e) * (1 - value)).clipped(float(-np.expm1(e)), 1.0)


def infinite_loss(entries: Entries, relation: str | None) -> Bounds:
    """Return the probability of an infinite loss in the worst case and direction."""
    if not entries:
        return Bounds(0.0, 0.0, 0.0)
    upper = max(infinite(way)[1] for case in cases_of_list(entries, relation, False) for way in case)
    lower = max(infinite(way)[0] for case in cases_of_list(entries, relation, True) for way in case)
    return Bounds(min(lower, upper), upper, upper)


def size_of_losses(entries: Entries, relation: str | None) -> float:
    """Return the root mean square of the sum of losses in the largest case, at least 1e-9."""
    cases = cases_of_list(entries, relation, False) if entries else ()
    sums = [Crude(tuple((law.crude(), times) for law, times in case.forward)).cumulants(0.0) for case in cases]
    return max([1e-9, *(float(np.hypot(mean, np.sqrt(square))) for _, mean, square in sums)])


def _at_most(bounds: Bounds, upper: float) -> Bounds:
    """Return the bracket with another upper end, if that is smaller."""
    if upper >= bounds.upper:
        return bounds
    lower = min(bounds.lower, upper)
    return Bounds(lower, 0.5 * (lower + upper), upper)


def _answer(entries: Entries, relation: str | None, question: Question) -> Bounds:
    """Return the bracket of the worst composed pair."""
    if not entries:
        return Bounds(0.0, 0.0, 0.0)
    low, high = _worst(cases_of_list(entries, relation, False), question)
    if not all_attained(entries, relation):
        low = min(_worst(cases_of_list(entries, relation, True), question)[0], high)
    middle = high if high == np.inf else 0.5 * (low + high)
    return Bounds(low, middle, high)


def _worst(cases: tuple[Case, ...], question: Question) -> tuple[float, float]:
    """Return the larger lower end and the larger upper end of all cases and directions, the likely worst one first."""
    ways = [way for case in cases for way in ((case.forward,) if case.forward is case.backward else case)]
    if len(ways) > 1:
        ways.sort(key=lambda way: -expected(way, question))
    low = high = -np.inf
    for way in ways:
        found = bracket(way, question, low)
        low, high = max(low, found[0]), max(high, found[1])
    return float(low), float(high)
