"""The search for the event or moment that shows the largest bound.

All pairs and scores are tried on small samples, the best ones on larger samples, and one is left at the end. Every
stage has its own random streams, so the sample for the bound is independent of the samples that chose the test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from tcdp_sim.audits import candidates, events, layout, learnt, moments, outputs, sampling, thresholds
from tcdp_sim.audits.arguments import Audit, Scoring
from tcdp_sim.audits.candidates import Pilot
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.counting import Counting, stage_streams
from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.joint import Joint
from tcdp_sim.audits.moments import Moment
from tcdp_sim.audits.reading import Reader, Regular
from tcdp_sim.audits.sampling import Counted, Counts, Pair, drawn_raw, said
from tcdp_sim.audits.scores import Additive, Atoms, Column, LikelihoodRatio, Score
from tcdp_sim.audits.stages import AGAIN_PAIRS, FINAL_PAIRS, PAIRS_KEPT, Sizes, sizes
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError

SCORES_RANKED = 2  # scores of a pair that its rank is computed from
SCORES_KEPT = 5  # scores of a pair that remain after the pilot
OTHERS_KEPT = 2  # scores that remain beside the mechanism's own likelihood ratio
PARTS_KEPT = 16  # parts of outputs such as dicts that choose an event for each pair
FINAL_SCORES = 2  # scores of the best pair that choose an event, unless the likelihood ratio is best
GROWTH = 3  # a forecast is trusted up to this multiple of its sample's size, because few hits are luck
EXTREMES = 64  # extreme scores kept from each chunk, as thresholds of events that the pilot has not seen
CLEARLY = 1.1, 3.0  # a score beats the likelihood ratio if it shows 1.1 times as much, or 3 standard errors more
CLEAR = 1.05  # a part of an output is preferred to a sum of several that shows 5% more
PLAIN = 1.01  # a number of an output is preferred to a sum of several that shows 1% more
ENOUGH = 3000  # hits of the rarer input beyond which more outputs cannot improve the choice
ONE_SIGMA = 0.32  # failure probability when candidates are compared: one standard error on each side


@dataclass(frozen=True, eq=False)
class Chosen:
    """The event or moment to put to the test, with the score's counts that chose it (for the figure)."""

    pair: Pair
    test: Event | Moment
    edges: Floats
    seen: Counts

    @property
    def counted(self) -> Counted:
        """The column and edges to count for the bound."""
        edges = np.array([self.test.threshold]) if isinstance(self.test, Event) else self.test.edges
        return Counted(Stack((self.test.score,)), (edges,))


@dataclass(frozen=True, eq=False)
class Stack:
    """Several scores side by side: outputs to an array of shape (trials, scores)."""

    scores: tuple[Score, ...]

    def __call__(self, outputs: Any) -> Floats:
        return np.stack([score(outputs) for score in self.scores], axis=1)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A score of a pair with its possible thresholds, its worth (`_worth`) and its evidence (`events.evidence`)."""

    pair: Pair
    score: Score
    edges: Floats
    worth: tuple[float, float]
    evidence: float = 0.0


def search(counting: Counting, audit: Audit) -> Chosen | None:
    """Return the event or moment to put to the test on fresh outputs. Raises UserError.

    The result is None if all outputs that could choose one are the same.
    """
    planned, one = _planned(audit), audit.measure
    pilots = _pilots(counting, audit, planned.pilot)
    found: list[Candidate] = []
    for pilot in _ranked(counting, pilots, planned, audit):
        own = _best(_own(pilot, audit.scoring), pilot, one, 1)
        made = _from_pilot(pilot, audit.scoring.bits) if own else _scores(counting, pilot, planned, audit)
        found += own + _best(made, pilot, one, OTHERS_KEPT if own else SCORES_KEPT) + _parts(pilot, one)
    found = found or [each for pilot in pilots for each in _of_rare_outputs(pilot, audit.scoring, one)]
    if len(found) > 1:
        found = _compared(counting, found, one, planned.compare, "compare")
        found = [each for each in found if len(each.edges)] or found
    if planned.again and len(found) > 1:
        found = _compared(counting, _of_best_pairs(found, AGAIN_PAIRS), one, planned.again, "compare again")
    return _chosen(counting, _finalists(found), one, planned, audit.failure)


def _planned(audit: Audit) -> Sizes:
    """Return the size of each stage. A mechanism's own likelihood ratio ranks pairs well from a few outputs."""
    planned = sizes(audit.trials, len(audit.pairs))
    if audit.scoring.likelihood_ratio is None:
        return planned
    return replace(planned, again=0, pairs=min(planned.pairs, PAIRS_KEPT))


