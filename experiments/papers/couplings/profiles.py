"""Section 3: privacy profiles of noises, and losses, moments and groups in terms of profiles."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1
from typing import Any

import numpy as np
from scipy.special import ndtr

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.couplings.finite_laws import Law, as_side, hockey_stick, laws, renyi_moment
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)
NOISES: tuple[Noise, ...] = (Gaussian(1.0), Laplace(1.0), SinhNormal(2.0, 4.0))


@claim("S.T3 T4")
def noise_profiles(budget: Budget) -> Points:
    """Yield δ by quadrature of the two densities, Δ apart."""
    for theta in budget.choose((0.5, 3.0), (0.01, 0.1, 0.5, 1.0, 3.0, 10.0)):
        for epsilon in EPSILONS:
            sides = (Laplace(1.0), laplace_profile(theta, epsilon)), (Gaussian(1.0), gaussian_profile(theta, epsilon))
            for noise, right in sides:
                if right.lower > right.estimate * (1 - 2e-9):  # otherwise its digits are lost
                    left = _by_quadrature(noise, theta, epsilon)
                    yield Point(f"{noise.family}, θ = {theta:g}, ε = {epsilon:g}", left, right)


def laplace_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Return δ at ε of Laplace noise by Theorem 3, with theta = Δ/b."""
    return closed_form(max(-expm1((epsilon - theta) / 2), 0.0))


