"""Errors of selections and of private quantiles, in the worst case of the data."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, expm1, log, log1p, log2

from tcdp_sim.accounting.planning.targets import DOWN, AdditiveTarget, Target, need_error
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, PermuteAndFlip
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.noise import Noise

MECHANISMS = ("exponential_mechanism", "permute_and_flip")
SEARCH = "binary_search"


@dataclass(frozen=True, kw_only=True)
class SelectionTarget(Target):
    """The gap in scores at which a selection finds the best of k candidates with probability 1 - failure.

    All other candidates have the same score in the worst case. The law is exact there. The scale is 1 / epsilon, with
    epsilon of pure differential privacy.

    Source: McSherry and Talwar (2007) [MT07]; McKenna and Sheldon (2020) [MS20].

    Parameters
    ----------
    gap : float or None
        The gap that one can bear, in units of the scores, above 0.
    k : float
        The number of candidates, at least 2.
    failure : float
        The probability of another answer, in (0, 1 - 1/k).
    mechanism : {"exponential_mechanism", "permute_and_flip"}
        The mechanism.
    sensitivity : float
        The largest change of a score by a record, above 0.
    monotone : bool
        True if a record moves all scores the same way. The exponential mechanism then has half the epsilon.
    name : str
        The name in tables.
    weight : float
        The weight in a sum of errors, above 0.

    Examples
    --------
    >>> from tcdp_sim.accounting import SelectionTarget
    >>> round(1 / SelectionTarget(gap=20.0, k=101).scale_for(20.0), 5)  # 2 log(100 * 19) / 20
    0.75496
    """

    kind = "gap"
    gap: float | None = None
    k: float = 2
    failure: float = 0.05
    mechanism: str = MECHANISMS[0]
    sensitivity: float = 1.0
    monotone: bool = False
    name: str = ""
    weight: float = 1.0

    def __post_init__(self) -> None:
        need_error("gap", self.gap)
        choice("mechanism", self.mechanism, MECHANISMS)
        whole("k", self.k, 2, 1e300)
        scalar("failure", self.failure, 0, 1 - 1 / float(self.k))
        scalar("sensitivity", self.sensitivity, 0)
        scalar("weight", self.weight, 0)
        if self.monotone and self.mechanism != MECHANISMS[0]:
            raise ValueError(f"monotone is not valid for {self.mechanism}; valid: {MECHANISMS[0]}")

    @property
    def error(self) -> float | None:
        """The gap that one can bear."""
        return self.gap

    @property
    def words(self) -> str:
        """The meaning of the error."""
        return f"gap for the best of {self.k:g} at {1 - self.failure:.6g}"

    def error_at(self, scale: float) -> float:
        """Return the least gap, which is proportional to the scale."""
        share = 0.5 if self.monotone else 1.0
        return share * self.sensitivity * scale * _gap(self.mechanism, float(self.k), self.failure)

    def scale_for(self, error: float) -> float:
        """Return the largest scale, by proportion."""
        return error / self.error_at(1.0) * DOWN

    def release_at(self, scale: float) -> tuple[Release, int]:
        """Return the mechanism with epsilon = 1 / scale."""
        epsilon = 1 / scale
        release = BoundedRange(epsilon) if self.mechanism == MECHANISMS[0] else PermuteAndFlip(epsilon)
        return release, 1


@lru_cache(maxsize=1024)
def _gap(mechanism: str, k: float, failure: float) -> float:
    """Return the least gap at epsilon = 1, with 2 log((k - 1) (1 - failure) / failure) for the exponential mechanism.

    The probability of the best candidate is 1 / (1 + (k - 1) e^(-epsilon gap / 2)).
    """
    if mechanism == MECHANISMS[0]:
        return 2 * (log(k - 1) + log1p(-failure) - log(failure))
    from tcdp_sim.exact.selection.success import required_gap

    return float(required_gap(mechanism, 1.0, k, failure).upper)


@dataclass(frozen=True, kw_only=True)
class QuantileTarget(AdditiveTarget):
    """The error in ranks of a private quantile of records on a domain of k points, with probability 1 - failure.

    The search takes ceil(log2 k) noisy counts, one after the other. It goes wrong by more than `rank_error` only if the
    noise of a count exceeds it towards the wrong side. The bound is attained by data whose counts on the way are all
    that far from the rank. The exponential mechanism scores each point by its distance in ranks, and the bound is
    attained if all points but one have the least larger distance.

    Parameters
    ----------
    noise : str
        A noise with one scale, for the search.
    sensitivity : float
        The largest change of a count, or of a distance in ranks, by a record, above 0.
    coordinates : int
        The number of answers of each count that a record changes, from 1 to 10^7; 1 except for repeated searches.
    step : float
        The distance of neighbouring points of discrete noise, in counts, above 0.
    name : str
        The name in tables.
    weight : float
        The weight in a sum of errors or variances, above 0.
    rank_error : float or None
        The error that one can bear, in records, above 0.
    k : float
        The number of points of the domain, at least 2.
    failure : float
        The probability of a larger error, in (0, 1/2).
    mechanism : {"binary_search", "exponential_mechanism"}
        The mechanism.

    Raises
    ------
    ValueError
        If an argument is out of range, or the noise has not one scale.

    Examples
    --------
    >>> from tcdp_sim.accounting import QuantileTarget
    >>> release, times = QuantileTarget(rank_error=30.0, k=1000).release_at(11.68)
    >>> times, round(QuantileTarget(rank_error=30.0, k=1000).scale_for(30.0), 2)
    (10, 11.68)
    """

    kind = "rank error"
    rank_error: float | None = None
    k: float = 2
    failure: float = 0.05
    mechanism: str = SEARCH

    def __post_init__(self) -> None:
        need_error("rank_error", self.rank_error)
        choice("mechanism", self.mechanism, (SEARCH, MECHANISMS[0]))
        whole("k", self.k, 2, 1e300)
        scalar("failure", self.failure, 0, 0.5)
        self.check()

    @property
    def error(self) -> float | None:
        """The error in ranks that one can bear."""
        return self.rank_error

    @property
    def words(self) -> str:
        """The meaning of the error."""
        return f"rank error on {self.k:g} points at {1 - self.failure:.6g}"

    @property
    def _searches(self) -> bool:
        return self.mechanism == SEARCH

    @property
    def is_smooth(self) -> bool:
        """True unless the noise is discrete."""
        return not self._searches or super().is_smooth

    @property
    def counts(self) -> int:
        """The number of noisy counts of the search."""
        return ceil(log2(self.k) - 1e-12)

    def error_at(self, scale: float) -> float:
        """Return the error in ranks at a scale."""
        if not self._searches:
            return self.sensitivity * scale * _gap(self.mechanism, float(self.k), self.failure)
        return float(self.given_noise(scale).isf(self.tail))

    @property
    def tail(self) -> float:
        """The probability of a larger error of one count of the search."""
        return -expm1(log1p(-self.failure) / self.counts)

    @property
    def copies(self) -> int:
        """The number of answers that a record changes."""
        return self.coordinates * (self.counts if self._searches else 1)

    def noise_at(self, scale: float) -> Noise | None:
        """Return the noise of a count of the search, None for the exponential mechanism."""
        return self.given_noise(scale) if self._searches else None

    def variance_at(self, scale: float) -> float | None:
        """Return the variance of a noisy count of the search."""
        return super().variance_at(scale) if self._searches else None

    def release_at(self, scale: float) -> tuple[Release, int]:
        """Return a count of the search and the number of counts, or the exponential mechanism."""
        return super().release_at(scale) if self._searches else (BoundedRange(1 / scale), self.copies)