def _finalists(found: list[Candidate]) -> list[Candidate]:
    """Return the candidates that each choose an event: FINAL_SCORES of the best pair, one of the next best.

    The best part of the output joins them for each pair, and for outputs such as dicts the PARTS_KEPT parts with most
    evidence. A likelihood ratio that ranks first is the only finalist of its pair.
    """
    ordered = _of_best_pairs(found, FINAL_PAIRS)
    order = dict.fromkeys(each.pair.index for each in ordered)
    of_pairs = [[each for each in ordered if each.pair.index == index] for index in order]
    most = [FINAL_SCORES] + [1] * len(of_pairs)
    if isinstance(ordered[0].score, LikelihoodRatio):
        return [each[0] for each in of_pairs]
    kept = [_with_part(own, count) + _telling_parts(own, PARTS_KEPT) for own, count in zip(of_pairs, most)]
    return list(dict.fromkeys(each for own in kept for each in own))


def _telling_parts(ordered: list[Candidate], most: int) -> list[Candidate]:
    """Return the parts of outputs such as dicts that inputs tell apart most surely, however seldom they do."""
    parts = [each for each in ordered if isinstance(each.score, Column) and each.score.clear]
    return sorted(parts, key=lambda each: -each.evidence)[:most]


def _with_part(ordered: list[Candidate], most: int) -> list[Candidate]:
    """Return the first candidates of a pair, and the first that is a part of the output."""
    first, rest = ordered[:most], ordered[most:]
    return first + [each for each in rest if _is_part(each.score) and not any(_is_part(one.score) for one in first)][:1]


def _of_best_pairs(found: list[Candidate], most: int) -> list[Candidate]:
    """Return the candidates of the best pairs, best first. Each second pair is the one with the most telling part."""
    ordered = sorted(found, key=_preference, reverse=True)
    in_turn = zip_longest(ordered, _telling_parts(ordered, len(ordered)))
    best = list(dict.fromkeys(each.pair.index for both in in_turn for each in both if each is not None))[:most]
    return [each for each in ordered if each.pair.index in best]


def _preference(candidate: Candidate) -> tuple[float, float]:
    """Return the sort key of a candidate. Another score must beat the likelihood ratio by a clear margin.

    The likelihood ratio is optimal, so a score that seems better usually has been lucky (CLEARLY).
    """
    shown, apart = candidate.worth
    if isinstance(candidate.score, LikelihoodRatio):
        return shown * CLEARLY[0], apart + CLEARLY[1]
    return shown * _clarity(candidate.score), apart


def _clarity(score: Score) -> float:
    """Return the factor by which a score is preferred because people understand its events.

    Those of joint cells are hard to read, and have to show clearly more.
    """
    if isinstance(score, Joint):
        return 1 / CLEARLY[0]
    if not isinstance(score, Column) or not score.clear:
        return PLAIN if _is_part(score) else 1.0
    return CLEAR + 0.01 if score.opposite else CLEAR  # a yes or no before a number that says the same


def _is_part(score: Score) -> bool:
    """Return True for a score that is one part of the output, such as a number or a yes or no."""
    return isinstance(score, Column) and score.kind == "value"


