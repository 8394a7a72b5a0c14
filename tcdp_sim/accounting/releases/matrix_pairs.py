"""Proved pairs of matrix mechanisms, by the kind of participation."""

from collections.abc import Callable
from functools import lru_cache
from math import log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.accounting.releases.additive import Additive, additive_loss
from tcdp_sim.accounting.releases.allocated import LEAST_SIGMA, MOST_SIGMA
from tcdp_sim.accounting.releases.release import NOTHING, Case, Laws, both_ways
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.exact.allocation.ratio_sums import dominated, dominating
from tcdp_sim.exact.correlated import projected
from tcdp_sim.exact.correlated.domination import Split, above, below
from tcdp_sim.exact.correlated.moves import longest_move
from tcdp_sim.exact.correlated.participations import Cyclic, Fixed, MinSeparation, SameBin
from tcdp_sim.exact.correlated.strategies import EPS, Strategy
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.noise import Gaussian

_MOST_NOISE = 1e9  # over the shift: rounding hides the losses of more noise


class Pairs(NamedTuple):
    """The pairs of one release: those that dominate it, and those that it attains (None: the same)."""

    dominating: tuple[Case, ...]
    attained: tuple[Case, ...] | None


@lru_cache(maxsize=32)
def proved_pairs(strategy: Strategy, participation: Any, sigma: float, factor: float) -> Pairs:
    """Return the pairs of a matrix mechanism. `factor`: 2 for records that are replaced, otherwise 1."""
    return _ROADS[type(participation)](strategy, participation, sigma / factor)


def _gaussian(length: float, sigma: float) -> Case:
    return both_ways((additive_loss(Gaussian(min(sigma, _MOST_NOISE * length)), length), 1))


def _fixed(strategy: Strategy, given: Fixed, sigma: float) -> Pairs:
    low, high = longest_move(strategy, given.separation, given.participations)
    exact = high <= low * (1 + 100 * strategy.steps * EPS)
    return Pairs((_gaussian(high, sigma),), None if exact else (_gaussian(low, sigma),))


def _cyclic(strategy: Strategy, given: Cyclic, sigma: float) -> Pairs:
    """Return the pairs of the groups: Poisson samples, one for each column of a group, whose moves are orthogonal."""
    cases = []
    for lengths in _groups(strategy.lengths, given.groups):
        laws: list[Laws] = [(), ()]
        for length, times in zip(*np.unique(lengths, return_counts=True)):
            noise = Gaussian(min(sigma, _MOST_NOISE * float(length)))
            step = Sampled(Additive(noise, float(length)), given.sampling_probability)
            case = step.cases("zero_out", int(times))[0]
            laws = [laws[0] + case.forward, laws[1] + case.backward]
        cases.append(Case(*laws))
    return Pairs(tuple(cases), None)


def _groups(lengths: Any, groups: int) -> list[Any]:
    """Return the lengths of the columns of each group, longest first, without groups that others dominate."""
    parts = sorted(
        (np.sort(lengths[i::groups])[::-1] for i in range(min(groups, len(lengths)))), key=lambda x: -x.sum()
    )
    kept: list[Any] = []
    for part in parts:
        if not any(len(other) >= len(part) and (other[: len(part)] >= part).all() for other in kept):
            kept.append(part)
    return kept


def _same_bin(strategy: Strategy, given: SameBin, sigma: float) -> Pairs:
    gram = strategy.gram(given.bins)
    longest = sqrt(float(np.diag(gram).max())) * (1 + 8 * strategy.steps * EPS)
    if given.bins == 1:
        return Pairs((_gaussian(longest, sigma),), None)
    upper, lower = above(gram, sigma), below(gram, sigma)
    few = upper.order_two(given.bins, sigma) < (longest / sigma) ** 2 and upper.own * LEAST_SIGMA**2 < sigma**2
    top = _split(upper, given.bins, sigma, True) if few else _gaussian(longest, sigma)
    mixture = projected.of_bins(gram, sigma)
    attained = (_split(lower, given.bins, sigma, False), *([] if mixture is None else [_mixed(mixture)]))
    return Pairs((top,), attained)


def _split(split: Split, bins: int, sigma: float, upper: bool) -> Case:
    """Return the pair of a common move, composed with random allocation to the bins."""
    laws: list[Laws] = [(), ()]
    if sqrt(split.common) * _MOST_NOISE > sigma:
        case = _gaussian(sqrt(split.common), sigma)
        laws = [case.forward, case.backward]
    ratio = sigma / sqrt(split.own) if split.own else np.inf
    if upper or ratio <= MOST_SIGMA:
        both = (dominating if upper else dominated)(min(max(ratio, LEAST_SIGMA), MOST_SIGMA), bins)
        laws = [laws[0] + ((both.adding, 1),), laws[1] + ((both.removing, 1),)]
    return Case(*laws) if laws[0] else NOTHING


def _separated(strategy: Strategy, given: MinSeparation, sigma: float) -> Pairs:
    """Return the pair of a known pattern, or that of Poisson samples with more noise; attained: single coordinates.

    If u is the largest eigenvalue of C'C, independent noise of sigma / sqrt(u) in each step reveals no less. Given all
    earlier outputs, a record takes part in a step with probability p at most.
    """
    longest = longest_move(strategy, given.separation, strategy.steps)[1]
    widest = _norm(strategy)
    poisson = strategy.steps * log1p(given.probability**2 * np.expm1(min((widest / sigma) ** 2, 700.0)))
    top = _gaussian(longest, sigma)
    if poisson < (longest / sigma) ** 2:
        noise = Gaussian(min(sigma, _MOST_NOISE * widest))
        top = Sampled(Additive(noise, widest), given.probability).cases("zero_out", strategy.steps)[0]
    regular = np.zeros((2, strategy.steps))
    regular[0, :: given.separation] = regular[1] = 1.0
    directions = strategy.pushed(regular)
    moves = strategy.pulled(directions / np.linalg.norm(directions, axis=1)[:, None])
    found = [projected.of_steps(np.maximum(each, 0.0), given, sigma) for each in moves]
    attained = tuple(_mixed(mixture) for mixture in found if mixture is not None)
    return Pairs((top,), attained or (NOTHING,))


def _norm(strategy: Strategy) -> float:
    """Return a bound on the largest singular value of C: the root of its largest row sum times its largest column's."""
    ones = np.ones((1, strategy.steps))
    return sqrt(float(strategy.pushed(ones).max()) * float(strategy.pulled(ones).max())) * (1 + 1e-12)


@lru_cache(maxsize=64)
def _mixed(mixture: Mixture) -> Case:
    noise = Mixture(mixture.noise)
    forward, backward = (PairLoss(DominatingPair(((1.0, p, q),))) for p, q in ((mixture, noise), (noise, mixture)))
    return Case(((forward, 1),), ((backward, 1),))


_ROADS: dict[type[Any], Callable[..., Pairs]] = {
    SameBin: _same_bin,
    Cyclic: _cyclic,
    MinSeparation: _separated,
    Fixed: _fixed,
}
