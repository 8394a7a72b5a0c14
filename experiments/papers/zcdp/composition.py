"""Sections 1 and 8: zCDP beside advanced composition."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import delta, independent, repeated
from tcdp_sim.experiments.papers.zcdp.relation_to_dp import least_epsilon
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ApproxDP, PureDP, compose_advanced, compose_approx

DELTA = 1e-6


@claim("Z.1b", kind=Kind.INEQUALITY, section="1", expected=Verdict.HOLDS)
def advanced_composition(budget: Budget) -> Evidence:
    """k answers with Gaussian(10) noise are one with Gaussian(10/√k); δ is shared out as is best of five ways."""
    points = []
    for releases in budget.choose((10, 1000), (10, 100, 1000, 10_000)):
        exactly = least_epsilon(Gaussian(10 / float(np.sqrt(releases))), DELTA)
        ways = [_advanced(releases, share) for share in (0.01, 0.1, 0.5, 0.9, 0.99)]
        points.append(Point(f"k = {releases}", scaled(exactly, 2.0), closed_form(min(ways))))
    return Evidence(
        points,
        measures="twice the exact ε of k answers, against that of advanced composition, both at δ = 1e-6 (nats)",
        universe="k answers with Gaussian(10) noise",
    )


def _advanced(releases: int, share: float) -> float:
    """The epsilon if that share of δ is kept for the composition, and the rest for the releases."""
    each = (1 - share) * DELTA / releases
    return compose_advanced(least_epsilon(Gaussian(10.0), each).upper, each, releases, share * DELTA).epsilon


@claim("Z.C39", kind=Kind.INEQUALITY, section="8", expected=Verdict.HOLDS, erratum="E22")
def sharper_composition(budget: Budget) -> Evidence:
    """Randomised response, exactly; with probability δ_i an answer tells all."""
    points = []
    some = [((0.1, 100), (0.3, 10)), ((0.5, 20), (0.5, 1)), ((0.01, 1000), (1.0, 1))]
    for first, second in budget.choose(some, [*some, ((1.0, 5), (2.0, 2)), ((0.05, 300), (0.2, 40))]):
        norm = float(np.sqrt(first[1] * first[0] ** 2 + second[1] * second[0] ** 2))
        laws = [independent(*pair) for pair in zip(repeated(*first), repeated(*second))]
        for multiple in (0.0, 1.0, 3.0):
            for leak in (0.0, 1e-8):
                epsilon = norm**2 / 2 + np.sqrt(2) * multiple * norm
                told = 1 - (1 - leak) ** (first[1] + second[1])
                left = Bounds(*(told + (1 - told) * end for end in delta(laws[0], laws[1], epsilon)))
                right = np.sqrt(np.pi / 2) * norm * np.exp(-(multiple**2)) + leak * (first[1] + second[1])
                where = (
                    f"{first[1]} of ε = {first[0]:g}, {second[1]} of {second[0]:g}, λ = {multiple:g}, δ_i = {leak:g}"
                )
                points.append(Point(where, left, closed_form(float(right))))
    return Evidence(
        points,
        measures="exact δ at ½‖ε‖² + √2 λ‖ε‖, against √(π/2)‖ε‖ e^(-λ²) + Σδ_i",
        universe="(ε_i, δ_i)-DP, λ ≥ 0; by δ' it says so for 0 < δ' ≤ √(π/2)‖ε‖, beyond which its root is not real",
        proof=Proof.SYMBOLIC,
        why="δ_i-approximate ε_i²/2-zCDP (Lemma 37) adds up, and the second term of Lemma 38 is √(π/2)‖ε‖ e^(-λ²)",
    )


@claim("Z.8b", kind=Kind.INEQUALITY, section="8", expected=Verdict.HOLDS)
def first_term(budget: Budget) -> Evidence:
    """Twice ½‖ε‖² is still below the first term of advanced composition."""
    points = []
    for epsilon in (1e-4, 0.01, 0.1, 1.0, 3.0):
        new, old = closed_form(epsilon**2, 1e-13), closed_form(epsilon * float(np.expm1(epsilon)), 1e-13)
        points.append(Point(f"ε = {epsilon:g}, for each of k", new, old))
    return Evidence(
        points,
        measures="twice ½kε², against kε(e^ε - 1), per k (nats): what is saved is a factor of two or more",
        universe="k releases with ε-DP, ε > 0",
        proof=Proof.SYMBOLIC,
        why="e^ε - 1 ≥ ε",
    )


@claim(
    "Z.8b",
    part="whole",
    title="Corollary 39 is below advanced composition where √(π/2)‖ε‖ ≤ 1",
    kind=Kind.INEQUALITY,
    section="8",
    expected=Verdict.HOLDS,
)
def both_terms(budget: Budget) -> Evidence:
    """At the same δ in all."""
    points = []
    for epsilon, releases in ((0.01, 10), (0.1, 10), (0.01, 6000), (0.2, 15), (0.79, 1)):
        for share in (0.99, 1e-5):
            slack = float(share * np.sqrt(np.pi / 2 * releases) * epsilon)
            for each in (0.0, 1e-9):
                one = ApproxDP(epsilon, each) if each else PureDP(epsilon)
                new = closed_form(compose_approx(*[one] * releases, slack=slack).epsilon)
                old = closed_form(compose_advanced(epsilon, each, releases, slack).epsilon)
                points.append(Point(f"k = {releases}, ε = {epsilon:g}, δ' = {slack:.3g}, δ = {each:g}", new, old))
    return Evidence(
        points,
        measures="ε of Corollary 39, against that of advanced composition (nats)",
        universe="k releases with (ε, δ)-DP, √(π/2)‖ε‖ ≤ 1, δ' ≤ √(π/2)‖ε‖",
        proof=Proof.SYMBOLIC,
        why="both terms are smaller: ½kε² ≤ kε(e^ε - 1), and the logarithm is of √(π/2)‖ε‖/δ' ≤ 1/δ'",
    )
