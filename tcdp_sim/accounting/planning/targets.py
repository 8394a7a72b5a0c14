"""The errors that a plan can bound: each is a function of the scale of its noise, with the largest scale for it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, log
from typing import Any, ClassVar

from tcdp_sim.accounting.planning.scales import largest_scale, unit_noise
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.noise import Noise
from tcdp_sim.noise.objectives import LargestError

_MOST_COORDINATES = 10**7
DOWN = 1 - 1e-13  # factor of a scale, against the rounding of its error


class Target(ABC):
    """An error of a release, as a function of the scale of its noise.

    Attributes
    ----------
    error : float or None
        The error that one can bear, None for a split that asks for no fixed errors.
    name : str
        The name in tables.
    weight : float
        The weight in a sum of errors or variances, above 0.
    sensitivity : float
        The largest change of an answer or a score by a record.

    Examples
    --------
    >>> from tcdp_sim.accounting import DeviationTarget, Target
    >>> isinstance(DeviationTarget(deviation=2.0), Target)
    True
    """

    kind: ClassVar[str] = ""  # of error, in two words
    name: str
    weight: float
    sensitivity: float

    @property
    @abstractmethod
    def error(self) -> float | None:
        """The error that one can bear, or None."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The meaning of the error in a few words."""

    @abstractmethod
    def error_at(self, scale: float) -> float:
        """Return the error at a scale of the noise."""

    @abstractmethod
    def scale_for(self, error: float) -> float:
        """Return the largest scale at which the error is at most `error`."""

    @property
    def copies(self) -> int:
        """The number of independent copies of the release."""
        return 1

    @abstractmethod
    def release_at(self, scale: float) -> tuple[Release, int]:
        """Return the release at a scale, and the number of its independent copies."""

    def noise_at(self, scale: float) -> Noise | None:
        """Return the noise of a scale, None for a selection."""
        return None

    def variance_at(self, scale: float) -> float | None:
        """Return the variance of an answer at a scale, in squared counts, None for a selection."""
        return None

    @property
    def is_smooth(self) -> bool:
        """True if the error is proportional to the scale."""
        return True

    @property
    def jump(self) -> float | None:
        """The distance of the errors that are possible, None if every error is."""
        return None


@dataclass(frozen=True)
class AdditiveTarget(Target):
    """A target of answers with additive noise of a family with one scale."""

    noise: str = "gaussian"
    sensitivity: float = 1.0
    coordinates: int = 1
    step: float = 1.0
    name: str = ""
    weight: float = 1.0

    def check(self) -> None:
        sensitivity, weight = scalar("sensitivity", self.sensitivity, 0), scalar("weight", self.weight, 0)
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "coordinates", whole("coordinates", self.coordinates, 1, _MOST_COORDINATES))
        object.__setattr__(self, "step", scalar("step", self.step, 0))
        AdditiveTarget.release_at(self, sensitivity)  # refuses another noise, or a sensitivity off its lattice

    @property
    def copies(self) -> int:
        """The number of answers that a record changes."""
        return self.coordinates

    def noise_at(self, scale: float) -> Noise | None:
        """Return the noise of a scale."""
        return self.given_noise(scale)

    def given_noise(self, scale: float) -> Noise:
        """Return the noise of a scale, of the family in `noise`."""
        return unit_noise(self.noise, self.step, scale)

    def release_at(self, scale: float) -> tuple[Release, int]:
        """Return the answer of a coordinate, and the number of answers that a record changes."""
        return Additive(self.given_noise(scale), self.sensitivity), self.copies

    def variance_at(self, scale: float) -> float | None:
        """Return the variance of one answer."""
        return float(self.given_noise(scale).var())

    @property
    def is_smooth(self) -> bool:
        """True unless the noise is discrete, whose largest errors are points of its lattice."""
        return not self.given_noise(self.sensitivity).is_discrete

    def scale_for(self, error: float) -> float:
        """Return the largest scale, by proportion, or for discrete noise by a search."""
        alike = replace(self, name="", weight=1.0)
        if self.is_smooth:
            return error / _unit_error(alike) * DOWN
        return _largest_scale(alike, error if self.tail is None else _point_below(error, self.step), error)

    @property
    def jump(self) -> float | None:
        """The step of discrete noise if the error is a quantile of it."""
        return None if self.is_smooth or self.tail is None else self.step

    @property
    def tail(self) -> float | None:
        """The probability beyond the error, if it is a quantile of the noise."""
        return None


@lru_cache(maxsize=4096)
def _unit_error(target: Any) -> float:
    return float(target.error_at(1.0))


