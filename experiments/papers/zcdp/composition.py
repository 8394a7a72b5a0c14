"""Sections 1 and 8: zCDP beside advanced composition."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import delta, independent, repeated
from tcdp_sim.experiments.papers.zcdp.relation_to_dp import least_epsilon
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ApproxDP, PureDP, compose_advanced, compose_approx

DELTA = 1e-6


@claim("Z.1b")
def advanced_composition(budget: Budget) -> Points:
    """k answers with Gaussian(10) noise are one with Gaussian(10/√k); δ is shared out as is best of five ways."""
    for releases in budget.choose((10, 1000), (10, 100, 1000, 10_000)):
        exactly = least_epsilon(Gaussian(10 / float(np.sqrt(releases))), DELTA)
        ways = [_advanced(releases, share) for share in (0.01, 0.1, 0.5, 0.9, 0.99)]
        yield Point(f"k = {releases}", scaled(exactly, 2.0), closed_form(min(ways)))


def _advanced(releases: int, share: float) -> float:
    """The epsilon if that share of δ is kept for the composition, and the rest for the releases."""
    each = (1 - share) * DELTA / releases
    return compose_advanced(least_epsilon(Gaussian(10.0), each).upper, each, releases, share * DELTA).epsilon


@claim("Z.C39")
def sharper_composition(budget: Budget) -> Points:
    """Randomised response, exactly; with probability δ_i an answer tells all."""
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
                yield Point(where, left, closed_form(float(right)))


@claim("Z.8b")
def first_term(budget: Budget) -> Points:
    """Twice ½‖ε‖² is still below the first term of advanced composition."""
    for epsilon in (1e-4, 0.01, 0.1, 1.0, 3.0):
        new, old = closed_form(epsilon**2, 1e-13), closed_form(epsilon * float(np.expm1(epsilon)), 1e-13)
        yield Point(f"ε = {epsilon:g}, for each of k", new, old)


@claim("Z.8b whole")
def both_terms(budget: Budget) -> Points:
    """At the same δ in all."""
    for epsilon, releases in ((0.01, 10), (0.1, 10), (0.01, 6000), (0.2, 15), (0.79, 1)):
        for share in (0.99, 1e-5):
            slack = float(share * np.sqrt(np.pi / 2 * releases) * epsilon)
            for each in (0.0, 1e-9):
                one = ApproxDP(epsilon, each) if each else PureDP(epsilon)
                new = closed_form(compose_approx(*[one] * releases, slack=slack).epsilon)
                old = closed_form(compose_advanced(epsilon, each, releases, slack).epsilon)
                yield Point(f"k = {releases}, ε = {epsilon:g}, δ' = {slack:.3g}, δ = {each:g}", new, old)