def _pilots(counting: Counting, audit: Audit, trials: int) -> list[Pilot]:
    """Draw the pilots of all pairs in this process, and fix how outputs are read. Raises UserError.

    A mechanism that fails for every input has no outputs, so its error ends the audit.
    """
    raw = [_raw_pilot(counting, pair, trials, audit.seed) for pair in audit.pairs]
    sides = [side for pair in raw for side in pair]
    failed = [output for side in sides for output in side if isinstance(output, outputs.Raised)]
    if failed and len(failed) == sum(map(len, sides)):
        message = f"{failed[0].name}: {failed[0].message}"
        raise UserError(f"the mechanism cannot be audited: it raises an exception for every input ({message})")
    try:
        read = _reading(sides)
    except ValueError as problem:
        raise UserError(f"the outputs cannot be read: {problem}") from None
    counting.drawing = replace(counting.drawing, read=read)
    names = tuple((each.words, each.opposite) for each in read.questions) if isinstance(read, Reader) else None
    return [Pilot(pair, (read(one), read(other)), names) for pair, (one, other) in zip(audit.pairs, raw)]


def _reading(sides: list[Any]) -> Reader | Regular:
    """Return the function that reads outputs like these as numbers or texts. Raises ValueError."""
    if layout.needed(sides):
        return layout.reader([output for side in sides for output in side])
    dtype = np.result_type(*sides) if sides[0].dtype.kind in "US" else sides[0].dtype
    return Regular(sides[0].shape[1:], dtype.str)


def _raw_pilot(counting: Counting, pair: Pair, trials: int, seed: int) -> tuple[Any, Any]:
    """Return the pilot's outputs of both inputs as they were drawn. Raises UserError if the mechanism fails."""
    streams = stage_streams("pilot", pair)
    try:
        blocks = list(drawn_raw(counting.drawing, pair, streams, seed, 0, trials))
    except Exception as problem:  # a mechanism may raise anything
        raise UserError(f"the mechanism cannot be audited: pair {pair.index}, pilot: {said(problem)}") from None
    first, second = (outputs.joined([block[side] for block in blocks]) for side in (0, 1))
    return first, second


def _ranked(counting: Counting, pilots: list[Pilot], planned: Sizes, audit: Audit) -> list[Pilot]:
    """Return the pairs that fresh outputs tell apart best, by their most promising scores."""
    if len(pilots) <= planned.pairs:
        return pilots
    one = audit.measure
    promising = [each for pilot in pilots for each in _promising(pilot, one, audit.scoring) + _parts(pilot, one)]
    compared = _compared(counting, promising, one, planned.rank, "rank")

    def worth(pilot: Pilot) -> tuple[float, float]:
        return max((each.worth for each in compared if each.pair is pilot.pair), default=(0.0, 0.0))

    return sorted(pilots, key=worth, reverse=True)[: planned.pairs]


def _promising(pilot: Pilot, one: Measure, scoring: Scoring) -> list[Candidate]:
    """Return the likelihood ratio, or else scores made from one half of the pilot that do best on the other half."""
    if scoring.likelihood_ratio is not None and not pilot.names:
        return _best(_own(pilot, scoring), pilot, one, 1)
    made, kept = (replace(pilot, outputs=tuple(side[part::2] for side in pilot.outputs)) for part in (0, 1))
    tried = [score for score in _from_pilot(made, scoring.bits) if not isinstance(score, Column)]
    return _best(tried, kept, one, SCORES_RANKED)


def _own(pilot: Pilot, scoring: Scoring) -> list[Score]:
    """Return the mechanism's own likelihood ratio as a list, empty if it has none or outputs are not alike."""
    function = scoring.likelihood_ratio
    return [] if function is None or pilot.names else [LikelihoodRatio(function, pilot.pair.data, pilot.pair.other)]


def _from_pilot(pilot: Pilot, bits: bool) -> list[Score]:
    """Return scores made from the pilot's own counts."""
    found = candidates.of_pilot(pilot, bits)
    first, second = (sampling.counted_at_once(found(side), found.counted.edges) for side in pilot.outputs)
    return candidates.scores(pilot, found, Counts(len(pilot.outputs[0]), (first, second), ([], []), ([], [])))


