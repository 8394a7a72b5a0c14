"""Sums over draws, which merge, and the confidence intervals that follow from them."""

from dataclasses import dataclass
from functools import reduce
from math import inf, log, sqrt
from statistics import NormalDist

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.estimates import Estimate

LARGEST_ERROR = 0.2  # a relative standard error above it may hide a tail that no draw has seen
LEAST_EFFECTIVE = 100.0  # effective sample size of a normal interval
_LARGEST_SHARE = 0.05  # of one draw in the sum


@dataclass(frozen=True)
class Moments:
    """The number of draws v >= 0, their mean, the sum of the squared deviations from it, and the largest draw."""

    draws: int
    mean: float
    squares: float
    largest: float

    @classmethod
    def of(cls, values: Floats) -> "Moments":
        """Return the moments of an array of draws."""
        mean = float(values.mean())
        return cls(len(values), mean, float(((values - mean) ** 2).sum()), float(values.max()))

    def __add__(self, other: "Moments") -> "Moments":
        draws, gap = self.draws + other.draws, other.mean - self.mean
        squares = self.squares + other.squares + gap * gap * self.draws * other.draws / draws
        mean = self.mean + gap * other.draws / draws
        return Moments(draws, mean, squares, max(self.largest, other.largest))

    @property
    def variance(self) -> float:
        """The sample variance; infinite for a single draw."""
        return self.squares / (self.draws - 1) if self.draws > 1 else inf

    @property
    def effective(self) -> float:
        """The effective sample size (sum v)^2 / sum v^2."""
        raw = self.squares / self.draws + self.mean**2
        return self.draws * self.mean**2 / raw if raw > 0 else 0.0  # squares of tiny draws are 0

    @property
    def relative_error(self) -> float:
        """The standard error of the mean over the mean."""
        return sqrt(self.variance / self.draws) / self.mean if self.mean > 0 else inf


def merged(parts: list[Moments]) -> Moments:
    """Return the moments of all draws together."""
    return reduce(Moments.__add__, parts)


def bernstein(moments: Moments, bound: float, level: float, method: str) -> Estimate:
    """Return the interval for the mean of independent draws in [0, bound].

    It contains the mean with probability `level` at least, for every law and every number of draws. The number is fixed
    before the first draw.

    Source: Maurer and Pontil (2009) [MP09], Theorem 4, for each end at half of 1 - level.
    """
    away = half_width(moments, bound, level, moments.draws)
    low, high = max(moments.mean - away, 0.0), min(moments.mean + away, bound)
    return Estimate(low, moments.mean, high, level, method, moments.draws, moments.effective)


def half_width(moments: Moments, bound: float, level: float, draws: int) -> float:
    """Return the half width of the interval of so many draws with this variance."""
    if draws < 2:
        return inf
    each = log(4 / (1 - level))
    return sqrt(2 * moments.variance * each / draws) + 7 * bound * each / (3 * (draws - 1))


def draws_for(moments: Moments, bound: float, level: float, target: float) -> float:
    """Return the number of draws whose interval has the half width target * mean, infinite if no draw is positive."""
    away = target * moments.mean
    if not away > 0:
        return inf
    each = log(4 / (1 - level))
    root = sqrt(2 * moments.variance * each)
    return ((root + sqrt(root * root + 4 * away * 7 * bound * each / 3)) / (2 * away)) ** 2 + 1


def normal(moments: Moments, level: float, method: str) -> Estimate:
    """Return the interval by the normal law. Raises UserError where the draws show that it cannot be trusted."""
    away = NormalDist().inv_cdf(0.5 + 0.5 * level) * moments.relative_error * moments.mean if moments.mean > 0 else inf
    share = moments.largest / (moments.draws * moments.mean) if moments.mean > 0 else 1.0
    few = moments.effective < LEAST_EFFECTIVE or share > _LARGEST_SHARE
    if few or moments.relative_error > LARGEST_ERROR:
        raise UserError(
            f"{moments.draws:,} draws of {method} have a relative standard error of {moments.relative_error:.2g}, an "
            f"effective sample size of {moments.effective:,.0f}, and {share:.0%} of the sum in one draw; valid: "
            f"{LARGEST_ERROR:g} at most, {LEAST_EFFECTIVE:g} at least, {_LARGEST_SHARE:.0%} at most"
        )
    low, high = max(moments.mean - away, 0.0), moments.mean + away
    return Estimate(low, moments.mean, high, level, f"{method}, normal law", moments.draws, moments.effective)
