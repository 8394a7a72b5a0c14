"""The privacy loss of Laplace noise, put on a grid in closed form.

Let m be the shift over the scale. The loss under P is m with probability 1/2 and -m with probability e^-m / 2. Between,
it is linear in the output, with the density e^(-(m - loss) / 2) / 4. For a grid point g with step h, the part of the
density from g + a to g + c has the mass f(g) (2 e^(c/2) - 2 e^(a/2)), where f is the density. Its share of the point
g + h is f(g) / (1 - e^-h) times the integral of e^(t/2) - e^(-t/2), which is 8 sinh((c + a) / 4) sinh((c - a) / 4).
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms
from tcdp_sim.exact.losses.grid_law import GridLaw, TooFine, gathered, placed
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Laplace

_BINS = 60  # of the crude law, at least
_MOST_BINS = 2000
_MOST_CELLS = 2**21
_ROUNDING = 2e-15  # error of a loss, relative to 1 + the largest one
_NARROW = 1e-3  # a bin whose mean comes from a series


@dataclass(frozen=True)
class LaplaceLoss:
    """The law of log(P/Q) under P for Laplace noise and the same noise moved by `size` times its scale."""

    size: float

    def crude(self) -> Atoms:
        """Return the two atoms, and one for each bin of the losses between."""
        m = self.size
        edges = np.linspace(-m, m, int(min(max(4 * m, _BINS), _MOST_BINS)) + 1)
        width = np.diff(edges)
        mass = -0.5 * np.exp(-0.5 * (m - edges[1:])) * np.expm1(-0.5 * width)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(width < _NARROW, width / 2 + width**2 / 24, width / -np.expm1(-0.5 * width) - 2)
        loss = np.concatenate([[-m], edges[:-1] + mean, [m]])
        mass = np.concatenate([[0.5 * np.exp(-m)], mass, [0.5]])
        return Atoms(loss[mass > 0], mass[mass > 0], 0.0)

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss, which is 0."""
        return 0.0, 0.0

    def largest(self) -> tuple[float, float]:
        """Return the largest loss."""
        return self.size * (1 - 4e-16), self.size * (1 + 4e-16)

    def peak(self) -> tuple[float, float]:
        """Return the largest loss and its probability."""
        return self.largest()[0], 0.5

    def lattice(self) -> None:
        """Return None, because the losses fill an interval."""

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence, in closed form."""
        return renyi_divergence(Laplace(1.0), self.size, order)

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = np.inf) -> GridLaw:
        """Return the law on the grid. No loss is made infinite, because the largest one has half of the mass."""
        m = self.size
        first, last = (int(np.floor((end - offset) / step)) for end in (min(max(floor, -m), m), m))
        if last - first > _MOST_CELLS:
            raise TooFine
        index = np.arange(first, last + 1)
        point = offset + step * index
        below = float(point[0])  # losses below it are raised to it
        low, high = np.clip(-m - point, 0.0, step), np.clip(m - point, 0.0, step)
        density = 0.25 * np.exp(-0.5 * (m - point))
        mass = density * 2 * np.exp(0.5 * low) * np.expm1(0.5 * (high - low))
        upper = density * 8 * np.sinh(0.25 * (high + low)) * np.sinh(0.25 * (high - low)) / -np.expm1(-step)
        lowest = int(placed(np.array([-m]), step, offset)[0][0])  # -m itself may be on the grid, up to rounding
        raised = 0.5 * float(np.exp(-0.5 * (m - below))) if first > lowest else 0.0
        atoms = np.array([m] if raised else [-m, m])
        probabilities = np.array([0.5] if raised else [0.5 * np.exp(-m), 0.5])
        at, share, near = placed(atoms, step, offset)
        snapped = float(np.abs(offset + step * at - atoms)[near].max(initial=0.0))
        start, total = gathered(
            [index, index + 1, at, at + 1], [mass - upper, upper, probabilities * (1 - share), probabilities * share]
        )
        total[0] += raised
        moved = ((below, raised),) if raised else ()
        slack = snapped + DENSITY * step + _ROUNDING * (1 + m)
        return GridLaw(start, _at_least(total), offset, step, (0.0, 0.0), moved, slack, step, DENSITY + _ROUNDING * m)


def _at_least(mass: Floats) -> Floats:
    """Return masses that rounding has not made negative."""
    return np.maximum(mass, 0.0)
