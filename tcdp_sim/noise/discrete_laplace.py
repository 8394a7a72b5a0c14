"""Discrete Laplace noise, the geometric mechanism: the noise of pure DP for whole numbers."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.discrete import FAINTEST, LossAtoms, SmoothTail
from tcdp_sim.noise.laplace import difference_of_sizes
from tcdp_sim.privacy.definitions import Guarantee, PureDP


@dataclass(frozen=True, eq=False)
class DiscreteLaplace(SmoothTail):
    """Noise on step Z with P[Z = x] proportional to exp(-|x| / scale).

    With scale = Delta / epsilon it gives epsilon-DP to answers on step Z that move by Delta, a multiple of the step.

    Source: Ghosh et al. (2012) [GRS12].

    Parameters
    ----------
    scale : float
        Scale of the noise, in counts, above 0.
    step : float
        Distance of neighbouring points, in counts, above 0.

    Examples
    --------
    >>> noise = DiscreteLaplace(2.0)
    >>> round(float(noise.pmf(0)), 6), float(noise.largest_loss(1.0))
    (0.244919, 0.5)
    """

    scale: float
    step: float = 1.0
    family = "discrete_laplace"
    offset = 0.0
    log_concave = True

    def __post_init__(self) -> None:
        self._freeze(scale=scalar("scale", self.scale, 0), step=scalar("step", self.step, 0))

    @property
    def step_length(self) -> float:
        return self.step

    @property
    def _fall(self) -> float:
        """The fall of the log probability from a point to the next."""
        return self.step / self.scale

    @property
    def _log_sum(self) -> float:
        """The log of 1 + e^-fall."""
        return float(np.log1p(np.exp(-self._fall)))

    def _log_mass(self, i: Floats) -> Floats:
        return np.log(-np.expm1(-self._fall)) - self._log_sum - self._fall * i

    def _log_tail(self, i: Floats) -> Floats:
        return -self._log_sum - self._fall * i

    def _place(self, log_p: Floats) -> Floats:
        return (-self._log_sum - log_p) / self._fall

    def _loss(self, y: Floats, shift: Floats) -> Floats:
        return difference_of_sizes(y, shift) * self._fall

    def var(self) -> Reals:
        return self.step**2 * self._unit_var

    def mean_abs(self) -> float:
        """Return E |Z|, in counts."""
        with np.errstate(over="ignore"):
            return float(self.step / np.sinh(self._fall))

    def kurtosis(self) -> float:
        return 6.0 + 1 / self._unit_var

    @property
    def _unit_var(self) -> float:
        """The variance in steps squared, 1 / (2 sinh^2(fall / 2))."""
        half = np.exp(-self._fall / 2)
        return float(2 * (half / np.expm1(-self._fall)) ** 2)

    def largest_loss(self, shift: float) -> float:
        return np.inf if self.steps_of(shift) is None else shift / self.scale

    def loss_atoms(self, shift: float, log_least: float = FAINTEST) -> LossAtoms:
        """Return the law of the privacy loss at a shift > 0: one loss more than steps, without those too rare."""
        steps = self.need_steps("shift", shift)
        y = np.arange(min(steps, self._end(log_least)) + 1)
        log_mass = self._log_mass(y)
        log_mass[0] = self._log_tail(y[0])  # of all y <= 0
        if y[-1] == steps:
            log_mass[-1] = self._log_tail(y[-1])
        below = -np.inf if y[-1] == steps else float(self._log_tail(y[-1] + 1))
        return LossAtoms(self._loss(y, np.array(steps)), log_mass, -np.inf, below)

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> PureDP:
        """Return epsilon-DP with epsilon^2 / 2 = rho, which implies rho-zCDP (Bun-Steinke 2016, Proposition 4)."""
        return PureDP(np.sqrt(2 * scalar("rho", rho, 0)))

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        return cls(coordinates * sensitivity / scalar("epsilon", guarantee.sufficient_epsilon, 0))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_pure