def _point_below(error: float, step: float) -> float:
    """Return the last point of the lattice that is not above an error. Quantiles are such points."""
    steps = floor(error / step)
    return float(next(point for point in (step * (steps + 1), step * steps, step * (steps - 1)) if point <= error))


def _largest_scale(target: Any, point: float, error: float) -> float:
    if point <= 0:
        raise ValueError(f"no discrete noise has an error of {error:g}; valid: an error of at least {target.step:g}")
    return _scale_at_point(target, point)


@lru_cache(maxsize=8192)
def _scale_at_point(target: Any, point: float) -> float:
    tail = target.tail

    def excess(scale: float) -> float:
        if tail is None:
            return float(target.error_at(scale) - point)
        return float(target.given_noise(scale).logsf(point)) - log(tail)

    return largest_scale(target.error_at, point, target.step, excess)


@dataclass(frozen=True, kw_only=True)
class CountTarget(AdditiveTarget):
    """The largest error of k counts: with probability `level`, no error of the k counts exceeds it.

    Parameters
    ----------
    noise : str
        A noise with one scale, such as "gaussian", "laplace", "discrete_gaussian" or "discrete_laplace".
    sensitivity : float
        The largest change of one count by a record, in counts, above 0.
    coordinates : int
        The number of counts that a record changes, from 1 to 10^7. It is 1 for a histogram under add/remove, and 2
        under substitution.
    step : float
        The distance of neighbouring points of discrete noise, in counts, above 0.
    name : str
        The name in tables.
    weight : float
        The weight in a sum of errors or variances, above 0.
    largest_error : float or None
        The error that one can bear, in counts, above 0.
    k : float
        The number of counts, at least 1.
    level : float
        The confidence level, in (0, 1).

    Raises
    ------
    ValueError
        If an argument is out of range, or the noise has not one scale.

    Examples
    --------
    >>> from tcdp_sim.accounting import CountTarget
    >>> round(CountTarget(largest_error=10.0, k=10).scale_for(10.0), 5)
    3.57191
    """

    kind = "largest error"
    largest_error: float | None = None
    k: float = 1
    level: float = 0.95

    def __post_init__(self) -> None:
        need_error("largest_error", self.largest_error)
        LargestError(self.k, self.level)
        self.check()

    @property
    def error(self) -> float | None:
        """The largest error that one can bear."""
        return self.largest_error

    @property
    def words(self) -> str:
        """The meaning of the error."""
        return f"largest of {self.k:g} errors at {self.level:.6g}"

    def error_at(self, scale: float) -> float:
        """Return the quantile of the largest of k absolute errors."""
        return float(self.given_noise(scale).isf(self.tail))

    @property
    def tail(self) -> float:
        """The probability of an error to one side beyond the quantile."""
        return 0.5 * LargestError(self.k, self.level).tail


@dataclass(frozen=True, kw_only=True)
class DeviationTarget(AdditiveTarget):
    """The standard deviation of an answer.

    Parameters
    ----------
    noise : str
        A noise with one scale, such as "gaussian", "laplace", "discrete_gaussian" or "discrete_laplace".
    sensitivity : float
        The largest change of one count by a record, in counts, above 0.
    coordinates : int
        The number of counts that a record changes, from 1 to 10^7.
    step : float
        The distance of neighbouring points of discrete noise, in counts, above 0.
    name : str
        The name in tables.
    weight : float
        The weight in a sum of errors or variances, above 0.
    deviation : float or None
        The standard deviation that one can bear, in counts, above 0.

    Raises
    ------
    ValueError
        If an argument is out of range, or the noise has not one scale.

    Examples
    --------
    >>> from tcdp_sim.accounting import DeviationTarget
    >>> round(DeviationTarget(deviation=2.0, noise="laplace").scale_for(2.0), 6)
    1.414214
    """

    kind = "standard deviation"
    deviation: float | None = None

    def __post_init__(self) -> None:
        need_error("deviation", self.deviation)
        self.check()

    @property
    def error(self) -> float | None:
        """The standard deviation that one can bear."""
        return self.deviation

    @property
    def words(self) -> str:
        """The meaning of the error."""
        return "standard deviation"

    def error_at(self, scale: float) -> float:
        """Return the standard deviation."""
        return float(self.given_noise(scale).var()) ** 0.5


def need_error(name: str, error: float | None) -> None:
    """Raise ValueError unless an error is above 0 or missing."""
    if error is not None:
        scalar(name, error, 0)
