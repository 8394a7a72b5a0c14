"""Exact bounds on the probabilities of {score > t} and {score < t}, for thresholds at fixed ranks and all at once.

A threshold t is the (r+1)-th largest score of one sample, with a rank r that is fixed in advance. The probability that
a fresh score of this sample exceeds t is at most the (r+1)-th smallest of m uniform numbers, whose law is a beta law.
This also holds if scores are tied. Given the sample, t is a fixed number for the other sample, whose hits are binomial.
So both probabilities have the ends of Clopper and Pearson (1934) [CP34], with r and with the hits.

An event has two kinds of bounds. Its ends are bounded one by one, for a band. Both together have a larger bound: the
p-values of the two ends are independent, so their product is at most c with probability at most c (1 - log c) (Fisher's
combination). The pairs of probabilities with a larger product are a confidence region with a curved border, covered
here by corners. The failure probability is shared by all events, and by regions and ends.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.audits.binomial import lower_probability, upper_probability
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.tradeoff import TradeOff
from tcdp_sim.core.arrays import Bools, Floats, Ints
from tcdp_sim.core.search import brentq

STEP = 1.5  # from one rank to the next; smaller steps cost more failure probability, larger ones miss the best event
REGIONS, MAIN, SPARE = 0.6, 0.35, 0.05  # shares of the failure probability: regions, ends that bound guarantees, others
CORNERS = 24  # of each region; more of them show at most 1% more
DIRECTIONS = ("inside", "outside")
ARRAYS = ("thresholds", "upper", "inside", "hits", "sizes", "low", "high", "corners")  # with an entry for each event


class Doubt(NamedTuple):
    """The failure probabilities of the region of each event, of each end that bounds a guarantee, and of each other."""

    region: float
    main: float
    spare: float


@dataclass(frozen=True, eq=False)
class Events:
    """Events of scores, each likelier under one sample, with bounds on their probabilities that hold all at once.

    - thresholds: t of each event.
    - upper: True for {score > t}, False for {score < t}.
    - inside: True if the event is meant to be likelier inside.
    - hits: the hits of the likelier and of the rarer sample, shape (2, events).
    - sizes: the sizes of these two samples, shape (2, events).
    - low, high: the ends of the probabilities under these two samples, shape (2, events).
    - corners: the corners that cover their confidence regions, shape (2, CORNERS, events).
    - doubt: the failure probabilities; the ends that bound a guarantee are `low[0]` and `high[1]`.
    """

    thresholds: Floats
    upper: Bools
    inside: Bools
    hits: Ints
    sizes: Ints
    low: Floats
    high: Floats
    corners: Floats
    doubt: Doubt

    def of_direction(self, direction: str) -> "Events":
        """Return the events that are meant for scores which are larger inside, or for ones larger outside."""
        which = self.upper == (self.inside == (direction == "inside"))
        arrays: dict[str, Any] = {name: getattr(self, name)[..., which] for name in ARRAYS}
        return replace(self, **arrays)

    def tradeoff(self) -> TradeOff:
        """Return the trade-off curve of the tests that reject "outside" if the score favours "inside".

        The events have to be of one direction.
        """
        seen, one, other = (self.errors(each) for each in (self.hits / self.sizes, self.low, self.high))
        lower, upper = np.minimum(one, other), np.maximum(one, other)
        order = np.lexsort((-seen[1], seen[0]))
        return TradeOff(*(each[order] for each in (*seen, lower[0], upper[0], lower[1], upper[1])))

    def errors(self, probabilities: Floats) -> Floats:
        """Return the type I and type II errors, shape (2, events), that belong to the probabilities of the events."""
        likely, rare = probabilities
        return np.stack([np.where(self.inside, rare, 1 - likely), np.where(self.inside, 1 - likely, rare)])


def ranks(size: int) -> Ints:
    """Return the numbers of scores beyond the thresholds of a sample, at most: 0, and shares of half of the sample."""
    steps = size / 2 / STEP ** np.arange(int(np.ceil(np.log(size) / np.log(STEP))))
    return np.unique(np.concatenate([[0], steps.astype(np.int64)]))


def doubt(inside: int, outside: int, failure: float, directions: tuple[str, ...] = DIRECTIONS) -> Doubt:
    """Return how the events of so many scores share the failure probability."""
    number = len(directions) * (len(ranks(inside)) + len(ranks(outside)))
    return Doubt(REGIONS * failure / number, MAIN * failure / (2 * number), SPARE * failure / (2 * number))


def events(inside: Floats, outside: Floats, failure: float, directions: tuple[str, ...] = DIRECTIONS) -> Events:
    """Return all events of two samples, with bounds that fail together with probability at most `failure`.

    The samples have at least two scores each, infinite ones included. `directions` holds "inside" if scores may be
    larger inside, "outside" if they may be larger outside.
    """
    shared = doubt(len(inside), len(outside), failure, directions)
    tails = []
    for direction in directions:
        upper = direction == "inside"
        tails += [_tail(inside, outside, upper, True, shared), _tail(outside, inside, not upper, False, shared)]
    joined: dict[str, Any] = {name: np.concatenate([getattr(each, name) for each in tails], axis=-1) for name in ARRAYS}
    return Events(**joined, doubt=shared)


def _tail(likely: Floats, rare: Floats, upper: bool, inside: bool, shared: Doubt) -> Events:
    """Return the events beyond thresholds of the rarer sample."""
    sign = 1.0 if upper else -1.0
    beyond, scores, others = ranks(len(rare)), np.sort(sign * rare), np.sort(sign * likely)
    thresholds = scores[len(rare) - 1 - beyond]
    hits = len(likely) - np.searchsorted(others, thresholds, "right")
    seen = len(rare) - np.searchsorted(scores, thresholds, "right")  # fewer than `beyond` if scores are tied
    low = [
        lower_probability(hits, len(likely), shared.main),
        np.where(seen == beyond, lower_probability(beyond, len(rare), shared.spare), 0.0),
    ]
    high = [upper_probability(hits, len(likely), shared.spare), upper_probability(beyond, len(rare), shared.main)]
    return Events(
        sign * thresholds, np.full(len(beyond), upper), np.full(len(beyond), inside), np.stack([hits, seen]),
        np.stack([np.full(len(beyond), len(likely)), np.full(len(beyond), len(rare))]), np.stack(low), np.stack(high),
        corners(hits, len(likely), beyond, len(rare), shared.region), shared,
    )  # fmt: skip


def of_each(one: Measure, found: Events) -> Floats:
    """Return the lower bound that each event shows on a number, -inf for none."""
    return np.maximum(one.of_event(found.low[0], found.high[1]), one.of_event(*found.corners).min(axis=0))


def corners(hits: Any, n: Any, beyond: Any, m: Any, failure: float) -> Floats:
    """Return the corners that cover the confidence region of each event, shape (2, CORNERS, events).

    `hits` of `n` scores of the likelier sample and at most `beyond` of `m` scores of the rarer one lie in the event.
    The first number of a corner is at most the likelier probability, and the second at least the rarer one.
    """
    c = brentq(lambda log_c: np.exp(log_c) * (1 - log_c) - failure, -700.0, np.log(failure))
    steps = c * np.linspace(0, 1, CORNERS + 1)[:, None]  # logs of the p-value of the likelier end
    low = lower_probability(hits, n, np.exp(steps[1:]))
    return np.stack(np.broadcast_arrays(low, upper_probability(beyond, m, np.exp(c - steps[:-1]))))
