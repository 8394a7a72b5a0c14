"""Continuous noises rounded to the nearest point of a lattice, for answers on that lattice."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Bools, Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.discrete import FAINTEST, DiscreteNoise, LossAtoms
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.laplace import Laplace, difference_of_sizes
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.sinh_squared import SinhSquared
from tcdp_sim.privacy.definitions import Guarantee

_STEEP = 0.5  # a cell whose far end has less than this share of the near end's tail is the difference of the two
_WIDE = 2**16  # points of one sign from which on a smooth noise is wide
_NODES = 12  # of the quadrature over half a cell that is not steep


class Rounded(DiscreteNoise):
    """A symmetric continuous noise rounded to the nearest point of the lattice step Z.

    The answer plus rounded noise is the rounded answer plus noise, if the answer is on the lattice. So every guarantee
    of the continuous noise holds, by post-processing, and calibration uses it. The exact divergences are smaller.

    Attributes
    ----------
    rounds : type
        The class of the continuous noise, whose parameters come before `step`.
    """

    rounds: ClassVar[Any]
    step: float
    offset = 0.0

    def __post_init__(self) -> None:
        names = self.rounds.parameters()
        self._freeze(**{name: scalar(name, getattr(self, name), 0) for name in (*names, "step")})

    @cached_property
    def continuous(self) -> Noise:
        """The noise before it is rounded."""
        return self.rounds(*(getattr(self, name) for name in self.rounds.parameters()))

    @property
    def step_length(self) -> float:
        return self.step

    @property
    def log_concave(self) -> bool:
        """True if the continuous noise is log-concave: sums over its cells then are, too."""
        return self.continuous.log_concave

    def _log_tail(self, i: Floats) -> Floats:
        return np.asarray(self.continuous.logsf((i - 0.5) * self.step))

    def _log_mass(self, i: Floats) -> Floats:
        i = np.asarray(i, dtype=np.float64)
        near, far = np.maximum(i - 0.5, 0.0) * self.step, (i + 0.5) * self.step
        log_near, log_far = self.continuous.logsf(near), self.continuous.logsf(far)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_mass = log_near + np.log(-np.expm1(log_far - log_near))
        flat = np.asarray(log_far - log_near > np.log(_STEEP))
        if flat.any():
            log_mass = np.where(flat, self._log_integral(near, far, flat), log_mass)
        return np.where(np.isneginf(log_near), -np.inf, log_mass + np.log(2) * (i == 0))

    def _log_integral(self, near: Floats, far: Floats, where: Bools) -> Floats:
        """Return the log of the integral of the density over cells that are so flat that tails would cancel."""
        out = np.zeros(where.shape)
        unit, weight = gauss_panels(np.array([0.0, 1.0]), _NODES)
        width = (far - near)[where]
        log_density = np.asarray(self.continuous.logpdf(near[where][:, None] + width[:, None] * unit))
        out[where] = np.log(width) + log_density[:, 0] + np.log(np.exp(log_density - log_density[:, :1]) @ weight)
        return out

    def _place(self, log_p: Floats) -> Floats:
        return np.asarray(self.continuous.isf_log(log_p)) / self.step + 0.5

    def _loss(self, y: Floats, shift: Floats) -> Floats:
        y, shift = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64))
        loss = super()._loss(y, shift)
        small = np.abs(loss) < _STEEP
        if small.any() and self.continuous.gives_loss:
            loss = np.where(small, self._small_loss(y, shift, small), loss)
        return loss

    def _small_loss(self, y: Floats, shift: Floats, where: Bools) -> Floats:
        """Return losses without the cancellation of two logs, by the mean of e^-loss over each cell before rounding."""
        halves = np.array([-0.5, 0.0, 0.5])  # densities may have a kink in the middle of a cell
        unit, weight = gauss_panels(halves, _NODES)
        x = (y[where][:, None] + unit) * self.step
        log_density = np.asarray(self.continuous.logpdf(x))
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True)) * weight
        rise = np.expm1(-np.asarray(self.continuous.privacy_loss(x, shift[where][:, None] * self.step)))
        out = np.zeros(where.shape)
        out[where] = -np.log1p((density * rise).sum(axis=1) / density.sum(axis=1))
        return out

    def var(self) -> Reals:
        return self.step**2 * self._moment(2)

    def kurtosis(self) -> float:
        return self._moment(4) / self._moment(2) ** 2

    def _moment(self, n: int) -> float:
        """Return E[Z^n] in steps, for n = 2 or 4: a sum over all points, or Sheppard's corrections of a wide noise."""
        if (end := float(self._outward(np.array(FAINTEST)))) > _WIDE:
            square = float(self.continuous.var()) / self.step**2
            return square + 1 / 12 if n == 2 else self.continuous.kurtosis() * square**2 + square / 2 + 1 / 80
        x = np.arange(1.0, end + 2)
        return float(2 * (x**n * np.exp(self._log_mass(x))).sum())

    def fill(self, rng: np.random.Generator, out: NDArray[np.float64]) -> None:
        self.continuous.fill(rng, out)
        self._round(out)

    def largest_loss(self, shift: float) -> float:
        """Return that of the continuous noise, which the tails of a log-concave one attain, or inf between points."""
        return np.inf if self.steps_of(shift) is None else self.continuous.largest_loss(shift)

    def max_order(self, shift: float) -> float:
        return 1.0 if self.steps_of(shift) is None else self.continuous.max_order(shift)

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
        return cls.rounds.equal_privacy(rho, omega, delta)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return cls.rounds.can_meet(guarantee)

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        return cls.of(cls.rounds.by_theorem(guarantee, sensitivity, coordinates))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return cls.rounds.theorem_is_sharp(guarantee)

    @classmethod
    def of(cls, continuous: Any, step: float = 1.0) -> Self:
        """Return a continuous noise of the class `rounds`, rounded to a lattice with this step in counts."""
        values: dict[str, Any] = {name: getattr(continuous, name) for name in cls.rounds.parameters()}
        return cls(**values | {"step": step})


