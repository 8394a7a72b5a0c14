"""Noise on a lattice plus a uniform draw of one step's length. The density is a staircase."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.dithered import FAINTEST, MOST_STEPS, DitheredNoise
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy.definitions import Guarantee


@dataclass(frozen=True, eq=False, repr=False)
class DitheredLattice(DitheredNoise):
    """The noise scale (Z + U), with Z a `LatticeNoise` and U uniform on (-1/2, 1/2).

    Adding Z + U orders whole numbers as adding Z does, and a fair coin breaks ties. At a shift of (n + f) scale, the
    mean of e^((a-1) L) is 1 - f times the mean of Z at n plus f times the mean at n + 1. The same holds for
    delta(epsilon). Hence a guarantee of Z for a shift by one holds here for every shift up to scale (derived here).

    Source: Ghosh et al. (2012) [GRS12].

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
    def lattice(self) -> LatticeNoise:  # type: ignore[override]
        """The noise Z on the lattice, in steps."""
        return LatticeNoise(self.offset, self.log_mass, self.fall)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        whole = self.lattice.sample(size=size, rng=rng)
        return self.scale * (whole + rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        y = self.scale * self.lattice._near(np.divide(y, self.scale), np.divide(shift, self.scale))
        return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def steps(self) -> Floats:
        """The places where the density jumps, ascending, in counts, as far out as floats reach."""
        further = int(min(FAINTEST / self.fall, MOST_STEPS))
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
