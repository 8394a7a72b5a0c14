"""The epsilon and delta of a list of unequal releases, as brackets.

Each law of a loss stands for one direction of a pair. A list of laws is composed (`convolved.py`) on finer and finer
grids until the ends are close enough. Directions are composed separately by the caller; the worst is taken last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.exact.losses.convolved import Window, convolved
from tcdp_sim.exact.losses.grid_law import LossLaw, TooFine, ever
from tcdp_sim.exact.losses.questions import Ends, Peak, Question, delta_question
from tcdp_sim.exact.losses.tilts import Crude, common_grid
from tcdp_sim.exact.work import Exceeded, spend

LONGEST = 2**22  # points of all transforms for one answer
_ROUNDS = 12
_RARE = 1e-8  # of delta: all losses that are made infinite together have at most this mass
_LEAST_RARE = 1e-306
_SELDOM = 1e-2  # of delta: the mass of losses that do not matter
_FLOOR = 1e-13  # tilted mass of the losses that are raised
_WIDEST = 64.0
_AIM = 0.7
_NOT_FINER = 0.8  # of a step: another one is not worth a transform
_FINER = (1 / 16, 0.7)
_WIDTH = 0.55  # of T h^2 (theta + 1), the width of epsilon: measured
_NEAR_ZERO = 4.0  # an epsilon below so many standard deviations may be 0
_ROUGH = 0.01  # relative tolerance of a delta that only tells on which side an epsilon lies
_HALVES = 40
_SPREAD = 0.3  # the coarsest step, over the standard deviation of the sum


def bracket(
    kinds: Sequence[tuple[LossLaw, int]], question: Question, known: float = -np.inf, rounds: int | None = None
) -> Ends:
    """Return the ends of the answer for releases of several kinds, each (law of the loss, times).

    The search stops after so many `rounds`, or as soon as the upper end is at most `known`, a lower end of another
    direction.
    """
    low, high = question.at_once(infinite(kinds), _largest(kinds), _peak(kinds))
    crude = Crude(tuple((law.crude(), times) for law, times in kinds))
    if low == high or question.settled or question.close(low, high) or high <= known or not crude.finite:
        return low, high
    if known <= 0 and _is_zero(kinds, crude, question, (low, high)):
        return 0.0, 0.0
    return _searched(kinds, crude, question, (low, high), known, _ROUNDS if rounds is None else rounds)


def _searched(
    kinds: Sequence[tuple[LossLaw, int]], crude: Crude, question: Question, ends: Ends, known: float, rounds: int
) -> Ends:
    """Return the ends from finer and finer grids."""
    low, high = ends
    lattices = [law.lattice() for law, _ in kinds]
    off_grid = sum(times for (_, times), lattice in zip(kinds, lattices) if lattice is None)
    spacings = [(lattice[1], times) for lattice, (_, times) in zip(lattices, kinds) if lattice]
    step = done = np.inf
    wider, left = question.wider, LONGEST // question.dearer
    for _ in range(rounds):
        place = _place(crude, question, (low, high))
        step = step if np.isfinite(step) else _first_step(place, off_grid, question, high, known)
        grid = common_grid(spacings, step, bool(off_grid))
        try:
            found, points = _round(kinds, place, grid, question, high, wider, left)
        except TooFine:
            step = grid * 2
            if step >= _NOT_FINER * done:
                break
            continue
        except Exceeded:
            break
        left -= points
        low, high = max(low, found[0]), min(high, found[1])
        if question.close(low, high) or high <= known:
            break
        if question.missed(found, high) and wider < _WIDEST:  # the window began above the answer
            wider *= 4
            continue
        if grid >= done:  # the lattices allow no other step
            break
        if question.delta is not None and high == done == np.inf:
            low, high = _by_halves(kinds, question.delta, low, place.epsilon)
        done, step = grid, grid * _finer(high - low, question.allowed(high))
    return low, max(low, high)


def _is_zero(kinds: Sequence[tuple[LossLaw, int]], crude: Crude, question: Question, ends: Ends) -> bool:
    """Return True if an epsilon is asked for that may be near 0, and delta(0) shows that it is 0."""
    if question.delta is None or _place(crude, question, ends).epsilon >= _NEAR_ZERO * crude.spread:
        return False
    return _delta(kinds, 0.0)[1] <= question.delta


def _delta(kinds: Sequence[tuple[LossLaw, int]], epsilon: float) -> Ends:
    """Return the rough ends of delta."""
    return bracket(kinds, delta_question(epsilon, lambda high: _ROUGH * high), rounds=4)


def _by_halves(kinds: Sequence[tuple[LossLaw, int]], delta: float, low: float, guess: float) -> Ends:
    """Return ends of epsilon from deltas. The tilt that belongs to a guess may belong to a rare and larger loss."""
    high, step = np.inf, max(guess, 1e-300)
    for _ in range(_HALVES):
        epsilon = max(low, step) * 2 if high == np.inf else 0.5 * (low + high)
        if high < np.inf and low > 0:
            epsilon = np.sqrt(low * high)
        least, most = _delta(kinds, float(epsilon))
        if most <= delta:
            high = epsilon
        elif least >= delta:
            low = epsilon
        else:
            break
    return float(low), float(high)


def expected(kinds: Sequence[tuple[LossLaw, int]], question: Question) -> float:
    """Return the expected answer. It orders directions and cases, so that the worst one is computed first."""
    low, high = question.at_once(infinite(kinds), _largest(kinds), _peak(kinds))
    if low == np.inf or question.settled:
        return high
    crude = Crude(tuple((law.crude(), times) for law, times in kinds))
    if not crude.finite:
        return 0.0
    place = _place(crude, question, (0.0, np.inf))
    return question.answer(place.epsilon, place.log_delta)


@dataclass(frozen=True)
class _Place:
    """The epsilon that matters, log delta there, its slope -d log delta / d epsilon, and a crude sum for the tails."""

    epsilon: float
    log_delta: float
    slope: float
    crude: Crude
    spread: float


def _place(crude: Crude, question: Question, ends: Ends) -> _Place:
    """Return the place of the answer.

    Losses that are too rare to matter are cut off first, because they may dominate moments of the law.
    """
    total, sharp = crude.releases, crude
    for _ in range(3):
        epsilon, log_delta = question.place(sharp, ends)
        sharp = crude.cut(_SELDOM * np.exp(log_delta) / total)
    epsilon, log_delta = question.place(sharp, ends)
    rare = max(_RARE * np.exp(log_delta) / total, _LEAST_RARE)
    return _Place(epsilon, log_delta, sharp.tilt_of(epsilon), crude.cut(rare), sharp.spread)


def _round(
    kinds: Sequence[tuple[LossLaw, int]],
    place: _Place,
    step: float,
    question: Question,
    high: float,
    wider: float,
    most: int,
) -> tuple[Ends, int]:
    """Return the ends from one transform, of at most so many points, and their number.

    The window begins `wider` times as far below the expected answer as usual.
    """
    from scipy.fft import next_fast_len  # imported late, as in `core.numerics.root`

    total = place.crude.releases
    reach = 7 * step * np.sqrt(total) + 4 * step
    margin = reach + wider * (min(2 / place.slope, place.spread) + 0.02 * abs(place.epsilon))
    window, length = place.crude.window(place.epsilon, place.log_delta, step, float(margin))
    if not length / step < most:
        raise TooFine
    points = 2 * next_fast_len(int(np.ceil(0.5 * length / step)) + 4, real=True)  # even, and a product of small primes
    spend(points * len(kinds))
    rare = max(_RARE * np.exp(place.log_delta) / total, _LEAST_RARE)
    laws = []
    for (law, times), (atoms, _) in zip(kinds, place.crude.laws):
        lattice = law.lattice()
        floor = _floor(atoms.loss, atoms.mass, window.theta, _FLOOR / total)
        top = float(atoms.loss.max())
        laws.append((law.on_grid(step, lattice[0] if lattice else 0.0, rare, floor, top), times))
    window = Window(window.theta, window.start, points, window.steeper, window.flatter)
    answer = min(high, question.answer(place.epsilon, place.log_delta))
    return question.find(convolved(laws, window), question.allowed(answer)), points


def _floor(loss: np.ndarray, mass: np.ndarray, theta: float, share: float) -> float:
    """Return a loss to which all mass below can be raised, at most that share of the tilted mass. Losses ascend."""
    with np.errstate(divide="ignore"):
        logs = np.log(mass) + theta * loss
        raised = np.log(np.cumsum(mass)) + theta * loss
    negligible = raised <= np.log(share) + logs.max()
    return float(loss[max(int(np.argmin(negligible)) - 1, 0)])


def _first_step(place: _Place, off_grid: int, question: Question, high: float, known: float) -> float:
    """Return the step that should give the allowed width, or one that shows the answer to be below `known`."""
    answer = min(high, question.answer(place.epsilon, place.log_delta))
    slope = question.slope(place.slope, answer)  # 0 if the answer underflows
    allowed = max(question.allowed(answer), 0.3 * (known - answer)) / slope if slope else np.inf
    off_grid = max(off_grid, 1)
    step = np.sqrt(_AIM * allowed / (_WIDTH * off_grid * (place.slope + 1)))
    return float(min(step, _SPREAD * place.spread, 0.4 / ((place.slope + 1) * np.sqrt(off_grid))))


def _finer(width: float, allowed: float) -> float:
    """Return the factor for the step after it gave ends this far apart."""
    if not (np.isfinite(width) and allowed > 0):
        return 0.5
    return float(np.clip(np.sqrt(_AIM * allowed / width), *_FINER))


def infinite(kinds: Sequence[tuple[LossLaw, int]]) -> Ends:
    """Return the probability that some loss is infinite, from below and above."""
    return ever([(law.lost(), times) for law, times in kinds])


def _largest(kinds: Sequence[tuple[LossLaw, int]]) -> Ends:
    """Return the supremum of the finite sums, from below and above."""
    ends = [law.largest() for law, _ in kinds]
    if any(high == -np.inf for _, high in ends):
        return 0.0, 0.0  # no sum is finite
    low, high = (sum(times * end[i] for end, (_, times) in zip(ends, kinds)) for i in (0, 1))
    low = low - 4e-16 * len(kinds) * abs(low) if low < np.inf else np.inf
    return low, high + 4e-16 * len(kinds) * abs(high)


def _peak(kinds: Sequence[tuple[LossLaw, int]]) -> Peak:
    """Return the sum of losses near the largest ones, and the probability of that sum or a larger finite one."""
    peaks = [law.peak() for law, _ in kinds]
    loss = sum(times * loss for (loss, _), (_, times) in zip(peaks, kinds))
    size = sum(times * abs(loss) for (loss, _), (_, times) in zip(peaks, kinds))
    with np.errstate(divide="ignore"):
        log_mass = sum(times * float(np.log(mass)) for (_, mass), (_, times) in zip(peaks, kinds))
    return loss - 4e-16 * len(kinds) * size, float(np.exp(log_mass - 1e-15 * (len(kinds) + abs(log_mass))))
