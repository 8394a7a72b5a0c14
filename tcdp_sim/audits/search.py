"""The search for what refutes: all pairs and scores on small samples, the best on larger ones, one at the end.

Every stage has random streams of its own, so the last one, which bounds, knows nothing of those that chose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.audits import candidates, events, features, learnt, moments, sampling
from tcdp_sim.audits.arguments import Audit, Scoring
from tcdp_sim.audits.candidates import Pilot
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.counting import Counting, stage_streams
from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.moments import Moment
from tcdp_sim.audits.sampling import Counted, Counts, Pair, drawn, said
from tcdp_sim.audits.scores import Additive, Atoms, Column, LikelihoodRatio, Score
from tcdp_sim.errors import UserError

PILOTS = 400_000  # outputs of each input that the driver holds, of all pairs
PAIRS_KEPT = 3  # after the pilot
SCORES_KEPT = 5  # of a pair, after the pilot
OTHERS_KEPT = 2  # beside the mechanism's own likelihood ratio
AT_ONCE = 1_000_000  # outputs that choose, before it is known how rare the event is
EXTREMES = 64  # of a chunk, at each end of a score: thresholds of events that the pilot has not seen
TAIL = 100  # thresholds from each end of each input's scores
DISTINCT = 512  # scores of no more values get a threshold between any two
CLEARLY = 1.1, 3.0  # a score is better than the likelihood ratio if it shows 1.1 times as much, or 3 errors more
ENOUGH = 3000  # hits of the rarer input: a choice on so many is not to be bettered
ONE_SIGMA = 0.32  # doubt at which candidates are compared: a standard error on each side, beside those of luck


@dataclass(frozen=True)
class Sizes:
    """Outputs of each input: of a pilot; that make and that compare scores; that choose; that bound.

    further: what the choice gets besides where the event is rare.
    """

    pilot: int
    tables: int
    compare: int
    choose: int
    further: int
    bound: int


def sizes(trials: int, pairs: int) -> Sizes:
    """How many outputs each stage gets where the bound gets `trials`: together about half as many at most."""
    pilot = int(np.clip(trials // 50, min(500, trials), np.clip(PILOTS // pairs, 20_000, 200_000)))
    at_once = max(min(trials // 3, max(trials // 20, AT_ONCE)), pilot)
    return Sizes(
        pilot,
        max(min(trials // 10, 2_000_000), pilot),
        max(min(trials // 10, 1_000_000), pilot),
        at_once,
        max(trials // 3 - at_once, 0),
        trials,
    )


@dataclass(frozen=True, eq=False)
class Chosen:
    """What is put to the test: an event, or a moment of a score; seen: the scores that chose it, for the figure."""

    pair: Pair
    test: Event | Moment
    edges: Floats
    seen: Counts

    @property
    def counted(self) -> Counted:
        """What the bound needs of every output."""
        edges = np.array([self.test.threshold]) if isinstance(self.test, Event) else self.test.edges
        return Counted(Stack((self.test.score,)), (edges,))


@dataclass(frozen=True, eq=False)
class Stack:
    """Scores side by side: outputs -> (trials, scores)."""

    scores: tuple[Score, ...]

    def __call__(self, outputs: Any) -> Floats:
        return np.stack([score(outputs) for score in self.scores], axis=1)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A score of a pair, where its thresholds may lie, and how good it looks."""

    pair: Pair
    score: Score
    edges: Floats
    worth: tuple[float, float]


def search(counting: Counting, audit: Audit) -> Chosen | None:
    """What to put to the test on further outputs; None where the outputs that choose are the same. Raises UserError."""
    planned, one = sizes(audit.trials, len(audit.pairs)), audit.measure
    pilots = [_pilot(audit.sampler, pair, planned.pilot, audit.seed) for pair in audit.pairs]
    found: list[Candidate] = []
    for pilot in _ranked(pilots, one, audit.scoring):
        own = _best(_own(pilot, audit.scoring), pilot, one, 1)
        made = _from_pilot(pilot, audit.scoring.bits) if own else _scores(counting, pilot, planned.tables, audit)
        tried = pilot.scores_of_texts(made)
        found += own + _best(tried, pilot, one, OTHERS_KEPT if own else SCORES_KEPT)
    found = found or [each for pilot in pilots for each in _of_rare_outputs(pilot, audit.scoring, one)]
    if len(found) > 1:
        found = _compared(counting, found, one, planned.compare)
        found = [each for each in found if len(each.edges)] or found
    best = max(found, key=_preference)
    return _chosen(counting, best, one, planned, audit.doubt)


