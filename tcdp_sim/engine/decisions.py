"""The numbers of trials of cells under `target`: a cell ends once all comparisons that need it are decided.

Comparisons are looked at after fixed numbers of chunks, in the order of their index. Their intervals are those of
confidence sequences, which hold at all looks together (`statistics.sequences`). So every decision is a function of
(seed, law) alone: workers, batches, crashes and resumes change nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, nan
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tcdp_sim.core.log import Tell
from tcdp_sim.core.texts import write_csv
from tcdp_sim.engine.pending import Wanted
from tcdp_sim.statistics import sequences
from tcdp_sim.statistics.any_time import AnyTime
from tcdp_sim.statistics.sequences import Centre
from tcdp_sim.store import columns
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.targets import Comparison, Target, comparisons, targets
from tcdp_sim.summaries.estimates import mean
from tcdp_sim.summaries.fixed_trials import FIXED, FixedTrials
from tcdp_sim.summaries.summary import Summary, merged

NAME = "comparisons.csv"
GROWTH = 1.25  # the factor from a look to the next
LEAST = 100  # trials of a cell before a mean is decided on
UNDECIDED, LARGER, SMALLER, WITHIN = "undecided", "larger", "smaller", "within"
MISSING = "chunks are missing"
EQUAL, FEW, SAME = "all trials of a cell are equal", f"fewer than {LEAST} trials", "all differences are equal"
ENDED = "max_trials"
KEPT = 256  # cells whose means are kept during a look
MOST_BYTES = 1 << 28  # of summaries that are kept from look to look
NAMED = 3  # undecided comparisons that a line names
Interval = tuple[float, float]


class Store(Protocol):
    """The chunks of a run that are there, in its folder or in memory."""

    def has(self, cell: str, chunk: int) -> bool:
        """Return True if a chunk is there."""

    def summary(self, cell: str, chunks: Sequence[int]) -> Summary:
        """Return the summary of chunks that are there."""


class Trials(NamedTuple):
    """The trials of a number of a cell so far.

    - centre: their mean, None if they show no spread.
    - value: the mean, NaN without any trial.
    - hits: an event's hits and trials, None for a number.
    - lost: the trials that are in no mean and did not fail.
    - batches: the means over batches of trials, empty if the random numbers are not shared.
    """

    centre: Centre | None
    value: float
    hits: tuple[int, int] | None
    lost: int
    batches: np.ndarray

    def times(self, times: float) -> "Trials":
        """Return what so many times the trials would show, as far as hits are concerned."""
        return self._replace(hits=self.hits and (round(self.hits[0] * times), round(self.hits[1] * times)))


@dataclass
class State:
    """A comparison with what is known of it: the present look, and the decision, "" as long as more looks are needed.

    `hits` is the number of hits of an event that is counted.
    """

    comparison: Comparison
    look: int = 0
    decided: str = ""
    reason: str = MISSING
    difference: float = nan
    lower: float = -inf
    upper: float = inf
    hits: int = 0


def looks(settings: Settings) -> tuple[int, ...]:
    """Return the numbers of chunks after which comparisons are looked at, ascending."""
    found = [settings.chunks]
    most = max(settings.chunks, settings.max_trials // settings.chunk)
    while found[-1] < most:
        found.append(min(ceil(found[-1] * GROWTH), most))
    return tuple(found)


def tight(settings: Settings) -> float:
    """Return the number of trials at which the sequences of a run are tightest."""
    return sequences.TIGHT * float(settings.chunks * settings.chunk)


def rule(settings: Settings) -> FixedTrials:
    """Return the intervals of the numbers of a run."""
    every = targets(settings.target)
    if not every:
        return FIXED
    counted = [(one.number, one.events) for one in every if one.events and len(every) == 1]
    return AnyTime(tight(settings), tuple(look * settings.chunk for look in looks(settings)), *sum(counted, ()))


def of(cells: Cells, settings: Settings) -> "Decisions | None":
    """Return the comparisons of a run, None without a target."""
    return Decisions(cells, settings) if settings.target else None


@dataclass
class Decisions:
    """The comparisons of a run with targets. Raises UserError for a target without any comparison."""

    cells: Cells
    settings: Settings
    states: list[State] = field(init=False)

    def __post_init__(self) -> None:
        every = targets(self.settings.target)
        self.looks, self.tight = looks(self.settings), tight(self.settings)
        self.states = [State(one) for one in comparisons(self.cells, every)]
        self._names = tuple(one.number for one in every)
        self._kept: dict[str, Summary] = {}
        self._bytes = 0

    def more(self, store: Store, wanted: Wanted) -> Wanted:
        """Return the chunks that cells need, as far as the stored chunks show it."""
        open_ = [state for state in self.states if not state.decided]
        for look in range(len(self.looks)):
            known: dict[str, Mapping[str, Trials | None] | None] = {}
            for state in open_:
                if state.look == look and not state.decided:
                    self._look(state, store, known)
        return wanted.with_chunks(self._chunks(len(wanted)))

    def _chunks(self, count: int) -> np.ndarray:
        """Return the number of chunks of each cell."""
        found = np.full(count, self.looks[0])
        cells = [cell for state in self.states for cell in state.comparison.cells]
        needed = [self.looks[state.look] for state in self.states for _ in state.comparison.cells]
        np.maximum.at(found, self.cells.places(cells), needed)
        return found

    def _look(self, state: State, store: Store, known: dict[str, Mapping[str, Trials | None] | None]) -> None:
        """Look at a comparison if the chunks are there, and decide on it or move it to the next look."""
        every = []
        for cell in state.comparison.cells:
            if cell not in known:
                if len(known) == KEPT:  # the pairs of a point are listed together
                    known.clear()
                known[cell] = self._trials(store, cell, self.looks[state.look])
            every.append(known[cell])
        if None in every:
            state.reason = MISSING
            return
        self._judge(state, [trials[state.comparison.target.number] for trials in every if trials is not None])
        if not state.decided and state.look + 1 < len(self.looks):
            state.look += 1
            state.reason = MISSING
        elif not state.decided:
            state.decided = UNDECIDED

    def _trials(self, store: Store, cell: str, chunks: int) -> Mapping[str, Trials | None] | None:
        """Return the trials of the numbers in the first chunks of a cell, None if a chunk is missing."""
        if not all(store.has(cell, chunk) for chunk in range(chunks)):
            return None
        summary = self._summary(store, cell, chunks)
        return {name: trials_of(summary, name, self.settings.on_error == "count") for name in self._names}

    def _summary(self, store: Store, cell: str, chunks: int) -> Summary:
        """Return the summary of the first chunks of a cell. The last ones are kept as far as MOST_BYTES allow."""
        before = self._kept.get(cell)
        if before and len(before.chunks) == chunks:
            return before
        start = len(before.chunks) if before and len(before.chunks) < chunks else 0
        found = store.summary(cell, range(start, chunks))
        found = merged([before, found]) if before and start else found
        more = _size(found) - (_size(before) if before else 0)
        if self._bytes + more <= MOST_BYTES:
            self._kept[cell] = found
            self._bytes += more
        return found

    def _judge(self, state: State, every: Sequence[Trials | None]) -> None:
        """Decide on a comparison from the trials of its cells, if they suffice."""
        one, own = state.comparison, [trials for trials in every if trials is not None]
        if len(own) < len(every):
            state.decided, state.reason = UNDECIDED, f"a cell has no {one.target.number}"
        elif lost := sum(trials.lost for trials in own):
            state.decided, state.reason = UNDECIDED, f"{lost:,} trials are NaN or infinite"
        elif one.target.events:
            state.hits = own[0].hits[0] if own[0].hits else 0
            state.decided = "reached" if state.hits >= one.target.events else ""
            state.reason = "" if state.decided else ENDED
        else:
            state.difference, (state.lower, state.upper), state.reason = self._interval(one, own)
            state.decided = decision(one.target, state.lower, state.upper)
            state.reason = "" if state.decided else state.reason

    def _interval(self, one: Comparison, own: Sequence[Trials]) -> tuple[float, Interval, str]:
        """Return a difference, the ends of its interval, and why it is not decided if it is not."""
        return self._ends(one, own, _centre(one, own, self.settings.chunk))

    def _ends(self, one: Comparison, own: Sequence[Trials], centre: Centre | None) -> tuple[float, Interval, str]:
        """Return `_interval` for trials with this mean or difference."""
        offset = own[1].value if one.target.across else float(one.target.threshold or 0.0)
        gap, events = own[0].value - offset, own[0].hits is not None
        share = 0.5 if events and one.target.across else 1.0  # of the failure, for the sequence of the mean
        found = [_of_frequencies(one, own)] if events else []
        if centre is not None and not (events and not one.target.across):
            half = sequences.half_width(centre, share * one.failure, self.tight)
            gap = centre.value if one.target.across else gap
            found.append((gap - half, gap + half))
        return gap, sequences.joint(found) if found else (-inf, inf), ENDED if found else _unknown(own)

    def predicted(self, pilots: Mapping[str, Summary]) -> list[int]:
        """Return the chunks that cells will need, estimated from some trials of theirs, for cells with a partner."""
        needed: dict[str, int] = {}
        for state in self.states:
            one = state.comparison
            own = [pilots[cell] for cell in one.cells if cell in pilots]
            if len(own) == len(one.cells):
                chunks = self.looks[self._predicted(one, own)]
                needed |= {cell: max(chunks, needed.get(cell, 0)) for cell in one.cells}
        return list(needed.values())

    def _predicted(self, one: Comparison, pilots: Sequence[Summary]) -> int:
        """Return the look at which a comparison is decided if the trials go on as those of the pilots."""
        counting = self.settings.on_error == "count"
        found = [trials_of(summary, one.target.number, counting) for summary in pilots]
        own = [trials for trials in found if trials is not None]
        if len(own) < len(found) or any(trials.lost for trials in own):
            return 0
        some = min(summary.trials for summary in pilots)
        centre = _centre(one, own, some)
        for look, chunks in enumerate(self.looks):
            if self._is_enough(one, own, centre, chunks * self.settings.chunk / some):
                return look
        return len(self.looks) - 1

    def _is_enough(self, one: Comparison, own: Sequence[Trials], centre: Centre | None, times: float) -> bool:
        """Return True if a comparison would be decided with so many times the trials."""
        more = [trials.times(times) for trials in own]
        if one.target.events:
            return bool(more[0].hits and more[0].hits[0] >= one.target.events)
        _, ends, _ = self._ends(one, more, centre and sequences.times(centre, times))
        return decision(one.target, *ends) != ""


def _centre(one: Comparison, own: Sequence[Trials], chunk: int) -> Centre | None:
    """Return the mean or the difference, None if its trials are too few or a cell's trials are all equal."""
    centres = [trials.centre for trials in own if trials.centre is not None]
    if len(centres) < len(own) or min(centre.trials for centre in centres) < LEAST:
        return None
    if not one.target.across:
        return centres[0]
    if one.shared and all(trials.batches.size for trials in own):
        return sequences.paired(own[0].batches, own[1].batches, chunk)
    return sequences.difference(*centres)


