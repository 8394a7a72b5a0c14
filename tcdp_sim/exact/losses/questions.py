"""Questions about the composed law of a list of losses: epsilon at a delta, and delta at an epsilon."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.numerics import root
from tcdp_sim.exact.losses.convolved import LossSum
from tcdp_sim.exact.losses.grid_law import ever
from tcdp_sim.exact.losses.tilts import Crude

Ends = tuple[float, float]
Peak = tuple[float, float]  # a loss, and a lower bound on the probability of finite losses that are no smaller
_ROOT = 2e-3  # of the allowed width: the error of a root
_PLACES = 9  # for the search of a root
_NEAR_CENTRE = np.array([-16.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])  # places, in 1 / theta
_LEAST_ROOT = 4e-14  # relative


@dataclass(frozen=True)
class Question:
    """A question about a composed law.

    - `at_once`: map from the probability of an infinite loss and the largest finite sum (both as ends), and a peak,
      to the ends that follow from them alone.
    - `place`: map from a crude sum and the ends known so far to the epsilon that matters, and log delta there.
    - `find`: map from a sum and the allowed width to the ends.
    - `allowed`: map from the upper end to the largest distance of the ends.
    - `slope`: map from -d log delta / d epsilon and the answer to |d answer / d epsilon|.
    - `answer`: map from the place to the expected answer.
    - `settled`: True if `at_once` gives the best ends.
    - `missed`: map from the ends of `find` and the upper end known so far to True if the window begins above the
      answer.
    - `delta`, `epsilon`: the delta whose epsilon is asked for, or the epsilon whose delta, if that is the question.
    - `wider`: the distance from the answer down to the start of the first window, over the usual one.
    - `dearer`: the work for a point of a transform, over the usual one.
    """

    at_once: Callable[[Ends, Ends, Peak], Ends]
    place: Callable[[Crude, Ends], Ends]
    find: Callable[[LossSum, float], Ends]
    allowed: Callable[[float], float]
    slope: Callable[[float, float], float]
    answer: Callable[[float, float], float]
    settled: bool = False
    missed: Callable[[Ends, float], bool] = lambda found, high: False
    delta: float | None = None
    wider: float = 1.0
    dearer: int = 1
    epsilon: float | None = None

    def close(self, low: float, high: float) -> bool:
        """Return True if the ends are close enough."""
        return bool(np.isfinite(high)) and high - low <= self.allowed(high)


def epsilon_question(delta: float, allowed: Callable[[float], float]) -> Question:
    """Return the question for the least epsilon >= 0 at this delta in [0, 1)."""

    def at_once(lost: Ends, most: Ends, peak: Peak) -> Ends:
        if delta < lost[0]:
            return np.inf, np.inf
        if delta == 0:
            return max(most[0], 0.0), max(most[1], 0.0) if lost[1] == 0 else np.inf
        # delta >= lost + mass (1 - e^(epsilon - loss)) for a peak (loss, mass)
        loss, mass = peak
        share = (delta - lost[0]) * (1 + 1e-15) / mass if mass > 0 else 1.0
        low = loss + np.log1p(-share) if share < 1 else 0.0
        return max(float(low - 4e-16 * abs(loss)), 0.0), max(most[1], 0.0) if lost[1] <= delta else np.inf

    def place(crude: Crude, ends: Ends) -> Ends:
        room = max(delta - ever([((atoms.lost, atoms.lost), times) for atoms, times in crude.laws])[1], 1e-14 * delta)
        guess = crude.epsilon(float(np.log(room)))
        if np.isfinite(ends[1]) and not ends[0] <= guess <= ends[1]:
            guess = float(np.clip(guess, *ends))
        return guess, float(np.log(room))

    def find(law: LossSum, width: float) -> Ends:
        width = min(width, 1e-2)
        low = _root(lambda e: law.finite_lower(e) - (delta - law.lost[0]), law, width, 0)
        high = _root(lambda e: law.finite_upper(e) - (delta - law.lost[1]), law, width, 1)
        return low, high

    def missed(found: Ends, high: float) -> bool:
        return found[0] <= 0 < high

    return Question(
        at_once, place, find, allowed, lambda theta, high: 1.0, lambda epsilon, _: epsilon, delta == 0, missed, delta
    )


def delta_question(epsilon: float, allowed: Callable[[float], float]) -> Question:
    """Return the question for delta at this epsilon >= 0."""

    def at_once(lost: Ends, most: Ends, peak: Peak) -> Ends:
        if epsilon >= most[1]:
            return lost
        loss, mass = peak
        rise = -float(np.expm1(epsilon - loss)) if epsilon < loss else 0.0
        fall = -float(np.expm1(epsilon - most[1]))
        return lost[0] + mass * rise * (1 - 4e-15), min(lost[1] + fall * (1 + 1e-15), 1.0)

    def place(crude: Crude, ends: Ends) -> Ends:
        low, high = ends
        guess = min(crude.log_delta(epsilon), 0.0)
        return epsilon, float(np.clip(guess, np.log(max(low, 1e-320)), np.log(max(min(high, 1.0), 1e-320))))

    def find(law: LossSum, width: float) -> Ends:
        inside = law.range[0] <= epsilon < law.range[1]
        return (law.lower(epsilon), law.upper(epsilon)) if inside else (law.lost[0], 1.0)

    return Question(
        at_once,
        place,
        find,
        allowed,
        lambda theta, delta: theta * delta,
        lambda _, log_delta: max(np.exp(log_delta), 1e-300),
        epsilon=epsilon,
    )


def _root(excess: Callable[[float], float], law: LossSum, width: float, end: int) -> float:
    """Return an epsilon >= 0 in the range of a sum where the excess is positive (end 0), or not (end 1)."""
    least, most = max(law.range[0], 0.0), law.range[1]
    if least >= most:
        return np.inf if end else 0.0
    centre = law.loss[int(np.argmax(law.mass))]
    near = centre + _NEAR_CENTRE / law.theta  # where the tilted law has its mass, delta falls by e over 1 / theta
    places = np.unique(np.clip(np.concatenate([np.linspace(least, most, _PLACES), near]), least, most))
    values = [excess(place) for place in places]
    over = [i for i, value in enumerate(values) if value > 0]
    if end and not np.isfinite(values[-1]):
        return np.inf
    if not over:
        return float(places[0]) if end else 0.0
    last = over[-1]
    if last == len(places) - 1:
        return np.inf if end else float(places[-1])
    margin = _ROOT * width + _LEAST_ROOT * float(places[last + 1])
    place = root(excess, places[last], places[last + 1], margin / 4)
    if end:
        return min(place + margin, float(places[last + 1]))
    lower = max(place - margin, float(places[last]))
    return lower if excess(lower) >= 0 else float(places[last])