def _preference(candidate: Candidate) -> tuple[float, float]:
    """Its worth; no score is better than the likelihood ratio, so that one which seems to be has to be so clearly."""
    shown, apart = candidate.worth
    if isinstance(candidate.score, LikelihoodRatio):
        return shown * CLEARLY[0], apart + CLEARLY[1]
    return shown, apart


def _pilot(sampler: Any, pair: Pair, trials: int, seed: int) -> Pilot:
    sides = []
    for data, stream in zip((pair.data, pair.other), stage_streams("pilot", pair)):
        try:
            sides.append(np.concatenate(list(drawn(sampler, data, stream, seed, 0, trials))))
        except Exception as problem:  # whatever a mechanism may raise
            raise UserError(f"the mechanism cannot be audited: pair {pair.index}, pilot: {said(problem)}") from None
    if sides[0].shape[1:] != sides[1].shape[1:]:
        shapes = f"{sides[0].shape[1:]} and {sides[1].shape[1:]}"
        raise UserError(f"pair {pair.index}: outputs of the two inputs have shapes {shapes}; valid: the same")
    if len({side.dtype.kind in "US" for side in sides}) > 1:
        raise UserError(f"pair {pair.index}: outputs of one input are texts, of the other numbers; valid: the same")
    return Pilot(pair, candidates.alike(sides[0], sides[1]))


def _ranked(pilots: list[Pilot], one: Measure, scoring: Scoring) -> list[Pilot]:
    """The pairs that half of their pilot tells apart best, by scores made of the other half or the likelihood ratio."""
    if len(pilots) <= PAIRS_KEPT:
        return pilots

    def worth(pilot: Pilot) -> tuple[float, float]:
        if scoring.likelihood_ratio is not None:
            return max((each.worth for each in _best(_own(pilot, scoring), pilot, one, 1)), default=(0.0, 0.0))
        made, kept = (Pilot(pilot.pair, tuple(side[part::2] for side in pilot.outputs)) for part in (0, 1))
        tried = [score for score in _from_pilot(made, scoring.bits) if not isinstance(score, Column)]
        return max((each.worth for each in _best(tried, kept, one, 1)), default=(0.0, 0.0))

    return sorted(pilots, key=worth, reverse=True)[:PAIRS_KEPT]


def _own(pilot: Pilot, scoring: Scoring) -> list[Score]:
    """The mechanism's own likelihood ratio, if it gives one."""
    function = scoring.likelihood_ratio
    return [] if function is None else [LikelihoodRatio(function, pilot.pair.data, pilot.pair.other)]


def _from_pilot(pilot: Pilot, bits: bool) -> list[Score]:
    found = candidates.of_pilot(pilot, bits)
    first, second = (sampling.counted_at_once(found(side), found.counted.edges) for side in pilot.outputs)
    return candidates.scores(pilot, found, Counts(len(pilot.outputs[0]), (first, second), ([], []), ([], [])))


def _scores(counting: Counting, pilot: Pilot, trials: int, audit: Audit) -> list[Score]:
    scoring, found = audit.scoring, candidates.of_pilot(pilot, audit.scoring.bits)
    counts = counting.count("tables", pilot.pair, pilot.of_texts(found.counted), trials)
    made = candidates.scores(pilot, found, counts)
    complete = any(isinstance(score, Atoms) and len(score.ratios) * 20 <= trials for score in made)
    several = pilot.matrices[0].shape[1] > 1
    if scoring.learn and several and not complete and learnt.available():
        steps = next((score for score in made if isinstance(score, Additive) and score.kind == "value"), None)
        made += learnt.scores(*pilot.matrices, steps)
    return made


def _best(tried: Sequence[Score], pilot: Pilot, one: Measure, most: int) -> list[Candidate]:
    """The scores that tell the pilot's outputs apart best."""
    found = [_candidate(score, pilot, one) for score in tried]
    return sorted((each for each in found if len(each.edges)), key=lambda each: each.worth, reverse=True)[:most]


def _of_rare_outputs(pilot: Pilot, scoring: Scoring, one: Measure) -> list[Candidate]:
    """For pilots that tell nothing: scores without thresholds, which the extremes of larger samples may give them."""
    tried = _own(pilot, scoring) + pilot.scores_of_texts(candidates.plain(pilot))
    return [_candidate(score, pilot, one) for score in tried]


def _candidate(score: Score, pilot: Pilot, one: Measure) -> Candidate:
    sides = [score(side) for side in pilot.outputs]
    edges = thresholds(*sides)
    seen = [len(side) - np.searchsorted(np.sort(side), edges) for side in sides]
    return Candidate(pilot.pair, score, edges, _worth(one, score, Thresholds(edges, seen[0], seen[1], len(sides[0]))))


