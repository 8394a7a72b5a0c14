"""Claims that are stated as numbers or as a function: points of a privacy profile, or a trade-off curve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.audits.tradeoff import Curve
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError, scalar

GRID = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(0.5, 1e-9, 200)[1:], [1.0]])
LAST_DIGIT = 4e-16  # the rounding error of a difference from 1
ROUNDING = 1e-9  # by which the values of a trade-off curve may break its rules
VALID = "valid: a convex function that falls, from at most 1 - alpha at each type I error alpha down to 0"


@dataclass(frozen=True)
class StatedProfile:
    """The claim of (epsilon, delta)-DP at several points, for both orders of the neighbours."""

    points: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        shown = ", ".join(f"({epsilon:g}, {delta:g})" for epsilon, delta in self.points[:3])
        return f"the profile through {shown}{', ...' if len(self.points) > 3 else ''}"

    @property
    def curve(self) -> Curve:
        """The trade-off curve that the points allow."""
        epsilon, delta = np.array(self.points).T
        return Curve(epsilon, delta)


@dataclass(frozen=True)
class StatedCurve:
    """The claim that no test has a type II error below a function of its type I error."""

    function: Callable[[Any], Any]

    def __str__(self) -> str:
        return f"the trade-off curve {getattr(self.function, '__name__', repr(self.function))}"

    @property
    def curve(self) -> "StatedCurve":
        """The curve itself."""
        return self

    def power(self, alpha: Any) -> Floats:
        """Return the largest power of a test at type I errors alpha."""
        alpha = np.asarray(alpha, np.float64)
        values = self.function(alpha) if self._takes_arrays else _one_by_one(self.function, alpha)
        return np.clip(1 - np.asarray(values, np.float64), 0.0, 1.0)

    def rarer(self, likely: Floats) -> Floats:
        """Return the least probabilities that events with these probabilities have under a neighbour."""
        return np.maximum(0.0, 1 - self.power(1 - likely) - LAST_DIGIT)

    @cached_property
    def _takes_arrays(self) -> bool:
        """True if the function gives the same for an array as for its numbers."""
        try:
            found = np.asarray(self.function(GRID), np.float64)
        except Exception:  # a function of the user's
            return False
        return found.shape == GRID.shape and np.allclose(found, _one_by_one(self.function, GRID), 1e-12, 1e-15)


def _one_by_one(function: Callable[[Any], Any], alpha: Floats) -> Floats:
    """Return the values of a function of one number, each computed once."""
    places, back = np.unique(alpha, return_inverse=True)
    return np.array([float(function(float(each))) for each in places])[back].reshape(alpha.shape)


Stated = StatedProfile | StatedCurve


def of(claim: Any) -> Stated | None:
    """Return the claim of a mapping {epsilon: delta} or of a function; None for anything else. Raises UserError."""
    if isinstance(claim, Stated):
        return claim
    if isinstance(claim, Mapping):
        return _profile(claim)
    if callable(claim) and not isinstance(claim, type):
        return _curve(claim)
    return None


def _profile(claim: Mapping[Any, Any]) -> StatedProfile:
    if not claim:
        raise UserError("claim = {} is not valid; valid: {epsilon: delta}, with one point or more", "claim")
    try:
        points = [
            (scalar("epsilon", epsilon, 0, closed=True), scalar("delta", delta, 0, 1, closed=True))
            for epsilon, delta in claim.items()
        ]
    except (ValueError, TypeError) as mistake:
        raise UserError(f"claim: {mistake}; valid: {{epsilon: delta}}", "claim") from None
    return StatedProfile(tuple(sorted(points)))


def _curve(claim: Callable[[Any], Any]) -> StatedCurve:
    """Return the claim of a function that is a trade-off curve on a grid. Raises UserError."""
    try:
        values = _one_by_one(claim, GRID)
    except Exception as mistake:  # a function of the user's
        what = f"claim raises {type(mistake).__name__} at a type I error: {mistake}"
        raise UserError(f"{what}; {VALID}", "claim") from None
    width = np.diff(GRID)
    slopes = np.diff(values) / width
    slack = ROUNDING * (1 + np.abs(slopes[:-1])) + 1e-15 / width[:-1] + 1e-15 / width[1:]
    broken = (
        not np.isfinite(values).all()
        or (values < -ROUNDING).any()
        or (values > 1 - GRID + ROUNDING).any()
        or (np.diff(values) > ROUNDING).any()
        or (np.diff(slopes) < -slack).any()
    )
    if broken:
        raise UserError(f"claim is no trade-off curve; {VALID}", "claim")
    return StatedCurve(claim)