def _scores(counting: Counting, pilot: Pilot, planned: Sizes, audit: Audit) -> list[Score]:
    """Return scores made from the counts of a larger sample, with learnt ones where they may help."""
    scoring, trials = audit.scoring, planned.tables
    found = candidates.of_pilot(pilot, scoring.bits, rare=planned.further > 0)
    counts = counting.count("tables", pilot.pair, found.counted, trials)
    made = candidates.scores(pilot, found, counts)
    complete = any(isinstance(score, Atoms) and len(score.ratios) * 20 <= trials for score in made)
    several = pilot.matrices[0].shape[1] > 1
    if scoring.learn and several and not complete and learnt.available():
        steps = next((score for score in made if isinstance(score, Additive) and score.kind == "value"), None)
        made += learnt.scores(*pilot.matrices, steps)
    return made


def _best(tried: Sequence[Score], pilot: Pilot, one: Measure, most: int) -> list[Candidate]:
    """Return the candidates that tell the pilot's outputs apart best, the best part of the output, and joint cells.

    The pilot may lack the events of joint cells.
    """
    found = [_candidate(score, pilot, one) for score in tried]
    ordered = sorted((each for each in found if len(each.edges)), key=_preference, reverse=True)
    return _with_part(ordered, most) + [each for each in ordered[most:] if isinstance(each.score, Joint)]


def _parts(pilot: Pilot, one: Measure) -> list[Candidate]:
    """Return each part of outputs such as dicts and frames by itself, also where the pilot's are all the same.

    A part that leaks seldom shows nothing in a pilot, and is lost in a sum with many noisy parts.
    """
    return [_candidate(part, pilot, one) for part in candidates.plain(pilot)] if pilot.names else []


def _of_rare_outputs(pilot: Pilot, scoring: Scoring, one: Measure) -> list[Candidate]:
    """Return scores without thresholds, for pilots whose outputs are all the same.

    The extremes of larger samples may give them thresholds.
    """
    tried = _own(pilot, scoring) + candidates.plain(pilot)
    return [_candidate(score, pilot, one) for score in tried]


def _candidate(score: Score, pilot: Pilot, one: Measure) -> Candidate:
    """Return a score as a candidate, with thresholds and worth from the pilot."""
    sides = [score(side) for side in pilot.outputs]
    edges = thresholds.of_outputs(*sides)
    seen = [len(side) - np.searchsorted(np.sort(side), edges) for side in sides]
    return _weighed(pilot.pair, score, Thresholds(edges, seen[0], seen[1], len(sides[0])), one)


def _weighed(pair: Pair, score: Score, seen: Thresholds, one: Measure) -> Candidate:
    """Return a score as a candidate, given the hits of its thresholds."""
    return Candidate(pair, score, seen.values, _worth(one, score, seen), events.evidence(seen))


def _worth(one: Measure, score: Score, seen: Thresholds) -> tuple[float, float]:
    """Return the key to compare scores by: the best event's bound, then the clearest difference in standard errors.

    The second number decides while no event shows anything yet.
    """
    return max(events.best(one, score, seen, seen.trials, ONE_SIGMA, (0.5,))[0], 0.0), events.standard_errors_apart(
        seen
    )


def _compared(counting: Counting, found: list[Candidate], one: Measure, trials: int, stage: str) -> list[Candidate]:
    """Return the candidates with worth and thresholds from a larger sample."""
    compared = []
    for pair in {each.pair.index: each.pair for each in found}.values():
        own = [each for each in found if each.pair is pair]
        counted = Counted(Stack(tuple(each.score for each in own)), tuple(each.edges for each in own), EXTREMES)
        counts = counting.count(stage, pair, counted, trials)
        for column, each in enumerate(own):
            seen = thresholds.of_counts(counts, column, each.edges)
            compared.append(_weighed(pair, each.score, seen, one))
    return compared


