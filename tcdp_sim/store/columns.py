"""The names of the published table's variables, which are spelled here and nowhere else.

A quantity is a number that a study estimates or knows, such as `linf_error_mean`, `linf_error_exceeds_bound` or
`top_stays`. `linf_error_quantile` has one value for each of QUANTILES. The estimate bears the quantity's name.
Variables with further information add an ending.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

LAYOUT = 2  # of a published dataset, its attribute `layout`; docs/reference/layout.md describes it
QUANTILES = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])

MCSE, LOWER, UPPER = "_mcse", "_lower", "_upper"  # Monte Carlo standard error, ends of the 95% interval
EXACT, BOUND = "_exact", "_bound"  # the exact value, and a proved or printed bound on it
SKEWNESS = "_skewness"  # of the trials behind a mean
ERROR = "error"  # the attribute of an estimate with the name of the variable that is its standard error
KNOWN = "exact"  # the attribute of an estimate with the names of its exact value and bound, or why none is known
NOT_KNOWN = "not known: "  # before the reason in this attribute
UNDECLARED = "none is declared"  # the reason where an experiment gives none
PILOT = "pilot_trials"  # trials that have chosen the number of trials, where a target asks for a standard error
COUNT = "_count"  # trials in which the event of a proportion happened
# the events of trials as such, where failed trials are counted (`mechanisms.functions.failed_trials`)
FAILED, MISSING, WARNED = OF_TRIALS = ("error_rate", "missing_rate", "warning_rate")
INTERVAL = ("", MCSE, LOWER, UPPER)  # the variables of a simulated number
WITH_EXACT = (*INTERVAL, EXACT)

MEAN, DEVIATION, LEAST, MOST = "_mean", "_sd", "_min", "_max"  # over an observable's finite trials
NONFINITE = "_nonfinite"
INFINITE = ("_minus_infinity", "_plus_infinity")
COUNTED = (COUNT, MEAN, LEAST, MOST, NONFINITE)  # counted or added up, and not derived from anything published
_QUANTILE, _EXCEEDS, _BATCH_MEAN, _BINS = "_quantile", "_exceeds_", "_batch_mean", "_histogram_bins"


def lost(names: Collection[Any]) -> str:
    """Return the name of the number of trials that are in no mean, where failed trials are counted."""
    return MISSING + COUNT if MISSING + COUNT in names else FAILED + COUNT


def missing(events: Collection[str]) -> str:
    """Return the event of trials that are in no mean, where failed trials are counted."""
    return MISSING if MISSING in events else FAILED


def mean(observable: str) -> str:
    """Return the name of the quantity for the mean of an observable's finite trials."""
    return observable + MEAN


def quantile(observable: str) -> str:
    """Return the name of the quantity for the quantiles of an observable, along `quantile`."""
    return observable + _QUANTILE


def exceeds(observable: str, label: str) -> str:
    """Return the name of the quantity for the probability that an observable exceeds its threshold `label`."""
    return f"{observable}{_EXCEEDS}{label}"


def threshold(observable: str, label: str) -> str:
    """Return the name of the variable for an observable's threshold `label`."""
    return f"{observable}_{label}"


def threshold_of(quantity: str) -> str | None:
    """Return the name of the threshold of an exceedance probability, None for other quantities."""
    observable, exceedance, label = quantity.partition(_EXCEEDS)
    return threshold(observable, label) if exceedance else None


def batch_mean(name: str) -> str:
    """Return the name of the variable for the means of an observable or event over batches of trials."""
    return name + _BATCH_MEAN


def histogram(observable: str) -> tuple[str, ...]:
    """Return the names of the variables of an observable's histogram: both edges, counts, and bins of each cell.

    Edges and counts lie along `entry`.
    """
    return (*(f"{observable}_histogram_{part}" for part in ("lower", "upper", "count")), observable + _BINS)


def bins(observable: str) -> str:
    """Return the name of the variable for the number of occupied bins of each cell."""
    return observable + _BINS


def atom(observable: str) -> str:
    """Return the name of the variable for the value that all trials of a bin have, NaN if they differ or may differ.

    It lies along `entry`, and is missing where no bin has one.
    """
    return f"{observable}_histogram_value"


def entry(observable: str) -> str:
    """Return the name of the dimension along which the histograms of all cells are concatenated."""
    return f"{observable}_entry"


def has_levels(quantity: str) -> bool:
    """Return True if a quantity has quantiles."""
    return quantity.endswith(_QUANTILE)


def observables(names: Iterable[str]) -> list[str]:
    """Return the observables of a table with these variables."""
    return _without(_BINS, names)


def batched(names: Iterable[str]) -> list[str]:
    """Return the observables and events of a table that have batch means."""
    return _without(_BATCH_MEAN, names)


def proportions(names: Collection[str]) -> list[str]:
    """Return the quantities of a table that are proportions of its trials."""
    return [name for name in _without(COUNT, names) if name in names]


def quantities(names: Collection[str]) -> list[str]:
    """Return the quantities of a table, estimated or known, sorted by name."""
    estimated = [part(name) for name in observables(names) for part in (mean, quantile)]
    found = {name for name in estimated if name in names} | set(proportions(names)) | set(_without(EXACT, names))
    return sorted(found)


def settle(attributes: Mapping[str, dict[str, Any]], reasons: Mapping[str, str]) -> list[str]:
    """Let the attributes of a table's estimates name variables that the table has, and return the estimates changed.

    `attributes` holds the attributes of all variables of the table, and `reasons` why cells have no exact value, by
    estimate. The name of a standard error that is not there is removed. KNOWN gets the names of the exact value and the
    bound that are there, and the reason.
    """
    changed = []
    for name, about in attributes.items():
        before = dict(about)
        if about.get(ERROR, name) not in attributes:
            del about[ERROR]
        if KNOWN in about:
            beside = " and ".join(name + kind for kind in (EXACT, BOUND) if name + kind in attributes)
            reason = reasons.get(name, "")
            about[KNOWN] = f"{beside}; where it is NaN, {reason}" if beside and reason else beside or reason
        if about != before:
            changed.append(name)
    return changed


def _without(ending, names):
    """Return the names with this ending, without it."""
    return [name.removesuffix(ending) for name in map(str, names) if name.endswith(ending)]
