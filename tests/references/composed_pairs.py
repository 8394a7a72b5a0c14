"""Divergences and compositions of pairs of laws, one direction at a time, by the functions below a ledger.

`composed_epsilon` and `composed_profile` compose any dominating pairs, also with labels. Pairs whose loss rises or
falls with the output are composed as entries of a ledger are (`lists.py`), and then by the method for all other pairs
(`any_pair.py`) if the bracket is wide. So each method is tested on the pairs of the other one too.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.any_pair import Query, any_bracket, delta_query, epsilon_query
from tcdp_sim.exact.losses.lists import bracket, expected
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.exact.mixtures import Mixture, subsampled
from tcdp_sim.exact.renyi.mixture_divergences import hockey_stick_between, renyi_divergence_between
from tcdp_sim.exact.subsampling import DominatingPair, dominating_pairs
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise import Noise

__all__ = [
    "DominatingPair",
    "composed_epsilon",
    "composed_profile",
    "dominating_pairs",
    "hockey_stick_between",
    "renyi_divergence_between",
    "subsampled_hockey_stick",
    "subsampled_renyi",
]
DIRECTIONS = ("forward", "reverse")
MOST_RELEASES = 10**7
_FEW_ROUNDS = 4  # before the other method takes over
_CLOSE, _SMALL = 1e-3, 1e-6  # of an epsilon: the width of its bounds, relative below 1; below that absolute again
_EQUAL, _TINY_EXTENT, _LARGE = 1e-9, 1e-13, 1e5  # losses that differ by less are equal; those above are very large


@within(MOST_POINTS, "valid: fewer releases")
def composed_epsilon(
    pairs: Iterable[DominatingPair], releases: int, delta: float, tolerance: float | None = None
) -> Bounds:
    """Return the least epsilon >= 0 (nats) of the (epsilon, delta) guarantee of `releases` draws from a pair."""
    delta = scalar("delta", delta, 0, 1)
    allowed = _allowed(tolerance)

    return _worst(pairs, releases, epsilon_question(delta, allowed), epsilon_query(delta, allowed))


def _allowed(tolerance: float | None) -> Callable[[float], float]:
    """Return the map from the upper end of an epsilon to the largest distance of its ends."""
    if tolerance is None:
        return lambda high: _CLOSE * min(max(high, _SMALL), 1.0)
    width = scalar("tolerance", tolerance, 0)
    return lambda _: width


@within(MOST_POINTS, "valid: fewer releases")
def composed_profile(pairs: Iterable[DominatingPair], releases: int, epsilon: float, tolerance: float = 0.01) -> Bounds:
    """Return delta(epsilon) of `releases` draws from a pair."""
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    share = scalar("tolerance", tolerance, 0)

    def allowed(high: float) -> float:
        return share * high

    return _worst(pairs, releases, delta_question(epsilon, allowed), delta_query(epsilon, allowed))


def _worst(pairs: Iterable[DominatingPair], releases: int, question: Question, query: Query) -> Bounds:
    if releases != int(scalar("releases", releases, 1, MOST_RELEASES, closed=True, finite=False)):
        raise ValueError(f"releases = {releases} is not valid; valid: 1, 2, ..., {MOST_RELEASES:,}")
    pairs = tuple(pairs) if isinstance(pairs, Iterable) else ()
    if not pairs or not all(isinstance(pair, DominatingPair) for pair in pairs):
        raise ValueError("pairs are not valid; valid: one or more DominatingPair, such as dominating_pairs gives")
    kinds = sorted(((pair, _law(pair)) for pair in pairs), key=lambda kind: _rank(kind[1], int(releases), question))
    low = high = -np.inf
    for pair, law in kinds:
        found = _ends(pair, law, int(releases), question, query, low)
        low, high = max(low, found[0]), max(high, found[1])
    return Bounds(float(low), float(0.5 * (low + high)), float(high))


def _law(pair: DominatingPair) -> PairLoss | None:
    """Return the law of the loss, or None.

    There is none if the loss neither rises nor falls with the output. Grids whose step is that of the sum do not fit
    losses that are all equal or very large either.
    """
    try:
        law = PairLoss(pair)
    except ValueError:
        return None
    least, most = law.least(), law.most()
    return law if most - least > _EQUAL * abs(most) + _TINY_EXTENT and most < _LARGE else None


def _rank(law: PairLoss | None, releases: int, question: Question) -> float:
    """Return a number that is least for the pair that is probably the worst, which comes first."""
    return -expected([(law, releases)], question) if law else np.inf


def _ends(
    pair: DominatingPair, law: PairLoss | None, releases: int, question: Question, query: Query, known: float
) -> tuple[float, float]:
    """Return the lower and upper end for one pair. Ends below `known` may be far apart."""
    if law is None:
        return any_bracket(pair, releases, query, known)
    low, high = bracket([(law, releases)], question, known, _FEW_ROUNDS)
    if question.close(low, high) or low == high or high <= known:
        return low, high
    others = any_bracket(pair, releases, query, known)
    low = max(low, others[0])
    return low, max(low, min(high, others[1]))


@within(MOST_POINTS, "valid: fewer orders, or a smaller shift")
def subsampled_renyi(
    noise: Noise, shift: float, order: ArrayLike, sampling_probability: float, direction: str = "forward"
) -> Bounds[Any]:
    """Return the Renyi divergence of subsampled additive noise in one direction.

    With P = law of Z + shift and Q = law of Z, the direction "forward" is D_order of ((1-s) Q + s P, Q), and "reverse"
    is D_order of (Q, (1-s) Q + s P). Under Poisson sampling and add/remove neighbours these two directions decide.
    Under substitution other pairs may be worse (see `equilateral_renyi`).
    """
    return renyi_divergence_between(*_directed(noise, shift, sampling_probability, direction), order)


@within(MOST_POINTS, "valid: fewer epsilons, or a smaller shift")
def subsampled_hockey_stick(
    noise: Noise, shift: float, epsilon: ArrayLike, sampling_probability: float, direction: str = "forward"
) -> Bounds[Any]:
    """Return delta(epsilon) of subsampled additive noise in one direction.

    The pair is ((1-s) Q + s P, Q) in the direction "forward" and (Q, (1-s) Q + s P) in the direction "reverse", with
    P = law of Z + shift and Q = law of Z. For epsilon >= 0 the forward direction decides under Poisson sampling
    (add/remove) and under sampling without replacement (substitution).
    """
    return hockey_stick_between(*_directed(noise, shift, sampling_probability, direction), epsilon)


def _directed(noise: Noise, shift: float, sampling_probability: float, direction: str) -> tuple[Mixture, Mixture]:
    pair = subsampled(noise, shift, sampling_probability)
    return pair if choice("direction", direction, DIRECTIONS) == "forward" else pair[::-1]
