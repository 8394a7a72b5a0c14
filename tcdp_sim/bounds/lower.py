"""Lower bounds on records, gaps and errors, for every mechanism with a guarantee.

Each bound is a packing: there are many data sets that must be told apart (`packing`), or the output must give much
information (`information`). The guarantees are PureDP, ZCDP, TCDP, and ApproxDP where a bound is known. Neighbours
substitute one record. A mechanism "works" if it is accurate on every data set. The bounds do not apply to a mechanism
that is accurate on some data sets only.
"""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.bounds.information import information, least_records
from tcdp_sim.bounds.packing import entropy, fano, packing_divergence, packing_records
from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.privacy import TCDP, Guarantee

__all__ = [
    "fano",
    "histogram_error",
    "histogram_records",
    "information",
    "interior_records",
    "least_records",
    "least_sample_size",
    "marginals_records",
    "packing_divergence",
    "packing_records",
    "selection_gap",
]


def histogram_records(guarantee: Guarantee, k: ArrayLike, failure: float = 0.5) -> Reals:
    """Return the number of records below which no histogram with the guarantee works.

    A histogram works if its error is below n / 2 in all k bins with probability at least 1 - failure, on every data set
    of n records. Then it identifies the bin of n equal records. The bound is a packing with sharper inequalities than
    the papers'; `packing_records` gives them.

    Source: Bun et al. (2018), Corollary 27 [BDRS18]; Bun and Steinke (2016), Section 6.1 [BS16].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP, TCDP or ApproxDP.
    k : array_like
        Number of bins, from 1 to 1e300; it need not be whole.
    failure : float
        Probability of failure, in (0, 1).

    Returns
    -------
    float or array
        The number of records as a real number. Whole records need at least the next whole number.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> round(float(histogram_records(PureDP(0.1), 1000)), 2)
    69.07
    """
    return packing_records(guarantee, _log("k", k), failure)


def histogram_error(guarantee: Guarantee, k: ArrayLike, failure: float = 0.05) -> Reals:
    """Return a lower bound on the largest error of a private histogram: its 1 - failure quantile on the worst data set.

    The bound is half of the largest whole n below `histogram_records`. For some n equal records, an error below n / 2
    in all k bins has a probability below 1 - failure. For noise that does not depend on the data this holds for all
    data sets.

    Source: Bun et al. (2018), Corollary 27 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP, TCDP or ApproxDP.
    k : array_like
        Number of bins, from 1 to 1e300; it need not be whole.
    failure : float
        Probability of a larger error, in (0, 1).

    Returns
    -------
    float or array
        The bound, in counts.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> float(histogram_error(PureDP(0.1), 1000))
    49.0
    """
    records = np.asarray(histogram_records(guarantee, k, failure))
    return 0.5 * np.maximum(np.ceil(records * (1 - 1e-12)) - 1, 0.0)[()]


def selection_gap(guarantee: Guarantee, k: ArrayLike, failure: float = 0.05) -> Reals:
    """Return the gap below which no private selection is right with probability at least 1 - failure.

    The selection must be right on every data set in which one of k candidates leads all others by the gap. Each record
    adds one to the score of one candidate, so a gap of g takes g records to replace.

    Source: Bun et al. (2018), Corollary 27 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP, TCDP or ApproxDP.
    k : array_like
        Number of candidates, from 1 to 1e300; it need not be whole.
    failure : float
        Probability of another answer, in (0, 1).

    Returns
    -------
    float or array
        The gap, in counts.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> round(float(selection_gap(PureDP(0.1), 1000)), 2)
    98.51
    """
    return packing_records(guarantee, _log("k", k), failure)


def interior_records(guarantee: Guarantee, log2_k: ArrayLike, failure: float = 0.05) -> Reals:
    """Return the number of records below which no private mechanism finds an interior point of every data set.

    The mechanism must succeed with probability at least 1 - failure. The packing uses n equal records, which have one
    interior point. The same bound holds for all k threshold counts with errors below n / 2, because they show an
    interior point.

    Source: Bun and Steinke (2016), Lemma 35 [BS16].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP, TCDP or ApproxDP.
    log2_k : array_like
        Binary logarithm of the size k of the ordered domain, above 0 and at most 1e300.
    failure : float
        Probability of failure, in (0, 1).

    Returns
    -------
    float or array
        The number of records as a real number. Whole records need at least the next whole number.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> round(float(interior_records(PureDP(0.1), 32)), 1)
    251.3
    """
    return packing_records(guarantee, np.multiply(real("log2_k", log2_k, 0), np.log(2)), failure)


def marginals_records(guarantee: Guarantee, d: ArrayLike, share: float) -> Reals:
    """Return the number of records below which d one-way marginals are too inaccurate to recover n equal records' bits.

    The marginals are accurate enough if rounding them gets at most `share` of the d bits wrong, on average over
    uniformly random bits and the mechanism. This takes d (log 2 - h(share)) nats of information with h the binary
    entropy, because the bits are independent and h is concave.

    Source: Bun and Steinke (2016), Section 6.1 [BS16].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP or TCDP.
    d : array_like
        Number of bits per record, at least 1.
    share : float
        Share of wrong bits, in (0, 1/2).

    Returns
    -------
    float or array
        The number of records as a real number. Whole records need at least the next whole number.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> round(float(marginals_records(ZCDP(0.01), 1000, 0.1)), 1)
    191.8
    """
    bits = np.asarray(real("d", d, 1, closed=True))
    return least_records(guarantee, bits * (np.log(2) - entropy(real("share", share, 0, 0.5))))


def least_sample_size(guarantee: TCDP, k: ArrayLike) -> Reals:
    """Return the number of records below which no (rho, omega)-tCDP histogram works, by Corollary 27 of the tCDP paper.

    A histogram works if its largest error is below n / 2 with probability 1/2, on every data set of n records.
    `histogram_records` is sharper and never vacuous.

    Source: Bun et al. (2018), Corollary 27 [BDRS18].

    Parameters
    ----------
    guarantee : TCDP
        The guarantee of the histogram.
    k : array_like
        Number of bins.

    Returns
    -------
    float or array
        The number of records. It is NaN where the bound is vacuous, which is where log(k / 4) <= 2 omega^2 rho.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> round(float(least_sample_size(TCDP(0.001, 10.0), 1e6)), 2)
    37.17
    """
    if not isinstance(guarantee, TCDP):
        raise ValueError(f"Corollary 27 does not apply to guarantee = {guarantee!r}; valid: TCDP")
    rho, omega = guarantee.rho, guarantee.omega
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = (omega - 1) * np.log((np.log(k) - np.log(4)) / (2 * np.square(omega) * rho))
    return np.where(n > 0, n, np.nan)[()]


def _log(name: str, value: ArrayLike) -> Reals:
    return np.log(real(name, value, 1, closed=True))
