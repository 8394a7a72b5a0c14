"""The epsilon and delta of many releases of one kind, from composed privacy losses, with bounds.

Pairs whose loss rises or falls with the output, as it does for log-concave noise, are composed as entries of a ledger
are (`lists.py`). Other pairs have a method of their own (`any_pair.py`), which also narrows brackets that are too wide.
"""

from collections.abc import Callable, Iterable

import numpy as np

from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.any_pair import Query, any_bracket, delta_query, epsilon_query
from tcdp_sim.exact.losses.lists import bracket, expected
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.exact.work import MOST_POINTS, within

MOST_RELEASES = 10**7
_FEW_ROUNDS = 4  # before the other method takes over
_CLOSE, _SMALL = 1e-3, 1e-6  # of an epsilon: the width of its bounds, relative below 1; below that absolute again
_EQUAL, _TINY_EXTENT, _LARGE = 1e-9, 1e-13, 1e5  # losses that differ by less are equal; those above are very large


@within(MOST_POINTS, "valid: fewer releases")
def composed_epsilon(
    pairs: Iterable[DominatingPair], releases: int, delta: float, tolerance: float | None = None
) -> Bounds:
    """Return the least epsilon >= 0 (nats) of the (epsilon, delta) guarantee of `releases` draws from a pair.

    Parameters
    ----------
    pairs : iterable of DominatingPair
        The pairs, such as those of `dominating_pairs`. The answer is that of the worst.
    releases : int
        The number of releases, from 1 to 10^7.
    delta : float
        delta, in (0, 1).
    tolerance : float, optional
        The largest distance of the ends, in nats, above 0. The default is the smaller one of 0.001 and 0.1% of the
        upper end.

    Returns
    -------
    Bounds
        epsilon in nats. The truth lies between the ends in any case. They include discretisation, wrapped ends and
        rounding (of densities with a relative error of 4e-12, and of their logarithms with 4e-15 of 1 + their size).
        The ends are further apart than the tolerance only if it would need a transform of more than 2^22 points, or 20
        million in all. The bounds are (inf, inf, inf) if an infinite loss has a probability above delta. The upper end
        is inf if it may have, by rounding or where floats end (`releases` times 1e-306 is not small beside delta).

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Zhu, Dong, Wang (2022), Optimal accounting of differential privacy via characteristic function,
    https://arxiv.org/abs/2106.08567, for dominating pairs. The error bounds are derived here.

    Examples
    --------
    >>> from tcdp_sim.exact import dominating_pairs
    >>> from tcdp_sim.noise import Gaussian
    >>> round(composed_epsilon(dominating_pairs(Gaussian(2.0), 1.0, 1.0, "poisson"), 1, 1e-6).estimate, 2)
    2.25
    """
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
    """Return delta(epsilon) of `releases` draws from a pair.

    Parameters
    ----------
    pairs : iterable of DominatingPair
        The pairs, such as those of `dominating_pairs`. The answer is that of the worst.
    releases : int
        The number of releases, from 1 to 10^7.
    epsilon : float
        epsilon in nats, >= 0.
    tolerance : float
        The largest distance of the ends, relative to the upper one, above 0.

    Returns
    -------
    Bounds
        delta(epsilon). The truth lies between the ends in any case, as for `composed_epsilon`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Zhu, Dong, Wang (2022), Optimal accounting of differential privacy via characteristic function,
    https://arxiv.org/abs/2106.08567, for dominating pairs. The error bounds are derived here.

    Examples
    --------
    >>> from tcdp_sim.exact import dominating_pairs
    >>> from tcdp_sim.noise import Gaussian
    >>> round(composed_profile(dominating_pairs(Gaussian(2.0), 1.0, 1.0, "poisson"), 4, 0.0).estimate, 2)
    0.38
    """
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
