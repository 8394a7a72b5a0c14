"""Sections 1.2 and 6.1: the largest error of a histogram, and the records that it needs under each notion."""

from math import log, log1p

import numpy as np
from scipy.stats import norm

from tcdp_sim import bounds, exact
from tcdp_sim.bounds.packing import packing_records
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.renyi_divergences import by_quadrature
from tcdp_sim.noise import Gaussian, Laplace, Noise, TruncatedLaplace
from tcdp_sim.privacy import ZCDP, Guarantee, PureDP
from tcdp_sim.statistics.intervals import Simulated
from tcdp_sim.store import columns

BETA, RHO, EPSILON, DELTA = 0.05, 0.1, 0.5, 1e-6
DIGITS = (3, 6, 12, 30, 100, 300, 10_000, 1_000_000)  # log10 T
LN_10 = log(10)


def gaussian_of(rho: float) -> Gaussian:
    """Return the noise of every bin of a rho-zCDP histogram, where neighbours substitute one record."""
    return Gaussian(float(1 / np.sqrt(rho)))


def laplace_of(epsilon: float) -> Laplace:
    """Return the noise of every bin of an epsilon-DP histogram, where neighbours substitute one record."""
    return Laplace(2 / epsilon)


def truncated(log_delta: float) -> TruncatedLaplace:
    """Return the noise with half of EPSILON and delta for each of the two bins that change; it is bounded."""
    scale = 2 / EPSILON
    return TruncatedLaplace(scale, float(scale * np.logaddexp(0.0, np.log(np.expm1(EPSILON / 2)) - log_delta)))


def enough(noise: Noise, digits: int) -> Bounds[float]:
    """Return the n at which all errors of T = 10^digits bins are below n / 2 with probability 1 - BETA."""
    rate = -log1p(-BETA) * 10.0**-digits  # P[|Z| > n/2] = 1 - e^-rate, whose log is taken
    log_tail = log(-log1p(-BETA)) - digits * LN_10 + (log(-np.expm1(-rate) / rate) if rate else 0.0)
    return closed_form(2 * float(noise.isf_log(log_tail - log(2))))


def needed(promised: Guarantee, digits: int) -> Bounds[float]:
    """Return the n below which no mechanism with the guarantee has such errors on all data sets."""
    return closed_form(float(packing_records(promised, digits * LN_10, BETA)))


@claim("Z.1.2c Z.6.1f")
def histogram_under_zcdp(budget: Budget) -> Points:
    """Compare Gaussian noise with the best mechanism: the number needed is known to a factor of three."""
    for digits in DIGITS:
        yield Point(f"T = 1e{digits}", enough(gaussian_of(RHO), digits), needed(ZCDP(RHO), digits), at=digits)


@claim("Z.1.2c Z.6.1f rate")
def rate_under_zcdp(budget: Budget) -> Points:
    """Take the records that packing asks for."""
    for digits in DIGITS:
        yield Point(f"T = 1e{digits}", needed(ZCDP(RHO), digits), _root(digits * LN_10 / RHO), at=digits)


@claim("Z.1.2c Z.6.1f simulated")
def simulated_histograms(budget: Budget) -> Points:
    """Try Gaussian noise under zCDP, and Laplace noise under pure DP with ε = √2ρ."""
    promises: dict[str, Guarantee] = {"gaussian": ZCDP(RHO), "laplace": PureDP((2 * RHO) ** 0.5)}
    for noise, promised in promises.items():
        for cell in budget.runs["histogram"].cells(noise=noise, rho=RHO, data="one_bin")[::3]:
            least = closed_form(bounds.histogram_records(promised, cell["k"], BETA))
            error = cell.quantile("linf_error", 1 - BETA)
            taken = Simulated(2 * error.lower, 2 * error.estimate, 2 * error.upper, 2 * error.mcse, error.trials)
            yield Point(f"{noise}, T = {cell['k']:.4g}", least, taken)


@claim("Z.1.2d")
def histogram_under_approximate_dp(budget: Budget) -> Points:
    """Take truncated Laplace noise, for numbers of bins up to the largest exponent."""
    form = closed_form(log(1 / DELTA) / EPSILON)
    return [Point(f"T = 1e{digits}", enough(truncated(log(DELTA)), digits), form, at=digits) for digits in DIGITS]


@claim("Z.1.2d rate")
def rate_under_approximate_dp(budget: Budget) -> Points:
    """Let δ fall at a T so large that only the bound of the noise counts."""
    for digits in (2, *DIGITS):
        taken = enough(truncated(-digits * LN_10), 10 * DIGITS[-1])
        yield Point(f"δ = 1e-{digits}", taken, closed_form(digits * LN_10 / EPSILON), at=digits)


@claim("Z.6.1c")
def histogram_under_pure_dp(budget: Budget) -> Points:
    """Take Laplace noise over what packing asks for."""
    for digits in DIGITS:
        yield Point(f"T = 1e{digits}", enough(laplace_of(EPSILON), digits), needed(PureDP(EPSILON), digits), at=digits)


