"""The base class of continuous noises rounded to the nearest point of a lattice, for answers on that lattice."""

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Bools, Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.discrete import FAINTEST, SmoothTail
from tcdp_sim.privacy.definitions import Guarantee

_STEEP = 0.5  # a cell whose far end has less than this share of the near end's tail is the difference of the two
_WIDE = 2**16  # points of one sign from which on a smooth noise is wide
_NODES = 12  # of the quadrature over half a cell that is not steep


class Rounded(SmoothTail):
    """A symmetric continuous noise rounded to the nearest point of the lattice step Z.

    The answer plus rounded noise is the rounded answer plus noise, if the answer is on the lattice. So every guarantee
    of the continuous noise holds, by post-processing, and calibration uses it. The exact divergences are smaller.

    `rounds`: the class of the continuous noise, whose parameters come before `step`.
    """

    density_cost = 8  # a loss is an integral over a cell
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

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        self.continuous.fill(out=out, rng=rng)
        self._round(out)

    def largest_loss(self, shift: float) -> float:
        """Return the largest loss of the continuous noise, which log-concave tails attain; inf between points."""
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
