"""The privacy-loss distribution: the law of L = log(P(Y) / Q(Y)), with P = law of Z and Q = law of Z + shift.

Everything follows from the sets {L > l}. So three kinds of loss need no case of their own: atoms (Laplace noise has
them at +-shift / scale), losses that rise and fall, and infinite losses with positive probability (truncated Laplace
noise).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Bools, Floats, RealFunction, Reals
from tcdp_sim.core.errors import choice, real
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.level_sets import LevelSets, log_mass, loss_sets
from tcdp_sim.exact.resolution import loss_error
from tcdp_sim.noise import Noise

Ends = Callable[[Floats], tuple[Floats, Floats]]  # levels -> left and right ends of a level set
LAWS = ("P", "Q")
_CLOSE = 1e-7


def _is_whole(steps: float) -> bool:
    """Return True for a whole number, or one but for the rounding of the quotient that it is."""
    return abs(steps - np.round(steps)) <= 4e-16 * steps


@dataclass(frozen=True)
class PrivacyLossDistribution:
    """The law of the privacy loss L, in nats, of an additive noise at a shift (counts, finite, of either sign).

    L = noise.privacy_loss(Y, shift), with Y = Z ("P", the default) or Y = Z + shift (`under="Q"`). As the noises are
    symmetric, L under Q is distributed like -L under P, and the loss against the other neighbour like L. Methods take
    scalars or arrays.

    Probabilities down to 1e-290 have a relative error of about 1e-12. The log forms go on below that. For a
    noise without its own `privacy_loss` the error is 1e-7, or the value is refused. Quantiles, infinite losses and
    moments are refused for such a noise.

    Source: Balle et al. (2018) [BBG18].

    Parameters
    ----------
    noise : Noise
        The noise, with plain numbers as parameters.
    shift : float
        The change of the answer in counts, finite, of either sign.

    Raises
    ------
    ValueError
        If the shift is not finite, the noise has array-valued parameters, or an argument of a method is NaN or no
        probability.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(PrivacyLossDistribution(Gaussian(1.0), 1.0).mean().estimate, 6)
    0.5
    """

    noise: Noise
    shift: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", abs(real("shift", self.shift, -np.inf)))
        if self.noise.shape:
            raise ValueError(f"noise = {self.noise!r} has array-valued parameters; valid: one noise")
        step = self.noise.step_length
        if step and not _is_whole(self.shift / step):
            raise ValueError(f"shift = {self.shift:g} is not valid for {self.noise!r}; valid: multiples of {step:g}")
        object.__setattr__(self, "noise", self.noise.with_density())

    def sf(self, loss: ArrayLike, under: str = "P") -> Reals:
        """Return P[L > loss]."""
        return np.exp(self.logsf(loss, under))

    def logsf(self, loss: ArrayLike, under: str = "P") -> Reals:
        """Return log P[L > loss]."""
        return self._log_mass(loss, under, self._sets.above)

    def cdf(self, loss: ArrayLike, under: str = "P") -> Reals:
        """Return P[L <= loss]."""
        return np.exp(self.logcdf(loss, under))

    def logcdf(self, loss: ArrayLike, under: str = "P") -> Reals:
        """Return log P[L <= loss]."""
        return self._log_mass(loss, under, self._sets.below)

    def isf(self, p: ArrayLike) -> Reals:
        """Return the smallest loss with P[L > loss] <= p, under P. At p = 0 it is the largest loss."""
        self.noise.need_loss()
        tails = np.asarray(real("p", p, 0, 1, closed=True, finite=False))
        if not self._sets.monotone:
            return self._by_bisection(lambda loss: self.sf(loss) <= tails, tails, 0)
        return self._loss_at(self.noise.ppf(tails))

    def ppf(self, level: ArrayLike) -> Reals:
        """Return the smallest loss with P[L <= loss] >= level, under P. At level 1 it is the largest loss."""
        self.noise.need_loss()
        levels = np.asarray(real("level", level, 0, 1, closed=True, finite=False))
        if not self._sets.monotone:
            return self._by_bisection(lambda loss: self.cdf(loss) >= levels, levels, 1)
        return self._loss_at(self.noise.isf(levels))

    def infinite_mass(self) -> float:
        """Return P[L = inf], the probability of an output that only P can produce."""
        self.noise.need_loss()
        return float(self.sf(np.finfo(np.float64).max)) if np.isposinf(self._sets.value).any() else 0.0

    def mean(self) -> Bounds:
        """Return E[L] under P, the Kullback-Leibler divergence in nats."""
        return self.moment(1)

    def moment(self, n: int) -> Bounds:
        """Return E[L^n] under P for n = 1, 2, ..., infinite if L is infinite with positive probability.

        By symmetry L < 0 under P is -L > 0 under Q. So E[L^n] = E[L^n (1 + (-1)^n e^-L); L > 0], without cancellation.
        """
        if n != int(real("n", n, 0)):
            raise ValueError(f"n = {n} is not valid; valid: n = 1, 2, ...")
        return self._expectation(lambda loss: loss**n * (-np.expm1(-loss) if n % 2 else 1 + np.exp(-loss)), 0.0)

    def var(self) -> Bounds:
        """Return the variance of L under P, in nats squared."""
        mean = self.mean().estimate
        return self._expectation(lambda loss: (loss - mean) ** 2, -np.inf)

    @cached_property
    def _sets(self) -> LevelSets:
        return loss_sets(self.noise, self.shift)

    def _log_mass(self, loss: ArrayLike, under: str, sets: Ends) -> Reals:
        levels = np.asarray(real("loss", loss, -np.inf, closed=True, finite=False))
        centre = {"P": 0.0, "Q": self.shift}[choice("under", under, LAWS)]
        left, right = sets(levels.ravel())
        masses = log_mass(self.noise, left - centre, right - centre)
        if not self.noise.gives_loss:
            self._check(masses, levels.ravel(), left, right, centre, sets)
        return masses.reshape(levels.shape)[()]

    def _check(
        self, log_mass_at: Floats, levels: Floats, left: Floats, right: Floats, centre: float, sets: Ends
    ) -> None:
        """Raise ValueError for levels at which moving the loss by its rounding changes the probability."""
        ends = np.concatenate([left, right])
        error = loss_error(self.noise, ends, self.shift)
        outer = np.isin(ends, self._sets.x[[0, -1]])
        error = np.where(outer.all(axis=0), error.max(axis=0), np.where(outer, 0.0, error).max(axis=0))
        for sign in (-1, 1):
            moved = log_mass(self.noise, *(end - centre for end in sets(levels + sign * error)))
            with np.errstate(invalid="ignore"):
                same = (np.abs(moved - log_mass_at) <= _CLOSE) | (moved == log_mass_at)
            if not same.all():
                self.noise.need_loss()

    def _loss_at(self, x: Floats) -> Reals:
        with np.errstate(all="ignore"):
            loss = self.noise.privacy_loss(x, self.shift)
        ends = self._sets.value[[0, -1]]
        return np.where(np.isnan(loss), np.where(np.less(x, 0), *ends), loss)[()]

    def _by_bisection(self, reached: Callable[[Floats], Bools], p: Floats, last: float) -> Reals:
        """Return the smallest loss at which `reached` is true for every p, or the largest at p = last.

        The bisection is over arsinh(loss).
        """
        value = self._sets.value
        low, high = (np.full(p.shape, np.arcsinh(np.clip(end, -1e300, 1e300))) for end in (value.min(), value.max()))
        at_once = reached(np.sinh(low))
        for _ in range(200):
            middle = 0.5 * (low + high)
            if ((middle <= low) | (middle >= high)).all():
                break
            good = reached(np.sinh(middle))
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        return np.where(p == last, value.max(), np.where(at_once, value.min(), np.sinh(high)))[()]

    def _expectation(self, g: RealFunction, above: float) -> Bounds:
        """Return E[g(L); L > above] under P, for g >= 0."""
        if self.infinite_mass() > 0:
            return Bounds(np.inf, np.inf, np.inf)

        self.noise.need_loss()

        def integrand(_: float, x: Floats) -> Floats:
            with np.errstate(all="ignore"):
                value = self.noise.pdf(x) * g(self.noise.privacy_loss(x, self.shift))
            return np.where(np.isfinite(value), value, 0.0)  # not 0 * inf beyond the tails

        sets = self._sets
        low, middle, high = (float(end[0]) for end in sets.integrate_above(np.array([above]), integrand))
        ends = sets.edges[[0, -1]]
        cut = np.max(np.abs(ends) * integrand(above, ends)) > 1e-13 * middle
        return Bounds(low * (1 - 1e-12), middle, np.inf if cut else high * (1 + 1e-12))
