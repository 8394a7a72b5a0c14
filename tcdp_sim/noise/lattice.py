"""Noise on the integers or the half-integers: a table of probabilities, and a geometric tail beyond it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.discrete import CLOSE, FAINTEST, DiscreteNoise, LossAtoms
from tcdp_sim.privacy.definitions import TCDP, ZCDP, Guarantee

OFFSETS = (0.0, 0.5)
_FAR = 2.0**20  # outputs this many times beyond the table and the shift are moved nearer, see `_near`


@dataclass(frozen=True, eq=False, repr=False)
class LatticeNoise(DiscreteNoise):
    """A symmetric noise on a lattice: P[Z = x] = e^log_mass[i] for |x| = offset + i.

    Beyond the end of the table, the log of the probability falls by `fall` per point. The noise is for data that change
    by whole numbers: at any other shift every loss is infinite. `pdf` and `logpdf` give the probability of a point.

    Source: Ghosh et al. (2012) [GRS12].

    Parameters
    ----------
    offset : float
        Offset of the lattice, in counts: 0 (integers) or 1/2 (half-integers).
    log_mass : tuple of float
        Logs of the probabilities at offset, offset + 1, ...; at least two finite numbers. They are normalised here.
    fall : float
        Fall of the log probability per point beyond the table, above 0.

    Examples
    --------
    >>> noise = LatticeNoise(0.0, (0.0, -1.0), 1.0)
    >>> round(float(noise.pdf(0.0)), 4), round(noise.largest_loss(1.0), 6)
    (0.4621, 1.0)
    """

    offset: float
    log_mass: tuple[float, ...]
    fall: float
    family = "lattice"
    guarantees = "PureDP, ApproxDP (1 coordinate), ZCDP with xi = 0, TCDP"
    depends_on = ("rho", "omega")
    is_optimized = True
    without_ties = "dithered_lattice"
    log_concave_if = "never: it is discrete"

    def __post_init__(self) -> None:
        choice("offset", self.offset, OFFSETS)
        table = np.asarray(self.log_mass, dtype=np.float64)
        if table.ndim != 1 or len(table) < 2 or not np.isfinite(table).all():
            raise ValueError("log_mass is not valid; valid: at least two finite numbers")
        fall = scalar("fall", self.fall, 0)
        ends = table + np.log(np.where(np.arange(len(table)) + self.offset > 0, 2.0, 1.0))
        ends[-1] -= np.log(-np.expm1(-fall))
        table = table - np.logaddexp.reduce(ends)
        self._freeze(offset=float(self.offset), log_mass=tuple(table.tolist()), fall=fall)

    def __repr__(self) -> str:
        size = f"{len(self.log_mass)} points, standard deviation {np.sqrt(self.var()):.6g}"
        return f"{type(self).__name__}({'integers' if self.offset == 0 else 'half-integers'}, {size})"

    @classmethod
    def of_lattice(cls, lattice: "LatticeNoise") -> Self:
        return cls(lattice.offset, lattice.log_mass, lattice.fall)

    def _log_mass(self, i: Floats) -> Floats:
        return self._at(self._table, i)

    def _log_tail(self, i: Floats) -> Floats:
        return self._at(self._log_at_least_table, i)

    def with_density(self) -> Noise:
        dithered: Noise = registry.noise(self.without_ties).of_lattice(self)
        return dithered

    def var(self) -> Reals:
        return float(2 * (self._mass * self._points**2).sum() + 2 * self._tail_moment())

    def mean_abs(self) -> float:
        """Return E |Z| in counts."""
        ratio, rest, x = np.exp(-self.fall), -np.expm1(-self.fall), self._points[-1]
        beyond = self._mass[-1] * (x * ratio / rest + ratio / rest**2)
        return float(2 * (self._mass * self._points).sum() + 2 * beyond)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        shape = np.empty(() if size is None else size).shape
        depth = rng.standard_exponential(shape)  # the draw is the last point with -log P[|Z| >= point] <= depth
        sign = rng.random(shape) - 0.5
        i = np.searchsorted(-self._log_two_sided, depth, side="right") - 1
        further = np.maximum(depth + self._log_two_sided[-1], 0.0) // self.fall
        return np.copysign(self.offset + i + np.where(i == self._last, further, 0.0), sign)[()]

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        out[...] = self.sample(size=out.shape, rng=rng)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        y = self._near(y, shift)
        with np.errstate(invalid="ignore"):
            return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def step_length(self) -> float:
        return 1.0

    def largest_loss(self, shift: float) -> float:
        """Return the supremum of |loss| in nats at a whole shift; inf at any other.

        The table around 0 shows it: around `shift` the loss is the same but for its sign, between the two tables it is
        linear, and beyond them constant.
        """
        if shift != round(shift):
            return np.inf
        y = np.arange(-self._last - 1.0, self._last + 2.0) + self.offset
        return float(np.abs(self.privacy_loss(np.append(y, -y), shift)).max())

    def loss_atoms(self, shift: float, log_least: float = FAINTEST) -> LossAtoms:
        """Return the law of the privacy loss at a shift > 0, complete: beyond the table it is constant."""
        steps = self.need_steps("shift", shift)
        end = self._points[-1] + 1
        y = np.arange(-end, steps + end + 0.5)
        log_mass = self._log_mass(np.abs(y) - self.offset)
        log_mass[[0, -1]] -= np.log(-np.expm1(-self.fall))  # includes all points further out
        loss = np.asarray(self.privacy_loss(y, steps))
        order = np.argsort(-loss, kind="stable")
        return LossAtoms(loss[order], log_mass[order], -np.inf, -np.inf)

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
        """Return (rho, omega)-tCDP, or rho-zCDP if omega is inf or None."""
        return ZCDP(rho) if omega is None or omega == np.inf else TCDP(rho, omega)

    def scaled(self, factor: float) -> Self:
        if factor == 1:
            return self
        raise ValueError(
            f"sensitivity = {factor:g} is not valid for noise on a lattice, which does not scale; valid: 1"
        )

    def _identity(self) -> tuple[Any, ...]:
        return type(self), self.offset, self.log_mass, self.fall

    # The tables. The log of a tail is summed from outside inwards, so that it keeps its digits.

    @cached_property
    def _table(self) -> Floats:
        return np.array(self.log_mass)

    @property
    def _last(self) -> int:
        return len(self.log_mass) - 1

    @cached_property
    def _points(self) -> Floats:
        return np.arange(float(len(self.log_mass))) + np.float64(self.offset)

    @cached_property
    def _mass(self) -> Floats:
        return np.exp(self._table)

    @cached_property
    def _log_at_least_table(self) -> Floats:
        """The log of P[Z >= x_i]."""
        terms = self._table.copy()
        terms[-1] -= np.log(-np.expm1(-self.fall))
        return np.asarray(np.logaddexp.accumulate(terms[::-1])[::-1], dtype=np.float64)

    @cached_property
    def _log_upper(self) -> Floats:
        """The log of P[Z > x_i]."""
        return np.append(self._log_at_least_table[1:], self._log_at_least_table[-1] - self.fall)

    @cached_property
    def _log_two_sided(self) -> Floats:
        """The log of P[|Z| >= x_i], which is 0 at the first point."""
        table = self._log_at_least_table + np.log(2)
        table[0] = 0.0
        return table

    def _near(self, y: ArrayLike, shift: ArrayLike) -> Floats:
        """Return y, or a point nearer to the table with the same loss, because far out y - shift would round to y."""
        y = np.asarray(y, dtype=np.float64)
        end = self._points[-1] + np.ceil(np.abs(shift)) + 1
        return np.where(np.abs(y) > _FAR * end, np.copysign(end, y), y)

    def _at(self, table: Floats, i: Floats) -> Floats:
        inside = np.clip(np.nan_to_num(i), 0, self._last).astype(np.int64)
        return np.asarray(table[inside] - self.fall * np.maximum(i - self._last, 0.0))

    def _outward(self, log_p: Floats) -> Floats:
        """Return the least x_i >= 0 with log P[Z > x_i] <= log_p."""
        i = np.searchsorted(-self._log_upper, -log_p)
        with np.errstate(over="ignore"):
            beyond = np.ceil(np.maximum(self._log_upper[-1] - log_p, 0.0) / self.fall - CLOSE)
        return self.offset + np.where(i > self._last, self._last + beyond, i)

    def _inward(self, log_q: Floats) -> Floats:
        """Return the largest x_i >= 0 with P[Z >= x_i] >= q, which is minus the least x with P[Z > x] <= 1 - q."""
        i = np.searchsorted(-self._log_at_least_table, -log_q, side="right") - 1
        beyond = np.floor(np.maximum(self._log_at_least_table[-1] - log_q, 0.0) / self.fall + CLOSE)
        return self.offset + np.where(i >= self._last, self._last + np.where(np.isfinite(beyond), beyond, 0.0), i)

    def _tail_moment(self) -> float:
        """Return the sum of p x^2 over the points of one sign beyond the table."""
        ratio, rest, x = np.exp(-self.fall), -np.expm1(-self.fall), self._points[-1]
        first, second = ratio / rest, ratio / rest**2
        third = ratio * (1 + ratio) / rest**3
        return float(self._mass[-1] * (x * x * first + 2 * x * second + third))
