"""Section 3: privacy profiles of noises, and what they know of losses, moments and groups."""

from fractions import Fraction
from itertools import pairwise
from math import exp, expm1
from typing import Any

import numpy as np
from scipy.special import ndtr
from tcdp_sim.experiments.papers.couplings.finite_laws import Law, as_side, hockey_stick, laws, renyi_moment
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)
NOISES: tuple[Noise, ...] = (Gaussian(1.0), Laplace(1.0), SinhNormal(2.0, 4.0))


@claim("S.T3 T4")
def noise_profiles(budget: Budget) -> Points:
    """By quadrature of the two densities, Δ apart."""
    for theta in budget.choose((0.5, 3.0), (0.01, 0.1, 0.5, 1.0, 3.0, 10.0)):
        for epsilon in EPSILONS:
            sides = (Laplace(1.0), laplace_profile(theta, epsilon)), (Gaussian(1.0), gaussian_profile(theta, epsilon))
            for noise, right in sides:
                if right.lower > right.estimate * (1 - 2e-9):  # else its digits are lost
                    left = _by_quadrature(noise, theta, epsilon)
                    yield Point(f"{noise.family}, θ = {theta:g}, ε = {epsilon:g}", left, right)


def laplace_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Theorem 3: δ at ε of Laplace noise, theta = Δ/b."""
    return closed_form(max(-expm1((epsilon - theta) / 2), 0.0))


def gaussian_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Theorem 4: δ at ε of Gaussian noise, theta = Δ/σ; a difference, known to the rounding of its first term."""
    first = float(ndtr(theta / 2 - epsilon / theta))
    delta = first - exp(epsilon) * float(ndtr(-theta / 2 - epsilon / theta))
    slack = 1e-13 * first * (1 + (epsilon / theta) ** 2)
    return Bounds(max(delta - slack, 0.0), delta, delta + slack)


@claim("S.3c")
def classical_profile(budget: Budget) -> Points:
    """All sizes of noise, from next to none to much."""
    few = (0.05, 0.3, 1.0, 3.0)
    thetas = budget.choose(few, (*few, *np.geomspace(0.012, 110, 30)))
    for epsilon in budget.choose((0.01, 0.5, 0.999), (1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)):
        for theta in thetas:
            right = 1.25 * exp(-(epsilon**2) / (2 * theta**2))
            if right > 1e-250:
                left = exact.hockey_stick(Gaussian(1.0), theta, epsilon)
                yield Point(f"θ = {theta:.4g}, ε = {epsilon:g}", left, closed_form(right))


@claim("S.T5 eq8")
def profile_by_losses(budget: Budget) -> Points:
    """Tail probabilities of the loss, against quadrature of the densities."""
    for noise in NOISES:
        for shift in budget.choose((1.0,), (0.1, 1.0, 3.0)):
            for epsilon in EPSILONS[:4]:
                left = exact.profile_from_losses(noise, shift, epsilon)
                if left.estimate > 1e-12:
                    right = _by_quadrature(noise, shift, epsilon)
                    yield Point(f"{noise!r}, shift {shift:g}, ε = {epsilon:g}", left, right)


def _by_quadrature(noise: Noise, shift: float, epsilon: float) -> Bounds[Any]:
    return exact.hockey_stick_between(exact.Mixture(noise), exact.Mixture(noise, (shift,)), epsilon)


@claim("S.T5 eq8 tail")
def profile_below_tail(budget: Budget) -> Points:
    """By how much the older inequality is loose."""
    for noise in NOISES:
        for epsilon in budget.choose((0.0, 0.5), (0.0, 0.1, 0.5, 0.9, 2.0)):
            right = float(exact.PrivacyLossDistribution(noise, 1.0).sf(epsilon))
            if right > 1e-12:
                where = f"{noise!r}, shift 1, ε = {epsilon:g}"
                yield Point(where, _by_quadrature(noise, 1.0, epsilon), closed_form(right))


@claim("S.T6 eq9")
def moments_from_profiles(budget: Budget) -> Points:
    """Pairs of laws in exact fractions, and Laplace noise by quadrature of its profile."""
    for i, (p, q) in enumerate(_positive_pairs(budget.choose(3, 20))):
        for s in (1, 2, 5):
            left, right = renyi_moment(p, q, s + 1), moment_from_profiles(p, q, s)
            yield Point(f"pair {i + 1}, s = {s}", as_side(left), as_side(right))
    for scale in budget.choose((1.0,), (0.2, 1.0, 5.0)):
        yield from [_laplace_moment(Laplace(scale), power) for power in (0.5, 3.0)]


def _positive_pairs(count: int) -> list[tuple[Law, Law]]:
    even = tuple(Fraction(1, 4) for _ in range(4))
    some = [tuple((x + y) / 2 for x, y in zip(law, even)) for law in laws(2 * count, 4, 11)]
    return list(zip(some[::2], some[1::2]))


def moment_from_profiles(p: Law, q: Law, s: int) -> Fraction:
    """The right side of (9) in exact fractions, s = 1, 2, ...: in a = e^ε the profiles are pieces of straight lines.

    ∫ a^(s-1) (x - a y)₊ da and ∫ a^(-s-2) (y - a x)₊ da from 1 on, for every output.
    """
    total = Fraction(0)
    for x, y in zip(p, q):
        if x > y:
            end = x / y
            total += x * (end**s - 1) / s - y * (end ** (s + 1) - 1) / (s + 1)
        elif y > x:
            end = x / y  # 1 over the ratio at which the integrand ends
            total += y * (1 - end ** (s + 1)) / (s + 1) - x * (1 - end**s) / s
    return 1 + s * (s + 1) * total


def _laplace_moment(noise: Laplace, s: float) -> Point:
    def profile(epsilons: Floats) -> Bounds[Floats]:
        return exact.hockey_stick(noise, 1.0, epsilons)

    sides = exact.renyi_divergence(noise, 1.0, s + 1), exact.renyi_from_profile(profile, s + 1)
    left, right = (Bounds(*(exp(s * end) for end in side)) for side in sides)
    return Point(f"{noise!r}, shift 1, s = {s:g}", left, right)


@claim("S.3d")
def groups_white_box(budget: Budget) -> Points:
    """Additive noise: a group of k moves the answer by kΔ at most."""
    for noise in budget.choose(NOISES[:2], NOISES):
        for size in (2, 5):
            for epsilon in budget.choose((0.1, 1.5), (0.0, 0.1, 0.5, 1.5, 4.0, 8.0)):
                white, black = (exact.group_profile(noise, 0.3, epsilon, size, method) for method in ("white", "black"))
                if white.estimate > 1e-200:
                    yield Point(f"{noise!r}, Δ = 0.3, k = {size}, ε = {epsilon:g}", white, black)


@claim("S.3d black box")
def groups_black_box(budget: Budget) -> Points:
    """Chains of laws, each a neighbour of the next, in exact fractions."""
    for chain in range(budget.choose(4, 40)):
        steps = laws(4, 3, 100 + chain)
        for a in (Fraction(1), Fraction(5, 4)):
            one = max(hockey_stick(*pair, a) for pair in [*pairwise(steps), *pairwise(steps[::-1])])
            ends = max(hockey_stick(steps[0], steps[3], a**3), hockey_stick(steps[3], steps[0], a**3))
            right = (1 + a + a * a) * one
            yield Point(f"chain {chain + 1}, e^(ε/3) = {a}", as_side(ends), as_side(right))
