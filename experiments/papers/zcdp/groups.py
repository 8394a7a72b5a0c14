"""Sections 1.2, 5 and 6: groups of records."""

from math import ceil, exp, expm1, log, log1p
from typing import cast

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.renyi_divergences import by_quadrature
from tcdp_sim.noise import Laplace
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP, group_privacy, to_zcdp

EPSILON = 0.1


@claim("Z.P9 P27")
def groups(budget: Budget) -> Points:
    """Try Gaussian noise, and Laplace noise as ρ-zCDP and as (ξ, 0)-zCDP up to a ρ that hardly counts."""
    for size in budget.choose((2, 10), (1, 2, 3, 10, 100)):
        for order in (1.5, 8.0):
            normal, heavy = by_quadrature(3.0, size, order), exact.renyi_divergence(Laplace(4.0), size, order)
            tried = {"Gaussian(3)": (normal, ZCDP(1 / 18)), "Laplace(4) by ξ": (heavy, ZCDP(1e-9, 0.25))}
            tried["Laplace(4) by ρ"] = heavy, to_zcdp(PureDP(0.25), "tight")
            for name, (left, one) in tried.items():
                promised = cast(ZCDP, group_privacy(one, size))
                right = closed_form(promised.xi + promised.rho * order)
                yield Point(f"{name}, k = {size}, α = {order:g}", left, right)


@claim("Z.P9 P27 attained")
def attained(budget: Budget) -> Points:
    """Integrate the divergence of Gaussian noise moved by the size of the group."""
    for size in (2, 5, 30):
        for order in (1.0, 4.0, 32.0):
            right = closed_form(size**2 * order / 98)
            yield Point(f"k = {size}, α = {order:g}", by_quadrature(7.0, size, order), right)


@claim("Z.P9 P27 remark")
def pure_groups(budget: Budget) -> Points:
    """Compare max-divergences of Laplace noise, which attain kξ, with k H_k ξ."""
    for size in (2, 3, 10, 100):
        printed = cast(ZCDP, group_privacy(ZCDP(1e-9, 0.25), size))
        left = exact.renyi_divergence(Laplace(4.0), size, np.inf)
        yield Point(f"Laplace(4), k = {size}", left, closed_form(printed.xi))


@claim("Z.1.2e")
def vacuous_groups(budget: Budget) -> Points:
    """Find the first group size at which group privacy allows δ = 1, in the log domain."""
    for digits in (2, 4, 6, 10, 30, 100, 300, 10_000, 1_000_000):
        size = ceil((digits * log(10) + log(expm1(EPSILON))) / EPSILON)
        while log_delta(digits, size) < 0:
            size += 1
        while log_delta(digits, size - 1) >= 0:
            size -= 1
        form = closed_form(digits * log(10) / EPSILON)
        yield Point(f"ε = {EPSILON:g}, δ = 1e-{digits}: k = {size}", constant(float(size)), form, at=digits)


def log_delta(digits: int, size: int) -> float:
    """Return log of δ(e^(kε) - 1)/(e^ε - 1) at δ = 1e-digits, k = size: the δ that group privacy allows."""
    growth = size * EPSILON
    return growth + log1p(-exp(-growth)) - log(expm1(EPSILON)) - digits * log(10)


@claim("Z.6a")
def groups_that_are_private(budget: Budget) -> Points:
    """Take a group of one record, which is O(log(1/δ)/ε) too."""
    for delta in (1e-6, 1e-100):
        allowed = cast(ApproxDP, group_privacy(ApproxDP(EPSILON, delta), 1)).delta
        yield Point(f"ε = {EPSILON:g}, δ = {delta:g}, k = 1", constant(1.0), closed_form(allowed))
