"""Sections 1 and 2: what zCDP is, and what Gaussian noise has of it."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim, definition, not_checkable

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import closed_form

definition("Z.D1 D2 D5 D14 D18 D23 D25", section="1, 2, 4")
not_checkable("Z.1a", section="1", reason="a statement on complexity classes, which no finite computation decides")


@claim("Z.P6 L16 L17", kind=Kind.IDENTITY, section="2.1", expected=Verdict.HOLDS)
def gaussian_divergence(budget: Budget) -> Evidence:
    """By quadrature, through a mixture of one component, so that the noise's own closed form is not asked."""
    points = []
    for sigma, shift in budget.choose([(1.0, 1.0), (3.0, 0.5)], [(1.0, 1.0), (3.0, 0.5), (0.4, 1.0), (50.0, 2.0)]):
        noise = exact.Mixture(Gaussian(sigma))
        for order in (1.0, 1.5, 2.0, 8.0, 32.0):
            left = exact.renyi_divergence_between(noise, exact.Mixture(Gaussian(sigma), (shift,)), order)
            right = closed_form(order * shift**2 / (2 * sigma**2))
            points.append(Point(f"σ = {sigma:g}, |μ - ν| = {shift:g}, α = {order:g}", left, right))
    return Evidence(
        points,
        measures="Rényi divergence of order α by quadrature, against α(μ - ν)²/2σ² (nats)",
        universe="σ > 0, α ≥ 1",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="completing the square in the exponent gives the right side for all μ, ν, σ and α",
    )


def gaussian_scale(rho: float) -> float:
    """The standard deviation, in counts, of the noise in every bin of a rho-zCDP histogram; neighbours substitute."""
    return float(1 / np.sqrt(rho))
