"""Additive releases, the answer plus noise, and their families."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import exp, expm1, inf, log, log1p
from typing import Any, Self

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    Noise,
)
from tcdp_sim.noise.generalized_gaussian import LEAST_POWER
from tcdp_sim.per_record import policies
from tcdp_sim.per_record.base import Release, one_influence
from tcdp_sim.per_record.families import MOST_LOG, OFFSET, BoundedLossFamily, Parameters, ReleaseFamily, Shapes

LEAST_RATE_ABOVE_ONE, MOST_RATE = 1e-9, 1e9  # at larger rates the noise is Laplace noise
POWER = Axis("power", "exponent in the density of generalized Gaussian or polylogarithmic noise", "1", "above 0")


@dataclass(frozen=True)
class AdditiveRelease(Release):
    """The answer plus noise, for any real answer q. The error does not depend on q.

    Source: Finley et al. (2024), Section 5 [Fin24].

    Parameters
    ----------
    noise : Noise
        The noise, with numbers as parameters, in the units of the answer.

    Raises
    ------
    ValueError
        If `noise` is not a Noise or has arrays as parameters.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian, Laplace
    >>> float(AdditiveRelease(Gaussian(10.0)).policy(20.0))
    2.0
    >>> float(AdditiveRelease(Laplace(10.0)).pure_policy(20.0))
    2.0
    """

    noise: Noise

    form = "additive"

    def as_data(self) -> dict[str, Any]:
        return {"form": self.form, "noise": self.noise.family} | asdict(self.noise)  # type: ignore[call-overload]

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        parameters = dict(data)
        return cls(registry.noise(parameters.pop("noise"))(**parameters))

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise) or self.noise.shape != ():
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: one noise with numbers as parameters")

    def cdf(self, q: Any, x: Any) -> Reals:
        return self.noise.cdf(np.subtract(x, q))

    def sf(self, q: Any, x: Any) -> Reals:
        return self.noise.sf(np.subtract(x, q))

    def ppf(self, q: Any, u: Any) -> Reals:
        return q + self.noise.ppf(u)

    def bias(self, q: Any) -> Reals:
        return np.zeros(np.shape(q))[()]

    def var(self, q: Any) -> Reals:
        return np.full(np.shape(q), self.noise.var())[()]

    def kurtosis(self, q: Any) -> Reals:
        return np.full(np.shape(q), self.noise.kurtosis())[()]

    def median_abs_error(self, q: Any) -> Reals:
        return np.full(np.shape(q), self.noise.isf(0.25))[()]

    def sample(self, q: Any, size: Any = None, *, rng: np.random.Generator) -> Reals:
        return q + self.noise.sample(size=np.shape(q) if size is None else size, rng=rng)

    def policy(self, influence: Any) -> Reals:
        """Return the printed zCDP policy at an influence t >= 0, in nats.

        It is the divergence D_1 if D_a = a D_1, as for Gaussian noise. Otherwise it is P tanh(P / 2) with
        P = `pure_policy`.
        """
        return policies.additive(self.noise, influence)

    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        return self.noise, one_influence(influence)

    def pure_policy(self, influence: Any) -> Reals:
        """Return the largest privacy loss at an influence t >= 0, in nats.

        This is the pure DP guarantee of a record; it is inf if the loss is unbounded.
        """
        return policies.pure(self.noise, influence)


class GaussianRelease(ReleaseFamily):
    """The answer plus Gaussian noise."""

    name = "gaussian"

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return AdditiveRelease(Gaussian(scale, **parameters))


class LaplaceRelease(BoundedLossFamily):
    """The answer plus Laplace noise."""

    name = "laplace"

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return AdditiveRelease(Laplace(scale, **parameters))

    @classmethod
    def reach(cls, loss: float, parameters: Parameters) -> float:
        return loss


class DiscreteGaussianRelease(ReleaseFamily):
    """The whole answer plus discrete Gaussian noise, whose sigma is the scale."""

    name = "discrete_gaussian"
    on_lattice = True

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return AdditiveRelease(DiscreteGaussian(scale, **parameters))


class DiscreteLaplaceRelease(ReleaseFamily):
    """The whole answer plus discrete Laplace noise."""

    name = "discrete_laplace"
    on_lattice = True

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return AdditiveRelease(DiscreteLaplace(scale, **parameters))


class GeneralizedGaussianRelease(BoundedLossFamily):
    """The answer plus generalized Gaussian noise of power at most 1."""

    name = "generalized_gaussian"
    parameters = (POWER,)
    shape = POWER.name
    example = 0.5

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return AdditiveRelease(GeneralizedGaussian(scale, **parameters))

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        least = max(LEAST_POWER, abs(log(loss)) / MOST_LOG)
        return Shapes(least, 1.0, max(0.3, least))

    @classmethod
    def reach(cls, loss: float, parameters: Parameters) -> float:
        log_reach = log(loss) / parameters["power"]
        return exp(log_reach) if log_reach < 700 else inf


class ExponentialPolylogarithmicRelease(BoundedLossFamily):
    """The answer plus exponential polylogarithmic noise."""

    name = "exponential_polylogarithmic"
    parameters = (POWER, Axis("rate", "rate of exponential polylogarithmic noise", "1", "above 0"), OFFSET)
    required = (POWER.name,)
    shape = "rate"
    example = 2.0

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        power, offset = parameters["power"], parameters["offset"]
        noise = ExponentialPolylogarithmic(scale, power, cls._offset(power, offset), parameters["rate"])
        return AdditiveRelease(noise)

    @classmethod
    def shapes(cls, parameters: Parameters, influence: float, loss: float) -> Shapes:
        power = parameters["power"]
        if power == 1:
            return Shapes(1 + LEAST_RATE_ABOVE_ONE, MOST_RATE, 2.0, base=1.0)
        least = 1.01 / (power * MOST_LOG ** (power - 1))  # puts the mode of the log of the noise at MOST_LOG
        least = max(least, loss / MOST_LOG**power)
        return Shapes(least, MOST_RATE, max(1.0, 2 * least))

    @classmethod
    def reach(cls, loss: float, parameters: Parameters) -> float:
        power, ratio = parameters["power"], loss / parameters["rate"]
        offset = cls._offset(power, parameters["offset"])
        at = log(offset)
        rise = ratio if power == 1 else at * expm1(log1p(ratio / at**power) / power)
        return offset * expm1(rise) if rise < 700 else inf

    @staticmethod
    def _offset(power: float, offset: float | None) -> float:
        """Return the offset, by default e^(power - 1), the least valid one.

        At power 1 the offset only multiplies the scale.
        """
        return exp(min(scalar("power", power, 0) - 1, 700.0)) if offset is None else offset
