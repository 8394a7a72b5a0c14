"""Section 6.1: one-way marginals, the means of d bits."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim import bounds, exact
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.numerics import closed_form, integrate
from tcdp_sim.privacy import ZCDP

RHO, EPSILON, N = 0.1, 0.5, 1000.0
DIGITS = (1, 2, 3, 6, 12, 30, 100, 200, 300)  # of d
SHARE = 0.1


def gaussian(d: float, n: float) -> Gaussian:
    """The printed noise in each of d means of n bits, N(0, d/2n²ρ); in units of one mean."""
    return Gaussian(float(np.sqrt(d / (2 * n**2 * RHO))))


@claim("Z.6.1a")
def largest_error(budget: Budget) -> Points:
    """The error is that of Theorem 11, whose tightness this is said to show: the largest of all."""
    for digits in DIGITS:
        d = 10.0**digits
        error = mean_largest(gaussian(d, N), d)
        yield Point(f"d = 1e{digits}", scaled(error, N), closed_form(float(np.sqrt(d / RHO))), at=digits)


@claim("Z.6.1a Laplace")
def largest_laplace_error(budget: Budget) -> Points:
    """One record moves all d means by up to 1/n, so the scale is d/εn; the largest of d has d H_d/εn on average."""
    for digits in DIGITS[:-2]:
        d = 10.0**digits
        error = mean_largest(Laplace(d / (N * EPSILON)), d)
        yield Point(f"d = 1e{digits}", scaled(error, N), closed_form(d / EPSILON), at=digits)


def mean_largest(noise: Gaussian | Laplace, count: float) -> exact.Bounds:
    """The mean of the largest absolute value of `count` draws: the integral of its tail."""
    edges = [float(exact.max_abs_quantile(noise, count, q).estimate) for q in (1e-12, 0.01, 0.5, 0.99, 1 - 1e-12)]
    total = integrate(lambda x: exact.max_abs_sf(noise, count, x).estimate, [0.0, *edges, 2 * edges[-1]], 1e-11)
    return exact.Bounds(total.lower * (1 - 1e-10), total.estimate, total.upper * (1 + 1e-10))


@claim("Z.6.1a average")
def average_error(budget: Budget) -> Points:
    """By quadrature of the tail; exactly in proportion to the form, whatever d is."""
    for digits in (0, 2, 6):
        d = 10.0**digits
        normal = _mean_size(gaussian(d, N))
        yield Point(f"Gaussian, d = 1e{digits}", normal, closed_form(float(np.sqrt(d / (np.pi * RHO)) / N)))
        heavy = _mean_size(Laplace(d / (N * EPSILON)))
        yield Point(f"Laplace, d = 1e{digits}", heavy, closed_form(d / (N * EPSILON)))


def _mean_size(noise: Gaussian | Laplace) -> exact.Bounds:
    """E |Z| as the integral of P[|Z| > x]."""
    far = float(noise.isf(1e-30))
    return integrate(lambda x: 2 * noise.sf(x), np.linspace(0, far, 17), relative=1e-11)


@claim("Z.6.1a privacy")
def privacy_of_marginals(budget: Budget) -> Points:
    """One record substituted moves every mean by up to 1/n; by quadrature."""
    for d in (1.0, 100.0, 1e6):
        noise = gaussian(d, N)
        for order in (1.0, 2.0, 16.0):
            one = exact.renyi_divergence_between(exact.Mixture(noise), exact.Mixture(noise, (1 / N,)), order)
            yield Point(f"d = {d:g}, α = {order:g}", scaled(one, d), closed_form(RHO * order))


@claim("Z.6.1b")
def marginals_need(budget: Budget) -> Points:
    """Fano's bound with 90% of the bits told, over the form."""
    for digits in (1, 3, 6, 30, 100, 300):
        needed = closed_form(bounds.marginals_records(ZCDP(RHO), 10.0**digits, SHARE))
        yield Point(f"d = 1e{digits}", needed, closed_form(float(np.sqrt(10.0**digits / RHO))), at=digits)


@claim("Z.6.1b constant")
def marginals_tell(budget: Budget) -> Points:
    """n equal records of random bits; the noisy means, rounded, miss each bit with probability Φ(-1/2σ)."""
    for d in (10.0, 1e6):
        for n in (0.3, 1.0, 3.0):
            missed = float(gaussian(d, n * np.sqrt(d / RHO)).sf(0.5))
            needed = closed_form(bounds.marginals_records(ZCDP(RHO), d, missed))
            taken = closed_form(float(n * np.sqrt(d / RHO)))
            yield Point(f"d = {d:g}, {n:g} √(d/ρ) records, {missed:.3g} of the bits missed", needed, taken)
