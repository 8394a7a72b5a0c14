"""The base class of noise on a lattice: its law, its draws and its privacy loss, from the logs of masses and tails."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Bools, Floats, Reals
from tcdp_sim.core.errors import real
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.dithered import Dithered
from tcdp_sim.noise.strips import Strips, strips

CLOSE = 1e-9  # distance in steps at which a number counts as a point of the lattice
FAINTEST = -745.0  # log of a probability; e^-745 is the least float
_ULPS = 4e-15  # relative distance at which a product of a whole number and a step counts as a point
_EVERY = 2**24  # atoms of a loss that are listed at most


class LossAtoms(NamedTuple):
    """The law of a privacy loss on a lattice, from `DiscreteNoise.loss_atoms`.

    - loss: the values of the loss in nats, descending, shape (n,).
    - log_mass: the logs of their probabilities under P, shape (n,).
    - log_above: the log of the probability of the outputs that are not listed and have larger losses, -inf for none.
    - log_below: the same for smaller losses.

    >>> from tcdp_sim.noise import DiscreteLaplace
    >>> atoms = DiscreteLaplace(2.0).loss_atoms(1.0)
    >>> atoms.loss.tolist(), np.exp(atoms.log_mass).round(4).tolist()
    ([0.5, -0.5], [0.6225, 0.3775])
    """

    loss: Floats
    log_mass: Floats
    log_above: float
    log_below: float


class DiscreteNoise(Noise):
    """A symmetric noise on the lattice (offset + Z) step, in counts.

    It is for data that change by whole steps: at any other shift every loss is infinite. `pdf` and `logpdf` give the
    probability of a point. A subclass gives `step_length` and, as functions of whole i >= 0, the logs of the
    probabilities of the point (offset + i) step and of the tail from it on.

    Attributes
    ----------
    offset : float
        The offset of the lattice, in steps: 0, or 1/2 for a lattice without zero.
    rounds : type or None
        The class of the continuous noise whose rounded form this is, None for all others.

    Examples
    --------
    >>> from tcdp_sim.noise import DiscreteGaussian, DiscreteNoise
    >>> isinstance(DiscreteGaussian(2.0), DiscreteNoise)
    True
    """

    offset: float
    rounds: ClassVar[Any] = None
    is_discrete = True
    shape = ()

    @property
    @abstractmethod
    def step_length(self) -> float:
        """Return the distance of neighbouring points, in counts."""

    @abstractmethod
    def _log_mass(self, i: Floats) -> Floats:
        """Return log P[Z = (offset + i) step] for whole i >= 0."""

    @abstractmethod
    def _log_tail(self, i: Floats) -> Floats:
        """Return log P[Z >= (offset + i) step] for whole i >= 0."""

    @abstractmethod
    def _outward(self, log_p: Floats) -> Floats:
        """Return the least x >= 0 with log P[Z > x] <= log_p, or a neighbouring point, in steps."""

    @abstractmethod
    def _inward(self, log_q: Floats) -> Floats:
        """Return the largest x >= 0 with P[Z >= x] >= q, or a neighbouring point, in steps."""

    # The law of points and tails. Arguments and quantiles are in counts, all others in steps.

    def pmf(self, x: ArrayLike) -> Reals:
        """Return P[Z = x], which is 0 unless x is a point of the lattice."""
        return self.pdf(x)

    def logpmf(self, x: ArrayLike) -> Reals:
        """Return log P[Z = x], which is -inf unless x is a point of the lattice."""
        return self.logpdf(x)

    def logpdf(self, x: ArrayLike) -> Reals:
        steps = np.abs(self.in_steps(x)) - self.offset
        i = np.round(steps)
        log_mass = self._log_mass(np.maximum(np.nan_to_num(i), 0.0))
        with np.errstate(invalid="ignore"):  # inf - inf: no point of the lattice
            on_it = np.abs(steps - i) <= CLOSE
        return np.where(np.isnan(i), np.nan, np.where(on_it, log_mass, -np.inf))[()]

    def sf(self, x: ArrayLike) -> Reals:
        return self._sf(self.in_steps(x))[()]

    def logsf(self, x: ArrayLike) -> Reals:
        return self._logsf(self.in_steps(x))[()]

    def cdf(self, x: ArrayLike) -> Reals:
        x = self.in_steps(x)
        return np.where(x < 0, np.exp(self._log_at_least(-x)), -np.expm1(self._log_beyond(x)))[()]

    def logcdf(self, x: ArrayLike) -> Reals:
        x = self.in_steps(x)
        return np.where(x < 0, self._log_at_least(-x), np.log1p(-np.exp(self._log_beyond(x))))[()]

    def isf(self, p: ArrayLike) -> Reals:
        """Return the least x of the lattice with P[Z > x] <= p, as `sf` gives it, without rounding in p's favour."""
        p = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            upper = self._outward(np.log(np.minimum(p, 0.5)))
            lower = -self._inward(np.log1p(-np.maximum(p, 0.5)))
        x = self.step_length * _least(np.where(p < 0.5, upper, lower), lambda x: self._sf(x) <= p)
        return np.where((p >= 0) & (p <= 1), np.where(p == 0, np.inf, np.where(p == 1, -np.inf, x)), np.nan)[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        log_p = np.asarray(log_p, dtype=np.float64)
        far = _least(self._outward(np.minimum(log_p, -1.0)), lambda x: self._logsf(x) <= log_p)
        return np.where(log_p < -1, self.step_length * far, self.isf(np.exp(log_p)))[()]

    def with_density(self) -> Noise:
        return Dithered(self)

    # Draws

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        """Return independent draws.

        The law as simulated differs from the exact one by at most 1e-12 of each probability, and by 2^-53 for each of
        the strips that a point lies in (`noise.strips`). Tails are drawn to the end of the floats.
        """
        out = np.empty(() if size is None else size)
        self.fill(out=out, rng=rng)
        return out[()]

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        self._strips.fill(out=out, rng=rng)
        self._round(out)

    def _round(self, out: NDArray[np.float64]) -> None:
        """Round draws to the nearest points of the lattice, in place."""
        step = self.step_length
        if step != 1:
            out /= step
        np.rint(out, out=out)
        if step != 1:
            out *= step

    @cached_property
    def _strips(self) -> Strips:
        """The strips of the dithered law. Draws outside of their rectangles are computed without its checks."""
        return replace(strips(self.with_density()), pdf=self._density, isf_log=self._far)

    def _density(self, x: Floats) -> Floats:
        """Return the density of the dithered noise within its steps."""
        i = np.rint(np.abs(x) / self.step_length - self.offset)
        return np.exp(self._log_mass(i)) / self.step_length

    def _far(self, log_p: Floats) -> Floats:
        """Return the least x >= 0 with log P[Z > x] <= log_p, for log_p < -log 2."""
        x = _least(self._outward(log_p), lambda x: self._log_beyond(x) <= log_p)
        return np.maximum(x, self.offset) * self.step_length

    # The privacy loss

    def steps_of(self, shift: float) -> float | None:
        """Return the number of steps of a shift in counts, or None if it is not a whole number of them."""
        steps = np.divide(shift, self.step_length, dtype=np.float64)
        slack = _ULPS * abs(steps) if self.step_length != 1 else 0.0
        return float(np.round(steps)) if abs(steps - np.round(steps)) <= slack else None

    def need_steps(self, name: str, shift: float) -> float:
        """Return the number of steps of a shift > 0, in counts. Raises ValueError that names it if there is none."""
        steps = self.steps_of(real(name, shift, 0))
        if not steps:
            valid = f"valid: a multiple of its step {self.step_length:g}"
            raise ValueError(f"{name} = {shift:g} is not valid for noise on a lattice, {self!r}; {valid}")
        return steps

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        steps, moved = self.in_steps(y), self.in_steps(shift)
        with np.errstate(invalid="ignore"):
            here, there = self._on_lattice(steps), self._on_lattice(steps - moved)
            loss = self._loss(_rounded(steps, self.offset), np.round(moved))
        loss = np.where(here & there, loss, np.where(here, np.inf, np.where(there, -np.inf, np.nan)))
        return np.where(moved == 0, np.where(here, 0.0, np.nan), loss)[()]

    def _loss(self, y: Floats, shift: Floats) -> Floats:
        """Return the loss at points y of the lattice for whole shifts, both in steps."""
        here, there = np.abs(y) - self.offset, np.abs(y - shift) - self.offset
        return self._log_mass(np.round(here)) - self._log_mass(np.round(there))

    def max_order(self, shift: float) -> float:
        return 1.0 if self.steps_of(shift) is None else np.inf

    def loss_atoms(self, shift: float, log_least: float = FAINTEST) -> LossAtoms:
        """Return the law of the privacy loss under P at a shift > 0, as values and logs of probabilities.

        Parameters
        ----------
        shift : float
            The change of the answer, in counts: a multiple of `step_length`.
        log_least : float
            The log of the tail probability, below 0, beyond which outputs are left out on either side if there are
            infinitely many losses.

        Returns
        -------
        LossAtoms
            The losses in nats, descending, the logs of their probabilities, and the logs of the remaining probabilities
            on both sides.

        Raises
        ------
        ValueError
            If the shift is no multiple of the step, or there are more atoms than 2^24.
        """
        steps = np.array(self.need_steps("shift", shift))
        end = self._end(log_least)
        y = np.arange(-end, end + 0.5)
        rest = float(self._log_tail(np.array(end - self.offset + 1)))
        return LossAtoms(self._loss(y, steps), self._log_mass(np.abs(y) - self.offset), rest, rest)

    def _end(self, log_least: float) -> float:
        """Return the last point, in steps, whose tail has a log probability of at least `log_least`."""
        end = float(self._outward(np.array(min(log_least, -1.0))))
        if not end < _EVERY / 2:
            raise ValueError(f"{self!r} has {2 * end:.3g} outputs that count; valid: at most {_EVERY:,}, a wider step")
        return end

    # Tails in steps

    def in_steps(self, x: ArrayLike) -> Floats:
        """Return x in steps; a number that rounding alone keeps from a point of the lattice is that point."""
        steps = np.asarray(x, dtype=np.float64) / self.step_length
        if self.step_length != 1:
            with np.errstate(invalid="ignore"):
                near = np.abs(steps - _rounded(steps, self.offset)) <= _ULPS * np.abs(steps)
            steps = np.where(near, _rounded(steps, self.offset), steps)
        return np.where((np.abs(steps) < CLOSE) & (self.offset == 0), 0.0, steps)

    def _on_lattice(self, steps: Floats) -> Bools:
        return np.asarray(np.abs(steps - _rounded(steps, self.offset)) <= CLOSE)

    def _sf(self, x: Floats) -> Floats:
        return np.where(x >= 0, np.exp(self._log_beyond(x)), -np.expm1(self._log_at_least(-x)))

    def _logsf(self, x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(x >= 0, self._log_beyond(x), np.log1p(-np.exp(self._log_at_least(-x))))

    def _log_beyond(self, x: Floats) -> Floats:
        """Return log P[Z > x] for x >= 0."""
        return self._log_tail(np.floor(np.maximum(x, 0.0) - self.offset + CLOSE) + 1)

    def _log_at_least(self, x: Floats) -> Floats:
        """Return log P[Z >= x] for x > 0."""
        return self._log_tail(np.maximum(np.ceil(np.maximum(x, 0.0) - self.offset - CLOSE), 0.0))


class SmoothTail(DiscreteNoise):
    """A discrete noise whose quantiles are found by a smooth form of its tail."""

    @abstractmethod
    def _place(self, log_p: Floats) -> Floats:
        """Return the t, in steps, where a smooth form of the tail from t on has this log, to well within one step."""

    def _outward(self, log_p: Floats) -> Floats:
        return np.maximum(np.ceil(self._place(log_p)) - 1, 0.0)

    def _inward(self, log_q: Floats) -> Floats:
        return np.maximum(np.floor(self._place(log_q)), 0.0)


def _rounded(steps: Floats, offset: float) -> Floats:
    return np.round(steps - offset) + offset


def _least(x: Floats, enough: Callable[[Floats], Any]) -> Floats:
    """Return the least point at which `enough` holds, where x is that point or a neighbour of it."""
    x = np.where(enough(x - 1), x - 1, x)
    return np.where(enough(x), x, x + 1)
