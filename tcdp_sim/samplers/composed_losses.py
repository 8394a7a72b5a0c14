"""The sum of the privacy losses of unequal releases, by importance sampling of each loss under a common tilt.

Each loss is drawn from a law near P e^(t L), with a weight. The tilt t puts the sum near the epsilon in question, so a
delta of 1e-12 needs no more draws than one of 0.1. A tilt affects the spread alone; means are right for any tilt.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp, log, log1p, pi

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import root
from tcdp_sim.samplers.release_pairs import ReleasePair, Tilted

Kinds = Sequence[tuple[ReleasePair, int]]
_TILTS = (1e-3, 300.0)
_FEW = 8  # outcomes that are counted instead of drawn one by one


def hockey_stick_and_slope(
    kinds: Kinds, epsilon: float, tilt: float, size: int, *, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return independent numbers with the means delta(epsilon) and -d delta / d epsilon of the composed pair."""
    total, log_weight = np.zeros(size), np.zeros(size)
    for pair, times in kinds:
        tilted = pair.tilted(tilt)
        for loss, weight in _drawn(tilted, times, size, rng):
            total += loss
            log_weight += weight
    gap = total - epsilon
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        weight = np.exp(np.where(gap > 0, log_weight, -np.inf))
        finite, slope = weight * -np.expm1(-np.maximum(gap, 0.0)), weight * np.exp(-np.maximum(gap, 0.0))
    return finite - np.expm1(log_kept(kinds)), slope


def log_kept(kinds: Kinds) -> float:
    """Return the log of the probability that no loss is infinite."""
    return sum(times * log1p(-pair.lost) for pair, times in kinds)


def _drawn(tilted: Tilted, times: int, size: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Yield sums of losses and of log weights: all times at once for a few outcomes, else one by one."""
    if tilted.sampler is None and len(tilted.loss) <= _FEW:
        counts = rng.multinomial(times, tilted.probability / tilted.probability.sum(), size)
        yield counts @ tilted.loss, counts @ tilted.log_weight
    else:
        for _ in range(times):
            yield tilted.draw(size, rng=rng)


def tilt_at(kinds: Kinds, epsilon: float) -> float:
    """Return the tilt under which the mean of the sum is about epsilon."""
    return _search(lambda tilt: _cumulants(kinds, tilt)[1] - epsilon)


def place_of(kinds: Kinds, delta: float) -> tuple[float, float]:
    """Return about the epsilon at which delta(epsilon) = delta, and its tilt, by a saddle-point approximation."""
    target = log(delta)

    def excess(tilt: float) -> float:
        log_total, mean, square = _cumulants(kinds, tilt)
        size = log_total - tilt * mean - log(tilt * (tilt + 1)) - 0.5 * log(2 * pi * max(square, 1e-12))
        return target - size

    tilt = _search(excess)
    return max(_cumulants(kinds, tilt)[1], 0.0), tilt


def _cumulants(kinds: Kinds, tilt: float) -> tuple[float, float, float]:
    """Return about log E e^(tilt L), mean and variance of the tilted sum."""
    parts = [(pair.tilted(tilt), times) for pair, times in kinds]
    moments = [(times * tilted.log_total, *(times * each for each in tilted.moments)) for tilted, times in parts]
    log_total, mean, square = (sum(column) for column in zip(*moments))
    return log_total, mean, square


def _search(rising: Callable[[float], float]) -> float:
    """Return the root of a rising function of the tilt, or an end of the range of tilts."""
    low, high = _TILTS
    if rising(low) >= 0:
        return low
    while low < high:
        further = min(4 * low, high)
        try:
            if rising(further) >= 0:
                return exp(root(lambda x: rising(exp(x)), log(low), log(further), 1e-3))
        except ValueError:  # no finite moment so far out
            return low
        low = further
    return high
