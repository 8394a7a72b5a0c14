"""What every release of one number is to the rest: its exact law given the true answer, and its printed policy."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise import Noise


class Release(ABC):
    """A random answer to a question whose true answer is q.

    q and x are in the units of the answer, u is a probability in [0, 1]; arrays broadcast, numbers give numbers.
    Influence is the most that one record can change q when it is added or removed: for a sum, its absolute value.
    """

    form: ClassVar[str]  # what plain data call this class

    def as_data(self) -> dict[str, Any]:
        """Return the release as plain data: its form, and its parameters as far as they are given."""
        given = {name: value for name, value in asdict(self).items() if value is not None}  # type: ignore[call-overload]
        return {"form": self.form} | given

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """Return the release of plain data that `as_data` made, without the form."""
        return cls(**data)

    @abstractmethod
    def cdf(self, q: Any, x: Any) -> Reals:
        """P[release <= x]."""

    @abstractmethod
    def sf(self, q: Any, x: Any) -> Reals:
        """P[release > x], accurate in the upper tail."""

    @abstractmethod
    def ppf(self, q: Any, u: Any) -> Reals:
        """The least x with P[release <= x] >= u."""

    @abstractmethod
    def bias(self, q: Any) -> Reals:
        """E release - q."""

    @abstractmethod
    def var(self, q: Any) -> Reals:
        """Variance of the release; inf where it is infinite or no float, never NaN."""

    @abstractmethod
    def kurtosis(self, q: Any) -> Reals:
        """E (release - q)^4 / mse^2: inf where the fourth moment is infinite or no float, never NaN.

        The standard error of a mean of n squared errors is sqrt((kurtosis - 1) / n) of the MSE.
        """

    @abstractmethod
    def sample(self, rng: np.random.Generator, q: Any, size: Any = None) -> Reals:
        """Independent releases of shape `size` (default: the shape of q)."""

    @abstractmethod
    def policy(self, influence: Any) -> Reals:
        """The printed zCDP policy: D_a <= a policy(t) in nats for a record of influence t >= 0, all a > 1."""

    @abstractmethod
    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        """The noise that hides a record of influence t >= 0, and how far the record moves its centre, at worst.

        The release is a function of a draw of that noise around its centre: it gives away at most what the draw does.
        """

    def mean(self, q: Any) -> Reals:
        """E release."""
        return q + self.bias(q)

    def mse(self, q: Any) -> Reals:
        """E (release - q)^2."""
        return self.var(q) + np.square(self.bias(q))

    def prob_negative(self, q: Any) -> Reals:
        """P[release < 0]."""
        return self.cdf(q, 0.0)

    def median_abs_error(self, q: Any) -> Reals:
        """The least r with P[|release - q| <= r] >= 1/2."""
        return elementwise(self._median_abs_error, q)

    def _median_abs_error(self, q: float) -> float:
        reach = max(abs(self.ppf(q, 0.25) - q), abs(self.ppf(q, 0.75) - q))  # between them lies half of the mass

        def excess(r: float) -> float:
            return float(self.sf(q, q + r) + self._below(q, q - r)) - 0.5

        return crossing(lambda r: -excess(r), 0.0, reach)

    def _below(self, q: float, x: float) -> float:
        """P[release < x]: the cdf, unless the release has atoms."""
        return float(self.cdf(q, x))


def influences(influence: Any) -> Reals:
    """The influence of records, finite and >= 0, as floats; ValueError for others."""
    return real("influence", influence, 0, closed=True)


def one_influence(influence: Any) -> float:
    """The influence of one record, finite and >= 0; ValueError for another."""
    return scalar("influence", influence, 0, closed=True)


def elementwise(function: Callable[..., float], *arguments: Any) -> Reals:
    """function of every element of the arguments, broadcast; a float where all of them are numbers."""
    arrays = np.broadcast_arrays(*(np.asarray(argument, dtype=np.float64) for argument in arguments))
    values = [function(*(float(each) for each in row)) for row in zip(*(array.ravel() for array in arrays))]
    return np.array(values, dtype=np.float64).reshape(arrays[0].shape)[()]


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a nondecreasing function of [low, high] becomes positive; the end that is nearest if it does not."""
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(brentq(function, low, high, xtol=1e-300, rtol=1e-15, maxiter=2000))
