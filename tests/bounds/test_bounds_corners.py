"""Lower bounds where their terms are no floats: no warning, no NaN, and the answers of mpmath."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim import bounds
from tcdp_sim.bounds.packing import packing_records
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

NATS = (0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300)
METHODS = ("tight", "proposition_9", "paper")
TCDPS = [TCDP(rho, omega) for rho in (1e-300, 1e-6, 1.0, 1e300) for omega in (1 + 1e-6, 2.0, 3.7, 1e6, 1e300)]
ZCDPS = [ZCDP(rho, xi) for rho in (1e-300, 1.0, 1e300) for xi in (0.0, 1e-300, 1.0)]
OTHERS = [PureDP(1e-300), PureDP(1.0), PureDP(700.0), ApproxDP(1e-300, 1e-300), ApproxDP(1.0, 1e-6)]


def allowed(guarantee, n, method):
    """The nats of n records by the formulas of `information`, n real; with H_n of real n for zCDP."""
    rho, n = mp.mpf(guarantee.rho), mp.mpf(n)
    if isinstance(guarantee, ZCDP):
        per_xi = n * (1 + mp.log(max(n, 1))) if method == "paper" else n * mp.harmonic(n)
        return rho * n**2 + mp.mpf(guarantee.xi) * per_xi
    omega = mp.mpf(guarantee.omega)
    growth, constant, m = omega / (omega - 1), omega * (omega - 1), mp.floor(omega)
    if method == "paper":
        return mp.exp(n / (omega - 1)) * omega**2 * rho
    if method == "proposition_9":
        beyond = (growth**n - 1) * constant
        return rho * (min(n**2, beyond) if n < omega else beyond)  # each holds, so the smaller one does
    return rho * (n**2 if n <= m else growth ** (n - m) * (m**2 + constant) - constant)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("guarantee", TCDPS + ZCDPS, ids=str)
def test_the_least_records_are_the_inverse_of_information(guarantee, method):
    """Slightly fewer records are allowed less than the nats, slightly more are allowed them."""
    with mp.workdps(330):
        for nats in NATS:
            n = bounds.least_records(guarantee, nats, method)
            assert n >= 0
            assert np.isfinite(n)
            if getattr(guarantee, "xi", 0) and n < 1e-3:
                continue  # of less than a record, n H_n loses its digits, and nobody asks
            more = mp.mpf(n) * (1 + mp.mpf(1e-9)) + mp.mpf(1e-15) * (nats > 0)
            assert n == 0 or allowed(guarantee, mp.mpf(n) * (1 - mp.mpf(1e-9)), method) <= nats * (1 + mp.mpf(1e-9))
            assert allowed(guarantee, more, method) >= nats * (1 - mp.mpf(1e-9))


@pytest.mark.parametrize("guarantee", TCDPS + ZCDPS + OTHERS, ids=str)
def test_nothing_is_claimed_that_no_float_holds(guarantee):
    for beta in (1e-300, 0.05, 0.5, 1 - 2**-53):
        some = [packing_records(guarantee, log_k, beta) for log_k in (0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300)]
        assert not np.isnan(some).any()
        assert all(a <= b for a, b in pairwise(some))
        assert bounds.interior_records(guarantee, 1e300, beta) >= some[-2]
        for k in (1.0, 2.0, 1e300):
            assert bounds.histogram_error(guarantee, k, beta) >= 0
    if not isinstance(guarantee, ApproxDP):
        for method in METHODS:
            told = [bounds.information(guarantee, n, 1, method) for n in (0, 1, 10**15, 1e300)]
            assert not np.isnan(told).any()
            assert all(a <= b for a, b in pairwise(told))


@pytest.mark.parametrize("rho", [1e-300, 1e-6, 1.0])
@pytest.mark.parametrize("log2_k", [40.0, 1e9, 1e300])
def test_zcdp_far_out_is_the_best_order(rho, log2_k):
    """n >= (sqrt Q - sqrt P) / sqrt rho, P = -log(1 - beta), Q = log((k - 1) / beta), and n >= sqrt(kl / rho)."""
    with mp.workdps(50):
        log_k = mp.mpf(log2_k) * mp.log(2)
        others = log_k + mp.log1p(-mp.exp(-log_k)) if log_k < 1000 else log_k
        miss, beta = others - mp.log(0.05), mp.mpf(0.05)
        kl = (1 - beta) * (mp.log1p(-beta) + miss) + beta * (mp.log(beta) - mp.log1p(-mp.exp(-miss)))
        least = max(mp.sqrt(miss) - mp.sqrt(-mp.log1p(-beta)), mp.sqrt(kl)) / mp.sqrt(rho)
        assert bounds.interior_records(ZCDP(rho), log2_k, 0.05) == pytest.approx(float(least), rel=1e-12)
