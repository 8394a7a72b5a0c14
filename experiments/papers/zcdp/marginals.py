"""Section 6.1: one-way marginals, the means of d bits."""

import numpy as np

from tcdp_sim import bounds
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.renyi_divergences import by_quadrature
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP

RHO, EPSILON, N = 0.1, 0.5, 1000.0
DIGITS = (2, 3, 6, 12, 30, 100, 300, 10_000, 1_000_000)  # log10 d
SHARE = 0.1
LN_2, LN_10 = float(np.log(2)), float(np.log(10))


def gaussian(d: float, n: float) -> Gaussian:
    """Return the printed noise in each of d means of n bits, N(0, d/2n²ρ), in units of one mean."""
    return Gaussian(float(np.sqrt(d / (2 * n**2 * RHO))))


@claim("Z.6.1a")
def mean_error(budget: Budget) -> Points:
    """Take the mean error of one marginal, which is what "on average" speaks of."""
    for digits in (0, 2, 6, 300):
        d = 10.0**digits
        error = _mean_size(gaussian(d, N))
        yield Point(f"d = 1e{digits}", N * error, closed_form(float(np.sqrt(d / RHO))), at=digits)


@claim("Z.6.1a average")
def average_error(budget: Budget) -> Points:
    """Take the mean error of one marginal by quadrature. It is proportional to the form for every d."""
    for digits in (0, 2, 6):
        d = 10.0**digits
        normal, heavy = _mean_size(gaussian(d, N)), _mean_size(Laplace(d / (N * EPSILON)))
        yield Point(f"Gaussian, d = 1e{digits}", normal, closed_form(float(np.sqrt(d / (np.pi * RHO)) / N)))
        yield Point(f"Laplace, d = 1e{digits}", heavy, closed_form(d / (N * EPSILON)))


def _mean_size(noise: Gaussian | Laplace) -> Bounds[float]:
    """Return E |Z| as the integral of P[|Z| > x]."""
    return integrate(lambda x: 2 * noise.sf(x), np.linspace(0, float(noise.isf(1e-30)), 17), relative=1e-11)


@claim("Z.6.1a largest")
def largest_gaussian_error(budget: Budget) -> Points:
    """Take noise of scale √½ in units of √(d/ρ)/n."""
    for digits in DIGITS:
        form = closed_form(float(np.sqrt(digits * LN_10)))
        yield Point(f"d = 1e{digits}", mean_largest(Gaussian(0.5**0.5), digits * LN_10), form, at=digits)


@claim("Z.6.1a Laplace")
def largest_laplace_error(budget: Budget) -> Points:
    """Take noise of scale one in units of d/εn, because a record moves all d means by up to 1/n; its largest is H_d."""
    for digits in DIGITS:
        left = mean_largest(Laplace(1.0), digits * LN_10)
        yield Point(f"d = 1e{digits}", left, closed_form(digits * LN_10), at=digits)


def mean_largest(noise: Gaussian | Laplace, log_count: float) -> Bounds[float]:
    """Return the mean of the largest absolute value of e^log_count draws, at least 2: the integral of its tail."""

    def some_above(x: Floats) -> Floats:
        log_tail = np.minimum(noise.logsf(x) + LN_2, 0.0)
        with np.errstate(divide="ignore", over="ignore"):
            each = np.where(log_tail < -30, log_tail, np.log(-np.log1p(-np.exp(log_tail))))  # -log P[|Z| ≤ x]
            return -np.expm1(-np.exp(log_count + each))

    log_tails = np.minimum(np.log([30.0, 5.0, 0.7, 0.05, 1e-6, 1e-13]) - log_count, -1e-3)
    edges = np.asarray(noise.isf_log(log_tails - LN_2))
    total = integrate(some_above, [0.0, *edges, 2 * edges[-1]], 1e-11)
    return Bounds(total.lower * (1 - 1e-10), total.estimate, total.upper * (1 + 1e-10))


@claim("Z.6.1a privacy")
def privacy_of_marginals(budget: Budget) -> Points:
    """Move every mean by 1/n, as one substituted record may, by quadrature."""
    for d in (1.0, 100.0, 1e6):
        for order in (1.0, 2.0, 16.0):
            left = d * by_quadrature(gaussian(d, N).scale, 1 / N, order)
            yield Point(f"d = {d:g}, α = {order:g}", left, closed_form(RHO * order))


@claim("Z.6.1b")
def marginals_need(budget: Budget) -> Points:
    """Take the records that packing asks for, from 10 to 10^300 marginals."""
    for digits in (1, 3, 6, 30, 100, 300):
        needed = closed_form(bounds.marginals_records(ZCDP(RHO), 10.0**digits, SHARE))
        yield Point(f"d = 1e{digits}", needed, closed_form(float(np.sqrt(10.0**digits / RHO))), at=digits)


@claim("Z.6.1b constant")
def marginals_tell(budget: Budget) -> Points:
    """Take n equal records of random bits. The rounded noisy means miss each bit with probability Φ(-1/2σ)."""
    for d in (10.0, 1e6):
        for n in (0.3, 1.0, 3.0):
            missed = float(gaussian(d, n * np.sqrt(d / RHO)).sf(0.5))
            needed = closed_form(bounds.marginals_records(ZCDP(RHO), d, missed))
            taken = closed_form(float(n * np.sqrt(d / RHO)))
            yield Point(f"d = {d:g}, {n:g} √(d/ρ) records, {missed:.3g} of the bits missed", needed, taken)
