"""Section 6: limits of all tCDP mechanisms, and the distance of known mechanisms to them."""

import numpy as np

from tcdp_sim import bounds, exact
from tcdp_sim.bounds.lower import packing_records
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import FAR, growing_in_logs
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Noise, SinhNormal, SinhSquared
from tcdp_sim.privacy import TCDP, ZCDP, PureDP

RHO, OMEGA = 0.1, 5.0
CASES = [(5.0, 0.1, 1e3), (2.0, 0.1, 1e6), (5.0, 0.01, 1e12), (20.0, 0.01, 1e12)]  # omega, rho, bins
FARTHER = (*FAR[2:], 1e16, 1e32, 1e64)  # log10 of k
SOME = 50.0  # our meaning of "constant factors"


@claim("T.6a")
def weaker_bounds(budget: Budget) -> Points:
    """Return points of the records that packing requires under tCDP, over the log of those under zCDP."""
    return growing_in_logs(
        FARTHER,
        lambda log_k: float(packing_records(TCDP(RHO, 2.0), log_k, 0.5)),
        lambda log_k: 2.0 * float(np.log(packing_records(ZCDP(RHO), log_k, 0.5))),
    )


@claim("T.6a quadratic")
def quadratically_weaker(budget: Budget) -> Points:
    """Return points of the records that packing requires under pure DP, over the square of those under zCDP."""
    return growing_in_logs(
        FAR,
        lambda log_k: float(packing_records(PureDP(0.5), log_k, 0.5)),
        lambda log_k: float(packing_records(ZCDP(RHO), log_k, 0.5)) ** 2,
    )


@claim("T.T26")
def mutual_information(budget: Budget) -> Points:
    """Yield n equal records: a fair bit through one query, and a uniform bin through a histogram."""
    for scale, knee, omega in [(3.0, 10.0, 4.0), (8.0, 20.0, 8.0)]:
        noise = SinhNormal(scale, knee)
        rho = largest_cost(noise, omega).upper
        for n in (1.0, 5.0, 20.0):
            bound = float(np.exp(n / (omega - 1)) * omega**2 * rho)
            name = f"scale {scale:g}, knee {knee:g}, ω = {omega:g}, n = {n:g}"
            yield Point(f"fair bit, {name}", exact.mutual_information(noise, [0.0, n]), closed_form(bound))
            if n in budget.choose((20.0,), (1.0, 5.0, 20.0)):
                bins = exact.histogram_information(noise, n, 1e6)
                yield Point(f"1e6 bins, {name}", bins, closed_form(2 * bound))


@claim("T.6b")
def recovers_zcdp(budget: Budget) -> Points:
    """Yield points with ω = n + 1, between n²ρ and 4e n²ρ, which is attained at n = 1."""
    for n in (1.0, 2.0, 10.0, 1e3, 1e7):
        bound = closed_form(float(bounds.information(TCDP(RHO, n + 1), n, method="paper")), 1e-9)
        yield Point(f"n²ρ against the bound, n = {n:g}", closed_form(RHO * n * n), bound)
        yield Point(f"the bound against 4e n²ρ, n = {n:g}", bound, closed_form(4 * float(np.exp(1)) * RHO * n * n))


@claim("T.C27")
def corollary_27(budget: Budget) -> Points:
    """Yield the records at which calibrated sinh-normal and Gaussian noise work, where the bound has content."""
    for omega, rho, k in [(2.0, 0.1, 1e6), (5.0, 0.01, 1e12), (1.5, 0.5, 1e300), (5.0, 0.01, 1e300), (2.0, 0.1, 1e80)]:
        least = closed_form(float(bounds.least_sample_size(TCDP(rho, omega), k)), 1e-9)
        noise = calibrate("sinh_normal", TCDP(rho, omega), coordinates=2, objective=LargestError(k)).noise
        where = f"ω = {omega:g}, ρ = {rho:g}, k = {k:g}"
        yield Point(f"sinh-normal, {where}", least, _works_at(noise, k))
        yield Point(f"Gaussian, {where}", least, _works_at(Gaussian(float(1 / np.sqrt(rho))), k))


@claim("T.C27 sharper")
def sharper(budget: Budget) -> Points:
    """Yield a bound that is above Corollary 27 and below the records with which calibrated noise works."""
    for omega, rho, k in CASES:
        better = _least(omega, rho, k)
        where = f"ω = {omega:g}, ρ = {rho:g}, k = {k:g}"
        printed = float(bounds.least_sample_size(TCDP(rho, omega), k))
        yield Point(f"above Corollary 27, {where}", constant(max(0.0, np.nan_to_num(printed))), better)
        yield Point(f"below what works, {where}", better, _best(omega, rho, k))


