"""Section 3: privacy profiles of noises, and what they know of losses, moments and groups."""

from fractions import Fraction
from itertools import pairwise
from math import exp, expm1
from typing import Any

import numpy as np
from scipy.special import ndtr
from tcdp_sim.experiments.papers.couplings.finite_laws import Law, as_side, hockey_stick, laws, renyi_moment
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)
NOISES: tuple[Noise, ...] = (Gaussian(1.0), Laplace(1.0), SinhNormal(2.0, 4.0))


@claim("S.T3 T4", kind=Kind.IDENTITY, section="3", expected=Verdict.HOLDS)
def noise_profiles(budget: Budget) -> Evidence:
    """By quadrature of the two densities, Δ apart."""
    points = []
    for theta in budget.choose((0.5, 3.0), (0.01, 0.1, 0.5, 1.0, 3.0, 10.0)):
        for epsilon in EPSILONS:
            sides = (Laplace(1.0), laplace_profile(theta, epsilon)), (Gaussian(1.0), gaussian_profile(theta, epsilon))
            for noise, right in sides:
                if right.lower > right.estimate * (1 - 2e-9):  # else its digits are lost
                    left = _by_quadrature(noise, theta, epsilon)
                    points.append(Point(f"{noise.family}, θ = {theta:g}, ε = {epsilon:g}", left, right))
    return Evidence(
        points,
        measures="δ at ε by quadrature, against [1 - e^((ε - θ)/2)]₊ (Laplace) or Φ(θ/2 - ε/θ) - e^ε Φ(-θ/2 - ε/θ)",
        universe="θ = Δ/b or Δ/σ above 0, ε ≥ 0; answers Δ apart, which is the worst for these noises",
        tolerance=1e-8,
        proof=Proof.SYMBOLIC,
        why="the loss is monotone, so that the best event is a half-line, with probabilities in closed form",
    )


