"""Sections 1.1 and 3: the effect of sampling a fraction s of the records."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sampling_boxes import points_of_theorem_11, points_of_theorem_12
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.privacy import TCDP
from tcdp_sim.privacy.amplification.concentrated import certified_tcdp, largest_omega


def gaussian(rho: float) -> Gaussian:
    """Return the noise that is exactly rho-zCDP for a query of sensitivity one."""
    return Gaussian(float(1 / np.sqrt(2 * rho)))


def by_lemma_15(noise: Noise, s: float, order: int) -> Bounds[float]:
    """Return D_order(sP + (1-s)Q || Q) by Lemma 15.

    It is log1p of the sum over k >= 2 of C(a, k) (1-s)^(a-k) s^k (e^((k-1) D_k) - 1), divided by a - 1.
    """
    k = np.arange(2, order + 1)
    log_chance = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    log_chance += (order - k) * np.log1p(-s) + k * np.log(s)
    divergences = exact.renyi_divergence(noise, 1.0, k.astype(float))
    low, middle, high = (
        float(np.log1p(np.sum(np.exp(log_chance) * np.expm1((k - 1) * part)))) / (order - 1) for part in divergences
    )
    return Bounds(low * (1 - 1e-11), middle, high * (1 + 1e-11))


@claim("T.P3")
def amplification(budget: Budget) -> Points:
    """Yield our bound for every mechanism, up to half of each of the two orders in the minimum."""
    few = [(1.0, 4.6, 1e-4), (1.0, 5.0, 1e-8), (0.1, 8.0, 1e-4), (0.01, 50.0, 0.1)]
    more = [(1.0, 9.2, 1e-8), (0.5, 9.2, 1e-4), (0.1, 10.0, 0.01), (0.01, 20.0, 1e-4), (1e-3, 40.0, 0.01)]
    for rho, omega, s in budget.choose(few, [*few, *more]):
        left = closed_form(certified_tcdp(TCDP(rho, omega), s, omega / 2).rho, 1e-9) / rho / s / s
        yield Point(f"ρ = {rho:g}, ω = {omega:g}, s = {s:g}", left, constant(14.0))


@claim("T.P3 outside")
def large_rho(budget: Budget) -> Points:
    """Yield points of Gaussian noise at order 2, below log(1/s)/4ρ, by Lemma 15."""
    s = 1e-40
    for rho in (3.0, 5.0):
        left = by_lemma_15(gaussian(rho), s, 2) / (2 * rho) / s / s
        yield Point(f"ρ = {rho:g}, s = 1e-40, log(1/s)/4ρ = {np.log(1 / s) / (4 * rho):.3g}", left, constant(13.0))


@claim("T.P3 repaired")
def bounded_rho(budget: Budget) -> Points:
    """Yield points at orders up to log(1/s)/4ρ."""
    for rho, s in [(0.1, 1e-2), (0.5, 1e-4), (1.0, 1e-4), (1.0, 1e-8)]:
        end = float(np.log(1 / s)) / (4 * rho)
        orders = np.array([1.0, 2.0, 0.5 * end, end])
        ratios = pair_divergences.renyi(*pair_divergences.sampled(gaussian(rho), s), orders) / rho / s / s / orders
        for order, *ends in zip(orders, *ratios):
            yield Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.4g}", Bounds(*ends), constant(13.0))


@claim("T.1.1c")
def no_amplification(budget: Budget) -> Points:
    """Return points of Gaussian noise under sampling, at large orders."""
    return growing(
        np.arange(2.5, 5.5, 0.5),
        lambda order: pair_divergences.renyi(*pair_divergences.sampled(gaussian(0.1), 0.01), order),
        lambda order: 0.1 * order,
        "α",
    )


@claim("T.1.1c approximate")
def amplified_profile(budget: Budget) -> Points:
    """Yield the profile of the pair that attains it."""
    for name, noise in [("Gaussian", Gaussian(1.0)), ("Laplace", Laplace(1.0)), ("sinh-normal", SinhNormal(2.0, 5.0))]:
        for s, epsilon in [(0.01, 0.3), (0.5, 0.8)]:
            after = float(np.log1p(s * np.expm1(epsilon)))
            left = pair_divergences.delta(*pair_divergences.sampled(noise, s), after)
            right = exact.hockey_stick(noise, 1.0, epsilon) * s
            yield Point(f"{name}, s = {s:g}, ε = {epsilon:g}", left, right)


@claim("T.1.1c approximate, substituted")
def amplified_by_substitution(budget: Budget) -> Points:
    """Yield points of Gaussian noise around 1, 0 and a third place R, which the other records draw."""
    base = Gaussian(1.0)
    for place in (0.5, -1.0, 0.0):
        for s, epsilon in [(0.01, 0.3), (0.1, 0.3), (0.5, 0.8)]:
            after = float(np.exp(np.log1p(s * np.expm1(epsilon))))
            left = _hockey_stick_of_mixtures(base, place, s, after)
            farthest = max(abs(a - b) for a, b in ((1, 0), (1, place), (0, place)))
            right = exact.hockey_stick(base, float(farthest), epsilon) * s
            yield Point(f"R = {place:g}, s = {s:g}, ε = {epsilon:g}", left, right)


def _hockey_stick_of_mixtures(noise: Noise, place: float, s: float, ratio: float) -> Bounds[float]:
    """Return the integral of (sP + (1-s)R - ratio (sQ + (1-s)R))+ for noise around 1, 0 and `place`."""

    def excess(x: Floats) -> Floats:
        p, q, r = (noise.pdf(x - at) for at in (1.0, 0.0, place))
        return s * p + (1 - s) * r - ratio * (s * q + (1 - s) * r)

    x = np.linspace(-12, 12, 2401)
    turns = np.flatnonzero(np.diff(excess(x) > 0))
    kinks = [brentq(excess, x[i], x[i + 1]) for i in turns]
    return integrate(lambda x: np.maximum(excess(x), 0.0), np.sort([*x[::100], *kinks]), 1e-7)


@claim("T.T11")
def theorem_11(budget: Budget) -> Points:
    """Yield our bound for any mechanism, by its profile: on a box, and at points. Gaussian noise has at most 1.2."""
    yield from points_of_theorem_11(13.0)
    pairs = [(0.1, 0.1), (0.1, 1e-4), (0.01, 0.1), (0.01, 1e-3), (1e-5, 0.1), (0.1, 1e-20)]
    for rho, s in budget.choose(pairs, [*pairs, (0.1, 0.01), (0.1, 1e-9), (0.01, 0.01), (1e-3, 0.1), (1e-6, 1e-4)]):
        base = TCDP(rho, float(np.log(1 / s)) / (2 * rho))
        yield Point(f"ρ = {rho:g}, s = {s:g}", _constant(base, s, base.omega / 2), constant(13.0))


@claim("T.3a")
def amplified_epsilon(budget: Budget) -> Points:
    """Yield both inequalities on a grid."""
    for s in (0.01, 0.1, 0.5, 0.9):
        for epsilon in (0.1, 0.5, 1.0, 4.0, 20.0):
            value, linear = float(np.log1p(s * np.expm1(epsilon))), s * epsilon
            excess = Bounds(value - linear - 1e-13, value - linear, value - linear + 1e-13)
            yield Point(f"at least sε, s = {s:g}, ε = {epsilon:g}", closed_form(linear), closed_form(value))
            yield Point(f"at most sε + ε²/8, s = {s:g}, ε = {epsilon:g}", excess, closed_form(epsilon**2 / 8))


@claim("T.T12 eq5")
def theorem_12(budget: Budget) -> Points:
    """Yield a box, and the largest ω' that condition (5) admits at points, for any mechanism, by its profile."""
    yield from points_of_theorem_12(13.0)
    few = [(0.1, 0.01), (0.1, 1e-5), (0.01, 0.01), (0.01, 1e-5)]
    for rho, s in budget.choose(few, [*few, (0.05, 0.1), (0.05, 0.14), (0.1, 1e-9), (0.01, 1e-3)]):
        omega = largest_omega(rho, s)
        least = 2 + np.log2(1 / rho) + np.log2(1 / ((omega - 2) * s))
        assert omega >= least, "no order meets condition (5) here"
        left = _constant(TCDP(rho, omega), s, omega / 2)
        yield Point(f"ρ = {rho:g}, s = {s:g}, ω' = {omega:.4g} ≥ {least:.3g}", left, constant(13.0))