def _chosen(
    counting: Counting, finalists: list[Candidate], one: Measure, planned: Sizes, failure: float
) -> Chosen | None:
    """Return the best finalist's event or moment, or None without thresholds.

    If the event is rare it is chosen anew on more outputs.
    """
    trusted = min(GROWTH * planned.choose, planned.bound)
    finals = _finals(counting, finalists, planned.choose)
    final, counts = max(finals, key=lambda each: _promise(one, each[0], each[1], trusted, failure))
    parts = [each for each in finals if _is_part(each[0].score) and each[0].pair is final.pair]
    shown = _shown(one, final, counts, failure)
    final, counts = next((each for each in parts if _shown(one, *each, failure) >= shown > 0), (final, counts))
    test = _test(one, final, counts, planned.bound, failure)[1]
    if planned.further and not _seen_enough(test, final, counts):
        counted = Counted(Stack((final.score,)), (final.edges,), EXTREMES)
        more = counting.count("choose a rare event", final.pair, counted, planned.further)
        counts = sampling.merged([counts, more])
        test = _test(one, final, counts, planned.bound, failure)[1]
    return None if test is None else Chosen(final.pair, test, final.edges, counts)


def _promise(one: Measure, final: Candidate, counts: Counts, trials: int, failure: float) -> tuple[float, float]:
    """Return the key to compare finalists by: the forecast of the bound, then the evidence if it shows nothing yet."""
    forecast = _test(one, final, counts, trials, failure)[0] * _clarity(final.score)
    return (forecast if forecast > events.little(one) else 0.0), events.evidence(
        thresholds.of_counts(counts, 0, final.edges)
    )


def _finals(counting: Counting, finalists: list[Candidate], trials: int) -> list[tuple[Candidate, Counts]]:
    """Return each finalist with the counts of its score; finalists of a pair share their outputs."""
    finals = []
    for pair in {each.pair.index: each.pair for each in finalists}.values():
        own = [each for each in finalists if each.pair is pair]
        counted = Counted(Stack(tuple(each.score for each in own)), tuple(each.edges for each in own), EXTREMES)
        counts = counting.count("choose", pair, counted, trials)
        finals += [(each, sampling.column(counts, number)) for number, each in enumerate(own)]
    return finals


def _test(
    one: Measure, final: Candidate, counts: Counts, trials: int, failure: float
) -> tuple[float, Event | Moment | None]:
    """Return the bound that the best test of a score (event or moment) is expected to show, and the test."""
    value, event = events.best(one, final.score, thresholds.of_counts(counts, 0, final.edges), trials, failure)
    if one.orders:
        cells = counts.cells[0][0], counts.cells[1][0]
        larger, moment = moments.best(one, final.score, final.edges, cells, trials, failure)
        if moment is not None and larger > value:
            return larger, moment
    return value, event


def _shown(one: Measure, final: Candidate, counts: Counts, failure: float) -> float:
    """Return the bound of a score's best event on the outputs that choose it, times its clarity; 0 for a moment.

    Forecasts expect hits of a part that takes few values even if there were none, so they favour finer scores.
    """
    test = _test(one, final, counts, counts.trials, failure)[1]
    if not isinstance(test, Event):
        return 0.0
    seen = thresholds.of_counts(counts, 0, final.edges)
    place = int(np.searchsorted(seen.values, test.threshold))
    first, second = (
        int(side[place]) if test.upper else counts.trials - int(side[place]) for side in (seen.first, seen.second)
    )
    return events.bound(one, test, (first, second), counts.trials, failure) * _clarity(final.score)


def _seen_enough(test: Event | Moment | None, final: Candidate, counts: Counts) -> bool:
    """Return True if more outputs would not improve the choice. Joint cells may have rarer events that show more."""
    if isinstance(test, Event):
        if isinstance(final.score, Joint):
            return False
        return test.hits_of_rarer(thresholds.of_counts(counts, 0, final.edges)) >= ENOUGH
    return test is not None
