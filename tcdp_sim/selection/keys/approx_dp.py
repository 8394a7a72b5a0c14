"""The best release probabilities under (epsilon, delta)-differential privacy, in closed form."""

from dataclasses import dataclass
from math import ceil, exp, expm1, floor, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar
from tcdp_sim.selection.keys.curve import ReleaseCurve, checked_per_key, counts_of

_LARGE = 40.0  # e^epsilon - 1 is e^epsilon in floats
_HUGE = 700.0  # e^epsilon is nearly the largest float


@dataclass(frozen=True)
class OptimalApproxDP(ReleaseCurve):
    """The largest release probabilities that (epsilon, delta)-DP allows a person with one key.

    They solve

        pi(n + 1) = min(e^epsilon pi(n) + delta, 1 - e^-epsilon (1 - pi(n) - delta), 1),   pi(0) = 0.

    The solution grows as a geometric sum, then its complement shrinks as one, and then it is 1. It is the largest
    curve for every n at once. Neighbours add or remove a person. If a person has up to `per_key` records at a key, then
    pi(ceil(n / per_key)) is the largest curve.

    Source: Desfontaines et al. (2022), Theorems 1 and 2 [DVGM22]. The numbers of the theorems are from memory; the
    formulas were derived again. The case of several records at a key is ours.

    Parameters
    ----------
    epsilon : float
        epsilon in nats, at least 0.
    delta : float
        delta, in (0, 1).
    per_key : int
        The largest number of records of a person at a key, from 1.

    Examples
    --------
    >>> OptimalApproxDP(1.0, 0.01).released([0, 1, 2, 3]).round(4).tolist()
    [0.0, 0.01, 0.0372, 0.1111]
    """

    epsilon: float
    delta: float
    per_key: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0, closed=True))
        object.__setattr__(self, "delta", scalar("delta", self.delta, 0, 1))
        object.__setattr__(self, "per_key", checked_per_key(self.per_key))

    @property
    def _turn(self) -> tuple[int, float]:
        """The last n of the growing part, and pi there."""
        epsilon, delta = self.epsilon, self.delta
        if epsilon == 0:
            return 0, 0.0
        # the first branch holds as long as pi(n) <= (1 - delta) / (e^epsilon + 1)
        ratio = (1 - delta) / delta * (expm1(epsilon) / (exp(epsilon) + 1)) if epsilon < _HUGE else (1 - delta) / delta
        n = 1 + floor(log1p(ratio) / epsilon)
        return n, min(self._growing(float(n)), 1.0)

    def _growing(self, n: float) -> float:
        return self.delta * float(_grown(n, self.epsilon))

    def released(self, records: ArrayLike) -> Floats:
        return self._both(records)[0]

    def withheld(self, records: ArrayLike) -> Floats:
        return self._both(records)[1]

    def _both(self, records: ArrayLike) -> tuple[Floats, Floats]:
        n = np.ceil(counts_of(records) / self.per_key)
        epsilon, delta = self.epsilon, self.delta
        if epsilon == 0:
            return np.minimum(n * delta, 1.0), np.maximum(1 - n * delta, 0.0)
        turn, there = self._turn
        before = np.minimum(n, turn)
        grown = delta * _grown(before, epsilon)
        after = np.maximum(n - turn, 0.0)
        left = (1 - there) * np.exp(-after * epsilon) + np.expm1(-after * epsilon) * delta / _expm1(epsilon)
        left = np.clip(np.where(n <= turn, 1 - grown, left), 0.0, 1.0)
        return np.where(n <= turn, np.minimum(grown, 1.0), 1 - left), left

    def _steps_down(self, there: float) -> float:
        """Return how many steps lead from pi = `there` to 1, as a real number."""
        if self.epsilon < _LARGE:
            return log(1 + expm1(self.epsilon) / self.delta * (1 - there)) / self.epsilon
        return 1 + log((1 - there) / self.delta) / self.epsilon

    @property
    def last(self) -> int:
        """The least n with pi(n) = 1."""
        turn, there = self._turn
        if self.epsilon == 0:
            steps = ceil(1 / self.delta)
        else:
            rest = self._steps_down(there)
            steps = turn + ceil(rest - 1e-12)
        return self.per_key * (steps - 1) + 1


def _expm1(epsilon: float) -> float:
    """Return e^epsilon - 1, and 1e304 in place of anything larger, which gives the same results."""
    return expm1(min(epsilon, _HUGE))


def _grown(n: ArrayLike, epsilon: float) -> Floats:
    """Return (e^(n epsilon) - 1) / (e^epsilon - 1)."""
    n = np.asarray(n, dtype=np.float64)
    if epsilon < _HUGE:
        return np.asarray(np.expm1(n * epsilon) / expm1(epsilon))
    with np.errstate(over="ignore"):
        return np.where(n > 0, np.exp((n - 1) * epsilon), 0.0)