@dataclass(frozen=True, eq=False)
class RoundedGaussian(Rounded):
    """Gaussian noise rounded to the nearest point of step Z.

    Parameters
    ----------
    scale : float
        Standard deviation before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Raises
    ------
    ValueError
        If a parameter is not above 0.

    References
    ----------
    Canonne, Kamath, Steinke (2020), https://arxiv.org/abs/2004.00010, who compare it with discrete Gaussian noise.

    Examples
    --------
    >>> round(float(RoundedGaussian(1.0).pmf(0)), 6)
    0.382925
    """

    scale: float
    step: float = 1.0
    family = "rounded_gaussian"
    guarantees = Gaussian.guarantees
    rounds = Gaussian


@dataclass(frozen=True, eq=False)
class RoundedLaplace(Rounded):
    """Laplace noise rounded to the nearest point of step Z.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Raises
    ------
    ValueError
        If a parameter is not above 0.

    References
    ----------
    Dwork, McSherry, Nissim, Smith (2006), https://doi.org/10.1007/11681878_14, for the noise before rounding.

    Examples
    --------
    >>> round(float(RoundedLaplace(1.0).pmf(0)), 6)
    0.393469
    """

    scale: float
    step: float = 1.0
    family = "rounded_laplace"
    rounds = Laplace

    @property
    def _fall(self) -> float:
        """The fall of the log probability from a point to the next, but for that from 0 to 1."""
        return self.step / self.scale

    @property
    def _peak(self) -> float:
        """The log of the probability of 0 over that which the other points suggest; at most 0."""
        return -float(np.log1p(np.expm1(self._fall / 2) / 2))

    def _log_mass(self, i: Floats) -> Floats:
        log_first = np.log(-np.expm1(-self._fall)) + self._fall / 2 - np.log(2)
        return np.asarray(log_first - self._fall * i + self._peak * (i == 0))

    def _loss(self, y: Floats, shift: Floats) -> Floats:
        return np.asarray(difference_of_sizes(y, shift) * self._fall + self._peak * ((y == 0) * 1.0 - (y == shift)))

    def loss_atoms(self, shift: float, log_least: float = FAINTEST) -> LossAtoms:
        """Return the law of the privacy loss at a shift > 0: three losses more than steps, without those too rare."""
        steps = self.need_steps("shift", shift)
        y = np.arange(-1.0, min(steps, self._end(log_least)) + 2)
        whole = y[-1] > steps  # then the last point stands for all further ones, as the first one does
        log_mass = self._log_mass(np.abs(y))
        tails = self._log_tail(np.array([1.0, y[-1], y[-1] + 1]))
        log_mass[0] = tails[0]
        if whole:
            log_mass[-1] = tails[1]
        return LossAtoms(self._loss(y, np.array(steps)), log_mass, -np.inf, -np.inf if whole else float(tails[2]))

    def _moment(self, n: int) -> float:
        fall = self.step / self.scale
        ratio, rest = np.exp(-fall), -np.expm1(-fall)
        whole = (1 + ratio) / rest**2 if n == 2 else (1 + ratio * (11 + ratio * (11 + ratio))) / rest**4
        return float(np.exp(-fall / 2) * whole)


@dataclass(frozen=True, eq=False)
class RoundedSinhNormal(Rounded):
    """Sinh-normal noise rounded to the nearest point of step Z.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    knee : float
        Knee before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Raises
    ------
    ValueError
        If a parameter is not above 0.

    References
    ----------
    Bun, Dwork, Rothblum, Steinke (2018), https://doi.org/10.1145/3188745.3188946, for the noise before rounding.

    Examples
    --------
    >>> round(float(RoundedSinhNormal(4.0, 20.0).pmf(0)), 6)
    0.099477
    """

    scale: float
    knee: float
    step: float = 1.0
    family = "rounded_sinh_normal"
    depends_on = SinhNormal.depends_on
    guarantees = SinhNormal.guarantees
    log_concave_if = SinhNormal.log_concave_if
    rounds = SinhNormal


@dataclass(frozen=True, eq=False)
class RoundedSinhSquared(Rounded):
    """Sinh-squared noise rounded to the nearest point of step Z.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    knee : float
        Knee before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Raises
    ------
    ValueError
        If a parameter is not above 0.

    References
    ----------
    Bun, Dwork, Rothblum, Steinke (2018), https://doi.org/10.1145/3188745.3188946, for the noise before rounding.

    Examples
    --------
    >>> round(float(RoundedSinhSquared(4.0, 20.0).pmf(0)), 6)
    0.100472
    """

    scale: float
    knee: float
    step: float = 1.0
    family = "rounded_sinh_squared"
    depends_on = SinhSquared.depends_on
    guarantees = SinhSquared.guarantees
    rounds = SinhSquared
