"""Sections 1.2 and 5: groups of records."""

from math import expm1, log, log1p
from typing import cast

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP, group, to_zcdp


@claim("Z.P9 P27", kind=Kind.INEQUALITY, section="1.2, 5", expected=Verdict.HOLDS)
def groups(budget: Budget) -> Evidence:
    """Gaussian noise, and Laplace noise as ρ-zCDP and as (ξ, 0)-zCDP up to a ρ that hardly counts."""
    points = []
    for size in budget.choose((2, 10), (1, 2, 3, 10, 100)):
        for order in (1.5, 8.0):
            mixtures = exact.Mixture(Gaussian(3.0)), exact.Mixture(Gaussian(3.0), (float(size),))
            left = exact.renyi_divergence_between(*mixtures, order)
            points.append(_point(f"Gaussian(3), k = {size}, α = {order:g}", left, ZCDP(1 / 18), size, order))
            left = exact.renyi_divergence(Laplace(4.0), size, order)
            rho = to_zcdp(PureDP(0.25), "tight")
            points.append(_point(f"Laplace(4) by ρ, k = {size}, α = {order:g}", left, rho, size, order))
            points.append(_point(f"Laplace(4) by ξ, k = {size}, α = {order:g}", left, ZCDP(1e-9, 0.25), size, order))
    return Evidence(
        points,
        measures="D_α of a group of k, against ξ k H_k + ρk²α (nats)",
        universe="(ξ, ρ)-zCDP, groups of k ≥ 1, α > 1",
        tolerance=1e-9,
        proof=Proof.SYMBOLIC,
        why="induction: Lemma 26 with its k the group's size, and kα/(kα - 1) ≤ k/(k - 1)",
    )


def _point(where: str, left: exact.Bounds, one: ZCDP, size: int, order: float) -> Point:
    promised = cast(ZCDP, group(one, size))
    return Point(where, left, closed_form(promised.xi + promised.rho * order))


@claim(
    "Z.P9 P27",
    part="attained",
    title="Gaussian noise attains ρk² for all groups at all orders",
    kind=Kind.IDENTITY,
    section="1.2, 5",
    expected=Verdict.HOLDS,
)
def attained(budget: Budget) -> Evidence:
    """By quadrature."""
    points = []
    for size in (2, 5, 30):
        for order in (1.0, 4.0, 32.0):
            mixtures = exact.Mixture(Gaussian(7.0)), exact.Mixture(Gaussian(7.0), (float(size),))
            left = exact.renyi_divergence_between(*mixtures, order)
            points.append(Point(f"k = {size}, α = {order:g}", left, closed_form(size**2 * order / 98)))
    return Evidence(
        points,
        measures="D_α of Gaussian(7) by quadrature, against k²ρα (nats)",
        universe="Gaussian noise, k ≥ 1, α ≥ 1",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="D_α = α(kΔ)²/2σ² is k² times that of one record",
    )


@claim(
    "Z.P9 P27",
    part="remark",
    title="k H_k is not the best factor of ξ: (ξ, 0)-zCDP gives (kξ, 0)-zCDP",
    kind=Kind.ORDERING,
    section="5",
    expected=Verdict.HOLDS,
)
def pure_groups(budget: Budget) -> Evidence:
    """Max-divergences of Laplace noise, which attain kξ, below k H_k ξ."""
    points = []
    for size in (2, 3, 10, 100):
        printed = cast(ZCDP, group(ZCDP(1e-9, 0.25), size))
        left = exact.renyi_divergence(Laplace(4.0), size, np.inf)
        points.append(Point(f"Laplace(4), k = {size}", left, closed_form(printed.xi)))
    return Evidence(
        points,
        measures="D_∞ of a group of k, which is kξ, against ξ k H_k (nats)",
        universe="ξ-DP, k ≥ 2",
        proof=Proof.SYMBOLIC,
        why="max-divergences obey the triangle inequality, and H_k > 1",
    )


@claim("Z.1.2e", kind=Kind.ASYMPTOTIC, section="1.2, 6", expected=Verdict.CONSISTENT)
def vacuous_groups(budget: Budget) -> Evidence:
    """The first group size at which group privacy allows δ = 1."""
    points = []
    epsilon = 0.1
    for digits in (2, 4, 6, 10, 30, 100, 300):
        size = int(np.ceil(log1p(expm1(epsilon) * 10.0**digits) / epsilon))
        while _delta(epsilon, digits, size) < 1:
            size += 1
        while _delta(epsilon, digits, size - 1) >= 1:
            size -= 1
        form = closed_form(digits * log(10) / epsilon)
        points.append(Point(f"ε = {epsilon:g}, δ = 1e-{digits}: k = {size}", constant(float(size)), form, at=digits))
    return Evidence(
        points,
        measures="the first k with δ(e^(kε) - 1)/(e^ε - 1) ≥ 1, over log(1/δ)/ε",
        universe="(ε, δ)-DP, δ → 0 at fixed ε",
    )


def _delta(epsilon: float, digits: int, size: int) -> float:
    return cast(ApproxDP, group(ApproxDP(epsilon, 10.0**-digits), size)).delta