@claim("Z.6.1c rate")
def rate_under_pure_dp(budget: Budget) -> Points:
    """Take the records that packing asks for."""
    for digits in DIGITS:
        form = closed_form(digits * LN_10 / EPSILON)
        yield Point(f"T = 1e{digits}", needed(PureDP(EPSILON), digits), form, at=digits)


@claim("Z.6.1d")
def privacy_of_histograms(budget: Budget) -> Points:
    """Integrate the divergence of one of the two bins that move."""
    for rho in (0.01, 0.1, 2.0):
        for order in (1.0, 2.0, 16.0):
            left = 2 * by_quadrature(gaussian_of(rho).scale, 1.0, order)
            yield Point(f"ρ = {rho:g}, α = {order:g}", left, closed_form(rho * order))


@claim("Z.6.1e")
def printed_radius(budget: Budget) -> Points:
    """Take the exact probability at four T, and the simulated ones of the study of histograms."""
    yield from _missed(1.0)
    for cell in budget.runs["histogram"].cells(noise="gaussian", rho=RHO, data="one_bin"):
        simulated = cell.proportion(columns.exceeds("linf_error", "printed"))
        yield Point(f"simulated, T = {cell['k']:.4g}, ρ = {RHO}", simulated, constant(BETA))


@claim("Z.6.1e repaired")
def proved_radius(budget: Budget) -> Points:
    """Take the radius with its factor √2."""
    return _missed(2.0)


def _missed(factor: float) -> Points:
    for bins, beta in ((10.0, BETA), (1e3, BETA), (1e6, BETA), (1e12, BETA), (1.0, 0.999)):
        radius = float(np.sqrt(factor * np.log(bins / beta) / RHO))
        left = exact.max_abs_sf(gaussian_of(RHO), bins, radius)
        yield Point(f"exact, T = {bins:g}, β = {beta}", left, constant(beta))


@claim("Z.6.1e tail")
def tail_of_the_largest(budget: Budget) -> Points:
    """Compare both inequalities of the display: the largest of T errors, and T times the tail of one."""
    noise = gaussian_of(RHO)
    for bins in (1.0, 10.0, 1e3, 1e6):
        for size in (0.1, 1.0, 3.0, 6.0):
            where, level = f"T = {bins:g}, λ√ρ = {size:g}", size * noise.scale
            union, right = closed_form(2 * bins * float(noise.sf(level))), closed_form(bins * np.exp(-(size**2) / 2))
            yield Point(f"the largest, {where}", exact.max_abs_sf(noise, bins, level), union)
            yield Point(f"the tail, {where}", union, right)


@claim("Z.P31")
def accurate_on_average(budget: Budget) -> Points:
    """Put a block of b = 2αn/β records into one of T - 1 bins, and the others into the last.

    By Markov's inequality all errors are below b/2 with probability 1 - β. The output then determines the bin, so Lemma
    35 applies to b records.
    """
    rho = 0.01
    for digits in DIGITS:
        log_t, log_others = digits * LN_10, digits * LN_10 + log1p(-(10.0**-digits))
        alphas = (("T^(-1/4)", -log_t / 4, 0.25), ("1/8", log(1 / 8), 0.25), ("1/4", log(1 / 4), 0.5))
        for name, log_alpha, beta in alphas:
            block = np.sqrt(((1 - beta) * log_others - log(2)) / rho)
            form = _root((log_t + 2 * log_alpha) / rho)
            yield Point(f"α = {name}, T = 1e{digits}", closed_form(float(block * beta / 2)), form, at=digits)


@claim("Z.P31 outside")
def accurate_without_data(budget: Budget) -> Points:
    """Answer n/2 in every bin, which is ρ-zCDP for every ρ > 0 with α = 1/2, and round noisy counts of one record.

    Rounding keeps zCDP, and α = T E|round(N(0, 1/ρ))| bounds the mean of the largest error at n = 1.
    """
    for digits in (16, 100, 300):
        form = _root((digits * LN_10 + 2 * log(0.5)) / (1e-9 * 0.25))
        yield Point(f"n/2 in every bin, n = 1, α = 1/2, T = 1e{digits}, ρ = 1e-9", form / 1000, constant(1.0))
        log_t, log_alpha = digits * LN_10, log_rounding_error(digits)
        form = _root((log_t + 2 * log_alpha) / (10 * log_t)) * np.exp(-log_alpha)
        where = f"rounded counts, n = 1, α = {np.exp(log_alpha):.3g}, T = 1e{digits}, ρ = 10 log T"
        yield Point(where, form / 1000, constant(1.0))


def log_rounding_error(digits: int) -> float:
    """Return log(T E|round(N(0, 1/ρ))|), ρ = 10 log T, T = 10^digits: the sum of T P[|N| > j - 1/2] over j ≥ 1."""
    log_t = digits * LN_10
    tails = log(2) + norm.logsf((np.arange(1, 6) - 0.5) * np.sqrt(10 * log_t))
    return float(log_t + np.logaddexp.reduce(tails))


def _root(square: float) -> Bounds[float]:
    return closed_form(float(np.sqrt(square)))