def _worth(one: Measure, score: Score, seen: Thresholds) -> tuple[float, float]:
    """To compare scores by: what the best event shows, and, where that is nothing yet, how likely it is to come."""
    return max(events.best(one, score, seen, seen.trials, ONE_SIGMA, (0.5,))[0], 0.0), events.told_apart(seen)


def thresholds(first: Floats, second: Floats) -> Floats:
    """Where events may begin: between any two values if there are few, else at ranks from both ends of both inputs."""
    values = np.unique(np.concatenate([first, second]))
    if len(values) <= DISTINCT:
        return features.middles(values)
    ordered = np.sort(first), np.sort(second)
    ranks = np.unique(np.geomspace(1, len(first), TAIL).astype(int))
    found = [side[ends] for side in ordered for ends in (len(side) - ranks, ranks - 1)]
    edges = np.unique(np.concatenate(found))
    return edges[edges > values[0]]


def _compared(counting: Counting, found: list[Candidate], one: Measure, trials: int) -> list[Candidate]:
    """The candidates with what a larger sample says of their worth, and thresholds as rare as its extremes."""
    compared = []
    for pair in {each.pair.index: each.pair for each in found}.values():
        own = [each for each in found if each.pair is pair]
        counted = Counted(Stack(tuple(each.score for each in own)), tuple(each.edges for each in own), EXTREMES)
        counts = counting.count("compare", pair, counted, trials)
        for column, each in enumerate(own):
            seen = seen_of(counts, column, each.edges)
            compared.append(Candidate(pair, each.score, seen.values, _worth(one, each.score, seen)))
    return compared


def seen_of(counts: Counts, column: int, edges: Floats) -> Thresholds:
    """Counts of a column as hits beyond thresholds: at its edges, and beyond them at the extremes, one by one."""
    beyond = []
    for side in (0, 1):
        cells = counts.cells[side][column]
        beyond.append(counts.trials - np.cumsum(cells)[:-1])
    low, high = ([side[column] for side in ends] for ends in (counts.low, counts.high))
    below = _least(low, edges[0] if len(edges) else np.inf)
    known = np.concatenate([below, edges])
    above = _largest(high, known[-1] if len(known) else -np.inf)
    values = np.concatenate([known, above])
    hits = []
    for side in (0, 1):
        upper = len(high[side]) - np.searchsorted(high[side], above) if len(above) else np.zeros(0, int)
        under = counts.trials - np.searchsorted(low[side], below) if len(below) else np.zeros(0, int)
        hits.append(np.concatenate([under, beyond[side], upper]).astype(np.int64))
    return Thresholds(values, hits[0], hits[1], counts.trials)


def _largest(ends: list[Floats], edge: float) -> Floats:
    """The extremes above an edge, ascending, each once, that no input has more of than it has kept.

    ends: the largest of each input. Of the least that is kept of an input there may be more.
    """
    complete = max((end[0] if len(end) else np.inf for end in ends), default=np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values > edge) & (values > complete)]


def _least(ends: list[Floats], edge: float) -> Floats:
    """The extremes below an edge, as above, but for the very least, below which nothing is.

    What lies below the largest that is kept of an input is known, also if there are more of it.
    """
    complete = min((end[-1] if len(end) else -np.inf for end in ends), default=-np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values < edge) & (values <= complete)][1:]


def _chosen(counting: Counting, best: Candidate, one: Measure, planned: Sizes, doubt: float) -> Chosen | None:
    counted = Counted(Stack((best.score,)), (best.edges,), EXTREMES)
    counts = counting.count("choose", best.pair, counted, planned.choose)
    seen = seen_of(counts, 0, best.edges)
    value, test = events.best(one, best.score, seen, planned.bound, doubt)
    if planned.further and (test is None or test.hits_of_rarer(seen) < ENOUGH):
        more = counting.count("choose a rare event", best.pair, counted, planned.further)
        counts = sampling.merged([counts, more])
        value, test = events.best(one, best.score, seen_of(counts, 0, best.edges), planned.bound, doubt)
    if one.orders:
        cells = counts.cells[0][0], counts.cells[1][0]
        larger, moment = moments.best(one, best.score, best.edges, cells, planned.bound, doubt)
        if moment is not None and larger > value:
            return Chosen(best.pair, moment, best.edges, counts)
    return None if test is None else Chosen(best.pair, test, best.edges, counts)
