"""Variants of differential privacy: a summary sheet, 2019."""

from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import Says, confirms
from tcdp_sim.experiments.papers.balls.arithmetic import Given, ball, largest, normal_tail, responses_delta
from tcdp_sim.experiments.papers.balls.divergences import renyi
from tcdp_sim.experiments.papers.balls.laws import SinhNormal
from tcdp_sim.experiments.papers.tcdp.balls import sampled_gaussian

if TYPE_CHECKING:
    from flint import arb


@confirms("V.T1 Gauss outside", Says.ABOVE)
def classical_variance() -> "tuple[arb, arb]":
    """δ(ε) of Gaussian noise with σ² = 2 log(1.25/δ)/ε² against δ: ε = 20, δ = 1e-5."""
    return _classical("20", "1e-5")


@confirms("V.T1 Gauss", Says.AT_MOST)
def classical_variance_below_one() -> "tuple[arb, arb]":
    """The same at ε = 0.999, δ = 0.9."""
    return _classical("0.999", "0.9")


def _classical(epsilon: Given, delta: Given) -> "tuple[arb, arb]":
    epsilon, delta = ball(epsilon), ball(delta)
    return _gaussian_delta(epsilon / _classical_width(delta), epsilon), delta


def _classical_width(delta: "arb") -> "arb":
    """Return εσ of the table's Gaussian noise."""
    return (2 * (ball("1.25") / delta).log()).sqrt()


def _gaussian_delta(distance: "arb", epsilon: "arb") -> "arb":
    """Return δ(ε) of two normal laws with a distance in standard deviations."""
    middle = epsilon / distance
    return normal_tail(middle - distance / 2) - epsilon.exp() * normal_tail(middle + distance / 2)


@confirms("V.T1 adv outside", Says.ABOVE)
def many_responses() -> "tuple[arb, arb]":
    """δ of k = 5000 randomised responses, ε = 0.3, at the promised total 2ε√(2k log(1/δ')) = 223, against δ' = 1e-6."""
    return _responses(5000, "0.3", "1e-6", full=False)


@confirms("V.T1 adv repaired", Says.AT_MOST)
def many_responses_in_full() -> "tuple[arb, arb]":
    """The same at ε√(2k log(1/δ')) + kε(e^ε - 1) = 636."""
    return _responses(5000, "0.3", "1e-6", full=True)


@confirms("V.T1 adv", Says.AT_MOST)
def responses_of_little_total() -> "tuple[arb, arb]":
    """The short form at a total below 1: k = 1000, ε = 0.01, δ' = 0.5, promised 0.745."""
    return _responses(1000, "0.01", "0.5", full=False)


def _responses(releases: int, epsilon: Given, slack: Given, full: bool) -> "tuple[arb, arb]":
    epsilon, slack = ball(epsilon), ball(slack)
    spread = epsilon * (-2 * releases * slack.log()).sqrt()
    total = spread + releases * epsilon * epsilon.expm1() if full else 2 * spread
    return responses_delta(releases, epsilon, total), slack


@confirms("V.T1 mom outside", Says.ABOVE)
def many_gaussians() -> "tuple[arb, arb]":
    """δ of k = 1e6 Gaussians, ε = 0.9, δ = 1e-5, at the promised total 4ε√(2k log(1/δ)) = 17,275, against δ."""
    epsilon, delta, k = ball("0.9"), ball("1e-5"), 10**6
    return _gaussians(epsilon, delta, k, 4 * epsilon * (-2 * k * delta.log()).sqrt())


@confirms("V.T1 mom repaired", Says.AT_MOST)
def many_gaussians_by_zcdp() -> "tuple[arb, arb]":
    """The same at kρ + 2√(kρ log(1/δ)), ρ = ε²/(4 log(1.25/δ))."""
    epsilon, delta, k = ball("0.9"), ball("1e-5"), 10**6
    rho = k * (epsilon / _classical_width(delta)) ** 2 / 2
    return _gaussians(epsilon, delta, k, rho + 2 * (-rho * delta.log()).sqrt())


def _gaussians(epsilon: "arb", delta: "arb", releases: int, total: "arb") -> "tuple[arb, arb]":
    """Return δ at `total` of k Gaussians, which are one at √k times the distance, and the promised delta."""
    return _gaussian_delta(ball(releases).sqrt() * epsilon / _classical_width(delta), total), delta


@confirms("V.asinh outside", Says.ABOVE)
def small_knee() -> "tuple[arb, arb]":
    """D_a/(16ρa) against 1 of variance 1/2ρ and A = 16: ρ = 1e-4, a = 1.9999 < A/8 = 2."""
    return _share(ball(5000).sqrt(), 16, "1.9999", ball("16e-4")), ball(1)


@confirms("V.asinh", Says.AT_MOST)
def knee_as_proved() -> "tuple[arb, arb]":
    """The same at A = 100 = 1/√ρ, a = 12.4999 < A/8."""
    return _share(ball(5000).sqrt(), 100, "12.4999", ball("16e-4")), ball(1)


@confirms("V.asinh2 outside", Says.ABOVE)
def small_omega() -> "tuple[arb, arb]":
    """D_a/(ρa) against 1 of variance 8/ρ and A = 8ω: ω√ρ = 0.05, ρ = 1e-4, a = 4.9999 < ω = 5."""
    return _share(ball(80000).sqrt(), 40, "4.9999", ball("1e-4")), ball(1)


@confirms("V.asinh2", Says.AT_MOST)
def omega_as_proved() -> "tuple[arb, arb]":
    """The same at ω√ρ = 1/2, a = 49.999 < ω = 50."""
    return _share(ball(80000).sqrt(), 400, "49.999", ball("1e-4")), ball(1)


def _share(scale: "arb", knee: int, order: Given, promised: "arb") -> "arb":
    return renyi(SinhNormal(scale, knee), 1, order) / (ball(order) * promised)


@confirms("V.T2 tcdp outside", Says.ABOVE)
def sampled_at_large_rho() -> "tuple[arb, arb]":
    """D_2/(26s²ρ) of sampled Gaussian noise against 1: ρ = 5, s = 1e-40, log(1/s)/4ρ = 4.6."""
    return sampled_gaussian("5", "1e-40", 2) / 13, ball(1)


@confirms("V.T2 tcdp", Says.AT_MOST)
def sampled_at_small_rho() -> "tuple[arb, arb]":
    """D_a/(13s²ρa) at ρ = s = 0.1, the largest over a = 2, 3, 4, 5 < log(1/s)/4ρ = 5.76."""
    return largest(sampled_gaussian("0.1", "0.1", order) for order in range(2, 6)) / 13, ball(1)
