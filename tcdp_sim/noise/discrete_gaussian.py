"""Discrete Gaussian noise: the noise of zCDP for whole numbers."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import TINY, ULP, ArrayBounds, Bounds, closed_form
from tcdp_sim.noise.discrete import SmoothTail
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.theta import Theta
from tcdp_sim.privacy.definitions import Guarantee

_NEGLIGIBLE = 60.0  # nats below the largest term of a sum
_MOST_TERMS = 2**24


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(SmoothTail):
    """Noise on step Z with P[Z = x] proportional to exp(-x^2 / (2 sigma^2)).

    The variance is below sigma^2, and equals it to the last digit from sigma = 2 steps on. With
    sigma^2 = Delta^2 / (2 rho) the noise gives rho-zCDP to answers on step Z that move by Delta, a multiple of the
    step. This is exact: D_a = a Delta^2 / (2 sigma^2) at every whole order a, and D_a is smaller in between.

    Source: Canonne et al. (2020) [CKS20].

    Parameters
    ----------
    sigma : float
        The parameter sigma, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Examples
    --------
    >>> noise = DiscreteGaussian(1.0)
    >>> round(float(noise.pmf(0)), 6), float(noise.closed_renyi(1.0, np.array([3.0])).estimate[0])
    (0.398942, 1.5)
    """

    sigma: float
    step: float = 1.0
    family = "discrete_gaussian"
    guarantees = Gaussian.guarantees
    offset = 0.0
    log_concave = True
    linear_in_order = True

    def __post_init__(self) -> None:
        self._freeze(sigma=scalar("sigma", self.sigma, 0), step=scalar("step", self.step, 0))

    @property
    def step_length(self) -> float:
        return self.step

    @cached_property
    def _theta(self) -> Theta:
        """The sums over the lattice, in steps."""
        return Theta(self.sigma / self.step)

    def _log_mass(self, i: Floats) -> Floats:
        return self._theta.log_term(i) - self._theta.log_total

    def _log_tail(self, i: Floats) -> Floats:
        return self._theta.log_tail(i) - self._theta.log_total

    def _place(self, log_p: Floats) -> Floats:
        return self._theta.place(log_p + self._theta.log_total)

    def _loss(self, y: Floats, shift: Floats) -> Floats:
        sigma = self._theta.sigma
        return shift / sigma * ((shift / 2 - y) / sigma)

    def var(self) -> Reals:
        return self.step**2 * self._theta.moment(2)

    def kurtosis(self) -> float:
        return self._theta.moment(4) / self._theta.moment(2) ** 2

    def largest_loss(self, shift: float) -> float:
        return np.inf

    def exact_rho(self, shift: float) -> Fraction:
        return (Fraction(float(shift)) / Fraction(self.sigma)) ** 2 / 2

    def closed_renyi(self, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        """Return D_order for finite orders; infinite at no whole number of steps.

        The tilted law is the noise moved by (order - 1) shift, whose sum over the lattice is at most the sum over the
        lattice moved by a whole number (Canonne, Kamath, Steinke 2020 [CKS20], Proposition 5, and its proof).
        """
        steps = self.steps_of(shift)
        if steps is None:
            return Bounds(*(np.full(order.shape, np.inf) for _ in range(3)))
        excess = order - 1
        moved = excess * steps
        lost = self._theta.log_ratio(moved - np.round(moved))
        square = (steps / self._theta.sigma) ** 2 / 2
        value = order * square + np.divide(lost, excess, out=np.zeros_like(order), where=excess > 0)
        return closed_form(np.maximum(value, 0.0), 1e-13)

    def closed_hockey_stick(self, shift: float, epsilon: NDArray[np.float64]) -> ArrayBounds | None:
        """Return delta(epsilon) as a sum over the points whose loss exceeds epsilon; 1 at no whole number of steps."""
        steps = self.steps_of(shift)
        if not steps:
            return Bounds(*(np.ones(epsilon.shape) for _ in range(3)))
        columns = zip(*(self._above(steps, float(each)) for each in epsilon))
        return Bounds(*(np.array(column) for column in columns))

    def _above(self, steps: float, epsilon: float) -> tuple[float, float, float]:
        """Return bounds of the sum of P (1 - e^(epsilon - L)) over the points of loss L > epsilon."""
        sigma = self._theta.sigma
        rate = steps / sigma / sigma
        crossing = steps / 2 - epsilon / rate  # in steps; the loss is rate (steps / 2 - y)
        last = np.ceil(crossing) - 1
        y = self._terms(last)
        if not y.size:  # so far out that no probability is a float
            return 0.0, 0.0, TINY
        mass = np.exp(self._log_mass(np.abs(y)))
        value = float(mass @ -np.expm1(-rate * (crossing - y)))
        moved = 4 * ULP * rate * (abs(crossing) + steps / 2 + epsilon / rate)  # effect of the crossing's rounding
        error = (1e-13 + 4 * ULP * float(np.abs(self._log_mass(np.abs(y[-1:])))[0])) * value + moved * float(mass.sum())
        return value - error - TINY, value, value + error + TINY

    def _terms(self, last: float) -> Floats:
        """Return the points up to the last one whose probability is not negligible against the largest one."""
        sigma = self._theta.sigma
        reach = np.sqrt(2 * _NEGLIGIBLE) * sigma
        first, last = -reach, min(last, reach)
        if last < 0:
            first = last - min(reach, _NEGLIGIBLE * sigma * sigma / -last)
        first = np.floor(first)
        if last - first > _MOST_TERMS:
            valid = f"valid: sigma below {_MOST_TERMS / 22:.2g} steps"
            raise ValueError(f"the profile of {self!r} is a sum of {last - first:.2g} terms; {valid}")
        return np.arange(first, last + 0.5)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return Gaussian.can_meet(guarantee)

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        return cls(Gaussian.by_theorem(guarantee, sensitivity, coordinates).scale)

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return Gaussian.theorem_is_sharp(guarantee)

    def widened(self, factor: float) -> Self:
        return replace(self, sigma=self.sigma * factor)
