"""The search for what refutes: all pairs and scores on small samples, the best on larger ones, one at the end.

Every stage has random streams of its own, so the last one, which bounds, knows nothing of those that chose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits import candidates, events, learnt, moments, sampling, thresholds
from tcdp_sim.audits.arguments import Audit, Scoring
from tcdp_sim.audits.candidates import Pilot
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.counting import Counting, stage_streams
from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.moments import Moment
from tcdp_sim.audits.sampling import Counted, Counts, Pair, drawn, said
from tcdp_sim.audits.scores import Additive, Atoms, Column, LikelihoodRatio, Score
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError

PILOTS = 400_000  # outputs of each input that the driver holds, of all pairs
PAIRS_KEPT = 3  # once they are ranked
SCORES_RANKED = 2  # of a pair, to rank it by
SCORES_KEPT = 5  # of a pair, after the pilot
OTHERS_KEPT = 2  # beside the mechanism's own likelihood ratio
FINAL_PAIRS = 2  # that choose an event each
FINAL_SCORES = 2  # of the better pair, unless the likelihood ratio is best
GROWTH = 3  # to how many times its size a sample's forecast is trusted: few hits are luck
AT_ONCE = 1_000_000  # outputs that choose, before it is known how rare the event is
EXTREMES = 64  # of a chunk, at each end of a score: thresholds of events that the pilot has not seen
CLEARLY = 1.1, 3.0  # a score is better than the likelihood ratio if it shows 1.1 times as much, or 3 errors more
ENOUGH = 3000  # hits of the rarer input: a choice on so many is not to be bettered
ONE_SIGMA = 0.32  # doubt at which candidates are compared: a standard error on each side, beside those of luck


@dataclass(frozen=True)
class Sizes:
    """Outputs of each input: of a pilot; that rank pairs; that make and that compare scores; that choose; that bound.

    choose: of each finalist; further: what the choice gets besides where the event is rare.
    """

    pilot: int
    rank: int
    tables: int
    compare: int
    choose: int
    further: int
    bound: int


def sizes(trials: int, pairs: int) -> Sizes:
    """How many outputs each stage gets where the bound gets `trials`: together about half as many at most."""
    pilot = int(np.clip(trials // 50, min(500, trials), np.clip(PILOTS // pairs, 20_000, 200_000)))
    at_once = max(min(trials // 3, max(trials // 10, AT_ONCE)), pilot)
    return Sizes(
        pilot,
        max(min(trials // 40, 1_000_000), pilot),
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
    for pilot in _ranked(counting, pilots, planned.rank, audit):
        own = _best(_own(pilot, audit.scoring), pilot, one, 1)
        made = _from_pilot(pilot, audit.scoring.bits) if own else _scores(counting, pilot, planned.tables, audit)
        tried = pilot.scores_of_texts(made)
        found += own + _best(tried, pilot, one, OTHERS_KEPT if own else SCORES_KEPT)
    found = found or [each for pilot in pilots for each in _of_rare_outputs(pilot, audit.scoring, one)]
    if len(found) > 1:
        found = _compared(counting, found, one, planned.compare, "compare")
        found = [each for each in found if len(each.edges)] or found
    return _chosen(counting, _finalists(found), one, planned, audit.doubt)


def _finalists(found: list[Candidate]) -> list[Candidate]:
    """The best candidates: of the best pair FINAL_SCORES, of the next best one. A likelihood ratio needs no rivals."""
    ordered = sorted(found, key=_preference, reverse=True)
    order = list(dict.fromkeys(each.pair.index for each in ordered))[:FINAL_PAIRS]
    of_pairs = [[each for each in ordered if each.pair.index == index] for index in order]
    first = of_pairs[0][:1] if isinstance(ordered[0].score, LikelihoodRatio) else of_pairs[0][:FINAL_SCORES]
    return first + [each[0] for each in of_pairs[1:]]


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


def _ranked(counting: Counting, pilots: list[Pilot], trials: int, audit: Audit) -> list[Pilot]:
    """The pairs that fresh outputs tell apart best, by the scores that are most promising in the pilot."""
    if len(pilots) <= PAIRS_KEPT:
        return pilots
    promising = [each for pilot in pilots for each in _promising(pilot, audit.measure, audit.scoring)]
    compared = _compared(counting, promising, audit.measure, trials, "rank")

    def worth(pilot: Pilot) -> tuple[float, float]:
        return max((each.worth for each in compared if each.pair is pilot.pair), default=(0.0, 0.0))

    return sorted(pilots, key=worth, reverse=True)[:PAIRS_KEPT]


def _promising(pilot: Pilot, one: Measure, scoring: Scoring) -> list[Candidate]:
    """The likelihood ratio, or scores that are made of half of the pilot and do best on the other half."""
    if scoring.likelihood_ratio is not None:
        return _best(_own(pilot, scoring), pilot, one, 1)
    made, kept = (Pilot(pilot.pair, tuple(side[part::2] for side in pilot.outputs)) for part in (0, 1))
    tried = [score for score in _from_pilot(made, scoring.bits) if not isinstance(score, Column)]
    return _best(pilot.scores_of_texts(tried), kept, one, SCORES_RANKED)


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
    edges = thresholds.of_outputs(*sides)
    seen = [len(side) - np.searchsorted(np.sort(side), edges) for side in sides]
    return Candidate(pilot.pair, score, edges, _worth(one, score, Thresholds(edges, seen[0], seen[1], len(sides[0]))))


def _worth(one: Measure, score: Score, seen: Thresholds) -> tuple[float, float]:
    """To compare scores by: what the best event shows, and, where that is nothing yet, how likely it is to come."""
    return max(events.best(one, score, seen, seen.trials, ONE_SIGMA, (0.5,))[0], 0.0), events.told_apart(seen)


def _compared(counting: Counting, found: list[Candidate], one: Measure, trials: int, stage: str) -> list[Candidate]:
    """The candidates with what a larger sample says of their worth, and thresholds as rare as its extremes."""
    compared = []
    for pair in {each.pair.index: each.pair for each in found}.values():
        own = [each for each in found if each.pair is pair]
        counted = Counted(Stack(tuple(each.score for each in own)), tuple(each.edges for each in own), EXTREMES)
        counts = counting.count(stage, pair, counted, trials)
        for column, each in enumerate(own):
            seen = thresholds.of_counts(counts, column, each.edges)
            compared.append(Candidate(pair, each.score, seen.values, _worth(one, each.score, seen)))
    return compared


def _chosen(
    counting: Counting, finalists: list[Candidate], one: Measure, planned: Sizes, doubt: float
) -> Chosen | None:
    """The best finalist's event or moment; a rare event is chosen anew on more outputs. None without thresholds."""
    trusted = min(GROWTH * planned.choose, planned.bound)
    finals = _finals(counting, finalists, planned.choose)
    final, counts = max(finals, key=lambda each: _test(one, each[0], each[1], trusted, doubt)[0])
    test = _test(one, final, counts, planned.bound, doubt)[1]
    if planned.further and not _seen_enough(test, final, counts):
        counted = Counted(Stack((final.score,)), (final.edges,), EXTREMES)
        more = counting.count("choose a rare event", final.pair, counted, planned.further)
        counts = sampling.merged([counts, more])
        test = _test(one, final, counts, planned.bound, doubt)[1]
    return None if test is None else Chosen(final.pair, test, final.edges, counts)