@claim("T.6c")
def tight(budget: Budget) -> Points:
    """Yield the printed upper bound, twice the radius of Corollary 18 at β = 1/2, where log(k/4) >= 2eω²ρ."""
    few = [(2.0, 0.3133, 8.263), (2.0, 0.1, np.log(1e6)), (5.0, 0.01, np.log(1e12)), (100.0, 1.78e-6, 1e6)]
    for omega, rho, log_k in budget.choose(few, [*few, (5.0, 0.1, 1e3), (20.0, 0.01, 1e3), (100.0, 0.1, 1e6)]):
        most = 16 * omega * float(np.arcsinh(np.sqrt((log_k + np.log(2)) / (2 * omega**2 * rho))))
        least = closed_form(SOME * printed_bound(rho, omega, log_k), 1e-9)
        yield Point(f"ω = {omega:g}, ρ = {rho:g}, log k = {log_k:.4g}", closed_form(most), least)


@claim("T.6c upper")
def upper_bound(budget: Budget) -> Points:
    """Yield twice the median of the largest of k errors of sinh-squared noise."""
    for rho, omega, k in [(0.01, 1.25, 1e3), (1e-4, 12.5, 1e6), (0.1, 5.0, 1e3), (0.1, 2.5, 1e12), (0.01, 5.0, 1e300)]:
        noise = SinhSquared(scale=4 / np.sqrt(rho), knee=8 * omega)
        most = 16 * omega * float(np.arcsinh(np.sqrt(np.log(2 * k) / (2 * omega**2 * rho))))
        yield Point(f"ω = {omega:g}, ρ = {rho:g}, k = {k:g}", _works_at(noise, k), closed_form(most))


@claim("T.6c repaired")
def tight_repaired(budget: Budget) -> Points:
    """Yield points against the same upper bound."""
    for omega, rho, k in [*CASES, (50.0, 0.01, 1e12), (2.5, 0.1, 1e3)]:
        yield Point(f"ω = {omega:g}, ρ = {rho:g}, k = {k:g}", _best(omega, rho, k), 8 * _least(omega, rho, k))


@claim("T.1.2g")
def optimal_gap(budget: Budget) -> Points:
    """Return Corollary 27's records, which are a gap, over the form of Proposition 5, for log k well above ω²ρ."""
    return growing_in_logs(
        FARTHER,
        lambda log_k: printed_bound(RHO, OMEGA, log_k),
        lambda log_k: OMEGA * float(np.log1p(np.sqrt(log_k / RHO) / OMEGA)),
    )


@claim("T.1.2g all k")
def optimal_gap_for_all(budget: Budget) -> Points:
    """Yield cases in which log(k/4) is hardly above 2ω²ρ."""
    for omega, rho, k in [(5.25, 0.1, 1e3), (11.45, 0.1, 1e12)]:
        least = float(bounds.least_sample_size(TCDP(rho, omega), k))
        form = omega * float(np.log1p(np.sqrt(np.log(k) / rho) / omega))
        where = f"ω = {omega:g}, ρ = {rho:g}, k = {k:g}: {least:.3g} records"
        yield Point(where, closed_form(SOME * least, 1e-9), closed_form(form))


def printed_bound(rho: float, omega: float, log_k: float) -> float:
    """Return the records that Corollary 27 says are needed at least, for log(k/4) > 2 omega^2 rho."""
    return float((omega - 1) * np.log((log_k - np.log(4)) / (2 * omega**2 * rho)))


def _least(omega: float, rho: float, k: float) -> Bounds[float]:
    return closed_form(float(bounds.histogram_records(TCDP(rho, omega), k, 0.5)), 1e-9)


def _works_at(noise: Noise, k: float) -> Bounds[float]:
    """Return the n at which the largest of k errors is below n/2 with probability 1/2."""
    return 2 * exact.max_abs_quantile(noise, k, 0.5)


def _best(omega: float, rho: float, k: float) -> Bounds[float]:
    """Return the least n of Gaussian noise and, where it is proved, of Corollary 18's noise."""
    ways = [_works_at(Gaussian(float(1 / np.sqrt(rho))), k)]
    if omega * np.sqrt(2 * rho) >= 1:
        ways.append(_works_at(SinhNormal(scale=4 / np.sqrt(rho), knee=8 * omega), k))
    return min(ways, key=lambda records: records.estimate)