def _size(summary: Summary) -> int:
    """Return the approximate bytes of a summary."""
    arrays = [each for d in summary.observables.values() for each in (d.keys, d.counts, d.atoms, d.moments)]
    return sum(each.nbytes for each in [*arrays, *summary.batches.values()])


def _unknown(own: Sequence[Trials]) -> str:
    """Return why there is no interval."""
    if any(trials.centre is None for trials in own):
        return EQUAL
    return FEW if min(trials.centre.trials for trials in own if trials.centre) < LEAST else SAME


def _of_frequencies(one: Comparison, own: Sequence[Trials]) -> Interval:
    """Return the interval of a difference that follows from the intervals of two frequencies, or of one."""
    if not one.target.across:
        low, high = sequences.frequency(*(own[0].hits or (0, 0)), one.failure)
        return low - float(one.target.threshold or 0.0), high - float(one.target.threshold or 0.0)
    first, second = (sequences.frequency(*(trials.hits or (0, 0)), 0.25 * one.failure) for trials in own)
    return first[0] - second[1], first[1] - second[0]


def decision(target: Target, lower: float, upper: float) -> str:
    """Return what an interval of a difference decides, "" for nothing."""
    if lower > 0:
        return LARGER
    if upper < 0:
        return SMALLER
    return WITHIN if -target.within < lower and upper < target.within else ""


