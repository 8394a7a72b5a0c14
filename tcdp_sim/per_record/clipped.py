"""Sums of clipped values plus Gaussian noise, a baseline that bounds every record's influence."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.per_record import policies
from tcdp_sim.per_record.base import Release, crossing, elementwise, one_influence
from tcdp_sim.per_record.families import ReleaseFamily


class ContributionRelease(Release):
    """A sum of contributions c(value) plus Gaussian noise of standard deviation `scale`, for a public function c.

    The true answer q is the sum of the contributions. Errors are measured against `truth`, the true sum of the values,
    by default q.
    """

    scale: float

    @abstractmethod
    def contribution(self, value: Any) -> Reals:
        """Return the contribution to the sum of a record whose value is >= 0."""

    def answer(self, records: Any) -> float:
        """Return the sum of the contributions of all records, the q of the other methods."""
        return float(np.sum(self.contribution(records)))

    def cdf(self, q: Any, x: Any) -> Reals:
        return ndtr(np.subtract(x, q) / self.scale)

    def sf(self, q: Any, x: Any) -> Reals:
        return ndtr(np.subtract(q, x) / self.scale)

    def ppf(self, q: Any, u: Any) -> Reals:
        return q + self.scale * ndtri(u)

    def bias(self, q: Any, truth: Any = None) -> Reals:
        """Return q - truth, which is minus the amount clipped away."""
        return np.subtract(q, q if truth is None else truth)

    def var(self, q: Any) -> Reals:
        return np.full(np.shape(q), self.scale * self.scale)[()]

    def mse(self, q: Any, truth: Any = None) -> Reals:
        """Return the mean squared error against the truth, scale^2 + bias^2."""
        return self.var(q) + np.square(self.bias(q, truth))

    def kurtosis(self, q: Any, truth: Any = None) -> Reals:
        """Return E[(release - truth)^4] / mse^2 of a Gaussian error with this bias."""
        shift = np.square(self.bias(q, truth) / self.scale)
        return (3 + 6 * shift + shift**2) / np.square(1 + shift)

    def median_abs_error(self, q: Any, truth: Any = None) -> Reals:
        """Return the median of |release - truth|."""
        return elementwise(self._folded_median, self.bias(q, truth))

    def _folded_median(self, bias: float) -> float:
        shift = abs(bias) / self.scale
        within = crossing(lambda r: ndtr(r - shift) - ndtr(-r - shift) - 0.5, 0.0, shift + 1.0)
        return self.scale * within

    def worst_shift(self, influence: float) -> tuple[Noise, float]:
        return Gaussian(self.scale), float(self.contribution(one_influence(influence)))

    def sample(self, q: Any, size: Any = None, *, rng: np.random.Generator) -> Reals:
        return q + self.scale * rng.standard_normal(np.shape(q) if size is None else size)


@dataclass(frozen=True)
class ClippedRelease(ContributionRelease):
    """The sum of min(value, clip) over all records plus Gaussian noise.

    Source: Finley et al. (2024) [Fin24].

    Parameters
    ----------
    clip : float
        The largest contribution of a record, in the units of the values, above 0. Values are >= 0.
    scale : float
        The standard deviation of the noise, in the units of the values, above 0.

    Examples
    --------
    >>> release = ClippedRelease(clip=10.0, scale=5.0)
    >>> release.answer([3.0, 40.0]), float(release.policy(40.0))
    (13.0, 2.0)
    """

    clip: float
    scale: float

    form = "clipped"

    def __post_init__(self) -> None:
        object.__setattr__(self, "clip", scalar("clip", self.clip, 0))
        object.__setattr__(self, "scale", scalar("scale", self.scale, 0))

    def contribution(self, value: Any) -> Reals:
        return np.minimum(real("value", value, 0, closed=True), self.clip)

    def policy(self, influence: Any) -> Reals:
        """Return the printed zCDP policy min(t, clip)^2 / (2 scale^2) of a record of value t, in nats."""
        return policies.gaussian(self.contribution(influence), self.scale)


class ClippedSum(ReleaseFamily):
    """Gaussian noise on the sum of clipped values."""

    name = "clipped"
    parameters = (Axis("clip", "where values are clipped", "counts", "above 0"),)
    required = ("clip",)

    @classmethod
    def release(cls, scale: float, **parameters: Any) -> Release:
        return ClippedRelease(scale=scale, **parameters)
