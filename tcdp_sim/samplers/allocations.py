"""Draws of delta of a random allocation: a record takes part in some of several steps with Gaussian noise.

Let y_i = exp(s x_i - s^2 / 2) be the likelihood ratio of step i, for s = 1 / sigma. A record that takes part in k
random steps of t has the ratio R = e_k(y) / C(t, k), the mean of all products of k ratios. delta of the outputs with
the record against those without it is E (R - e^epsilon)+ without the record, and the other delta is
E (1 - e^epsilon R)+.

**Adding.** The largest ratio is integrated exactly, as Asmussen and Kroese (2006) [AK06] do for sums of heavy-tailed
variables. By symmetry delta is t times the mean over the outcomes in which y_t is the largest ratio. Given the others,
R is linear in y_t, so the mean over y_t has a closed form. Let m_j be the mean product of j of the others, M their
maximum, and Y a single ratio. Then

    delta = k E [ m_{k-1} E[(Y - a)+; Y > M] ],    a = (t e^epsilon - (t - k) m_k) / (k m_{k-1}).

The weight m_{k-1} belongs to a record in k - 1 random steps of the others. By symmetry these are the first ones.

The others are drawn from tilted laws. The tilts affect the spread of the draws alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import TINY
from tcdp_sim.core.search import brentq
from tcdp_sim.samplers.mean_products import log_mean_products
from tcdp_sim.samplers.tilted_ratios import Exponent, TiltedRatios

DIRECTIONS = ("adding", "removing")
MOST_STEPS, MOST_PARTICIPATIONS = 10**5, 100
LEAST_SIGMA, MOST_SIGMA, MOST_EPSILON = 0.05, 1e6, 500.0  # beyond these the ratios leave the range of floats
_BEND = 0.15  # times e^(-1.5 s): b of a power
_POWERS = np.geomspace(1e-3, 1e3, 61)
_STEEPEST = 60.0  # of the tilt e^(-power y)
_LARGEST = 700.0  # of an exponent
_USUAL = 0.7  # expected number of ratios above the one that stands for the largest of the others
_TILE = 2**16  # steps drawn at a time


@dataclass(frozen=True, eq=False)
class AllocationDraws:
    """A sampler of numbers whose means are delta(epsilon) of a random allocation and its slope.

    The numbers are at least 0 and have all moments.

    Source: Chua et al. (2024) [Chu24], for the pair of laws; Asmussen and Kroese (2006) [AK06], for sums of
    heavy-tailed variables; several factors and the tilts are ours.

    `sigma`: the standard deviation of the noise, over the largest length of a record's vector, from LEAST_SIGMA to
    below MOST_SIGMA. `direction`: "adding" for the outputs with the record against those without it.
    """

    sigma: float
    steps: int
    participations: int
    epsilon: float
    direction: str

    def __post_init__(self) -> None:
        scalar("sigma", self.sigma, LEAST_SIGMA, MOST_SIGMA, closed=True)
        whole("steps", self.steps, 1, MOST_STEPS)
        whole("participations", self.participations, 1, min(self.steps, MOST_PARTICIPATIONS))
        scalar("epsilon", self.epsilon, 0, MOST_EPSILON, closed=True)
        choice("direction", self.direction, DIRECTIONS)

    def sample(self, size: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return independent pairs of numbers in [0, inf), with the means delta(epsilon) and -d delta / d epsilon."""
        rows = max(_TILE // self.steps, 1)
        draw = self._added if self.direction == "adding" else self._removed
        parts = [draw(min(rows, size - start), rng) for start in range(0, size, rows)]
        deltas, slopes = (np.concatenate(part) for part in zip(*parts))
        return deltas, slopes

    @cached_property
    def _laws(self) -> list[tuple[TiltedRatios, int]]:
        """The tilted laws of the ratios that are drawn, with their numbers. Laws that are not finite are refused."""
        with np.errstate(all="ignore"):
            return _raised_laws(self) if self.direction == "adding" else _lowered_laws(self)

    def _steps(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the ratios of all steps that are drawn, and the log weights, shape (size,)."""
        drawn = [law.draw((size, count), rng) for law, count in self._laws] or [(np.zeros((size, 0)),) * 2]
        return np.concatenate([y for y, _ in drawn], axis=1), np.sum([log.sum(axis=1) for _, log in drawn], axis=0)

    def _added(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        y, log_weight = self._steps(size, rng)
        t, k = self.steps, self.participations
        fewer, all_factors = log_mean_products(y, k)
        goal = t * np.exp(np.clip(self.epsilon - fewer, -_LARGEST, _LARGEST))  # over m_{k-1}
        strike = (goal - (t - k) * np.exp(np.clip(all_factors - fewer, -_LARGEST, _LARGEST))) / k
        mean, tail = _above(strike, y.max(axis=1, initial=0.0), 1 / self.sigma)
        weight = np.exp(log_weight)
        return weight * k * mean, weight * goal * tail

    def _removed(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        y, log_weight = self._steps(size, rng)
        gap = np.maximum(-log_mean_products(y, self.participations)[1] - self.epsilon, 0.0)
        weight = np.where(gap > 0, np.exp(log_weight), 0.0)
        return weight * -np.expm1(-gap), weight * np.exp(-gap)


def _above(strike: Floats, largest: Floats, s: float) -> tuple[Floats, Floats]:
    """Return E[(Y - strike)+; Y > largest] and P[Y > strike, Y > largest] for a ratio Y without the record."""
    with np.errstate(divide="ignore"):
        z = np.log(np.maximum(strike, largest)) / s + 0.5 * s
    tail = ndtr(-z)
    return np.maximum(ndtr(s - z) - np.where(tail > 0, strike, 0.0) * tail, 0.0), tail


def _raised_laws(draws: AllocationDraws) -> list[tuple[TiltedRatios, int]]:
    """Return the laws of all ratios but the largest, for the delta of adding the record.

    The best tilt of a ratio y is the mean of the rest of the draw, given y. In the *mean field* all other ratios are
    replaced by their tilted mean, and their maximum by a usual one. Its value as a function of y is nearly the best
    tilt where one large ratio makes the event. Where all ratios make it, the power (1 + b y)^p with the slope of the
    mean field at y = e^s is better. The larger tilt of both, equal at e^s, has no unequal weights in either case.
    """
    s, t, k = 1 / draws.sigma, draws.steps, draws.participations
    if t == 1:
        return []
    usual = exp(-s * float(ndtri(min(_USUAL / (t - 1), 0.5))) - 0.5 * s * s)
    bend = _BEND * exp(-1.5 * s)

    def laws(exponent: Exponent) -> list[tuple[TiltedRatios, int]]:
        both = (TiltedRatios(s, s, exponent), k - 1), (TiltedRatios(s, 0.0, exponent), t - k)
        return [(law, count) for law, count in both if count]

    def mean_ratio(exponent: Exponent) -> float:
        return sum(count * law.mean_ratio for law, count in laws(exponent)) / (t - 1)

    def mean_field(mean: Floats, largest: Floats) -> tuple[Floats, Floats]:
        """Return the value, and its derivative with respect to one of the ratios."""
        goal = t * np.exp(np.minimum(draws.epsilon - (k - 1) * np.log(mean), _LARGEST))
        value, tail = _above((goal - (t - k) * mean) / k, largest, s)
        return value, tail * ((k - 1) * goal / mean + t - k) / k / (t - 1)

    def power_law(power: float) -> Exponent:
        return lambda y: power * (np.log1p(bend * y) - np.log1p(bend * exp(s)))

    def excess(power: float) -> float:
        value, slope = mean_field(np.array(mean_ratio(power_law(power))), np.array(usual))
        return power * bend / (1 + bend * exp(s)) - (float(slope / value) if value > 0 else np.inf)

    power = power_law(_first_root(excess))
    mean = mean_ratio(power)

    def field(y: Floats) -> Floats:
        value, _ = mean_field(mean + (y - mean) / (t - 1), np.maximum(usual, y))
        return np.log(np.maximum(value, TINY))

    at = field(np.array([exp(s)]))
    return laws(lambda y: np.maximum(power(y), field(y) - at))


def _first_root(excess: Callable[[float], float]) -> float:
    """Return the least power at which the excess is 0, or the first of the grid that is too large."""
    enough = next((i for i, power in enumerate(_POWERS) if excess(power) >= 0), len(_POWERS) - 1)
    if enough in (0, len(_POWERS) - 1) or not np.isfinite(excess(_POWERS[enough - 1])):
        return float(_POWERS[enough])
    return float(brentq(excess, _POWERS[enough - 1], _POWERS[enough], rtol=1e-3))


def _lowered_laws(draws: AllocationDraws) -> list[tuple[TiltedRatios, int]]:
    """Return the law of the ratios for the other delta: tilted to the mean at which the rare event begins."""
    goal = exp(-draws.epsilon / draws.participations)

    def law(power: float) -> TiltedRatios:
        return TiltedRatios(1 / draws.sigma, 0.0, lambda y: -power * y)

    if law(0.0).mean_ratio <= goal:
        power = 0.0
    elif law(_STEEPEST).mean_ratio >= goal:
        power = _STEEPEST
    else:
        power = float(brentq(lambda power: law(power).mean_ratio - goal, 0.0, _STEEPEST, rtol=1e-3))
    return [(law(power), draws.steps)]
