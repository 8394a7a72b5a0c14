"""Noise on a lattice plus a uniform draw of one step's length. The density is a staircase."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.renamed import generator_moved
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy.definitions import Guarantee

_LOG_HALF = np.log(0.5)
_FAINTEST = 700.0  # nats; `steps` leaves out the steps that are this far below the first one


@dataclass(frozen=True, eq=False, repr=False)
class DitheredLattice(Noise):
    """The noise scale (Z + U), with Z a `LatticeNoise` and U uniform on (-1/2, 1/2).

    Adding Z + U orders whole numbers as adding Z does, and a fair coin breaks ties. At a shift of (n + f) scale, the
    mean of e^((a-1) L) is 1 - f times that of Z at n plus f times that at n + 1. The same holds for delta(epsilon).
    Hence a guarantee of Z for a shift by one holds here for every shift up to scale (derived here).

    Parameters
    ----------
    offset : float
        Offset of the lattice in steps: 0 (integers) or 1/2 (half-integers).
    log_mass : tuple of float
        Logs of the probabilities of Z, as in `LatticeNoise`.
    fall : float
        Fall of the log probability per step beyond the table, above 0.
    scale : float
        Length of a step, in counts, above 0.

    Raises
    ------
    ValueError
        If a parameter is outside its range.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan (2012), the geometric mechanism, https://arxiv.org/abs/0811.2841

    Examples
    --------
    >>> noise = DitheredLattice(0.0, (0.0, -1.0), 1.0)
    >>> round(noise.var() - noise.lattice.var(), 6)
    0.083333
    """

    offset: float
    log_mass: tuple[float, ...]
    fall: float
    scale: float = 1.0
    family = "dithered_lattice"
    guarantees = LatticeNoise.guarantees
    depends_on = LatticeNoise.depends_on
    is_optimized = True
    log_concave_if = "never: its density has steps"
    shape = ()

    def __post_init__(self) -> None:
        lattice = LatticeNoise(self.offset, self.log_mass, self.fall)
        self._freeze(offset=lattice.offset, log_mass=lattice.log_mass, fall=lattice.fall)
        self._freeze(scale=scalar("scale", self.scale, 0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scale:g} times {self.lattice!r})"

    @classmethod
    def of_lattice(cls, lattice: LatticeNoise) -> Self:
        return cls(lattice.offset, lattice.log_mass, lattice.fall)

    @cached_property
    def lattice(self) -> LatticeNoise:
        """The noise Z on the lattice, in steps."""
        return LatticeNoise(self.offset, self.log_mass, self.fall)

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

    @generator_moved
    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        whole = self.lattice.sample(size=size, rng=rng)
        return self.scale * (whole + rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        y = self.scale * self.lattice._near(np.divide(y, self.scale), np.divide(shift, self.scale))
        return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def step_length(self) -> float:
        return self.scale

    def largest_loss(self, shift: float) -> float:
        steps = np.abs(shift) / self.scale
        return max(self.lattice.largest_loss(whole) if whole else 0.0 for whole in (np.floor(steps), np.ceil(steps)))

    @property
    def steps(self) -> Floats:
        """The places where the density jumps, ascending, in counts, as far out as floats reach."""
        further = int(min(_FAINTEST / self.fall, 1e5))
        edges = self.scale * (np.arange(len(self.log_mass) + further) + self.offset + 0.5)
        return np.concatenate([-edges[::-1], [] if self.offset == 0 else [0.0], edges])

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
        return LatticeNoise.equal_privacy(rho, omega, delta)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return LatticeNoise.can_meet(guarantee)

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * factor)

    def _identity(self) -> tuple[Any, ...]:
        return type(self), self.lattice._identity(), self.scale

    def _cell(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return the point of Z whose step contains x, and the share of the step that lies above x."""
        steps = np.asarray(x, dtype=np.float64) / self.scale - self.offset
        cell = np.floor(steps + 0.5)
        with np.errstate(invalid="ignore"):
            return cell + self.offset, np.where(np.isinf(steps), steps < 0, cell + 0.5 - steps)
