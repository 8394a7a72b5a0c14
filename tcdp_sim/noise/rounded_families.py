"""The rounded forms of Gaussian, Laplace, sinh-normal and sinh-squared noise."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise.discrete import FAINTEST, LossAtoms
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.noise.laplace import Laplace, difference_of_sizes
from tcdp_sim.noise.rounded import Rounded
from tcdp_sim.noise.sinh_normal import SinhNormal
from tcdp_sim.noise.sinh_squared import SinhSquared


@dataclass(frozen=True, eq=False)
class RoundedGaussian(Rounded):
    """Gaussian noise rounded to the nearest point of step Z.

    Source: Canonne et al. (2020) [CKS20], who compare it with discrete Gaussian noise.

    Parameters
    ----------
    scale : float
        Standard deviation before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

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

    Source: Dwork et al. (2006) [DMNS06], for the noise before rounding.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

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

    Source: Bun et al. (2018) [BDRS18], for the noise before rounding.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    knee : float
        Knee before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Examples
    --------
    >>> round(float(RoundedSinhNormal(4.0, 20.0).pmf(0)), 6)
    0.099487
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

    Source: Bun et al. (2018) [BDRS18], for the noise before rounding.

    Parameters
    ----------
    scale : float
        Scale before rounding, in counts, above 0.
    knee : float
        Knee before rounding, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Examples
    --------
    >>> round(float(RoundedSinhSquared(4.0, 20.0).pmf(0)), 6)
    0.101346
    """

    scale: float
    knee: float
    step: float = 1.0
    family = "rounded_sinh_squared"
    density_cost = 20
    depends_on = SinhSquared.depends_on
    guarantees = SinhSquared.guarantees
    rounds = SinhSquared
