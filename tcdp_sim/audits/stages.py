"""The number of outputs in each stage of an audit, from the pilot to the bound."""

from dataclasses import dataclass

import numpy as np

PILOTS = 400_000  # outputs of each input that the driver holds in memory, over all pairs
LEAST_PILOT = 500  # outputs of a pilot, or an eighth of the trials if that is less
PAIRS_KEPT = 3  # pairs that remain after ranking; more of them in a large audit
FINAL_PAIRS = 2  # pairs that choose an event each
AGAIN_PAIRS = 4  # pairs whose scores are compared again in a large audit
AT_ONCE = 1_000_000  # outputs for the choice before it is known how rare the event is


@dataclass(frozen=True)
class Sizes:
    """The number of outputs of each input in each stage.

    - pilot: the pilot.
    - rank: the ranking of pairs.
    - tables, compare: the counts that make scores, and the counts that compare them.
    - choose: the choice, for each finalist.
    - further: the additional outputs for the choice if the event is rare; 0 unless the audit is large.
    - bound: the bound.
    - again: the counts that compare the scores of the best AGAIN_PAIRS pairs again.
    - pairs: how many pairs remain after ranking.
    """

    pilot: int
    rank: int
    tables: int
    compare: int
    choose: int
    further: int
    bound: int
    again: int = 0
    pairs: int = PAIRS_KEPT


def sizes(trials: int, pairs: int) -> Sizes:
    """Return the size of each stage if the bound gets `trials` outputs; the others together get about half as many.

    In a large audit, some event that shows nothing in a small sample may be the best. So more pairs remain, for at most
    a third of the trials, and the best are compared again.
    """
    least = min(LEAST_PILOT, max(trials // 8, 50))
    pilot = int(np.clip(trials // 50, least, np.clip(PILOTS // pairs, 20_000, 200_000)))
    tables = max(min(trials // 10, 2_000_000), pilot)
    compare = max(min(trials // 10, 1_000_000), pilot)
    at_once = max(min(trials // 3, max(trials // 10, AT_ONCE)), pilot)
    further = max(trials // 3 - at_once, 0)
    more = trials // 3 // (tables + compare) if further else 0
    return Sizes(
        pilot,
        max(min(trials // 40, 1_000_000), pilot),
        tables,
        compare,
        at_once,
        further,
        trials,
        trials // 40 if further and pairs > FINAL_PAIRS else 0,
        min(pairs, PAIRS_KEPT + more),
    )


def outputs_needed(trials: int, pairs: int) -> int:
    """Return how many outputs of each input all stages need at most, if the bound gets `trials` outputs."""
    planned = sizes(trials, pairs)
    ranked = pairs * planned.rank if pairs > planned.pairs else 0
    compared = planned.pairs * (planned.tables + planned.compare) + min(pairs, AGAIN_PAIRS) * planned.again
    return pairs * planned.pilot + ranked + compared + FINAL_PAIRS * planned.choose + planned.further + planned.bound
