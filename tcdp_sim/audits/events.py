"""The event that shows most: a score beyond a threshold, chosen on counts of one sample for the bound of another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits import binomial, odds
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.scores import LikelihoodRatio, Score
from tcdp_sim.core.arrays import Bools, Floats, Ints

SURE = 8  # hits of the rarer input from which on their number is believed
FURTHER = 64  # and those that tell, with them, how fast they fall towards rarer events
STEEPEST = 30.0
CURSE = 2.5  # standard errors that the best of many is taken to be lucky by
CURSE_OF_RATIOS = 1.25  # and where rarer events do tell more, by the law itself
CURSE_OF_FEW = 2.0  # and squares of standard errors: the fewer hits, the more of them are luck
LITTLE = 1e-3  # nats: a bound that is of no use
PRIOR = 4.0  # hits that the fall from SURE hits counts for


@dataclass(frozen=True, eq=False)
class Thresholds:
    """How many outputs of each input score at least as much: values ascending, first and second of `trials` each."""

    values: Floats
    first: Ints
    second: Ints
    trials: int


@dataclass(frozen=True, eq=False)
class Event:
    """{score >= threshold}, or {score < threshold} unless `upper`; first: whether the first input makes it likelier.

    split: the share of the doubt that the likelier input's bound gets; together: both counts give one bound, of their
    ratio, and there is no split. Calling it says of each output whether it is in.
    """

    score: Score
    threshold: float
    upper: bool
    first: bool
    split: float
    together: bool = False

    @property
    def words(self) -> str:
        """The event, for people."""
        return f"{self.score.words} {'>=' if self.upper else '<'} {self.threshold:.10g}"

    def hits_of_rarer(self, seen: Thresholds) -> int:
        """How many outputs of the input that makes it rarer were in it, where its threshold is one of those seen."""
        beyond = int((seen.second if self.first else seen.first)[np.searchsorted(seen.values, self.threshold)])
        return beyond if self.upper else seen.trials - beyond

    def __call__(self, outputs) -> Bools:
        """outputs: shape (trials, ...) -> (trials,)."""
        return (self.score(outputs) >= self.threshold) == self.upper


def best(
    one: Measure, score: Score, seen: Thresholds, trials: int, doubt: float, splits=binomial.SPLITS
) -> tuple[float, Event | None]:
    """(what the best event is expected to show, the event) in `trials` further outputs of each input.

    None without thresholds. doubt: of the bound to come. The best of many looks better than it is: each is expected to
    show what it would with some bad luck (`_luck`). Where that is no more than LITTLE, the best is
    the event whose shares differ by most standard errors.
    """
    found: tuple[float, Event | None] = (-np.inf, None)
    best_key = (-1.0, 0.0)
    curse = CURSE_OF_RATIOS if isinstance(score, LikelihoodRatio) else CURSE
    for upper, first, likely, rare in _sides(seen):
        shown = _forecast(one, likely, rare, seen.trials, trials, doubt, splits, upper, curse)
        values = shown.max(axis=0)
        rarer = likely + rare <= seen.trials  # than their complements, which are as far apart and show less
        apart = np.where(rarer, _errors_apart(likely, rare, seen.trials), 0.0)
        column = int(np.argmax(values if values.max() > LITTLE else apart))
        key = float(values[column]) if values[column] > LITTLE else 0.0, float(apart[column])
        if key > best_key:
            ways = [(split, False) for split in splits] + [(1.0, True)]
            event = Event(score, float(seen.values[column]), upper, first, *ways[int(np.argmax(shown[:, column]))])
            best_key, found = key, (float(values[column]), event)
    return found


def told_apart(seen: Thresholds) -> float:
    """By how many standard errors the inputs' shares differ most, of events with SURE hits: for weak evidence."""
    most = 0.0
    for _, _, likely, rare in _sides(seen):
        sure = (likely >= SURE) & (rare >= SURE)
        most = max(most, float(np.max(_errors_apart(likely, rare, seen.trials), initial=0.0, where=sure)))
    return most


def _errors_apart(likely: Ints, rare: Ints, trials: int) -> Floats:
    share = (likely + rare) / (2 * trials)
    return np.asarray((likely - rare) / np.sqrt(np.maximum(2 * share * (1 - share) * trials, 1)))