def gaussian_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Return δ at ε of Gaussian noise by Theorem 4, to the rounding of its first term, with theta = Δ/σ."""
    first = float(ndtr(theta / 2 - epsilon / theta))
    delta = first - exp(epsilon) * float(ndtr(-theta / 2 - epsilon / theta))
    slack = 1e-13 * first * (1 + (epsilon / theta) ** 2)
    return Bounds(max(delta - slack, 0.0), delta, delta + slack)


@claim("S.3c")
def classical_profile(budget: Budget) -> Points:
    """Yield all sizes of noise, from next to none to much. The bound is tightest near θ = 6.5 and ε = 1."""
    few = (0.05, 0.3, 1.0, 3.0, 6.5)
    thetas = budget.choose(few, (*few, *np.geomspace(0.012, 110, 30)))
    for epsilon in budget.choose((0.01, 0.5, 0.999), (1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)):
        for theta in thetas:
            right = 1.25 * exp(-(epsilon**2) / (2 * theta**2))
            if right > 1e-250:
                left = exact.hockey_stick(Gaussian(1.0), theta, epsilon)
                yield Point(f"θ = {theta:.4g}, ε = {epsilon:g}", left, closed_form(right))


@claim("S.T5 eq8")
def profile_by_losses(budget: Budget) -> Points:
    """Yield tail probabilities of the loss, against quadrature of the densities."""
    for noise in NOISES:
        for shift in budget.choose((1.0,), (0.1, 1.0, 3.0)):
            for epsilon in EPSILONS[:4]:
                left = exact.profile_from_losses(noise, shift, epsilon)
                if left.estimate > 1e-12:
                    right = _by_quadrature(noise, shift, epsilon)
                    yield Point(f"{noise!r}, shift {shift:g}, ε = {epsilon:g}", left, right)


def _by_quadrature(noise: Noise, shift: float, epsilon: float) -> Bounds[Any]:
    return pair_divergences.delta(*pair_divergences.moved(noise, shift), epsilon)


@claim("S.T5 eq8 tail")
def profile_below_tail(budget: Budget) -> Points:
    """Yield δ beside the tail probability, from which nothing is subtracted."""
    for noise in NOISES:
        for epsilon in budget.choose((0.0, 0.5), (0.0, 0.1, 0.5, 0.9, 2.0)):
            right = float(exact.PrivacyLossDistribution(noise, 1.0).sf(epsilon))
            if right > 1e-12:
                where = f"{noise!r}, shift 1, ε = {epsilon:g}"
                yield Point(where, _by_quadrature(noise, 1.0, epsilon), closed_form(right))


@claim("S.T6 eq9")
def moments_from_profiles(budget: Budget) -> Points:
    """Yield laws in exact fractions, with two profiles or (if symmetric) one, and noises by quadrature with one."""
    some = [tuple((x + Fraction(1, 4)) / 2 for x in law) for law in laws(2 * budget.choose(3, 20), 4, 11)]
    for i, (p, q) in enumerate(zip(some[::2], some[1::2])):
        for s in (1, 2, 5):
            left, right = renyi_moment(p, q, s + 1), moment_from_profiles(p, q, s)
            yield Point(f"pair {i + 1}, s = {s}", as_side(left), as_side(right))
            left, right = renyi_moment(p, p[::-1], s + 1), moment_from_profiles(p, p[::-1], s, one_profile=True)
            yield Point(f"law {i + 1} and the same in reverse, one profile, s = {s}", as_side(left), as_side(right))
    for power in (0.5, 3.0):
        yield _gaussian_moment(power)
        yield from [_laplace_moment(Laplace(scale), power) for scale in budget.choose((1.0,), (0.2, 1.0, 5.0))]


def moment_from_profiles(p: Law, q: Law, s: int, one_profile: bool = False) -> Fraction:
    """Return the right side of (9) in exact fractions for s = 1, 2, ... Profiles are piecewise linear in a = e^ε.

    If `one_profile`, the profile of (p, q) stands for that of (q, p) too, as in the theorem's second sentence.
    """
    rising = sum((_rising(x, y, s) for x, y in zip(p, q) if x > y), Fraction(0))
    back = (p, q) if one_profile else (q, p)
    return 1 + s * (s + 1) * (rising + sum((_rising(x, y, -s - 1) for x, y in zip(*back) if x > y), Fraction(0)))


def _rising(x: Fraction, y: Fraction, s: int) -> Fraction:
    """Return the integral of a^(s-1) (x - a y) over a from 1 to x/y, for s other than 0 and -1."""
    end = x / y
    return x * (end**s - 1) / s - y * (end ** (s + 1) - 1) / (s + 1)


def _gaussian_moment(s: float) -> Point:
    def integrand(epsilon: Floats) -> Floats:
        delta = exact.hockey_stick(Gaussian(1.0), 1.0, epsilon).estimate
        return np.asarray((np.exp(s * epsilon) + np.exp(-(s + 1) * epsilon)) * delta)

    integral = integrate(integrand, np.linspace(0, 40, 41))  # the loss is N(1/2, 1), with no mass beyond
    right = 1 + s * (s + 1) * integral * closed_form(1.0, 1e-10)  # the error of delta
    return Point(f"Gaussian noise, shift 1, one profile, s = {s:g}", closed_form(exp(s * (s + 1) / 2)), right)


def _laplace_moment(noise: Laplace, s: float) -> Point:
    def profile(epsilons: Floats) -> Bounds[Floats]:
        return exact.hockey_stick(noise, 1.0, epsilons)

    sides = exact.renyi_divergence(noise, 1.0, s + 1), exact.renyi_from_profile(profile, s + 1)
    left, right = (Bounds(*(exp(s * end) for end in side)) for side in sides)
    return Point(f"{noise!r}, shift 1, one profile, s = {s:g}", left, right)


@claim("S.3d")
def groups_white_box(budget: Budget) -> Points:
    """Yield additive noise: a group of k moves the answer by kΔ at most."""
    for noise in budget.choose(NOISES[:2], NOISES):
        for size in (2, 5):
            for epsilon in budget.choose((0.1, 1.5), (0.0, 0.1, 0.5, 1.5, 4.0, 8.0)):
                white, one = (exact.hockey_stick(noise, 0.3 * k, epsilon * k / size) for k in (size, 1))
                factor = expm1(epsilon) / expm1(epsilon / size) if epsilon else size
                black = (factor * one).clipped(0.0, 1.0)
                if white.estimate > 1e-200:
                    yield Point(f"{noise!r}, Δ = 0.3, k = {size}, ε = {epsilon:g}", white, black)


@claim("S.3d black box")
def groups_black_box(budget: Budget) -> Points:
    """Yield chains of laws, each a neighbour of the next, in exact fractions. The first chain attains the bound."""
    for a in (Fraction(1), Fraction(5, 4)):
        shares = [Fraction(n) / 10 for n in (1 + a + a * a, 1 + a, 1, 0)]  # each is a times the next, and a tenth
        chains: list[Sequence[Law]] = [[(x, 1 - x) for x in shares]]
        chains += [laws(4, 3, 100 + i) for i in range(budget.choose(4, 40))]
        for i, steps in enumerate(chains):
            one = max(hockey_stick(*pair, a) for pair in [*pairwise(steps), *pairwise(steps[::-1])])
            ends = max(hockey_stick(steps[0], steps[3], a**3), hockey_stick(steps[3], steps[0], a**3))
            yield Point(f"chain {i}, e^(ε/3) = {a}", as_side(ends), as_side((1 + a + a * a) * one))
