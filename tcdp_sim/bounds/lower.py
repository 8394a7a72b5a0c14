"""What no mechanism can do better: lower bounds on records, gaps and errors, for every mechanism with a guarantee.

Each is a packing: many data sets that must be told apart (`packing`), or much that must be told (`information`).
Guarantees: PureDP, ZCDP, TCDP, and ApproxDP where something is known; neighbours substitute one record. "Works" is said
of every data set; the bounds fail for a mechanism that need only work on some.
"""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.bounds.information import information, least_records
from tcdp_sim.bounds.packing import entropy, fano, packing_records, told_apart
from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.privacy import Guarantee

__all__ = [
    "fano",
    "histogram_error",
    "histogram_records",
    "information",
    "interior_records",
    "least_records",
    "least_sample_size",
    "marginals_records",
    "packing_records",
    "selection_gap",
    "told_apart",
]


def histogram_records(guarantee: Guarantee, k: ArrayLike, beta: float = 0.5) -> Reals:
    """The n (records) below which no histogram with the guarantee works: an error below n / 2 in all k bins.

    "Works" = on every data set of n records, with probability at least 1 - beta; then the fullest of n equal records'
    bins is known. k: bins, real, >= 1, up to 1e300, scalar or array; 0 < beta < 1. Source: the packing of Corollary 27
    of Bun-Dwork-Rothblum-Steinke 2018 and of Section 6.1 of Bun-Steinke 2016, with the sharper inequalities of
    `packing_records` (guarantees, errors).
    """
    return packing_records(guarantee, _log("k", k), beta)


def histogram_error(guarantee: Guarantee, k: ArrayLike, beta: float = 0.05) -> Reals:
    """What the largest error of a private histogram must reach: its 1 - beta quantile on the worst data, in counts.

    Half of the largest whole n below `histogram_records`: on n equal records an error below n / 2 in all k bins has
    less than probability 1 - beta for some of them. For noise that does not depend on the data: on all of them.
    """
    records = np.asarray(histogram_records(guarantee, k, beta))
    return 0.5 * np.maximum(np.ceil(records * (1 - 1e-12)) - 1, 0.0)[()]


def selection_gap(guarantee: Guarantee, k: ArrayLike, beta: float = 0.05) -> Reals:
    """The gap (counts) below which no private selection is right with probability at least 1 - beta.

    On every data set in which one of k candidates leads all others by the gap, each record adding one to the score of
    one candidate: a gap of g is g records to replace. Arguments, guarantees and errors as in `histogram_records`.
    """
    return packing_records(guarantee, _log("k", k), beta)


def interior_records(guarantee: Guarantee, log2_k: ArrayLike, beta: float = 0.05) -> Reals:
    """The n (records) below which no interior point is found with probability at least 1 - beta on every data set.

    log2_k: > 0, up to 1e300, scalar or array: the ordered domain has k = 2^log2_k elements. n equal records have one
    interior point. Hence the same for all k threshold counts with errors below n / 2, which show an interior point.
    Source: the packing of Bun-Steinke 2016, Lemma 35; otherwise as `histogram_records`.
    """
    return packing_records(guarantee, np.multiply(real("log2_k", log2_k, 0), np.log(2)), beta)


def marginals_records(guarantee: Guarantee, d: ArrayLike, share: float) -> Reals:
    """The n (records) below which d one-way marginals are not told well enough to round n equal records' bits.

    "Well enough" = at most `share` of the d bits are rounded to the wrong side, on average over uniformly random bits
    and the mechanism: d (log 2 - h(share)) nats must be told, h binary entropy, as the bits are independent and h is
    concave. d: bits a record has, >= 1, scalar or array; 0 < share < 1/2. Source: Bun-Steinke 2016, Section 6.1, with
    its constant. Raises ValueError for other values and as `least_records`.
    """
    bits = np.asarray(real("d", d, 1, closed=True))
    return least_records(guarantee, bits * (np.log(2) - entropy(real("share", share, 0, 0.5))))


def least_sample_size(rho: ArrayLike, omega: ArrayLike, bins: ArrayLike) -> Reals:
    """Corollary 27 of Bun-Dwork-Rothblum-Steinke 2018: the n below which no (rho, omega)-tCDP release works.

    "Works" = on every data set of n records the largest error is below n / 2 with probability 1/2. In records;
    NaN where the bound is vacuous (log(k / 4) <= 2 omega^2 rho). `histogram_records` is sharper, and never vacuous.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = (omega - 1) * np.log((np.log(bins) - np.log(4)) / (2 * np.square(omega) * rho))  # type: ignore[operator]
    return np.where(n > 0, n, np.nan)[()]


def _log(name: str, value: ArrayLike) -> Reals:
    return np.log(real(name, value, 1, closed=True))
