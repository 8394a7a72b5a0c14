"""Exact values of a private histogram: the law of the largest error, and the ranking of the bins."""

import numpy as np

from tcdp_sim import exact
from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import at_each_level

LINF = columns.quantile("linf_error")


def _largest_error_quantile(mechanism: Histogram, level: float) -> float:
    return exact.max_abs_quantile(mechanism.noise, mechanism.bins, level).estimate


def largest_error_survival(mechanism: Histogram, errors: np.ndarray) -> np.ndarray:
    """Return the probability that the largest error exceeds each of `errors`."""
    found = exact.max_abs_sf(mechanism.noise, mechanism.bins, np.maximum(errors, 0.0)).estimate
    return np.where(errors < 0, 1.0, found)


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
EXACT = {
    LINF: at_each_level(_largest_error_quantile),
    **{name: _exceedance(label) for label, name in EXCEEDS.items()},
    "top_stays": _ranking(exact.top_stays_probability),
    "spurious_wins": _ranking(exact.spurious_wins_probability),
    **losses.EXACT,
}
SURVIVAL = {"linf_error": largest_error_survival, **losses.SURVIVAL}
DELTA, PROMISED = losses.DELTA, losses.PROMISED
BOUND = {LINF: at_each_level(_quantile_bound), **{name: _claimed(label) for label, name in EXCEEDS.items()}}
