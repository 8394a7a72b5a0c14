"""The releases that can be calibrated to records: what each is made of, and what an anchor decides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, expm1, inf, log, log1p
from typing import Any

from tcdp_sim.core.errors import scalar
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace
from tcdp_sim.noise.generalized_gaussian import LEAST_POWER
from tcdp_sim.releases import (
    AdditiveRelease,
    ClippedRelease,
    Log,
    Release,
    Root,
    TransformedRelease,
    UnitSplitRelease,
)

Parameters = Mapping[str, Any]
Anchor = tuple[float, float]  # influence, value
MOST_LOG = 650.0  # of influence over scale: both are floats, and so is the noise's median
LEAST_OFFSET, FURTHEST_OFFSET = 1e-290, 1e12  # the second one in influences: there a transformation is a line
LEAST_RATE_ABOVE_ONE, MOST_RATE = 1e-9, 1e9  # beyond the second one it is Laplace noise
_ESTIMATION = {"estimator": "mean_unbiased", "nonnegative": False}
_RULE = {"rule": "full", "pieces": None, "exponent": None}


@dataclass(frozen=True)
class Shapes:
    """The range of a shape, least <= shape <= most, searched from `start` on the scale of log(shape - base)."""

    least: float
    most: float
    start: float
    base: float = 0.0

    def place(self, shape: float) -> float:
        """Where a shape is on the scale that is searched; a shape that is `base` is at its lower end."""
        return log(max(shape - self.base, LEAST_OFFSET))

    def range(self) -> tuple[float, float]:
        """The ends of that scale."""
        return self.place(self.least), self.place(self.most)

    def at(self, place: float) -> float:
        """The shape at a place, at the ends exactly."""
        low, high = self.range()
        return self.least if place <= low else self.most if place >= high else self.base + exp(place)


Range = Callable[[Parameters, float, float], Shapes]


@dataclass(frozen=True)
class RecordFamily:
    """Releases with a scale, which one anchor decides, and perhaps a shape, which a second one decides.

    build(scale=..., **parameters) makes one. shape: the name of that parameter, "" for none; `example`: a value of it
    that is valid; `with_one_anchor`: its default there; `shapes`: its range, given the other parameters, the largest
    influence and the least loss at the first anchor. required, optional: other parameters, these with their default.
    reach(loss, parameters): the influence in scales at which additive noise has that largest loss, in nats; None where
    the noise is Gaussian and a record only shifts it.
    """

    build: Callable[..., Release]
    shape: str = ""
    example: float = 1.0
    with_one_anchor: float | None = None
    shapes: Range = lambda parameters, influence, loss: Shapes(0.0, 0.0, 0.0)
    required: tuple[str, ...] = ()
    optional: Parameters = field(default_factory=dict)
    reach: Callable[[float, Parameters], float] | None = None


# Additive noise of bounded loss


def _polylogarithmic(scale: float, power: float, rate: float, offset: float | None) -> Release:
    return AdditiveRelease(ExponentialPolylogarithmic(scale, power, _offset(power, offset), rate))


def _offset(power: float, offset: float | None) -> float:
    """e^(power - 1), the least that is valid, unless another is given; at power 1 it only multiplies the scale."""
    return exp(min(scalar("power", power, 0) - 1, 700.0)) if offset is None else offset


def _powers(parameters: Parameters, influence: float, loss: float) -> Shapes:
    least = max(LEAST_POWER, abs(log(loss)) / MOST_LOG)
    return Shapes(least, 1.0, max(0.3, least))


def _rates(parameters: Parameters, influence: float, loss: float) -> Shapes:
    power = parameters["power"]
    if power == 1:
        return Shapes(1 + LEAST_RATE_ABOVE_ONE, MOST_RATE, 2.0, base=1.0)
    least = 1.01 / (power * MOST_LOG ** (power - 1))  # the mode of the log of the noise's size is at MOST_LOG
    least = max(least, loss / MOST_LOG**power)
    return Shapes(least, MOST_RATE, max(1.0, 2 * least))


def _reach_of_rate(loss: float, parameters: Parameters) -> float:
    power, ratio = parameters["power"], loss / parameters["rate"]
    offset = _offset(power, parameters["offset"])
    at = log(offset)
    rise = ratio if power == 1 else at * expm1(log1p(ratio / at**power) / power)
    return offset * expm1(rise) if rise < 700 else inf


def _reach_of_power(loss: float, parameters: Parameters) -> float:
    log_reach = log(loss) / parameters["power"]
    return exp(log_reach) if log_reach < 700 else inf


# Transformations


def _log(scale: float, offset: float, **how: Any) -> Release:
    return TransformedRelease(Log(offset), scale, **how)


def _roots(degree: float | None) -> RecordFamily:
    def build(scale: float, offset: float, degree: float | None = degree, **how: Any) -> Release:
        return TransformedRelease(Root(degree, offset), scale, **how)  # type: ignore[arg-type]

    required = ("degree",) if degree is None else ()
    return RecordFamily(build, "offset", 1.0, 0.0, _offsets(0.0), required, _ESTIMATION)


def _offsets(least: float) -> Range:
    return lambda parameters, influence, loss: Shapes(least, FURTHEST_OFFSET * influence, influence)


RECORD_FAMILIES: Mapping[str, RecordFamily] = {
    "gaussian": RecordFamily(lambda scale: AdditiveRelease(Gaussian(scale))),
    "laplace": RecordFamily(lambda scale: AdditiveRelease(Laplace(scale)), reach=lambda loss, parameters: loss),
    "generalized_gaussian": RecordFamily(
        lambda scale, power: AdditiveRelease(GeneralizedGaussian(scale, power)),
        shape="power",
        example=0.5,
        shapes=_powers,
        reach=_reach_of_power,
    ),
    "exponential_polylogarithmic": RecordFamily(
        _polylogarithmic,
        shape="rate",
        example=2.0,
        shapes=_rates,
        required=("power",),
        optional={"offset": None},
        reach=_reach_of_rate,
    ),
    "square_root": _roots(2),
    "fourth_root": _roots(4),
    "root": _roots(None),
    "log": RecordFamily(_log, shape="offset", shapes=_offsets(LEAST_OFFSET), optional=_ESTIMATION),
    "clipped": RecordFamily(lambda scale, clip: ClippedRelease(clip, scale), required=("clip",)),
    "unit_splitting": RecordFamily(
        lambda scale, threshold, **how: UnitSplitRelease(threshold, scale, **how),
        required=("threshold",),
        optional=_RULE,
    ),
}
