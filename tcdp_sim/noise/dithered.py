"""Noise on a lattice plus a uniform draw of one step's length. The density is a staircase."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.noise.base import Noise
from tcdp_sim.privacy.definitions import Guarantee

_LOG_HALF = np.log(0.5)
FAINTEST = 700.0  # nats; `steps` leaves out the steps that are this far below the first one
MOST_STEPS = 10**5
_MOST = 2**18  # steps of one sign that a quadrature can take
_BESIDE = 1e-13  # relative distance to the end of a step that rounding alone may make


class DitheredNoise(Noise):
    """The noise scale (Z + U), with Z on a lattice of step 1 and U uniform on (-1/2, 1/2).

    Adding Z + U orders whole numbers as adding Z does, and a fair coin breaks ties. At a shift of (n + f) scale, the
    mean of e^((a-1) L) is 1 - f times the mean of Z at n plus f times the mean at n + 1. The same holds for
    delta(epsilon).

    `lattice`: the noise Z on the lattice, in steps. `scale`: the length of a step, in counts.
    """

    lattice: Any  # a `DiscreteNoise`, a class that is made of this one
    scale: float
    log_concave_if = "never: its density has steps"
    shape = ()

    def logpdf(self, x: ArrayLike) -> Reals:
        return self.lattice.logpdf(self._cell(x)[0]) - np.log(self.scale)

    def logsf(self, x: ArrayLike) -> Reals:
        cell, above = self._cell(x)
        with np.errstate(divide="ignore"):
            log_tail = np.logaddexp(self.lattice.logsf(cell), self.lattice.logpdf(cell) + np.log(above))
        return np.minimum(log_tail, 0.0)[()]

    def sf(self, x: ArrayLike) -> Reals:
        return np.exp(self.logsf(x))

    def isf(self, p: ArrayLike) -> Reals:
        p = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            outward, inward = self._outward(np.log(np.minimum(p, 0.5))), self._outward(np.log1p(-np.maximum(p, 0.5)))
        x = np.where(p <= 0.5, outward, -inward)
        return np.where((p >= 0) & (p <= 1), x, np.nan)[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        log_p = np.asarray(log_p, dtype=np.float64)
        inward = self._outward(np.log(-np.expm1(np.maximum(log_p, _LOG_HALF))))
        return np.where(log_p > _LOG_HALF, -inward, self._outward(np.minimum(log_p, _LOG_HALF)))[()]

    def _outward(self, log_p: Floats) -> Floats:
        """Return the x >= 0 with log P[scale (Z + U) > x] = log_p, for log_p <= -log 2."""
        cell = np.asarray(self.lattice.isf_log(log_p))
        with np.errstate(invalid="ignore", divide="ignore"):
            mass = self.lattice.logpdf(cell)
            above = np.exp(log_p - mass) - np.exp(self.lattice.logsf(cell) - mass)
            x = self.scale * (cell + 0.5 - np.clip(above, 0.0, 1.0))
        return np.where(np.isinf(cell), np.inf, x)

    def var(self) -> Reals:
        return self.scale**2 * (self.lattice.var() + 1 / 12)

    @property
    def step_length(self) -> float:
        return self.scale

    def largest_loss(self, shift: float) -> float:
        steps = np.abs(shift) / self.scale
        return max(self.lattice.largest_loss(whole) if whole else 0.0 for whole in (np.floor(steps), np.ceil(steps)))

    def _cell(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return the point of Z whose step contains x, and the share of the step that lies above x."""
        steps = np.asarray(x, dtype=np.float64) / self.scale - self.lattice.offset
        cell = np.floor(steps + 0.5)
        with np.errstate(invalid="ignore"):
            return cell + self.lattice.offset, np.where(np.isinf(steps), steps < 0, cell + 0.5 - steps)


@dataclass(frozen=True, eq=False)
class Dithered(DitheredNoise):
    """A noise on a lattice plus a uniform draw of one step's length, which breaks its ties by a fair coin.

    A guarantee of the noise for moves by up to n steps holds here for all moves up to that length.

    Parameters
    ----------
    noise : DiscreteNoise
        The noise on the lattice, in counts.

    Examples
    --------
    >>> from tcdp_sim.noise import DiscreteGaussian
    >>> noise = DiscreteGaussian(2.0)
    >>> round(float(Dithered(noise).var() - noise.var()), 6)
    0.083333
    """

    noise: Any  # a `DiscreteNoise`
    is_staircase = True
    guarantees = "none: calibrate the noise on the lattice"

    def __post_init__(self) -> None:
        self._freeze(family=f"dithered_{self.noise.family}", scale=self.noise.step_length)

    @cached_property
    def lattice(self) -> Any:  # type: ignore[override]
        """The noise on the lattice, in steps."""
        return self.noise if self.scale == 1 else self.noise.scaled(1 / self.scale)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        whole = self.noise.sample(size=size, rng=rng)
        return whole + self.scale * (rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        here, there = self._cell(y)[0], self._cell(np.subtract(y, shift, dtype=np.float64))[0]
        steps = self.noise.in_steps(shift)
        moved = np.clip(here - there, np.floor(steps), np.ceil(steps))  # far out, y - shift rounds to y
        return self.lattice.privacy_loss(here, moved)

    def _outward(self, log_p: Floats) -> Floats:
        """Return quantiles; one within rounding of a step's end is that end, where panels begin."""
        x = super()._outward(log_p) / self.scale
        with np.errstate(invalid="ignore"):
            end = np.round(x - self.lattice.offset - 0.5) + self.lattice.offset + 0.5
            return self.scale * np.where(np.abs(x - end) <= _BESIDE * x, end, x)

    @property
    def steps(self) -> Floats:
        """The places where the density jumps, ascending, in counts, as far out as floats reach."""
        end = float(self.lattice.isf_log(-FAINTEST))
        if end > _MOST:
            raise ValueError(f"{self!r} has {2 * end:.3g} steps; valid: at most {2 * _MOST:,}, so a wider step")
        edges = self.scale * (np.arange(self.lattice.offset, end + 0.5) + 0.5)
        return np.concatenate([-edges[::-1], [] if self.lattice.offset == 0 else [0.0], edges])

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Return False, because the noise on the lattice is calibrated."""
        return False

    def scaled(self, factor: float) -> Self:
        return type(self)(self.noise.scaled(factor))

    def _identity(self) -> tuple[Any, ...]:
        return type(self), self.noise._identity()
