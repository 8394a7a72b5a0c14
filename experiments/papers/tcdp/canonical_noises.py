"""Section 4: the canonical noises by notion, and the shape of sinh-normal noise near 0 and far out."""

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, SinhNormal, TruncatedLaplace

DELTA = 1e-6


@claim("T.4a")
def truncated_laplace(budget: Budget) -> Points:
    """Yield points at scale 1/(√2 ε), which has standard deviation 1/ε."""
    for epsilon in (0.1, 1.0, 2.0):
        for factor in (1.0, 10.0):
            noise = TruncatedLaplace(1 / (np.sqrt(2) * epsilon), factor * float(np.log(1 / DELTA)) / epsilon)
            where = f"ε = {epsilon:g}, support ±{factor:g} log(1/δ)/ε"
            yield Point(where, exact.hockey_stick(noise, 1.0, epsilon), constant(DELTA))


@claim("T.4a repaired")
def truncated_laplace_repaired(budget: Budget) -> Points:
    """Yield points at the least support, where the claim is attained, and at a larger one."""
    for epsilon in (0.1, 1.0, 2.0):
        for factor in (1.0, 1.1):
            bound = float(np.log1p(np.expm1(epsilon) / (2 * DELTA))) / epsilon
            noise = TruncatedLaplace(1 / epsilon, factor * bound)
            where = f"ε = {epsilon:g}, {factor:g} times the least support"
            yield Point(where, exact.hockey_stick(noise, 1.0, epsilon), constant(DELTA))


@claim("T.4b T.4c")
def tails(budget: Budget) -> Points:
    """Return points of the tail for a knee of 10 and a scale of 4."""
    noise = SinhNormal(scale=4.0, knee=10.0)
    factor = float(noise.knee**2 / (8 * noise.scale**2))
    return growing(
        np.arange(0.5, 2.6, 0.25),
        lambda t: float(-(noise.logsf(10 * t) + np.log(2))),
        lambda t: factor * float(np.exp(2 * t)),
        "t/A",
    )


@claim("T.4b T.4c Gaussian limit")
def gaussian_limit(budget: Budget) -> Points:
    """Return points of a far quantile as the knee grows."""
    far = 1e-9
    return growing(
        np.arange(0, 6.5, 0.5),
        lambda knee: float(SinhNormal(1.0, knee).isf(far)),
        lambda _: float(Gaussian(1.0).isf(far)),
        "A/σ",
    )


@claim("T.F2")
def figure_2(budget: Budget) -> Points:
    """Yield points of the density of arsinh(Z) by change of variables, against the noise's own."""
    noise = SinhNormal(scale=float(np.sqrt(2)), knee=1.0)
    for x in (0.0, 0.5, 0.8813735870195430, 2.0, 4.0):
        direct = np.exp(-(np.sinh(x) ** 2) / 4) / np.sqrt(4 * np.pi) * np.cosh(x)
        yield Point(f"x = {x:.4g}", closed_form(float(noise.pdf(x)), 1e-10), closed_form(float(direct), 1e-10))
