"""The least error that noise exceeds with at most a given probability, by a search over the multiples of 1/2."""

from collections.abc import Callable
from math import log, sqrt

from tcdp_sim.core.numerics import Bounds

Tails = Callable[[int], Bounds]


def least_halves(tail: Tails, allowed: float, guess: int) -> Bounds[int]:
    """Return bounds on the least number h of halves with tail(h) <= allowed.

    The upper end h has tail(h).upper <= allowed. `tail` gives bounds on the least probability of an error beyond h/2,
    which falls with h. It is expensive, so the search calls it for few h. The probability `allowed` is in (0, 1). The
    search starts at `guess` >= 0.
    """
    low, high = _bracket(tail, allowed, guess)
    halved = True
    while (width := high - low) > 1:
        middle = _between(low, high, tail, allowed) if halved else (low + high) // 2
        low, high = (low, middle) if tail(middle).upper <= allowed else (middle, high)
        halved = 2 * (high - low) <= width + 1  # a step that gained little is followed by halving
    certain = low
    while certain >= 0 and tail(certain).lower <= allowed:
        certain -= 1
    return Bounds(certain + 1, high, high)


def _bracket(tail: Tails, allowed: float, guess: int) -> tuple[int, int]:
    """Return two places: one where the tail exceeds what is allowed (-1 if none is known) and one where it does not."""
    low, high, step = -1, guess, 1
    while tail(high).upper > allowed:
        low, high, step = high, high + step, 2 * step
    return low, high


def _between(low: int, high: int, tail: Tails, allowed: float) -> int:
    """Return the place where the tail would be as allowed if the root of its logarithm were linear.

    For a normal tail that is nearly so.
    """
    below, above = (0.0 if h < 0 else _depth(tail(h).upper) for h in (low, high))
    share = (_depth(allowed) - below) / (above - below) if above > below else 0.5
    return min(max(round(low + share * (high - low)), low + 1), high - 1)


def _depth(chance: float) -> float:
    return sqrt(max(-log(chance), 0.0)) if chance > 0 else 40.0
