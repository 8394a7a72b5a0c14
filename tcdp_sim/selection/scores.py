"""Score vectors to select from: k candidates, of which only the few best need to be written down."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real

MOST = 1e300


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of k candidates: those listed, and `others` more that share the score `level`.

    listed: finite reals in any order, shape (n,), n >= 1; their index is the candidate's name. others: how many more
    there are, whole, 0 to 1e300; level: their score, at most the least listed one. A dense vector has others = 0.
    sensitivity: by how much one score may change between neighbours, > 0 and never guessed: 1 for counts. Neighbours
    substitute one record, upon which ALL scores may change, each by up to `sensitivity`, up or down.
    Of tied scores the first listed counts as the higher; a tie at the top is a gap of zero.
    Raises ValueError for k < 2, for scores that are not finite, and if the sensitivity is not said.
    """

    listed: Floats
    others: float = 0.0
    level: float = 0.0
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        if self.sensitivity is None:
            raise ValueError("sensitivity is missing; say by how much neighbours may change one score: 1 for counts")
        listed = np.asarray(real("score", np.asarray(self.listed), -np.inf))
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
        """The sensitivity, which is known once the scores are checked."""
        return cast(float, self.sensitivity)

    @property
    def k(self) -> float:
        """How many candidates there are."""
        return len(self.listed) + self.others

    def top(self, m: int = 1) -> Ints:
        """The indices of the m highest scores, best first; 1 <= m < k, and all of them listed."""
        least = min(len(self.listed), self.k - 1)
        if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= least:
            raise ValueError(f"m = {m!r} is not valid; valid: a whole number from 1 to {least:g}: below k, all listed")
        return np.argsort(-self.listed, kind="stable")[:m]

    def runner_up(self, m: int = 1) -> float:
        """The (m+1)-th highest score."""
        self.top(m)
        ordered = np.sort(self.listed)[::-1]
        return float(ordered[m]) if m < len(ordered) else self.level

    def gap(self, m: int = 1) -> float:
        """By how much the m-th highest score leads the next, in units of the sensitivity; zero for a tie."""
        return float(self.listed[self.top(m)[-1]] - self.runner_up(m)) / self.unit

    def leads(self, m: int = 1) -> Floats:
        """max(score - (m+1)-th highest score, 0) of the listed candidates, in units of the sensitivity."""
        return np.maximum(self.listed - self.runner_up(m), 0) / self.unit
