"""Lower bounds on the number of records of any algorithm for interior points."""

from math import inf, log, log1p, sqrt

from tcdp_sim.core.errors import real
from tcdp_sim.ordered.interior.ledger import rho_and_omega
from tcdp_sim.ordered.interior.records_needed import FAILURE
from tcdp_sim.privacy import Guarantee


def zcdp_least_n(rho: float, log2_k: float, failure: float = FAILURE) -> float:
    """Return the n below which no rho-zCDP algorithm finds interior points with probability 1 - failure.

    The bound comes from a packing of k data sets of n equal records: (1 - failure) log k - log 2 <= I <= rho n^2.

    Source: Bun and Steinke (2016), Lemma 35 [BS16].

    Parameters
    ----------
    rho : float
        The rho of the guarantee, positive, in nats.
    log2_k : float
        Logarithm of the domain size to base 2, positive.
    failure : float
        The failure probability, in (0, 1).

    Returns
    -------
    float
        Number of records, a real number.

    Examples
    --------
    >>> round(zcdp_least_n(0.5, 10), 2)
    3.43
    """
    return sqrt(_information(log2_k, failure) / real("rho", rho, 0))


def tcdp_least_n(guarantee: Guarantee, log2_k: float, failure: float = FAILURE) -> float:
    """Return the n below which no algorithm with a tCDP guarantee finds interior points with probability 1 - failure.

    The packing of `zcdp_least_n` gives I <= ((omega / (omega - 1))^n - 1) (omega - 1) omega rho.

    Source: Bun et al. (2018), Proposition 9 [BDRS18].

    Parameters
    ----------
    guarantee : TCDP or ZCDP
        The guarantee of the algorithm.
    log2_k : float
        Logarithm of the domain size to base 2, positive.
    failure : float
        The failure probability, in (0, 1).

    Returns
    -------
    float
        Number of records, a real number.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> round(tcdp_least_n(TCDP(0.5, 20.0), 1000), 1)
    29.2
    """
    rho, omega = rho_and_omega(guarantee)
    if omega == inf:
        return zcdp_least_n(rho, log2_k, failure)
    return log1p(_information(log2_k, failure) / ((omega - 1) * omega * rho)) / log1p(1 / (omega - 1))


def _information(log2_k: float, failure: float) -> float:
    return max((1 - real("failure", failure, 0, 1)) * real("log2_k", log2_k, 0) * log(2) - log(2), 0.0)