@claim("T.3c ten")
def constant_10(budget: Budget) -> Points:
    """Yield the same certificates against the constant that Section 3.1 quotes."""
    yield from [replace(point, right=constant(10.0)) for point in theorem_12(budget)]


@claim("T.3b")
def condition_5(budget: Budget) -> Points:
    """Return points of the right half of (5), as (ω' - 2) s exp(ρω') ≤ 1."""
    return _right_half([(0.1, 0.1), (0.1, 0.01), (0.05, 0.01), (0.01, 0.01), (0.01, 1e-5)])


@claim("T.3b repaired")
def condition_5_repaired(budget: Budget) -> Points:
    """Return points downwards from where the condition starts to hold."""
    return _right_half([(0.1, 9.2e-4), (0.1, 1e-6), (0.05, 1.3e-4), (0.01, 2.4e-6), (1e-3, 1.2e-8)])


@claim("T.3.1c step")
def order_of_another_version(budget: Budget) -> Points:
    """Return the points at twice the printed order."""
    return _right_half([(0.1, 1.867e-5), (0.1, 1e-4), (0.05, 1e-5), (0.01, 1e-4)], _printed_order)


@claim("T.3.1c")
def sampled_gaussian(budget: Budget) -> Points:
    """Yield points of Gaussian noise at the printed order, at half of it and at 2."""
    for rho, s in [(0.1, 1.867e-5), (0.1, 1e-4), (0.1, 0.1), (0.01, 0.01), (0.01, 1e-6)]:
        end = _printed_order(rho, s)
        for order in {2.0, max(end / 2, 1.1), end}:
            left = pair_divergences.renyi(*pair_divergences.sampled(gaussian(rho), s), order) / order / rho / s / s
            yield Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.4g}", left, constant(13.0))


def _printed_order(rho: float, s: float) -> float:
    return float(min(np.log(1 / s) / (3 * rho) + 0.5, 1 + s ** (-1 / 3)))


def _theorem_11(rho: float, s: float) -> float:
    return float(np.log(1 / s)) / (4 * rho)


def _right_half(pairs: list[tuple[float, float]], order: Callable[[float, float], float] = _theorem_11) -> Points:
    """Yield the points of condition (5) at ω', which is twice the order that it is to give."""
    for rho, s in pairs:
        omega = 2 * order(rho, s)
        left = closed_form(float((omega - 2) * s * np.exp(rho * omega)))
        yield Point(f"ρ = {rho:g}, s = {s:g}, ω' = {omega:.4g}", left, constant(1.0))


def _constant(base: TCDP, s: float, omega: float) -> Bounds[float]:
    """Return our bound on D_order / (s^2 rho order), below omega, for any mechanism with the guarantee."""
    most = certified_tcdp(base, s, omega).rho / (s * s * base.rho)
    return Bounds(0.0, most, most)
