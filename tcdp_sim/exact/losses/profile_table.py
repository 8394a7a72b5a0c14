"""The profile of a list at many places: one transform serves all places near its tilt."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.losses.convolved import LossSum
from tcdp_sim.exact.losses.grid_law import LossLaw
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import Ends, Question, delta_question

_EVERY = 24  # places for one transform
_TOLERANCE = 1e-3  # relative, of a delta
_WIDE = 1e-2  # relative: a wider bracket is asked for by itself
_NOTHING = 1e-40  # a delta below it is not asked for


def profile_table(kinds: Sequence[tuple[LossLaw, int]], places: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper ends of delta at ascending epsilons >= 0. kinds: each (law of the loss, times)."""
    low, high = np.zeros(len(places)), np.ones(len(places))
    for start in range(0, len(places), _EVERY):
        near = slice(start, start + _EVERY)
        _fill(kinds, places[near], low[near], high[near])
        if high[near].min() < _NOTHING:
            break
    return np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)


def _fill(kinds: Sequence[tuple[LossLaw, int]], places: Floats, low: Floats, high: Floats) -> None:
    """Write ends at places that are near each other."""
    centre = float(places[len(places) // 2])
    bracket(kinds, _noting(delta_question(centre, _allowed), places, low, high))
    for i, place in enumerate(places.tolist()):
        if high[i] - low[i] > _WIDE * high[i]:
            found = bracket(kinds, delta_question(place, _allowed))
            low[i], high[i] = max(low[i], found[0]), min(high[i], found[1])
            if found[1] < _NOTHING:
                break


def _allowed(high: float) -> float:
    return _TOLERANCE * high


def _noting(question: Question, places: Floats, low: Floats, high: Floats) -> Question:
    """Return the question which also writes down the ends at other places of each sum that is tried."""

    def find(law: LossSum, width: float) -> Ends:
        for i, place in enumerate(places.tolist()):
            if law.range[0] <= place < law.range[1]:
                low[i], high[i] = max(low[i], law.lower(place)), min(high[i], law.upper(place))
        return question.find(law, width)

    return replace(question, find=find)