def laplace_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Theorem 3: δ at ε of Laplace noise, theta = Δ/b."""
    return closed_form(max(-expm1((epsilon - theta) / 2), 0.0))


def gaussian_profile(theta: float, epsilon: float) -> Bounds[float]:
    """Theorem 4: δ at ε of Gaussian noise, theta = Δ/σ; a difference, known to the rounding of its first term."""
    first = float(ndtr(theta / 2 - epsilon / theta))
    delta = first - exp(epsilon) * float(ndtr(-theta / 2 - epsilon / theta))
    slack = 1e-13 * first * (1 + (epsilon / theta) ** 2)
    return Bounds(max(delta - slack, 0.0), delta, delta + slack)


@claim("S.3c", kind=Kind.INEQUALITY, section="3", expected=Verdict.HOLDS)
def classical_profile(budget: Budget) -> Evidence:
    """All sizes of noise, from next to none to much."""
    few = (0.05, 0.3, 1.0, 3.0)
    thetas = budget.choose(few, (*few, *np.geomspace(0.012, 110, 30)))
    points = []
    for epsilon in budget.choose((0.01, 0.5, 0.999), (1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)):
        for theta in thetas:
            right = 1.25 * exp(-(epsilon**2) / (2 * theta**2))
            if right > 1e-250:
                left = exact.hockey_stick(Gaussian(1.0), theta, epsilon)
                points.append(Point(f"θ = {theta:.4g}, ε = {epsilon:g}", left, closed_form(right)))
    return Evidence(
        points,
        measures="exact δ at ε of Gaussian noise, against 1.25 e^(-ε²/2θ²)",
        universe="θ = Δ/σ above 0, 0 < ε < 1",
    )


@claim("S.T5 eq8", kind=Kind.IDENTITY, section="3", expected=Verdict.HOLDS)
def profile_by_losses(budget: Budget) -> Evidence:
    """Tail probabilities of the loss, against quadrature of the densities."""
    points = []
    for noise in NOISES:
        for shift in budget.choose((1.0,), (0.1, 1.0, 3.0)):
            for epsilon in EPSILONS[:4]:
                left = exact.profile_from_losses(noise, shift, epsilon)
                if left.estimate > 1e-12:
                    right = _by_quadrature(noise, shift, epsilon)
                    points.append(Point(f"{noise!r}, shift {shift:g}, ε = {epsilon:g}", left, right))
    return Evidence(
        points,
        measures="P[L > ε] - e^ε P'[L' < -ε], against δ at ε by quadrature",
        universe="any mechanism and neighbours, ε ≥ 0",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="the best event is {L > ε}, and P' of it is the chance that the other loss is below -ε",
    )


def _by_quadrature(noise: Noise, shift: float, epsilon: float) -> Bounds[Any]:
    return exact.hockey_stick_between(exact.Mixture(noise), exact.Mixture(noise, (shift,)), epsilon)


@claim(
    "S.T5 eq8",
    part="tail",
    title="It generalises δ ≤ P[L > ε]",
    kind=Kind.INEQUALITY,
    section="3",
    expected=Verdict.HOLDS,
)
def profile_below_tail(budget: Budget) -> Evidence:
    """By how much the older inequality is loose."""
    points = []
    for noise in NOISES:
        for epsilon in budget.choose((0.0, 0.5), (0.0, 0.1, 0.5, 0.9, 2.0)):
            right = float(exact.PrivacyLossDistribution(noise, 1.0).sf(epsilon))
            if right > 1e-12:
                where = f"{noise!r}, shift 1, ε = {epsilon:g}"
                points.append(Point(where, _by_quadrature(noise, 1.0, epsilon), closed_form(right)))
    return Evidence(
        points,
        measures="δ at ε, against P[L > ε]",
        universe="any mechanism and neighbours, ε ≥ 0",
        proof=Proof.SYMBOLIC,
        why="what is subtracted is a probability",
    )


@claim("S.T6 eq9", kind=Kind.IDENTITY, section="3", expected=Verdict.HOLDS)
def moments_from_profiles(budget: Budget) -> Evidence:
    """Pairs of laws in exact fractions, and Laplace noise by quadrature of its profile."""
    points = []
    for i, (p, q) in enumerate(_positive_pairs(budget.choose(3, 20))):
        for s in (1, 2, 5):
            left, right = renyi_moment(p, q, s + 1), moment_from_profiles(p, q, s)
            points.append(Point(f"pair {i + 1}, s = {s}", as_side(left), as_side(right)))
    for scale in budget.choose((1.0,), (0.2, 1.0, 5.0)):
        points += [_laplace_moment(Laplace(scale), power) for power in (0.5, 3.0)]
    return Evidence(
        points,
        measures="E e^(sL), against 1 + s(s+1) ∫ (e^(sε) δ + e^(-(s+1)ε) δ') dε",
        universe="any mechanism and neighbours, s > 0",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="r^(s+1) is its Taylor expansion at 1, the remainder an integral over a = e^ε; take means over r = p/q",
    )


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


@claim("S.3d", kind=Kind.INEQUALITY, section="3", expected=Verdict.HOLDS)
def groups_white_box(budget: Budget) -> Evidence:
    """Additive noise: a group of k moves the answer by kΔ at most."""
    points = []
    for noise in budget.choose(NOISES[:2], NOISES):
        for size in (2, 5):
            for epsilon in budget.choose((0.1, 1.5), (0.0, 0.1, 0.5, 1.5, 4.0, 8.0)):
                white, black = (exact.group_profile(noise, 0.3, epsilon, size, method) for method in ("white", "black"))
                if white.estimate > 1e-200:
                    points.append(Point(f"{noise!r}, Δ = 0.3, k = {size}, ε = {epsilon:g}", white, black))
    return Evidence(
        points,
        measures="exact δ at ε for groups of k, against ((e^ε - 1)/(e^(ε/k) - 1)) δ(ε/k)",
        universe="Laplace and Gaussian noise, k ≥ 1, ε ≥ 0",
        proof=Proof.SYMBOLIC,
        why="answers kΔ apart are joined by k steps of Δ: the exact one is a case of the bound for any mechanism",
    )


@claim(
    "S.3d",
    part="black box",
    title="The bound for any mechanism, ((e^ε - 1)/(e^(ε/k) - 1)) δ(ε/k)",
    kind=Kind.INEQUALITY,
    section="3",
    expected=Verdict.HOLDS,
)
def groups_black_box(budget: Budget) -> Evidence:
    """Chains of laws, each a neighbour of the next, in exact fractions."""
    points = []
    for chain in range(budget.choose(4, 40)):
        steps = laws(4, 3, 100 + chain)
        for a in (Fraction(1), Fraction(5, 4)):
            one = max(hockey_stick(*pair, a) for pair in [*pairwise(steps), *pairwise(steps[::-1])])
            ends = max(hockey_stick(steps[0], steps[3], a**3), hockey_stick(steps[3], steps[0], a**3))
            right = (1 + a + a * a) * one
            points.append(Point(f"chain {chain + 1}, e^(ε/3) = {a}", as_side(ends), as_side(right)))
    return Evidence(
        points,
        measures="largest divergence at ε between the ends of a chain of 3 steps, against the bound",
        universe="any mechanism, k ≥ 1, ε ≥ 0",
        proof=Proof.SYMBOLIC,
        why="D at ε + ε' of (P, R) is at most D at ε of (P, Q) + e^ε times D at ε' of (Q, R), k times",
    )
