"""Noise on several lattices at once, as runs of neighbouring points with their mirror images."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.numerics import ArrayBounds, Bounds
from tcdp_sim.noise.base import Noise
from tcdp_sim.privacy.definitions import Guarantee

_ROUNDING = 1e-13  # relative, of sums of non-negative terms
_LOG_ROUNDING = 1e-15  # relative, of the logs whose differences are losses


@dataclass(frozen=True, eq=False, repr=False)
class LatticeMixture(Noise):
    """A mixture of runs of points at distance one, each of which is mirrored at zero with probability 1/2.

    Run j has probability e^log_mass[j][i] at first[j] + i. Runs and their mirror images lie on lattices of their own,
    so a move by a whole number of counts never leads from one to another. On the integers and the half-integers a run
    has to be its own mirror image. At any other move the supports are disjoint. `pdf` and `logpdf` give the probability
    of a point.

    Derived here. `tcdp_sim.calibration.optimal.least_square` proves that such noise has the least mean square under
    (epsilon, delta)-DP.

    Parameters
    ----------
    first : tuple of float
        The leftmost point of each run, in counts.
    log_mass : tuple of tuple of float
        The log probabilities of each run's points, finite. They are normalised over all runs together.

    Raises
    ------
    ValueError
        If a table is empty or not finite, two runs share a lattice (mirrored or not), or a run on the integers or
        half-integers is not its own mirror image.

    Examples
    --------
    >>> round(float(LatticeMixture((-0.75,), ((0.0, 0.0),)).var()), 4)
    0.3125
    """

    first: tuple[float, ...]
    log_mass: tuple[tuple[float, ...], ...]
    family = "lattice_mixture"
    guarantees = "none: `tcdp_sim.calibration.optimal.optimal_noise` finds it"
    is_discrete = True
    log_concave_if = "never: it is discrete"
    shape = ()

    def __post_init__(self) -> None:
        first = tuple(float(each) for each in self.first)
        tables = [np.asarray(table, dtype=np.float64) for table in self.log_mass]
        finite = bool(tables) and all(table.ndim == 1 and table.size and np.isfinite(table).all() for table in tables)
        if len(first) != len(tables) or not finite or not np.isfinite(first).all():
            raise ValueError("log_mass is not valid; valid: for each run at least one finite number")
        total = np.logaddexp.reduce(np.concatenate(tables))
        self._freeze(first=first, log_mass=tuple(tuple((table - total).tolist()) for table in tables))
        if any(a % 1 in (b % 1, -b % 1) for a, b in combinations(first, 2)):
            raise ValueError(f"first = {first} is not valid; valid: runs on lattices that differ, mirrored or not")
        if any(at * 2 % 1 == 0 and not _symmetric(at, table) for at, table in zip(self.first, self.log_mass)):
            raise ValueError("log_mass is not valid; valid: on integers and half-integers a run that mirrors itself")

    def __repr__(self) -> str:
        size = f"{sum(map(len, self.log_mass))} points, standard deviation {np.sqrt(self.var()):.6g}"
        return f"{type(self).__name__}({len(self.first)} runs, {size})"

    def logpdf(self, x: ArrayLike) -> Reals:
        x = np.asarray(x, dtype=np.float64)
        mass = sum(self._mass_at(run, sign * x) for run in range(len(self.first)) for sign in (-1, 1))
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(mass) / 2)[()]

    def sf(self, x: ArrayLike) -> Reals:
        x = np.asarray(x, dtype=np.float64)
        return np.where(x >= 0, self._beyond(x, "right") / 2, 1 - self._beyond(-x, "left") / 2)[()]

    def logsf(self, x: ArrayLike) -> Reals:
        with np.errstate(divide="ignore"):
            return np.log(self.sf(x))

    def cdf(self, x: ArrayLike) -> Reals:
        x = np.asarray(x, dtype=np.float64)
        return np.where(x < 0, self._beyond(-x, "left") / 2, 1 - self._beyond(x, "right") / 2)[()]

    def logcdf(self, x: ArrayLike) -> Reals:
        with np.errstate(divide="ignore"):
            return np.log(self.cdf(x))

    def isf(self, p: ArrayLike) -> Reals:
        """Return the least point x with P[Z > x] <= p."""
        p = np.asarray(p, dtype=np.float64)
        points = np.concatenate([-self._sizes[::-1], self._sizes])
        i = np.searchsorted(-np.asarray(self.sf(points)), -p)
        return np.where((p >= 0) & (p <= 1), points[np.minimum(i, len(points) - 1)], np.nan)[()]

    def var(self) -> Reals:
        return float(self._mass @ self._sizes**2)

    def mean_abs(self) -> float:
        """Return E |Z|, in counts."""
        return float(self._mass @ self._sizes)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        shape = np.empty(() if size is None else size).shape
        depth = rng.standard_exponential(shape)  # the draw is the largest size whose -log P[|Z| >= size] is below it
        sign = rng.random(shape) - 0.5
        with np.errstate(divide="ignore"):
            depths = -np.log(self._at_least[:-1] / self._at_least[0])
        return np.copysign(self._sizes[np.searchsorted(depths, depth, side="right") - 1], sign)[()]

    @property
    def bounded_slope(self) -> bool:
        """True, because the probabilities have steps and no cusps."""
        return True

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        with np.errstate(invalid="ignore"):
            return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    def largest_loss(self, shift: float) -> float:
        """Return infinity, because the last point of a run has no neighbour."""
        return np.inf

    def closed_hockey_stick(self, shift: float, epsilon: Floats) -> ArrayBounds:
        """Return delta(epsilon), the mean over the runs and their mirror images. It is 1 unless the shift is whole."""
        if shift != round(shift):
            return Bounds(*(np.ones(epsilon.shape) for _ in range(3)))
        delta, error = np.zeros(epsilon.shape), np.zeros(epsilon.shape)
        for log_p in map(np.array, self.log_mass):
            rounding = _LOG_ROUNDING * (1 + float(np.abs(log_p).max()))
            for side in (log_p, log_p[::-1]):
                loss = side - np.append(side[int(shift) :], np.full(min(int(shift), len(side)), -np.inf))
                gain, mass = -np.expm1(np.minimum(epsilon[:, None] - loss, 0.0)), np.exp(side) / 2
                delta += gain @ mass
                error += (loss > epsilon[:, None] - rounding) @ mass * rounding
        return Bounds(delta * (1 - _ROUNDING) - error, delta, delta * (1 + _ROUNDING) + error).clipped(0.0, 1.0)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Return False, because no search over a scale finds this noise."""
        return False

    def scaled(self, factor: float) -> Self:
        if factor == 1:
            return self
        raise ValueError(f"factor = {factor:g} is not valid for noise on lattices, which does not scale; valid: 1")

    def _identity(self) -> tuple[Any, ...]:
        return type(self), self.first, self.log_mass

    # Tables of |Z| in ascending order of sizes, which may repeat.

    @cached_property
    def _order(self) -> Floats:
        return np.concatenate([np.abs(at + np.arange(len(table))) for at, table in zip(self.first, self.log_mass)])

    @cached_property
    def _sizes(self) -> Floats:
        return np.sort(self._order)

    @cached_property
    def _close(self) -> float:
        """The largest distance from a point of a run at which a number still counts as that point."""
        return 2.0**-50 * (1 + float(self._sizes[-1]))

    @cached_property
    def _mass(self) -> Floats:
        return np.asarray(np.exp(np.concatenate(self.log_mass))[np.argsort(self._order)])

    @cached_property
    def _at_least(self) -> Floats:
        """P[|Z| >= size] for every size, summed from outside inwards, with 0 beyond the last."""
        return np.append(np.cumsum(self._mass[::-1])[::-1], 0.0)

    def _beyond(self, size: Floats, side: Any) -> Floats:
        """Return P[|Z| > size] for side "right" or P[|Z| >= size] for side "left", for size >= 0."""
        near = np.maximum(size, 0.0) + (self._close if side == "right" else -self._close)
        return np.asarray(self._at_least[np.searchsorted(self._sizes, near, side=side)])

    def _mass_at(self, run: int, x: Floats) -> Floats:
        """Return the probability of x in one run before it is mirrored."""
        table = np.array(self.log_mass[run])
        steps = x - self.first[run]
        i = np.round(steps)
        inside = (np.abs(steps - i) <= self._close) & (i >= 0) & (i < len(table))
        return np.where(inside, np.exp(table[np.where(inside, i, 0).astype(np.int64)]), np.where(np.isnan(x), x, 0.0))


def _symmetric(first: float, table: tuple[float, ...]) -> bool:
    return 2 * first + len(table) - 1 == 0 and table == table[::-1]
