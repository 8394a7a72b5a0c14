"""Score vectors of k candidates, of which only the best few need to be listed."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real

MOST = 1e300


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of k candidates: the listed ones, and `others` more that share the score `level`.

    Neighbours substitute one record, which may change ALL scores, each by up to +-`sensitivity`. Among tied scores the
    first listed one counts as the highest. A tie at the top is a gap of zero.

    Parameters
    ----------
    listed : array_like of float
        The listed scores in any order, finite, shape (n,) with n >= 1. The index is the candidate's name.
    others : float
        The number of candidates that are not listed, whole, from 0 to 1e300; 0 for a dense vector.
    level : float
        The score of the candidates that are not listed, at most the least listed score.
    sensitivity : float
        The largest change of one score between neighbours, above 0; 1 for counts. It has no default and must be given.

    Examples
    --------
    >>> scores = Scores([3.0, 10.0], others=1e6, sensitivity=1.0)
    >>> scores.k, scores.gap(), scores.top().tolist()
    (1000002.0, 7.0, [1])
    """

    listed: Floats
    others: float = 0.0
    level: float = 0.0
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        if self.sensitivity is None:
            raise ValueError("sensitivity is missing; give the largest change of one score between neighbours")
        listed = np.asarray(real("score", self.listed, -np.inf))
        if listed.ndim != 1 or not len(listed):
            raise ValueError(f"scores have shape {listed.shape}, which is not valid; valid: (n,) with n >= 1")
        others = real("others", self.others, 0, MOST, closed=True, finite=False)
        if others != np.floor(others):
            raise ValueError(f"others = {others:g} is not valid; valid: a whole number of candidates")
        level = real("level", self.level, -np.inf)
        if others and level > listed.min():
            raise ValueError(f"level = {level:g} is not valid; valid: at most the least listed score, {listed.min():g}")
        for name, value in {"listed": listed, "others": others, "level": level}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "sensitivity", real("sensitivity", self.sensitivity, 0))
        if self.k < 2:
            raise ValueError(f"k = {self.k:g} is not valid; valid: at least 2 candidates to select from")

    @property
    def unit(self) -> float:
        """The sensitivity, as a float."""
        return cast(float, self.sensitivity)

    @property
    def k(self) -> float:
        """The number of candidates."""
        return len(self.listed) + self.others

    def top(self, m: int = 1) -> Ints:
        """Return the indices of the m highest scores, best first.

        Raises ValueError unless 1 <= m < k and at least m candidates are listed.
        """
        least = min(len(self.listed), self.k - 1)
        if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= least:
            raise ValueError(f"m = {m!r} is not valid; valid: a whole number from 1 to {least:g}: below k, all listed")
        return np.argsort(-self.listed, kind="stable")[:m]

    def runner_up(self, m: int = 1) -> float:
        """Return the (m+1)-th highest score."""
        self.top(m)
        ordered = np.sort(self.listed)[::-1]
        return float(ordered[m]) if m < len(ordered) else self.level

    def gap(self, m: int = 1) -> float:
        """Return the lead of the m-th highest score over the next, in units of the sensitivity; zero for a tie."""
        return float(self.listed[self.top(m)[-1]] - self.runner_up(m)) / self.unit

    def leads(self, m: int = 1) -> Floats:
        """Return max(score - (m+1)-th highest score, 0) of the listed candidates, in units of the sensitivity."""
        return np.maximum(self.listed - self.runner_up(m), 0) / self.unit