def _sides(seen: Thresholds) -> Iterator[tuple[bool, bool, Ints, Ints]]:
    """(upper, first, hits of the likelier input, hits of the other) of all events; none without thresholds."""
    for upper in (True, False) if len(seen.values) else ():
        hits = [counts if upper else seen.trials - counts for counts in (seen.first, seen.second)]
        yield upper, True, hits[0], hits[1]
        yield upper, False, hits[1], hits[0]


def _forecast(one, likely, rare, seen: int, trials: int, doubt: float, splits, upper, curse: float) -> Floats:
    """What each threshold is expected to show, shape (splits, thresholds); of pure DP also by both counts together."""
    share = np.array(splits)[:, None]
    grow = np.array([[trials / seen]])
    with np.errstate(divide="ignore"):
        fewer = likely * np.exp(-_luck((1 - likely / seen) / likely, curse))
        more = _expected(likely, rare, upper) * np.exp(_luck((1 - rare / seen) / np.maximum(rare, SURE), curse))
    fewer, more = np.nan_to_num(fewer) * grow, np.minimum(more, seen) * grow
    low = binomial.forecast_lower(fewer, trials, share * doubt)
    high = binomial.forecast_upper(more, trials, (1 - share) * doubt)
    shown = np.nan_to_num(one.of_event(np.where(likely > 0, low, 0.0), high), nan=-np.inf, posinf=1e300)
    if not one.of_ratio:
        return shown
    together = np.where(likely > 0, np.log(odds.forecast(fewer, more, trials, doubt)), -np.inf)
    return np.concatenate([shown, together])


def _luck(variance: Floats, curse: float) -> Floats:
    """How much of the log of a number of hits may be luck; variance: of the log, one over the hits if they are rare."""
    return curse * np.sqrt(variance) + CURSE_OF_FEW * variance


def _expected(likely: Any, rare: Any, upper: bool) -> Floats:
    """The rarer input's hits as they are to be expected: few of them say little, and their fall goes on.

    Where there are SURE hits and more, they fall as a power of the likelier input's; that goes on below.
    """
    order = slice(None, None, -1 if upper else 1)  # growing events
    likely, rare = np.asarray(likely[order], np.float64), np.asarray(rare[order], np.float64)
    near = int(np.searchsorted(rare, SURE))
    if near == len(rare) or likely[near] <= 0:
        return np.asarray((rare + 1)[order], np.float64)
    far = min(int(np.searchsorted(rare, FURTHER)), len(rare) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.log(rare[far] / rare[near]) / np.log(likely[far] / likely[near])
        power = np.clip(np.nan_to_num(power, nan=1.0, posinf=STEEPEST), 1.0, STEEPEST)
        onwards = rare[near] * (np.minimum(likely / likely[near], 1.0)) ** power
        smooth = (PRIOR + rare) / (PRIOR / np.maximum(onwards, 1e-12) + 1)
    return np.asarray(np.where(rare < SURE, smooth, rare)[order], np.float64)


def bound(one: Measure, event: Event, hits: tuple[int, int], trials: int, doubt: float) -> float:
    """What an event shows for certain, up to the doubt; at least 0. hits: of the first and of the second input.

    The hits must not have chosen the event. trials: outputs of each input.
    """
    likely, rare = hits if event.first else hits[::-1]
    if event.together:
        return float(np.log(max(1.0, odds.lower_ratio(likely, rare, trials, doubt))))
    low = binomial.lower_probability(likely, trials, event.split * doubt)
    high = binomial.upper_probability(rare, trials, (1 - event.split) * doubt)
    return max(0.0, float(one.of_event(low, high)))


def least_found(one: Measure, event: Event, hits: tuple[int, int], trials: int, doubt: float) -> float:
    """The smallest number on this event whose expected hits give a bound above the claim; inf if none does.

    hits: as for `bound`, of which the rarer input's are taken for what is expected, one hit where there is none.
    """
    rare = max(hits[1] if event.first else hits[0], 1)
    likely = np.unique(np.geomspace(rare, trials, 4000).astype(np.int64))
    if event.together:
        shown = np.log(odds.forecast(likely, rare, trials, doubt))
    else:
        low = binomial.lower_probability(likely, trials, event.split * doubt)
        shown = one.of_event(low, binomial.upper_probability(rare, trials, (1 - event.split) * doubt))
    refuting = np.flatnonzero(shown > one.claimed)
    if not len(refuting):
        return np.inf
    return float(one.of_event(likely[refuting[0]] / trials, rare / trials))
