"""The interface of a release of one number: its exact law given the true answer, and its printed policy."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.search import brentq
from tcdp_sim.noise import Noise


class Release(ABC):
    """A random answer to a question with the true answer q.

    The arguments q and x are in the units of the answer, and u is a probability in [0, 1]. Arrays broadcast; numbers
    give numbers. The influence of a record is the largest change of q when the record is added or removed. For a sum it
    is the record's absolute value.

    Source: Finley et al. (2024) [Fin24].

    Attributes
    ----------
    form : str
        The name of the class in plain data.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.per_record import AdditiveRelease
    >>> release = AdditiveRelease(Gaussian(10.0))
    >>> float(release.cdf(100.0, 100.0)), float(release.mse(100.0))
    (0.5, 100.0)
    """

    form: ClassVar[str]

    def as_data(self) -> dict[str, Any]:
        """Return the release as plain data: its form, and those parameters that are not None."""
        given = {name: value for name, value in asdict(self).items() if value is not None}  # type: ignore[call-overload]
        return {"form": self.form} | given

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """Return the release of plain data made by `as_data`, without the form."""
        return cls(**data)

    @abstractmethod
    def cdf(self, q: Any, x: Any) -> Reals:
        """Return P[release <= x]."""

    @abstractmethod
    def sf(self, q: Any, x: Any) -> Reals:
        """Return P[release > x], accurate in the upper tail."""

    @abstractmethod
    def ppf(self, q: Any, u: Any) -> Reals:
        """Return the least x with P[release <= x] >= u."""

    @abstractmethod
    def bias(self, q: Any) -> Reals:
        """Return the mean error, E[release] - q."""

    @abstractmethod
    def var(self, q: Any) -> Reals:
        """Return the variance of the release; inf if it is infinite or overflows, never NaN."""

    @abstractmethod
    def kurtosis(self, q: Any) -> Reals:
        """Return E[(release - q)^4] / mse^2; inf if the fourth moment is infinite or overflows, never NaN.

        The mean of n squared errors has the standard error sqrt((kurtosis - 1) / n) times the mean squared error.
        """

    @abstractmethod
    def sample(self, q: Any, size: Any = None, *, rng: np.random.Generator) -> Reals:
        """Return independent releases.

        Parameters
        ----------
        q : array_like of float
            The true answers.
        size : int or tuple of int, optional
            The shape of the result; the default is the shape of q.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        float or ndarray
            The releases.
        """

    @abstractmethod
    def policy(self, influence: Any) -> Reals:
        """Return the printed zCDP policy at an influence t >= 0, in nats.

        The release satisfies D_a <= a policy(t) for a record of influence t and every order a > 1.
        """

    @abstractmethod
    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        """Return the noise that hides a record of influence t >= 0, and its largest shift by the record.

        The release is a function of a draw of that noise around its centre, so it leaks at most as much as the draw.
        """

    def mean(self, q: Any) -> Reals:
        """Return E[release]."""
        return q + self.bias(q)

    def mse(self, q: Any) -> Reals:
        """Return the mean squared error, E[(release - q)^2]."""
        return self.var(q) + np.square(self.bias(q))

    def prob_negative(self, q: Any) -> Reals:
        """Return P[release < 0]."""
        return self.cdf(q, 0.0)

    def median_abs_error(self, q: Any) -> Reals:
        """Return the least r with P[|release - q| <= r] >= 1/2."""
        return elementwise(self._median_abs_error, q)

    def _median_abs_error(self, q: float) -> float:
        reach = max(abs(self.ppf(q, 0.25) - q), abs(self.ppf(q, 0.75) - q))  # half of the mass lies between them

        def excess(r: float) -> float:
            return float(self.sf(q, q + r) + self._below(q, q - r)) - 0.5

        return crossing(lambda r: -excess(r), 0.0, reach)

    def _below(self, q: float, x: float) -> float:
        """Return P[release < x], which is the cdf unless the release has atoms."""
        return float(self.cdf(q, x))


def influences(influence: Any) -> Reals:
    """Return the influences of records as floats; ValueError unless they are finite and >= 0."""
    return real("influence", influence, 0, closed=True)


def one_influence(influence: Any) -> float:
    """Return the influence of one record as a float; ValueError unless it is finite and >= 0."""
    return scalar("influence", influence, 0, closed=True)


def elementwise(function: Callable[..., float], *arguments: Any) -> Reals:
    """Return the function of every element of the broadcast arguments; a float if all of them are numbers."""
    arrays = np.broadcast_arrays(*(np.asarray(argument, dtype=np.float64) for argument in arguments))
    values = [function(*(float(each) for each in row)) for row in zip(*(array.ravel() for array in arrays))]
    return np.array(values, dtype=np.float64).reshape(arrays[0].shape)[()]


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the place in [low, high] where a nondecreasing function becomes positive.

    If it has one sign on the whole interval, the result is the nearer end.
    """
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(brentq(function, low, high, xtol=1e-300, rtol=1e-15, maxiter=2000))
