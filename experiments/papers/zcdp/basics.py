"""Sections 1 and 2: what zCDP is, and what Gaussian noise has of it."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import closed_form


@claim("Z.P6 L16 L17")
def gaussian_divergence(budget: Budget) -> Points:
    """By quadrature, through a mixture of one component, so that the noise's own closed form is not asked."""
    for sigma, shift in budget.choose([(1.0, 1.0), (3.0, 0.5)], [(1.0, 1.0), (3.0, 0.5), (0.4, 1.0), (50.0, 2.0)]):
        noise = exact.Mixture(Gaussian(sigma))
        for order in (1.0, 1.5, 2.0, 8.0, 32.0):
            left = exact.renyi_divergence_between(noise, exact.Mixture(Gaussian(sigma), (shift,)), order)
            right = closed_form(order * shift**2 / (2 * sigma**2))
            yield Point(f"σ = {sigma:g}, |μ - ν| = {shift:g}, α = {order:g}", left, right)


def gaussian_scale(rho: float) -> float:
    """The standard deviation, in counts, of the noise in every bin of a rho-zCDP histogram; neighbours substitute."""
    return float(1 / np.sqrt(rho))
