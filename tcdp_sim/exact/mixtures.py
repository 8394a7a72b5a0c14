"""Finite mixtures of shifted copies of one noise, which are the outputs of a mechanism that subsamples."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, RealFunction, Reals
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Noise


@dataclass(frozen=True)
class Mixture:
    """The law of Z + shifts[I], where I = i with probability weights[i], independent of the noise Z.

    Equal shifts are merged and weights of zero are dropped. Methods are vectorised. The log forms hold to tails far
    below 1e-300.

    Source: Balle et al. (2018) [BBG18], for the mixtures of subsampling.

    Parameters
    ----------
    noise : Noise
        The noise Z, with plain numbers as parameters.
    shifts : float or sequence of float
        The shifts in counts, finite.
    weights : float or sequence of float
        The probabilities of the shifts, >= 0, summing to 1 to within 1e-12.

    Raises
    ------
    ValueError
        If the noise is no noise or has array-valued parameters, or the shifts and weights are not valid.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> Mixture(Gaussian(1.0), (0.0, 2.0), (0.75, 0.25)).shifts
    (0.0, 2.0)
    """

    noise: Noise
    shifts: tuple[float, ...] = (0.0,)
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: a noise, such as Gaussian(1.0)")
        if self.noise.shape:
            raise ValueError(f"noise = {self.noise!r} has array-valued parameters; valid: one noise")
        shifts = np.ravel(real("shifts", self.shifts, -np.inf))
        weights = np.ravel(real("weights", self.weights, 0, closed=True))
        if len(shifts) != len(weights):
            raise ValueError(f"weights has {len(weights)} numbers; valid: as many as shifts, {len(shifts)}")
        if not abs(fsum(weights) - 1) <= 1e-12:
            raise ValueError(f"weights sum to {fsum(weights):.15g}; valid: 1")
        merged: dict[float, float] = {}
        for shift, weight in zip(shifts.tolist(), weights.tolist()):
            if weight > 0:
                merged[shift + 0.0] = merged.get(shift + 0.0, 0.0) + weight  # -0.0 is 0.0
        object.__setattr__(self, "shifts", tuple(sorted(merged)))
        object.__setattr__(self, "weights", tuple(merged[shift] for shift in sorted(merged)))

    def pdf(self, x: ArrayLike) -> Reals:
        """Return the density at x."""
        return np.exp(self.logpdf(x))

    def logpdf(self, x: ArrayLike) -> Reals:
        """Return the natural log of the density at x."""
        return self._log_sum(self.noise.logpdf, x)

    def cdf(self, x: ArrayLike) -> Reals:
        """Return P[X <= x]."""
        return np.exp(self.logcdf(x))

    def logcdf(self, x: ArrayLike) -> Reals:
        """Return log P[X <= x]."""
        return np.minimum(self._log_sum(self.noise.logcdf, x), 0.0)

    def sf(self, x: ArrayLike) -> Reals:
        """Return P[X > x]."""
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        """Return log P[X > x]."""
        return np.minimum(self._log_sum(self.noise.logsf, x), 0.0)

    def _log_sum(self, f: RealFunction, x: ArrayLike) -> Reals:
        points = np.asarray(x, dtype=np.float64)
        terms = [np.log(weight) + f(points - shift) for shift, weight in zip(self.shifts, self.weights)]
        return np.logaddexp.reduce(terms, axis=0)[()]


class SharedShifts:
    """Two mixtures of one noise, as weights over the union of their shifts. Raises ValueError if the noises differ."""

    def __init__(self, p: Mixture, q: Mixture) -> None:
        if p.noise != q.noise:
            raise ValueError(f"q is a mixture of {q.noise!r}; valid: of the noise of p, {p.noise!r}")
        self.p, self.q, self.noise = p, q, p.noise
        self.shifts = np.unique(p.shifts + q.shifts)
        of_p, of_q = (dict(zip(mixture.shifts, mixture.weights)) for mixture in (p, q))
        self.of_p, self.of_q = (np.array([w.get(m, 0.0) for m in self.shifts.tolist()]) for w in (of_p, of_q))
        base = int(np.argmax(self.of_p + self.of_q))
        self.differs = self.of_p - self.of_q
        self.differs[base] = -(self.differs[:base].sum() + self.differs[base + 1 :].sum())  # exact to the last digit

    def loss_of(self, logs: Floats) -> Floats:
        """Return log(p / q) from the logs of the density at each shift over the largest of them, shape (shifts, n)."""
        far = log_mean(self.of_p, logs) - log_mean(self.of_q, logs)
        top = np.maximum(logs.max(axis=0), 0.0)
        scaled = np.exp(logs - top)
        rise = np.where(np.abs(logs) < 1, np.expm1(logs) * np.exp(-top), scaled - np.exp(-top))
        near = np.log1p((self.differs @ rise) / (self.of_q @ scaled))
        return np.where(np.abs(far) < 0.5, near, far)


def log_mean(weights: Floats, logs: Floats) -> Floats:
    """Return the log of the sum of weights e^logs, over the first axis."""
    logs = logs[weights > 0]
    top = logs.max(axis=0)
    return np.where(np.isfinite(top), top + np.log(weights[weights > 0] @ np.exp(logs - top)), top)


def subsampled(noise: Noise, shift: float, sampling_probability: float) -> tuple[Mixture, Mixture]:
    """Return the pair of laws that dominates Poisson subsampling of additive noise.

    The pair is ((1-s) Q + s P, Q) with P = law of Z + shift and Q = law of Z. For add/remove neighbours the worse
    direction is this one or its reverse, and both count. For sampling without replacement under substitution the pair
    decides the profile but not the Renyi divergences.

    Source: Balle et al. (2018), Theorems 8 and 9 [BBG18].

    Parameters
    ----------
    noise : Noise
        The noise Z.
    shift : float
        The change of the answer by one record, in counts, finite, of either sign.
    sampling_probability : float
        The sampling probability s, in (0, 1].

    Returns
    -------
    tuple of two Mixture
        The output with the record and the output without it.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> with_record, without = subsampled(Gaussian(1.0), 1.0, 0.25)
    >>> with_record.weights
    (0.75, 0.25)
    """
    s = real("sampling_probability", sampling_probability, 0, 1, finite=False)
    return Mixture(noise, (0.0, shift), (1 - s, s)), Mixture(noise)