def trials_of(summary: Summary, name: str, counting: bool) -> Trials | None:
    """Return the trials of a number or event, None if the cell has no such number.

    `counting` says whether failed trials are missing.
    """
    failed = summary.events.get(columns.missing(summary.events), 0) if counting else 0
    batches = summary.batches.get(name, np.zeros(0))
    if name in summary.events:
        hits = summary.events[name], summary.trials - (failed if name not in columns.OF_TRIALS else 0)
        value = hits[0] / hits[1] if hits[1] else nan
        return Trials(sequences.centre_of_hits(*hits), value, hits, 0, batches)
    if name not in summary.observables:
        return None
    d = summary.observables[name]
    return Trials(sequences.centre(d), mean(d)[0], None, d.nonfinite - failed, batches)


def rows(decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Yield a row of the table for each comparison, but none for numbers of events."""
    s = decisions.settings
    axes = dict.fromkeys(axis for state in decisions.states for axis in state.comparison.where)
    for state in decisions.states:
        one = state.comparison
        if one.target.events:
            continue
        value, other = one.values if one.target.across else (None, None)
        yield {
            "number": one.target.number,
            **{axis: one.where.get(axis) for axis in axes},
            "across": one.target.across,
            "value": value,
            "other": other,
            "threshold": nan if one.target.threshold is None else one.target.threshold,
            "difference": state.difference,
            "lower": state.lower,
            "upper": state.upper,
            "decided": state.decided or UNDECIDED,
            "reason": state.reason,
            "failure": one.failure,
            "trials": decisions.looks[state.look] * s.chunk,
            "max_trials": decisions.looks[-1] * s.chunk,
        }


def report(decisions: Decisions | None, folder: Path, tell: Tell) -> None:
    """Write comparisons.csv and tell how many comparisons are decided. Raises OSError.

    The file of an earlier run goes if nothing is compared.
    """
    path, compared = folder / NAME, list(rows(decisions)) if decisions else []
    if compared:
        import pandas as pd  # slow to import

        write_csv(pd.DataFrame(compared), path)
    else:
        path.unlink(missing_ok=True)
    for line in lines(decisions) if decisions else ():
        tell(line)


def lines(decisions: Decisions) -> list[str]:
    """Return a line about the comparisons that are decided, and one for each event that is counted."""
    compared = [state for state in decisions.states if not state.comparison.target.events]
    found = []
    if compared:
        open_ = [state for state in compared if state.decided in ("", UNDECIDED)]
        said = f"{len(compared) - len(open_)} of {len(compared)} comparisons decided with {_used(decisions, compared)}"
        names = "; ".join(map(_where, open_[:NAMED]))
        more = f"; and {len(open_) - NAMED} more" if len(open_) > NAMED else ""
        found.append(f"{said}; undecided: {names}{more}" if open_ else said)
    for target in dict.fromkeys(state.comparison.target for state in decisions.states):
        if target.events:
            own = [state for state in decisions.states if state.comparison.target == target]
            there = sum(state.hits >= target.events for state in own)
            said = f"{there} of {len(own)} cells had {target.number} at least {target.events:,} times"
            found.append(f"{said} with {_used(decisions, own)}")
    return found


def _used(decisions: Decisions, states: Sequence[State]) -> str:
    """Return the share of the trials that some comparisons have needed, in words."""
    needed: dict[str, int] = {}
    for state in states:
        for cell in state.comparison.cells:
            needed[cell] = max(needed.get(cell, 0), decisions.looks[state.look])
    return f"{sum(needed.values()) / (len(needed) * decisions.looks[-1]):.1%} of the trials allowed"


def _where(state: State) -> str:
    """Return a comparison in words, with the reason why it is not decided."""
    one = state.comparison
    point = " ".join(f"{axis}={_text(value)}" for axis, value in one.where.items())
    pair = f" of {one.target.across}={' and '.join(map(_text, one.values))}" if one.target.across else ""
    return f"{one.target.number}{pair}{f' at {point}' if point else ''} ({state.reason})"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
