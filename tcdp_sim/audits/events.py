"""The event that shows the largest bound: a score beyond a threshold, chosen on one sample and tested on another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from tcdp_sim.audits import binomial, odds, wording
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.joint import Joint
from tcdp_sim.audits.scores import Column, LikelihoodRatio, Score
from tcdp_sim.core.arrays import Bools, Floats, Ints

SURE = 8  # the observed number of hits of the rarer input is trusted from here on
FURTHER = 64  # together with SURE, this number of hits gives the slope of the fall towards rarer events
STEEPEST = 30.0
CURSE = 2.5  # the best of many candidates is assumed lucky by this many standard errors
# the same for likelihood ratios, for which rarer events do show more by the law itself, and for a yes or no, which has
# no threshold to choose
CURSE_OF_RATIOS = 1.25
CURSE_OF_FITTED = 1.8  # the same for fitted likelihood ratios, which are in between
# further penalty for the winner's curse, in squared standard errors: an event with few hits was partly chosen by luck
CURSE_OF_FEW = 2.0
LITTLE, LITTLE_OF_CLAIM = 1e-3, 0.02  # a forecast up to so many nats, or this share of the claim, is treated as none
VARIED = 2000  # hits of one input that are tried for the smallest value that would have been found
PRIOR = 4.0  # weight, in hits, of the fall extrapolated from SURE hits


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The number of outputs of each input that score at least each threshold.

    - values: the thresholds, ascending.
    - first, second: the hits of the two inputs, out of `trials` outputs each.
    """

    values: Floats
    first: Ints
    second: Ints
    trials: int


@dataclass(frozen=True, eq=False)
class Event:
    """The event {score >= threshold}, or {score < threshold} unless `upper`.

    Calling an event returns for each output whether it lies in it.

    - first: True if the first input makes the event likelier.
    - split: the share of the failure probability given to the likelier input's bound.
    - together: True if both counts give one bound on their ratio, which needs no split.
    """

    score: Score
    threshold: float
    upper: bool
    first: bool
    split: float
    together: bool = False

    @property
    def words(self) -> str:
        """The event in words."""
        return wording.event(self.score, self.threshold, self.upper)

    def hits_of_rarer(self, seen: Thresholds) -> int:
        """Return the hits of the input that makes the event rarer; the threshold must be one of `seen`."""
        beyond = int((seen.second if self.first else seen.first)[np.searchsorted(seen.values, self.threshold)])
        return beyond if self.upper else seen.trials - beyond

    def __call__(self, outputs) -> Bools:
        """Return a boolean for each of the outputs, shape (trials,)."""
        return (self.score(outputs) >= self.threshold) == self.upper


def best(
    one: Measure, score: Score, seen: Thresholds, trials: int, failure: float, splits=binomial.SPLITS
) -> tuple[float, Event | None]:
    """Return the bound that the best event is expected to show on `trials` fresh outputs of each input, and the event.

    The event is None without thresholds. `failure` is the failure probability of the later bound. The best of many
    events looks better than it is, so every forecast allows for some bad luck (`_luck`). If no forecast exceeds
    `little`, the event whose two frequencies differ by most standard errors is chosen.
    """
    found: tuple[float, Event | None] = (-np.inf, None)
    best_key = (-1.0, 0.0)
    curse = _curse(score)
    for upper, first, likely, rare in _sides(seen):
        shown = _forecast(one, likely, rare, seen.trials, trials, failure, splits, upper, curse)
        values = shown.max(axis=0)
        rarer = likely + rare <= seen.trials  # their complements are as far apart and show less
        apart = np.where(rarer, _errors_apart(likely, rare, seen.trials), 0.0)
        column = int(np.argmax(values if values.max() > little(one) else apart))
        key = float(values[column]) if values[column] > little(one) else 0.0, float(apart[column])
        if key > best_key:
            ways = [(split, False) for split in splits] + [(1.0, True)]
            event = Event(score, float(seen.values[column]), upper, first, *ways[int(np.argmax(shown[:, column]))])
            best_key, found = key, (float(values[column]), event)
    return found


def little(one: Measure) -> float:
    """Return the forecast that is treated as none."""
    return max(LITTLE, LITTLE_OF_CLAIM * one.claimed) if np.isfinite(one.claimed) else LITTLE


def _curse(score: Score) -> float:
    """Return the standard errors by which the best threshold of a score is assumed lucky."""
    if isinstance(score, LikelihoodRatio) or (isinstance(score, Column) and score.opposite):
        return CURSE_OF_RATIOS
    return CURSE_OF_FITTED if isinstance(score, Joint) else CURSE


def standard_errors_apart(seen: Thresholds) -> float:
    """Return the largest difference of the inputs' frequencies, in standard errors.

    Only events with at least SURE hits of each input count. The number ranks scores while the evidence is weak.
    """
    most = 0.0
    for _, _, likely, rare in _sides(seen):
        sure = (likely >= SURE) & (rare >= SURE)
        most = max(most, float(np.max(_errors_apart(likely, rare, seen.trials), initial=0.0, where=sure)))
    return most


def evidence(seen: Thresholds) -> float:
    """Return minus the decimal logarithm of the p-value that both inputs hit the best event alike, at least 0.

    The thresholds share the failure probability, so a yes or no needs fewer hits than a number. Few hits count too.
    """
    p_value = min((float(_p_values(likely, rare).min()) for _, _, likely, rare in _sides(seen)), default=1.0)
    return max(0.0, -float(np.log10(p_value * max(len(seen.values), 1))))


