"""Noisy counts that have to exceed a threshold, with > and >= told apart."""

from dataclasses import dataclass
from math import inf, nextafter

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.noise import Noise
from tcdp_sim.selection.keys.curve import ReleaseCurve, checked_per_key, counts_of

COMPARISONS = (">", ">=")
_LARGER = 1e-13  # relative, a step of a threshold that rounding has left too low


@dataclass(frozen=True)
class ThresholdCurve(ReleaseCurve):
    """The keys that have records and whose noisy count exceeds a threshold.

    The mechanism may also release the noisy counts: its usual guarantee covers keys and counts together, as
    `accounting.Thresholded` computes it. `spent_delta` of this curve concerns the keys alone, and is smaller.

    Source: Korolova et al. (2009) [KKMN09].

    Parameters
    ----------
    noise : Noise
        The noise of a count, with a symmetric law.
    threshold : float
        The threshold in counts, at least `per_key`.
    comparison : {">", ">="}
        The comparison that a noisy count has to pass. It matters for noise on a lattice.
    per_key : int
        The largest number of records of a person at a key, from 1.

    Examples
    --------
    >>> from tcdp_sim.noise import Laplace
    >>> float(ThresholdCurve(Laplace(1.0), 10.0).released(10))
    0.5
    """

    noise: Noise
    threshold: float
    comparison: str = ">"
    per_key: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_key", checked_per_key(self.per_key))
        if not isinstance(self.noise, Noise):
            raise ValueError(f"noise = {self.noise!r} is not valid; valid: a noise, such as Laplace(1.0)")
        threshold = scalar("threshold", self.threshold, self.per_key, closed=True)
        object.__setattr__(self, "threshold", threshold)
        choice("comparison", self.comparison, COMPARISONS)

    def released(self, records: ArrayLike) -> Floats:
        counts = counts_of(records)
        found = _beyond(self.noise, self.threshold - counts, self.comparison)
        return np.where(counts > 0, found, 0.0)

    def withheld(self, records: ArrayLike) -> Floats:
        counts = counts_of(records)  # the law is symmetric, so that -Z has to pass the other comparison
        other = COMPARISONS[1 - COMPARISONS.index(self.comparison)]
        found = _beyond(self.noise, counts - self.threshold, other)
        return np.where(counts > 0, found, 1.0)


def _beyond(noise: Noise, x: Floats, comparison: str) -> Floats:
    """Return P[Z > x] or P[Z >= x]."""
    probability = np.asarray(noise.sf(x), dtype=np.float64)
    if comparison == ">=" and noise.is_discrete:
        probability = np.minimum(probability + np.exp(noise.logpdf(x)), 1.0)
    return probability


def least_threshold(noise: Noise, probability: float, comparison: str = ">", per_key: int = 1) -> float:
    """Return the least threshold at which a key of one person is released with at most a given probability.

    Parameters
    ----------
    noise : Noise
        The noise of a count, with a symmetric law.
    probability : float
        The largest probability of release of a key with `per_key` records, in (0, 1).
    comparison : {">", ">="}
        The comparison that a noisy count has to pass.
    per_key : int
        The largest number of records of a person at a key, from 1.

    Returns
    -------
    float
        The threshold in counts, rounded up. It is no lower than `per_key`.

    Examples
    --------
    >>> from tcdp_sim.noise import DiscreteLaplace
    >>> [least_threshold(DiscreteLaplace(1.0), 0.01, sign) for sign in (">", ">=")]
    [5.0, 6.0]
    """
    probability, per_key = scalar("probability", probability, 0, 1), checked_per_key(per_key)
    choice("comparison", comparison, COMPARISONS)
    if noise.is_discrete:
        step = float(noise.step_length or 1.0)
        place = float(np.ceil(float(noise.isf(probability)) / step - 1e-9)) - 2
        while float(_beyond(noise, np.asarray(place * step), comparison)) > probability:
            place += 1
        return max(per_key + place * step, float(per_key))
    threshold = max(per_key + float(noise.isf(probability)), float(per_key))
    while float(noise.sf(threshold - per_key)) > probability:
        threshold = nextafter(threshold + _LARGER * max(threshold, float(noise.isf(0.25))), inf)
    return threshold
