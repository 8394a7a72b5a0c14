"""Sections 1.2, 6 and 7: mutual information and packings, as limits of zCDP."""

from collections.abc import Iterator
from math import ceil, log, log1p

import numpy as np
from scipy.stats import binom

from tcdp_sim import bounds, exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.histograms import gaussian_of, laplace_of
from tcdp_sim.experiments.papers.zcdp.relation_to_dp import gaussian_of as gaussian_count
from tcdp_sim.noise import Laplace, Noise
from tcdp_sim.privacy import ZCDP

PURE = 1e-9  # a negligible ρ, where ξ carries the whole promise
RHO, EPSILON = 0.1, 0.5
NAMES = (1e3, 1e100)  # answers of randomised response


def counts(rho: float) -> Iterator[tuple[str, Noise, ZCDP]]:
    """Yield noises with which a count is (ξ, ρ)-zCDP: Gaussian, and Laplace for ξ-DP with ξ = √2ρ."""
    yield f"Gaussian, ρ = {rho:g}", gaussian_count(rho), ZCDP(rho)
    epsilon = float(np.sqrt(2 * rho))
    yield f"Laplace, ξ = {epsilon:.4g}", Laplace(1 / epsilon), ZCDP(PURE, epsilon)


def named(count: float) -> tuple[ZCDP, float, float]:
    """Return the guarantee of randomised response with ε = 3 + log(count), its error, and its information in nats.

    It names one of `count` equally likely values, the true one with e^ε times the probability of any other.
    """
    log_count, log_others = log(count), log(count) + log1p(-1 / count)
    log_right = -float(np.logaddexp(0.0, log_others - log_count - 3))
    missed = -float(np.expm1(log_right))
    told = (1 - missed) * (log_count + log_right) + missed * (log_count - log_others + log(missed))
    return ZCDP(PURE, log_count + 3), missed, told


def most(promised: ZCDP, n: float, blocks: int = 1) -> Bounds[float]:
    """Return the printed bound of the information, in nats."""
    return closed_form(bounds.information(promised, n, blocks=blocks, method="paper"))


@claim("Z.T10 P28")
def information_of_all(budget: Budget) -> Points:
    """Count n copies of a fair bit, put n copies of a uniform point of T into a histogram, and name one value."""
    for rho in (1e-4, 0.01, 0.1):
        for n in budget.choose((1, 10), (1, 3, 10, 30, 100)):
            for name, noise, promised in counts(rho):
                left = exact.mutual_information(noise, [0.0, n])
                yield Point(f"{name}, {n} copies of a bit", left, most(promised, n))
    for bins, n in budget.choose([(10, 6), (1e5, 6)], [(10, 6), (1e3, 6), (1e5, 2), (1e5, 6), (1e9, 12)]):
        left = exact.histogram_information(gaussian_of(RHO), n, bins)
        yield Point(f"histogram, Gaussian, ρ = {RHO}, T = {bins:g}, n = {n}", left, most(ZCDP(RHO), n))
    for count in NAMES:
        promised, _, told = named(count)
        yield Point(f"one of {count:g} values, named", closed_form(told), most(promised, 1))


@claim("Z.L29 T30")
def information_of_blocks(budget: Budget) -> Points:
    """Count m independent fair bits, each copied ℓ times (ℓ times a binomial number), and name m independent values."""
    for rho in (0.01, 0.5):
        for m, length in budget.choose([(20, 1), (5, 4)], [(2, 1), (20, 1), (100, 1), (5, 4), (20, 10)]):
            answers, chances = length * np.arange(m + 1.0), binom.pmf(np.arange(m + 1), m, 0.5)
            for name, noise, promised in counts(rho):
                left = exact.mutual_information(noise, answers, chances)
                yield Point(f"{name}, m = {m}, ℓ = {length}", left, most(promised, m * length, m))
    for count in NAMES:
        promised, _, told = named(count)
        yield Point(f"20 of {count:g} values, each named", closed_form(20 * told), most(promised, 20, 20))


@claim("Z.L35")
def packing(budget: Budget) -> Points:
    """Find the one of T bins that has all n records: by the largest noisy count, or by naming it (n = 1)."""
    for bins in budget.choose((1e3, 1e12), (10, 1e3, 1e6, 1e12, 1e50, 1e100)):
        for share in (0.7, 1.0, 1.2):
            n = ceil(share * np.sqrt(2 * np.log(bins) / RHO))
            missed = exact.selection_failure("noisy_max", gaussian_of(RHO), n, bins)
            yield Point(f"Gaussian, T = {bins:g}, n = {n}, ρ = {RHO}", _fano(bins, missed), most(ZCDP(RHO), n))
    for bins in (1e3, 1e12):
        n = ceil(2 * np.log(bins) / EPSILON)
        missed = exact.selection_failure("noisy_max", laplace_of(EPSILON), n, bins)
        yield Point(f"Laplace, T = {bins:g}, n = {n}, ξ = {EPSILON}", _fano(bins, missed), most(ZCDP(PURE, EPSILON), n))
    for count in NAMES:
        promised, error, _ = named(count)
        yield Point(f"named, T = {count:g}, n = 1", _fano(count, closed_form(error)), most(promised, 1))


def _fano(bins: float, missed: Bounds[float]) -> Bounds[float]:
    """Return (1 - β) log T - log 2, or 0, in nats."""
    return ((1 - missed) * float(np.log(bins)) - log(2)).clipped(0.0)