def _p_values(likely: Ints, rare: Ints) -> Floats:
    """Return the probability of `likely` or more of all hits for one input if both hit alike, at least 1e-300."""
    hits = np.maximum(likely, 1)
    return np.where(likely > 0, np.maximum(betainc(hits, np.asarray(rare) + 1.0, 0.5), 1e-300), 1.0)


def _errors_apart(likely: Ints, rare: Ints, trials: int) -> Floats:
    """Return the difference of the two frequencies in standard errors."""
    share = (likely + rare) / (2 * trials)
    return np.asarray((likely - rare) / np.sqrt(np.maximum(2 * share * (1 - share) * trials, 1)))


def _sides(seen: Thresholds) -> Iterator[tuple[bool, bool, Ints, Ints]]:
    """Yield (upper, first, hits of the likelier input, hits of the other) for all kinds of events.

    Nothing is yielded without thresholds.
    """
    for upper in (True, False) if len(seen.values) else ():
        hits = [counts if upper else seen.trials - counts for counts in (seen.first, seen.second)]
        yield upper, True, hits[0], hits[1]
        yield upper, False, hits[1], hits[0]


def _forecast(one, likely, rare, seen: int, trials: int, failure: float, splits, upper, curse: float) -> Floats:
    """Return the bound that each threshold is expected to show, shape (splits, thresholds).

    For pure DP there is one more row, for the bound from both counts together.
    """
    share = np.array(splits)[:, None]
    grow = np.array([[trials / seen]])
    with np.errstate(divide="ignore"):
        fewer = likely * np.exp(-_luck((1 - likely / seen) / likely, curse))
        more = _expected(likely, rare, upper) * np.exp(_luck((1 - rare / seen) / np.maximum(rare, SURE), curse))
    fewer, more = np.nan_to_num(fewer) * grow, np.minimum(more, seen) * grow
    low = binomial.forecast_lower(fewer, trials, share * failure)
    high = binomial.forecast_upper(more, trials, (1 - share) * failure)
    shown = np.nan_to_num(one.of_event(np.where(likely > 0, low, 0.0), high), nan=-np.inf, posinf=1e300)
    if not one.of_ratio:
        return shown
    together = np.where(likely > 0, np.log(odds.forecast(fewer, more, trials, failure)), -np.inf)
    return np.concatenate([shown, together])


def _luck(variance: Floats, curse: float) -> Floats:
    """Return the part of the log of a hit count that may be luck, given the variance of that log."""
    return curse * np.sqrt(variance) + CURSE_OF_FEW * variance


def _expected(likely: Any, rare: Any, upper: bool) -> Floats:
    """Return the hits of the rarer input that are to be expected at each threshold.

    From SURE hits upwards these hits fall as a power of the likelier input's. Below, where few hits say little, that
    power law is continued and blended with the hits seen.
    """
    order = slice(None, None, -1 if upper else 1)  # so that events grow
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


def bound(one: Measure, event: Event, hits: tuple[int, int], trials: int, failure: float) -> float:
    """Return the bound that an event shows at the confidence level 1 - failure, at least 0.

    `hits` holds the hits of the first and of the second input, out of `trials` outputs each. These outputs must not
    have chosen the event.
    """
    likely, rare = hits if event.first else hits[::-1]
    if event.together:
        return float(np.log(max(1.0, odds.lower_ratio(likely, rare, trials, failure))))
    low = binomial.lower_probability(likely, trials, event.split * failure)
    high = binomial.upper_probability(rare, trials, (1 - event.split) * failure)
    return max(0.0, float(one.of_event(low, high)))


def least_found(one: Measure, event: Event, hits: tuple[int, int], trials: int, failure: float) -> tuple[float, bool]:
    """Return the smallest value on this event whose expected hits give a bound above the claim, or inf.

    The hits of one input are taken as observed, or as one if there are none. The hits of the other input vary. The flag
    is True if such hits are expected at twice the claim.
    """
    likely, rare = (max(each, 1) for each in (hits if event.first else hits[::-1]))
    more = np.unique(np.geomspace(rare, trials, VARIED).astype(np.int64))
    fewer = np.unique(np.geomspace(1, likely, VARIED).astype(np.int64))
    tried = [(more, np.full_like(more, rare)), (np.full_like(fewer, likely), fewer)]
    high, low = (np.concatenate([pair[side] for pair in tried]) for side in (0, 1))
    refutes = _forecast_of_hits(one, event, high, low, trials, failure) > one.claimed
    high, low = high[refutes] / trials, low[refutes] / trials
    value = float(np.min(one.of_event(high, low), initial=np.inf))
    of_delta = one.delta > 0 and bool((high - np.exp(one.claimed) * low <= 2 * one.delta).any())
    return value, value <= 2 * one.claimed or of_delta


def _forecast_of_hits(one: Measure, event: Event, likely: Ints, rare: Ints, trials: int, failure: float) -> Floats:
    """Return the bound that these hits of the likelier and the rarer input give, elementwise."""
    if event.together:
        return np.log(odds.forecast(likely, rare, trials, failure))
    low = binomial.lower_probability(likely, trials, event.split * failure)
    return one.of_event(low, binomial.upper_probability(rare, trials, (1 - event.split) * failure))
