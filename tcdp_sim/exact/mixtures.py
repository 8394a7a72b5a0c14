"""Finite mixtures of shifted copies of one noise: what a mechanism that subsamples releases."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import RealFunction, Reals
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Noise


@dataclass(frozen=True)
class Mixture:
    """The law of Z + shifts[I], where I = i with probability weights[i], independent of the noise Z.

    shifts: counts, finite, a number or a sequence; weights: >= 0, as many, summing to 1 to within 1e-12. Equal shifts
    are merged and weights of zero dropped. Methods are vectorised; log forms hold to tails far below 1e-300.
    Raises ValueError for anything else, and for noises with array-valued parameters.
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
        """Density at x."""
        return np.exp(self.logpdf(x))

    def logpdf(self, x: ArrayLike) -> Reals:
        """Natural log of the density at x."""
        return self._log_sum(self.noise.logpdf, x)

    def cdf(self, x: ArrayLike) -> Reals:
        """P[X <= x]."""
        return np.exp(self.logcdf(x))

    def logcdf(self, x: ArrayLike) -> Reals:
        """log P[X <= x]."""
        return np.minimum(self._log_sum(self.noise.logcdf, x), 0.0)

    def sf(self, x: ArrayLike) -> Reals:
        """P[X > x]."""
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        """log P[X > x]."""
        return np.minimum(self._log_sum(self.noise.logsf, x), 0.0)

    def _log_sum(self, f: RealFunction, x: ArrayLike) -> Reals:
        points = np.asarray(x, dtype=np.float64)
        terms = [np.log(weight) + f(points - shift) for shift, weight in zip(self.shifts, self.weights)]
        return np.logaddexp.reduce(terms, axis=0)[()]


def subsampled(noise: Noise, shift: float, sampling_fraction: float) -> tuple[Mixture, Mixture]:
    """((1-s) Q + s P, Q), P = law of Z + shift, Q = law of Z: the pair that dominates Poisson subsampling at rate s.

    0 < sampling_fraction <= 1. For add/remove neighbours the worse direction is this one or its reverse (both count);
    for sampling without replacement under substitution the pair decides the profile (Balle-Barthe-Gaboardi 2018,
    Theorem 9), but not the Renyi divergences. Raises ValueError for arguments out of range.
    """
    s = real("sampling_fraction", sampling_fraction, 0, 1, finite=False)
    return Mixture(noise, (0.0, shift), (1 - s, s)), Mixture(noise)
