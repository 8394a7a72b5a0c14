"""Sections 1.2 and 6.1: how many records a histogram takes under each notion."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, Simulated, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.basics import gaussian_scale
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim import bounds, exact
from tcdp_sim.noise import Gaussian, Laplace, Noise, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, PureDP

BETA, RHO, EPSILON, DELTA = 0.05, 0.1, 0.5, 1e-6
DIGITS = (3, 6, 12, 30, 100, 200, 290)  # of T
ACCURATE = "all errors below n/2 with probability 0.95"


def enough(noise: Noise, digits: int) -> Bounds[float]:
    """The n at which all errors of T = 10^digits bins are below n / 2 with probability 1 - BETA, with that noise."""
    return scaled(exact.max_abs_quantile(noise, 10.0**digits, 1 - BETA), 2.0)


@claim("Z.1.2c Z.6.1f")
def histogram_under_zcdp(budget: Budget) -> Points:
    """What Gaussian noise takes beside what every mechanism does: the number needed is known to a factor of three."""
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(ZCDP(RHO), 10.0**digits, BETA))
        yield Point(f"T = 1e{digits}", enough(Gaussian(gaussian_scale(RHO)), digits), needed, at=digits)


@claim("Z.1.2c Z.6.1f rate")
def rate_under_zcdp(budget: Budget) -> Points:
    """The lower bound over the form."""
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(ZCDP(RHO), 10.0**digits, BETA))
        yield Point(f"T = 1e{digits}", needed, _root(digits * np.log(10), RHO), at=digits)


@claim("Z.1.2c Z.6.1f simulated")
def simulated_histograms(budget: Budget) -> Points:
    """Gaussian noise under zCDP, Laplace noise under pure DP with ε = √2ρ."""
    promises: list[tuple[str, ZCDP | PureDP]] = [("gaussian", ZCDP(RHO)), ("laplace", PureDP(float(np.sqrt(2 * RHO))))]
    for noise, promised in promises:
        for cell in budget.runs["histogram"].cells(noise=noise, rho=RHO, data="one_bin")[::3]:
            needed = closed_form(bounds.histogram_records(promised, cell["k"], BETA))
            error = cell.quantile("linf_error", 1 - BETA)
            taken = Simulated(2 * error.lower, 2 * error.estimate, 2 * error.upper, 2 * error.mcse, error.trials)
            yield Point(f"{noise}, T = {cell['k']:.4g}", needed, taken)


@claim("Z.1.2d")
def histogram_under_approximate_dp(budget: Budget) -> Points:
    """Truncated Laplace noise with half of ε and δ for each of the two bins that change: never above its bound."""
    scale = 2 / EPSILON
    bound = float(scale * np.log1p(np.expm1(EPSILON / 2) / DELTA))
    noise = TruncatedLaplace(scale, bound)
    yield from [
        Point(f"T = 1e{digits}", enough(noise, digits), closed_form(np.log(1 / DELTA) / EPSILON), at=digits)
        for digits in DIGITS
    ]


@claim("Z.6.1c")
def histogram_under_pure_dp(budget: Budget) -> Points:
    """What Laplace noise takes beside what every mechanism does."""
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(PureDP(EPSILON), 10.0**digits, BETA))
        yield Point(f"T = 1e{digits}", enough(Laplace(2 / EPSILON), digits), needed, at=digits)


@claim("Z.6.1c rate")
def rate_under_pure_dp(budget: Budget) -> Points:
    """The lower bound over the form."""
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(PureDP(EPSILON), 10.0**digits, BETA))
        yield Point(f"T = 1e{digits}", needed, closed_form(digits * np.log(10) / EPSILON), at=digits)


@claim("Z.P31")
def accurate_on_average(budget: Budget) -> Points:
    """M = n/2 in every bin, whatever the data: 0-zCDP, so ρ-zCDP for every ρ > 0; its error is n/2 = αn at α = 1/2."""
    alpha, n = 0.5, 1.0
    for digits, rho in ((3, 0.1), (100, 1e-3), (300, 1e-9)):
        form = 1e-3 * np.sqrt((digits * np.log(10) + 2 * np.log(alpha)) / (rho * alpha**2))
        yield Point(f"M = n/2, n = 1, α = 1/2, T = 1e{digits}, ρ = {rho:g}", closed_form(form), constant(n))


@claim("Z.P31 repaired")
def accurate_on_average_repaired(budget: Budget) -> Points:
    """8αn records all lie in one of T - 1 bins, the others in the last.

    By Markov's inequality all errors are below 4αn with probability 3/4, which tells the bin: Lemma 35 for the 8αn.
    """
    alpha, points = 0.125, []
    for digits in DIGITS:
        block = bounds.least_records(ZCDP(RHO), bounds.fano(10.0**digits - 1, 0.25, printed=True))
        form = _root(digits * np.log(10) + 2 * np.log(alpha), RHO * alpha**2)
        points.append(Point(f"T = 1e{digits}", closed_form(block / (8 * alpha)), form, at=digits))
    return points


def _root(over: float, under: float) -> Bounds[float]:
    return closed_form(float(np.sqrt(over / under)))
