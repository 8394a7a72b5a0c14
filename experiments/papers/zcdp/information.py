"""Sections 1.2, 6 and 7: mutual information, and packings, as what zCDP does not allow."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import bounds, exact
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import ZCDP

PURE = 1e-9  # a ρ that hardly counts, where all is promised by ξ
Noisy = tuple[str, Noise, ZCDP]


def counts(rho: float) -> Iterator[Noisy]:
    """A count of sensitivity one with noise for (ξ, ρ)-zCDP: Gaussian, and Laplace for ξ-DP with ξ = √2ρ."""
    yield f"Gaussian, ρ = {rho:g}", Gaussian(float(np.sqrt(0.5 / rho))), ZCDP(rho)
    epsilon = float(np.sqrt(2 * rho))
    yield f"Laplace, ξ = {epsilon:.4g}", Laplace(1 / epsilon), ZCDP(PURE, epsilon)


@claim("Z.T10 P28")
def information_of_all(budget: Budget) -> Points:
    """n copies of a fair bit, counted; and n copies of a uniform one of T points, in a histogram."""
    for rho in (1e-4, 0.01, 0.1):
        for n in budget.choose((1, 10), (1, 3, 10, 30, 100)):
            for name, noise, promised in counts(rho):
                most = closed_form(bounds.information(promised, n, method="paper"))
                yield Point(f"{name}, {n} copies of a bit", exact.mutual_information(noise, [0.0, n]), most)
    for bins, n in budget.choose([(10, 6), (1e5, 6)], [(10, 6), (1e3, 6), (1e5, 2), (1e5, 6), (1e9, 12)]):
        left = exact.histogram_information(Gaussian(float(np.sqrt(10))), n, bins)
        most = closed_form(bounds.information(ZCDP(0.1), n, method="paper"))
        yield Point(f"histogram, Gaussian, ρ = 0.1, T = {bins:g}, n = {n}", left, most)


@claim("Z.L29 T30")
def information_of_blocks(budget: Budget) -> Points:
    """m independent fair bits, each copied ℓ times, counted: ℓ times a binomial number."""
    for rho in (0.01, 0.5):
        for m, length in budget.choose([(20, 1), (5, 4)], [(2, 1), (20, 1), (100, 1), (5, 4), (20, 10)]):
            answers, chances = length * np.arange(m + 1.0), binom.pmf(np.arange(m + 1), m, 0.5)
            for name, noise, promised in counts(rho):
                most = closed_form(bounds.information(promised, m * length, blocks=m, method="paper"))
                left = exact.mutual_information(noise, answers, chances)
                yield Point(f"{name}, m = {m}, ℓ = {length}", left, most)


@claim("Z.L35")
def packing(budget: Budget) -> Points:
    """Which of T bins has all n records, told by the largest noisy count of a histogram."""
    rho = 0.1
    sizes = budget.choose((1e3, 1e12), (10, 1e3, 1e6, 1e12, 1e50, 1e100))
    for bins in sizes:
        for share in (0.7, 1.0, 1.2):
            n = float(np.ceil(share * np.sqrt(2 * np.log(bins) / rho)))
            missed = exact.selection_failure("noisy_max", Gaussian(float(1 / np.sqrt(rho))), n, bins)
            told = [
                max((1 - beta) * np.log(bins) - np.log(2), 0.0)
                for beta in (missed.upper, missed.estimate, missed.lower)
            ]
            left = exact.Bounds(told[0] * (1 - 1e-12), told[1], told[2] * (1 + 1e-12))
            yield Point(f"T = {bins:g}, n = {n:g}, ρ = {rho}", left, closed_form(rho * n**2))
