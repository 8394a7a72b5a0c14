"""Sections 1.2 and 5: groups of records."""

from math import expm1, log, log1p
from typing import cast

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP, group, to_zcdp


@claim("Z.P9 P27")
def groups(budget: Budget) -> Points:
    """Gaussian noise, and Laplace noise as ρ-zCDP and as (ξ, 0)-zCDP up to a ρ that hardly counts."""
    for size in budget.choose((2, 10), (1, 2, 3, 10, 100)):
        for order in (1.5, 8.0):
            mixtures = exact.Mixture(Gaussian(3.0)), exact.Mixture(Gaussian(3.0), (float(size),))
            left = exact.renyi_divergence_between(*mixtures, order)
            yield _point(f"Gaussian(3), k = {size}, α = {order:g}", left, ZCDP(1 / 18), size, order)
            left = exact.renyi_divergence(Laplace(4.0), size, order)
            rho = to_zcdp(PureDP(0.25), "tight")
            yield _point(f"Laplace(4) by ρ, k = {size}, α = {order:g}", left, rho, size, order)
            yield _point(f"Laplace(4) by ξ, k = {size}, α = {order:g}", left, ZCDP(1e-9, 0.25), size, order)


def _point(where: str, left: exact.Bounds, one: ZCDP, size: int, order: float) -> Point:
    promised = cast(ZCDP, group(one, size))
    return Point(where, left, closed_form(promised.xi + promised.rho * order))


@claim("Z.P9 P27 attained")
def attained(budget: Budget) -> Points:
    """By quadrature."""
    for size in (2, 5, 30):
        for order in (1.0, 4.0, 32.0):
            mixtures = exact.Mixture(Gaussian(7.0)), exact.Mixture(Gaussian(7.0), (float(size),))
            left = exact.renyi_divergence_between(*mixtures, order)
            yield Point(f"k = {size}, α = {order:g}", left, closed_form(size**2 * order / 98))


@claim("Z.P9 P27 remark")
def pure_groups(budget: Budget) -> Points:
    """Max-divergences of Laplace noise, which attain kξ, below k H_k ξ."""
    for size in (2, 3, 10, 100):
        printed = cast(ZCDP, group(ZCDP(1e-9, 0.25), size))
        left = exact.renyi_divergence(Laplace(4.0), size, np.inf)
        yield Point(f"Laplace(4), k = {size}", left, closed_form(printed.xi))


@claim("Z.1.2e")
def vacuous_groups(budget: Budget) -> Points:
    """The first group size at which group privacy allows δ = 1."""
    epsilon = 0.1
    for digits in (2, 4, 6, 10, 30, 100, 300):
        size = int(np.ceil(log1p(expm1(epsilon) * 10.0**digits) / epsilon))
        while _delta(epsilon, digits, size) < 1:
            size += 1
        while _delta(epsilon, digits, size - 1) >= 1:
            size -= 1
        form = closed_form(digits * log(10) / epsilon)
        yield Point(f"ε = {epsilon:g}, δ = 1e-{digits}: k = {size}", constant(float(size)), form, at=digits)


def _delta(epsilon: float, digits: int, size: int) -> float:
    return cast(ApproxDP, group(ApproxDP(epsilon, 10.0**-digits), size)).delta
