"""The names of the published table's variables: they are spelled here and nowhere else.

A quantity is a number that a study estimates, or knows: `linf_error_mean`, `linf_error_quantile` (one for each of
QUANTILES), `linf_error_exceeds_bound`, `top_stays`. Its estimate bears its name, what else is known of it an ending.
"""

from collections.abc import Collection, Iterable

import numpy as np

QUANTILES = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])

MCSE, LOWER, UPPER = "_mcse", "_lower", "_upper"  # Monte Carlo standard error, ends of the 95% interval
EXACT, BOUND = "_exact", "_bound"  # what it is exactly, and what is proved (or printed) to bound it
COUNT = "_count"  # of a proportion: trials in which it happened
INTERVAL = ("", MCSE, LOWER, UPPER)  # of a simulated number
WITH_EXACT = (*INTERVAL, EXACT)

MEAN, DEVIATION, LEAST, MOST = "_mean", "_sd", "_min", "_max"  # of an observable's finite trials
NONFINITE = "_nonfinite"
INFINITE = ("_minus_infinity", "_plus_infinity")
COUNTED = (COUNT, MEAN, LEAST, MOST, NONFINITE)  # what is counted or added up, and derived from nothing published
_QUANTILE, _EXCEEDS, _BATCH_MEAN, _BINS = "_quantile", "_exceeds_", "_batch_mean", "_histogram_bins"


def mean(observable: str) -> str:
    """The quantity that is the mean of an observable over its finite trials."""
    return observable + MEAN


def quantile(observable: str) -> str:
    """The quantity that has the quantiles of an observable, along `quantile`."""
    return observable + _QUANTILE


def exceeds(observable: str, label: str) -> str:
    """The quantity that is the probability that an observable is above its threshold of that label."""
    return f"{observable}{_EXCEEDS}{label}"


def threshold(observable: str, label: str) -> str:
    """The variable that has an observable's threshold of that label."""
    return f"{observable}_{label}"


def threshold_of(quantity: str) -> str | None:
    """The variable that has the threshold which `exceeds` names; None for a quantity that is no exceedance."""
    observable, exceedance, label = quantity.partition(_EXCEEDS)
    return threshold(observable, label) if exceedance else None


def batch_mean(name: str) -> str:
    """The variable that has the means over batches of trials of an observable or event."""
    return name + _BATCH_MEAN


def histogram(observable: str) -> tuple[str, str, str]:
    """The variables of an observable's histogram: keys and counts, along `entry`, and how many bins a cell has."""
    return f"{observable}_histogram_key", f"{observable}_histogram_count", observable + _BINS


def entry(observable: str) -> str:
    """The dimension along which the histograms of all cells lie, one after the other."""
    return f"{observable}_entry"


def has_levels(quantity: str) -> bool:
    """Whether a quantity is one of quantiles."""
    return quantity.endswith(_QUANTILE)


def observables(names: Iterable[str]) -> list[str]:
    """The observables of a table that has variables of these names."""
    return _without(_BINS, names)


def batched(names: Iterable[str]) -> list[str]:
    """The observables and events of a table of which batches are kept."""
    return _without(_BATCH_MEAN, names)


def proportions(names: Collection[str]) -> list[str]:
    """The quantities of a table that are shares of its trials."""
    return [name for name in _without(COUNT, names) if name in names]


def quantities(names: Collection[str]) -> list[str]:
    """The quantities of a table, estimated or known, by name."""
    return sorted({name for ending in (MCSE, EXACT) for name in _without(ending, names)})


def _without(ending, names):
    return [name.removesuffix(ending) for name in map(str, names) if name.endswith(ending)]
