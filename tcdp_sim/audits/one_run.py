"""A lower bound on epsilon from guesses about the canaries of one run (Steinke, Nasr, Jagielski 2023 [SNJ23]).

Each canary is inside with probability 1/2, by a coin of its own. Under (epsilon, 0)-DP the number of correct guesses is
stochastically at most binomial, with r guesses of probability e^epsilon / (1 + e^epsilon) each. For delta > 0 the
public code of the authors adds 2 m delta max_i P[v - i <= W < v] / i to P[W >= v], with m canaries, v correct guesses
and this binomial W. The guesses may depend on the scores in any way, but not on the coins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc, expit

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq

FEWEST = 2  # guesses at each end of the smallest number of guesses that is tried
REACH = 10.0  # standard deviations around the mean of the correct guesses; the quotients beyond are bounded
MOST = 60.0  # the largest epsilon that is reported; floats cannot tell its guesses from certain ones


@dataclass(frozen=True)
class Guesses:
    """The guesses that the scores beyond two thresholds are inside and outside; the other canaries get no guess.

    - correct: the number of correct guesses.
    - made: the largest number of guesses that this rule may make.
    - inside: the scores at least this are guessed inside; if `larger` is "outside", the scores at most this. None if no
      canary is guessed inside.
    - outside: the same for the guesses "outside", at the other end.
    - larger: "inside" or "outside".
    """

    correct: int
    made: int
    inside: float | None
    outside: float | None
    larger: str

    @property
    def words(self) -> str:
        """The guesses in words."""
        signs = (">=", "<=") if self.larger == "inside" else ("<=", ">=")
        ends = zip(signs, (self.inside, self.outside), ("inside", "outside"))
        words = [f"score {sign} {end:.10g} is guessed {side}" for sign, end, side in ends if end is not None]
        return f"guess: {', '.join([*words, 'no other guess'])}"


def p_value(correct: int, made: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return a bound on the probability of so many correct guesses or more, under (epsilon, delta)-DP."""
    accuracy = float(expit(epsilon))

    def at_least(number: Any) -> Floats:
        return np.where(np.asarray(number) > 0, bdtrc(np.maximum(number, 1) - 1.0, made, accuracy), 1.0)

    tail = float(at_least(correct))
    if delta == 0 or correct == 0:
        return tail
    most = min(correct, max(1, int(correct - made * accuracy + REACH * made**0.5) + 1))
    fewer = np.arange(1, most + 1)
    beyond = 1 / (most + 1) if most < correct else 0.0  # no further quotient is larger
    lost = max(beyond, float(((at_least(correct - fewer) - tail) / fewer).max()))
    return min(1.0, tail + 2 * canaries * delta * lost)


def bound(correct: int, made: int, canaries: int, delta: float, failure: float) -> float:
    """Return the lower confidence bound on epsilon at delta, in nats, at least 0 and at most MOST."""

    def excess(epsilon: float) -> float:
        return p_value(correct, made, canaries, epsilon, delta) - failure

    if excess(0.0) >= 0:
        return 0.0
    if excess(MOST) < 0:
        return MOST
    found = float(brentq(excess, 0.0, MOST, xtol=1e-9))
    return max(0.0, found - 2e-9)


def guesses(inside: Floats, outside: Floats, larger: str) -> Iterator[Guesses]:
    """Yield guesses about a half, a quarter, ... of the canaries at both ends of the scores, fewer if scores are tied.

    `larger` is the side, "inside" or "outside", that large scores are guessed to be on. No guess depends on the coins.
    Equal scores get the same guess.
    """
    sign = 1.0 if larger == "inside" else -1.0
    one, other = np.sort(sign * inside), np.sort(sign * outside)
    scores = np.sort(np.concatenate([one, other]))
    for made in numbers(len(scores)):
        low, high = _at_ends(scores, made)
        top = float(scores[-high]) if high else None
        bottom = float(scores[low - 1]) if low else None
        right = 0 if top is None else len(one) - np.searchsorted(one, top, "left")
        right += 0 if bottom is None else np.searchsorted(other, bottom, "right")
        yield Guesses(int(right), made, _turned(top, sign), _turned(bottom, sign), larger)


def _turned(end: float | None, sign: float) -> float | None:
    return None if end is None else sign * end


def _at_ends(scores: Floats, made: int) -> tuple[int, int]:
    """Return how many of the least and of the largest scores get a guess: half of `made` each, unless scores are tied.

    Ties are kept whole. What they leave of the guesses goes to the other end, as far as its ties fit.
    """
    tied = np.unique(scores, return_counts=True)[1]
    ends = [np.concatenate([[0], np.cumsum(each)]) for each in (tied, tied[::-1])]

    def whole(end: int, most: int) -> int:
        return int(ends[end][np.searchsorted(ends[end], most, "right") - 1])

    taken = [whole(0, made // 2), whole(1, made // 2)]
    for end in (0, 1) if taken[0] < taken[1] else (1, 0):
        taken[end] = whole(end, made - taken[1 - end])
    return taken[0], taken[1]


def numbers(canaries: int) -> list[int]:
    """Return the numbers of guesses that are tried: all canaries, and an even number near a half, a quarter, ..."""
    return [canaries, *(2 * number for step in range(2, 60) if (number := canaries >> step) >= FEWEST)]
