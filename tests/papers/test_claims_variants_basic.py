"""The first table of the sheet: the numbers behind its claims, by other means."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from tcdp_sim.experiments.papers import claims, exhibits
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.registry import Budget, evidence_of, points_of
from tcdp_sim.experiments.papers.variants import composition, gaussian_noise, tables

FULL = Budget(full=True)


def gaussian_delta(theta, epsilon):
    return ndtr(theta / 2 - epsilon / theta) - np.exp(epsilon + log_ndtr(-theta / 2 - epsilon / theta))


@pytest.mark.parametrize(("delta", "first"), [(1e-5, 8.42), (1e-6, 8.78), (1e-2, 6.77), (0.1, 5.74)])
def test_the_classical_variance_fails_first_between_points_of_the_claim(delta, first):
    def excess(epsilon):
        return gaussian_delta(epsilon / np.sqrt(2 * np.log(1.25 / delta)), epsilon) - delta

    root = brentq(excess, 2, 15)
    assert root == pytest.approx(first, abs=0.006)
    points = [p for p in gaussian_noise.classical_variance_of_large_epsilon(FULL) if p.right.estimate == delta]
    at = {float(p.where.split(",")[0][4:]): p.left.lower > delta for p in points}
    assert all(fails == (epsilon > root) for epsilon, fails in at.items())
    assert min(abs(epsilon - root) for epsilon in at) < 0.05


@pytest.mark.parametrize(
    ("k", "epsilon", "total"), [(1000, 0.5, 151.7), (5000, 0.3, 0.0), (7, 1.3, 2.0), (1, 35.0, 1.0)]
)
def test_composed_randomised_responses_in_forty_digits(k, epsilon, total):
    with mp.workdps(40):
        more = mp.exp(epsilon) / (1 + mp.exp(epsilon))
        chances = (mp.binomial(k, j) * more**j * (1 - more) ** (k - j) for j in range(k + 1))
        losses = ((2 * j - k) * mp.mpf(epsilon) for j in range(k + 1))
        truth = mp.fsum(p * (1 - mp.exp(total - x)) for p, x in zip(chances, losses) if x > total)
    bounds = composition.responses_delta(k, epsilon, total)
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower < 1e-8 * bounds.estimate


def sides(points):
    return {p.where: (p.left.estimate, p.right.estimate) for p in points}


def test_erratum_e8_of_advanced_composition():
    points = sides(composition.advanced_outside(FULL))
    assert points["k = 1000, ε = 0.5, δ' = 1e-05, promised ε' = 151.7"][0] == pytest.approx(2.4e-2, rel=0.02)
    assert points["k = 5000, ε = 0.3, δ' = 1e-06, promised ε' = 223"][0] == pytest.approx(0.487, abs=5e-4)
    assert all(left > right for left, right in points.values())


def test_the_short_form_of_advanced_composition_at_the_edge_of_its_domain():
    """There kε² is 8 log(1/δ'), so that the promise 2ε√(2k log(1/δ')) is 8 log(1/δ')."""
    for point in composition.advanced(FULL):
        k, epsilon, slack, promised, *_ = (float(word.split(" = ")[1]) for word in point.where.split(", "))
        assert promised <= 8 * np.log(1 / slack) * (1 + 1e-3)
        assert k * epsilon**2 <= 8 * np.log(1 / slack) * (1 + 1e-3)
        assert k * epsilon**2 / 2 + epsilon * np.sqrt(2 * k * np.log(1 / slack)) <= promised * (1 + 1e-3)


def test_releases_that_sometimes_tell_everything():
    """Two releases by the mechanism of the four outputs: 1 - (1 - δ)² (1 - δ of two responses), by hand."""
    one = next(p for p in composition.advanced(FULL) if p.where.startswith("k = 3,") and "δ = 1e-08" in p.where)
    k, epsilon, slack, promised, told = (float(word.split(" = ")[1]) for word in one.where.split(", "))
    with mp.workdps(30):
        more = mp.exp(epsilon) / (1 + mp.exp(epsilon))
        own = max(more**3 - mp.exp(promised) * (1 - more) ** 3, 0)  # only three truths lose so much
        truth = 1 - (1 - mp.mpf(told)) ** 3 * (1 - own)
    assert one.left.estimate == pytest.approx(float(truth), rel=1e-3)
    assert one.right.estimate == pytest.approx(k * told + slack, rel=1e-14)


def test_erratum_e8_of_the_moments_accountant():
    points = sides(composition.moments_accountant_outside(FULL))
    value = points["k = 1e+06, ε = 0.9, δ = 1e-05, promised ε' = 17275"][0]
    assert value == pytest.approx(0.455, abs=5e-4)
    theta = 1000 * 0.9 / np.sqrt(2 * np.log(1.25e5))
    assert value == pytest.approx(gaussian_delta(theta, 3.6 * np.sqrt(2e6 * np.log(1e5))))


def test_the_edge_of_the_moments_accountant():
    """There ε√k is 4 log(1.25/δ)(4√(2 log(1/δ)) - 1): promises of 53,404, 16,394 and 658 at δ = 1e-9, 1e-5 and 0.1."""
    points = [p.where for p in composition.moments_accountant(FULL)]
    for delta, promised in ((1e-9, 53_404), (1e-5, 16_394), (0.1, 658), (0.5, 64)):
        first = next(where for where in points if f"δ = {delta:g}," in where)
        assert float(first.split("= ")[-1]) == pytest.approx(promised, rel=2e-3)
    assert max(p.left.estimate / p.right.estimate for p in composition.moments_accountant(FULL)) < 0.149


def test_a_converted_response_has_its_exact_delta():
    """P[loss = 1] = e/(1+e), so that δ at ε' < 1 is (e - e^ε')/(1 + e)."""
    points = [p for p in gaussian_noise.conversions(FULL) if "response" in p.where and "α = 2," in p.where]
    for point, delta in zip(points, (0.9, 0.99)):
        order_2 = mp.log((mp.e**2 + mp.e**-1) / (1 + mp.e))
        truth = max((mp.e - mp.exp(order_2 + mp.log(1 / mp.mpf(delta)))) / (1 + mp.e), 0)
        assert point.left.estimate == pytest.approx(float(truth), rel=1e-9)


def test_the_second_release_may_depend_on_the_first():
    """δ at ε₁ + ε₂ of the worst laws, one after the other, is 1 - (1 - δ)²."""
    for point in composition.sequential(FULL):
        if point.where.startswith("(log"):
            delta = point.right.estimate / 2
            assert point.left.estimate == pytest.approx(1 - (1 - delta) ** 2, rel=1e-12), point.where


def test_the_tables_say_what_the_claims_say():
    basic, sampled = (exhibits()[name].table(Budget()) for name in ("variants_table_1", "variants_table_2"))
    assert list(basic["notion"].unique()) == [tables.DP, tables.MOMENTS, tables.RDP, tables.ZCDP]
    false = basic[basic["verdict there"] == "false"]
    assert set(false["class"]) == {"hypothesis missing"}  # nothing on the sheet is called false
    for (_, row), name in zip(false.iterrows(), ("Gauss", "adv", "Gauss", "mom"), strict=True):
        one = claims()[f"V.T1 {name} outside"]
        judged = judge(one.kind, evidence_of(one, points_of(one, Budget())))
        assert (row["decided at"], row["left"], row["domain"]) == (judged.where, judged.left.estimate, one.universe)
        assert row["left"] > row["right"]
    assert list(sampled["verdict there"]) == ["holds", "holds", "holds", "holds", "false"]
    assert list(sampled["class"])[-2:] == ["hypothesis missing"] * 2