def _finals(counting: Counting, finalists: list[Candidate], trials: int) -> list[tuple[Candidate, Counts]]:
    """Each finalist with the counts of its score; those of a pair share their outputs."""
    finals = []
    for pair in {each.pair.index: each.pair for each in finalists}.values():
        own = [each for each in finalists if each.pair is pair]
        counted = Counted(Stack(tuple(each.score for each in own)), tuple(each.edges for each in own), EXTREMES)
        counts = counting.count("choose", pair, counted, trials)
        finals += [(each, sampling.column(counts, number)) for number, each in enumerate(own)]
    return finals


def _test(
    one: Measure, final: Candidate, counts: Counts, trials: int, doubt: float
) -> tuple[float, Event | Moment | None]:
    """(what it is expected to show in `trials` further outputs, the best event or moment of a score)."""
    value, event = events.best(one, final.score, thresholds.of_counts(counts, 0, final.edges), trials, doubt)
    if one.orders:
        cells = counts.cells[0][0], counts.cells[1][0]
        larger, moment = moments.best(one, final.score, final.edges, cells, trials, doubt)
        if moment is not None and larger > value:
            return larger, moment
    return value, event


def _seen_enough(test: Event | Moment | None, final: Candidate, counts: Counts) -> bool:
    """Whether more outputs would not better the choice."""
    if isinstance(test, Event):
        return test.hits_of_rarer(thresholds.of_counts(counts, 0, final.edges)) >= ENOUGH
    return test is not None
