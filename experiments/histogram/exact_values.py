"""Exact values of a private histogram: the law of the largest error, and the ranking of the bins."""

from functools import lru_cache

import numpy as np

from tcdp_sim import exact
from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.exact.extreme_means import mean_of_max, mean_of_max_abs
from tcdp_sim.exact.extremes import log_all_below
from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.noise import Noise
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import at_each_level

LINF = columns.quantile("linf_error")
MEANS = {name: columns.mean(name) for name in ("linf_error", "mean_abs_error", "rms_error", "spurious_max")}
QUANTILES = {name: columns.quantile(name) for name in MEANS}
_SEVERAL = "of several occupied bins, the sum of powers of the errors has no closed law"


def _largest_error_quantile(mechanism: Histogram, level: float) -> float:
    return exact.max_abs_quantile(mechanism.noise, mechanism.bins, level).estimate


def largest_error_survival(mechanism: Histogram, errors: np.ndarray) -> np.ndarray:
    """Return the probability that the largest error exceeds each of `errors`."""
    found = exact.max_abs_sf(mechanism.noise, mechanism.bins, np.maximum(errors, 0.0)).estimate
    return np.where(errors < 0, 1.0, found)


def one_error_survival(mechanism: Histogram, errors: np.ndarray) -> np.ndarray:
    """Return the probability that the error of the only occupied bin exceeds each of `errors`, in size."""
    if len(mechanism.counts) != 1:
        raise ValueError(_SEVERAL)
    found = exact.max_abs_sf(mechanism.noise, 1, np.maximum(errors, 0.0)).estimate
    return np.where(errors < 0, 1.0, found)


def spurious_survival(mechanism: Histogram, counts: np.ndarray) -> np.ndarray:
    """Return the probability that the largest noisy count of an empty bin exceeds each of `counts`."""
    return -np.expm1(log_all_below(mechanism.noise, np.asarray(counts, dtype=float), mechanism.empty))


def _mean_largest(mechanism: Histogram) -> float:
    return mean_of_max_abs(mechanism.noise, mechanism.bins).estimate


@lru_cache(maxsize=4)  # cells with the same noise follow each other
def _mean_size(noise: Noise) -> float:
    """Return E|Z|."""
    return mean_of_max_abs(noise, 1.0).estimate


def _mean_abs(mechanism: Histogram) -> float:
    return _mean_size(mechanism.noise) if len(mechanism.counts) else np.nan


def _mean_rms(mechanism: Histogram) -> float:
    return _mean_size(mechanism.noise) if len(mechanism.counts) == 1 else np.nan


def _most_rms(mechanism: Histogram) -> float:
    """Return the standard deviation of the noise, which the mean of a root of mean squares does not exceed."""
    return float(np.sqrt(mechanism.noise.var())) if len(mechanism.counts) else np.nan


@lru_cache(maxsize=4)
def _size_quantiles(noise: Noise) -> np.ndarray:
    """Return the quantiles of |Z|."""
    return np.asarray(exact.max_abs_quantile(noise, 1, columns.QUANTILES).estimate)


def _one_error_quantiles(mechanism: Histogram) -> np.ndarray | float:
    return _size_quantiles(mechanism.noise) if len(mechanism.counts) == 1 else np.nan


def _mean_spurious(mechanism: Histogram) -> float:
    return mean_of_max(mechanism.noise, mechanism.empty).estimate if mechanism.empty >= 1 else np.nan


def _spurious_quantiles(mechanism: Histogram) -> np.ndarray | float:
    if mechanism.empty < 1:
        return np.nan
    return np.asarray(exact.max_quantile(mechanism.noise, mechanism.empty, columns.QUANTILES).estimate)


def _quantile_bound(mechanism: Histogram, level: float) -> float:
    return histogram_error_bound(mechanism.noise, mechanism.bins, round(1 - level, 12))


def _exceedance(label: str):
    def chance(mechanism: Histogram) -> float:
        radius = mechanism.thresholds["linf_error"].get(label)
        return np.nan if radius is None else exact.max_abs_sf(mechanism.noise, mechanism.bins, radius).estimate

    return chance


def _claimed(label: str):
    def chance(mechanism: Histogram) -> float:
        return mechanism.beta if label in mechanism.thresholds["linf_error"] else np.nan

    return chance


def _ranking(probability):
    def chance(mechanism: Histogram) -> float:
        counts = mechanism.counts
        return probability(mechanism.noise, counts, mechanism.bins).estimate if len(counts) else np.nan

    return chance


EXCEEDS = {label: columns.exceeds("linf_error", label) for label in ("bound", "printed")}
OF_ERRORS = {
    LINF: at_each_level(_largest_error_quantile),
    **{name: _exceedance(label) for label, name in EXCEEDS.items()},
    MEANS["linf_error"]: _mean_largest,
    MEANS["mean_abs_error"]: _mean_abs,
    MEANS["rms_error"]: _mean_rms,
    MEANS["spurious_max"]: _mean_spurious,
    QUANTILES["mean_abs_error"]: _one_error_quantiles,
    QUANTILES["rms_error"]: _one_error_quantiles,
    QUANTILES["spurious_max"]: _spurious_quantiles,
}
EXACT = {
    **OF_ERRORS,
    "top_stays": _ranking(exact.top_stays_probability),
    "spurious_wins": _ranking(exact.spurious_wins_probability),
    **losses.EXACT,
}
SURVIVAL = {
    "linf_error": largest_error_survival,
    "mean_abs_error": one_error_survival,
    "rms_error": one_error_survival,
    "spurious_max": spurious_survival,
    **losses.SURVIVAL,
}
DELTA, PROMISED = losses.DELTA, losses.PROMISED
BOUND = {
    LINF: at_each_level(_quantile_bound),
    **{name: _claimed(label) for label, name in EXCEEDS.items()},
    MEANS["rms_error"]: _most_rms,
}
OF_SUMS = {
    QUANTILES["mean_abs_error"]: _SEVERAL,
    QUANTILES["rms_error"]: _SEVERAL,
    MEANS["rms_error"]: f"{_SEVERAL}; the standard deviation of the noise is a bound on the mean of a root of squares",
}
UNKNOWN = {**OF_SUMS, **losses.UNKNOWN}
