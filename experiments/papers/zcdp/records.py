"""Sections 1.2 and 6.1: how many records a histogram takes under each notion."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.basics import gaussian_scale
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim import bounds, exact
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Simulated, Verdict, constant
from tcdp_sim.noise import Gaussian, Laplace, Noise, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, PureDP

BETA, RHO, EPSILON, DELTA = 0.05, 0.1, 0.5, 1e-6
DIGITS = (3, 6, 12, 30, 100, 200, 290)  # of T
ACCURATE = "all errors below n/2 with probability 0.95"


def enough(noise: Noise, digits: int) -> Bounds[float]:
    """The n at which all errors of T = 10^digits bins are below n / 2 with probability 1 - BETA, with that noise."""
    return scaled(exact.max_abs_quantile(noise, 10.0**digits, 1 - BETA), 2.0)


@claim("Z.1.2c Z.6.1f", kind=Kind.ASYMPTOTIC, section="1.2, 6.1", expected=Verdict.CONSISTENT)
def histogram_under_zcdp(budget: Budget) -> Evidence:
    """What Gaussian noise takes beside what every mechanism does: the number needed is known to a factor of three."""
    points = []
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(ZCDP(RHO), 10.0**digits, BETA))
        points.append(Point(f"T = 1e{digits}", enough(Gaussian(gaussian_scale(RHO)), digits), needed, at=digits))
    return Evidence(
        points,
        measures=f"n that Gaussian noise takes over n that every mechanism needs, {ACCURATE}, ρ = {RHO}",
        universe="ρ-zCDP, T → ∞",
    )


@claim(
    "Z.1.2c Z.6.1f",
    part="rate",
    title="The number of records that a histogram needs under zCDP grows as √(log T/ρ)",
    kind=Kind.ASYMPTOTIC,
    section="1.2, 6.1",
    expected=Verdict.CONSISTENT,
)
def rate_under_zcdp(budget: Budget) -> Evidence:
    """The lower bound over the form."""
    points = []
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(ZCDP(RHO), 10.0**digits, BETA))
        points.append(Point(f"T = 1e{digits}", needed, _root(digits * np.log(10), RHO), at=digits))
    measures = f"n that every mechanism needs over √(log T/ρ), {ACCURATE}, ρ = {RHO}"
    return Evidence(points, measures=measures, universe="ρ-zCDP, T → ∞")


@claim(
    "Z.1.2c Z.6.1f",
    part="simulated",
    title="No simulated histogram takes fewer records than every mechanism needs",
    kind=Kind.ORDERING,
    section="6.1",
    expected=Verdict.HOLDS,
    needs=("histogram",),
)
def simulated_histograms(budget: Budget) -> Evidence:
    """Gaussian noise under zCDP, Laplace noise under pure DP with ε = √2ρ."""
    points = []
    promises: list[tuple[str, ZCDP | PureDP]] = [("gaussian", ZCDP(RHO)), ("laplace", PureDP(float(np.sqrt(2 * RHO))))]
    for noise, promised in promises:
        for cell in budget.runs["histogram"].cells(noise=noise, rho=RHO, data="one_bin")[::3]:
            needed = closed_form(bounds.histogram_records(promised, cell["k"], BETA))
            error = cell.quantile("linf_error", 1 - BETA)
            taken = Simulated(2 * error.lower, 2 * error.estimate, 2 * error.upper, 2 * error.mcse, error.trials)
            points.append(Point(f"{noise}, T = {cell['k']:.4g}", needed, taken))
    return Evidence(
        points,
        measures=f"n that every mechanism needs, against n of the simulated one, {ACCURATE}, ρ = {RHO}",
        universe="ρ-zCDP, T ≥ 1",
    )


@claim("Z.1.2d", kind=Kind.ASYMPTOTIC, section="1.2", expected=Verdict.CONSISTENT)
def histogram_under_approximate_dp(budget: Budget) -> Evidence:
    """Truncated Laplace noise with half of ε and δ for each of the two bins that change: never above its bound."""
    scale = 2 / EPSILON
    bound = float(scale * np.log1p(np.expm1(EPSILON / 2) / DELTA))
    noise = TruncatedLaplace(scale, bound)
    points = [
        Point(f"T = 1e{digits}", enough(noise, digits), closed_form(np.log(1 / DELTA) / EPSILON), at=digits)
        for digits in DIGITS
    ]
    return Evidence(
        points,
        measures=f"n by truncated Laplace noise over log(1/δ)/ε, {ACCURATE}, ε = {EPSILON}, δ = {DELTA:g}",
        universe="(ε, δ)-DP, T → ∞",
        growth=Growth.AT_MOST,
    )


@claim("Z.6.1c", kind=Kind.ASYMPTOTIC, section="6.1", expected=Verdict.CONSISTENT)
def histogram_under_pure_dp(budget: Budget) -> Evidence:
    """What Laplace noise takes beside what every mechanism does."""
    points = []
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(PureDP(EPSILON), 10.0**digits, BETA))
        points.append(Point(f"T = 1e{digits}", enough(Laplace(2 / EPSILON), digits), needed, at=digits))
    measures = f"n by Laplace(2/ε) noise over n that every mechanism needs, {ACCURATE}, ε = {EPSILON}"
    return Evidence(points, measures=measures, universe="ε-DP, T → ∞")


@claim(
    "Z.6.1c",
    part="rate",
    title="The number of records that a histogram needs under pure DP grows as log T/ε",
    kind=Kind.ASYMPTOTIC,
    section="6.1",
    expected=Verdict.CONSISTENT,
)
def rate_under_pure_dp(budget: Budget) -> Evidence:
    """The lower bound over the form."""
    points = []
    for digits in DIGITS:
        needed = closed_form(bounds.histogram_records(PureDP(EPSILON), 10.0**digits, BETA))
        points.append(Point(f"T = 1e{digits}", needed, closed_form(digits * np.log(10) / EPSILON), at=digits))
    measures = f"n that every mechanism needs over log T/ε, {ACCURATE}, ε = {EPSILON}"
    return Evidence(points, measures=measures, universe="ε-DP, T → ∞")


@claim(
    "Z.P31",
    kind=Kind.INEQUALITY,
    section="6.1",
    expected=Verdict.FALSE,
    erratum="E24",
    printed="E max_t |M(x)_t - h_t(x)| ≤ αn implies n ≥ Ω(√(log(α²T)/ρα²)), for every α",
    correct="the same for α ≤ α₀ < 1/2, with a constant that depends on α₀",
    consequence="for α ≥ 1/2 the answer n/2 for every bin is accurate, uses no data and takes one record",
)
def accurate_on_average(budget: Budget) -> Evidence:
    """M = n/2 in every bin, whatever the data: 0-zCDP, so ρ-zCDP for every ρ > 0; its error is n/2 = αn at α = 1/2."""
    alpha, n = 0.5, 1.0
    points = []
    for digits, rho in ((3, 0.1), (100, 1e-3), (300, 1e-9)):
        form = 1e-3 * np.sqrt((digits * np.log(10) + 2 * np.log(alpha)) / (rho * alpha**2))
        points.append(Point(f"M = n/2, n = 1, α = 1/2, T = 1e{digits}, ρ = {rho:g}", closed_form(form), constant(n)))
    return Evidence(
        points,
        measures="√(log(α²T)/ρα²)/1000, against n; no other constant does in place of 1/1000, as ρ may be any",
        universe="ρ-zCDP, α > 0",
    )


@claim(
    "Z.P31",
    part="repaired",
    title="The same for α ≤ 1/8",
    kind=Kind.ASYMPTOTIC,
    section="6.1",
    expected=Verdict.CONSISTENT,
    erratum="E24",
)
def accurate_on_average_repaired(budget: Budget) -> Evidence:
    """8αn records all lie in one of T - 1 bins, the others in the last.

    By Markov's inequality all errors are below 4αn with probability 3/4, which tells the bin: Lemma 35 for the 8αn.
    """
    alpha, points = 0.125, []
    for digits in DIGITS:
        block = bounds.least_records(ZCDP(RHO), bounds.fano(10.0**digits - 1, 0.25, printed=True))
        form = _root(digits * np.log(10) + 2 * np.log(alpha), RHO * alpha**2)
        points.append(Point(f"T = 1e{digits}", closed_form(block / (8 * alpha)), form, at=digits))
    return Evidence(
        points,
        measures="n that every mechanism needs over √(log(α²T)/ρα²), α = 1/8, ρ = 0.1",
        universe="ρ-zCDP, α ≤ 1/8, T → ∞",
        growth=Growth.AT_LEAST,
    )


def _root(over: float, under: float) -> Bounds[float]:
    return closed_form(float(np.sqrt(over / under)))
