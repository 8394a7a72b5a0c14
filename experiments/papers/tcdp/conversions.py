"""Sections 1.3, 2.1 and 2.3: tails of the privacy loss by notion, and what tCDP implies and is implied by."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import RDP, TCDP, ZCDP, Guarantee, PureDP, group, lemma_8, loss_tail_bound, pure_renyi
from tcdp_sim.privacy import to_approx_dp as convert

NOISE, OMEGA = SinhNormal(scale=3.0, knee=10.0), 4.0


@claim("T.1.3a–d")
def tails(budget: Budget) -> Points:
    """Gaussian noise under zCDP, sinh-normal noise under tCDP on both branches and under Rényi DP."""
    rho = largest_cost(NOISE, OMEGA).upper
    renyi = exact.renyi_divergence(NOISE, 1.0, OMEGA).upper
    cases: list[tuple[str, Noise, Guarantee]] = [
        ("zero-concentrated", Gaussian(3.0), ZCDP(1 / 18)),
        ("truncated concentrated", NOISE, TCDP(rho, OMEGA)),
        ("Rényi", NOISE, RDP(OMEGA, renyi)),
    ]
    for name, noise, promise in cases:
        loss = PrivacyLossDistribution(noise, 1.0)
        for t in (0.1, 0.3, rho * (2 * OMEGA - 1), 0.8, 1.5, 3.0):
            left = closed_form(float(loss.sf(t)), 1e-9)
            right = closed_form(loss_tail_bound(promise, t))
            yield Point(f"{name}, loss above {t:.3g}", left, right)


@claim("T.1.3a–d pure")
def pure_tail(budget: Budget) -> Points:
    """Laplace noise of scale 1/ε, whose largest loss at a shift of one is ε."""
    for epsilon in (0.1, 1.0, 5.0):
        for shift in (0.5, 1.0):
            largest = closed_form(float(PrivacyLossDistribution(Laplace(1 / epsilon), shift).isf(0.0)))
            yield Point(f"ε = {epsilon:g}, shift {shift:g}", largest, constant(epsilon))


@claim("T.1.3e")
def approximate_tail(budget: Budget) -> Points:
    """Two outputs: one of probability p with a loss of 2ε (a trifle more), where p = δ/(1 - e^(ε - loss))."""
    delta = 1e-6
    for epsilon in (1.0, 0.1, 0.01):
        loss = 2 * epsilon * (1 + 1e-9)
        p = delta / -np.expm1(epsilon - loss)
        other = (1 - p) - np.exp(epsilon) * (1 - p * np.exp(-loss))  # the second output adds nothing, either way
        back = (1 - p * np.exp(-loss)) - np.exp(epsilon) * (1 - p)
        assert max(other, back) < 0, "the pair is not (ε, δ)-DP"
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}", closed_form(float(p / delta), 1e-8), constant(10.0))


@claim("T.1.3e one way")
def tail_to_profile(budget: Budget) -> Points:
    """The profile is at most the tail."""
    for name, noise in [("Gaussian", Gaussian(1.0)), ("Laplace", Laplace(1.0)), ("sinh-normal", NOISE)]:
        loss = PrivacyLossDistribution(noise, 1.0)
        for epsilon in (0.05, 0.3, 0.9):
            left = exact.hockey_stick(noise, 1.0, epsilon)
            yield Point(f"{name}, ε = {epsilon:g}", left, closed_form(float(loss.sf(epsilon)), 1e-9))


@claim("T.1.3f")
def pure_to_tcdp(budget: Budget) -> Points:
    """Randomised response, the worst ε-DP mechanism at every order."""
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        for order in (1.0, 2.0, 8.0, 100.0):
            left = closed_form(pure_renyi(epsilon, order) / (order * epsilon**2 / 2), 1e-9)
            yield Point(f"ε = {epsilon:g}, α = {order:g}", left, constant(1.0))


@claim("T.L6 L8 2.1")
def to_approx_dp(budget: Budget) -> Points:
    """Both branches; above δ = 1 the printed formula is no number, and there is nothing to promise."""
    rho = largest_cost(NOISE, OMEGA).upper
    for name, noise, promise in [("Gaussian", Gaussian(3.0), TCDP(1 / 18, 3.0)), ("sinh-normal", NOISE, TCDP(rho, 4))]:
        for delta in (0.99, 0.8, 0.3, 1e-2, 1e-6):
            epsilon = convert(promise, delta, "paper").epsilon
            left = exact.hockey_stick(noise, 1.0, epsilon)
            yield Point(f"{name}, δ = {delta:g}, ε = {epsilon:.4g}", left, constant(delta))


@claim("T.L6 L8 2.1 best order")
def best_order(budget: Budget) -> Points:
    """Orders below, at and above the best one."""
    points: list[Point] = []
    for rho, omega, delta in [(0.1, 5.0, 1e-6), (0.1, 50.0, 1e-6), (1.0, 3.0, 0.1)]:
        least = closed_form(convert(TCDP(rho, omega), delta, "paper").epsilon, 1e-12)
        best = min(omega, 1 + float(np.sqrt(np.log(1 / delta) / rho)))
        for order in (1 + 0.3 * (best - 1), 1 + 0.9 * (best - 1), best, min(omega, 1.2 * best + 0.1)):
            right = closed_form(lemma_8(rho, order, delta).epsilon, 1e-12)
            name = f"ρ = {rho:g}, ω = {omega:g}, δ = {delta:g}, α = {order:.4g}"
            if name not in {point.where for point in points}:
                points.append(Point(name, least, right))
    return points


@claim("T.1.3h")
def advice(budget: Budget) -> Points:
    """Groups of g = √(1/2ρ) get what ε = 1 means, (1/2, ω/g)-tCDP; ω = √(1/2ρ) leaves the order ω/g = 1."""
    for size in (2, 5, 50):
        rho = 1 / (2 * size**2)
        together = group(TCDP(rho, 3.0 * size), size)
        assert isinstance(together, TCDP)
        yield Point(f"ρ = 1/(2·{size}²): ρ of the group", closed_form(together.rho), constant(0.5))
        yield Point(f"ρ = 1/(2·{size}²): order per ω√(2ρ)", closed_form(together.omega / 3.0), constant(1.0))
        epsilon = closed_form(float(np.sqrt(2 * rho)) * size)
        yield Point(f"ρ = 1/(2·{size}²): pure DP of ε = √(2ρ)", epsilon, constant(1.0))


@claim("T.F1")
def figure_1(budget: Budget) -> Points:
    """At the parameters ρ = 0.1, ω = 3, ε = √(2ρ): where the curves run as drawn."""
    rho, omega = 0.1, 3.0
    promises = {
        "zCDP": ZCDP(rho),
        "tCDP": TCDP(rho, omega),
        "Rényi": RDP(omega, rho * omega),
        "pure": PureDP(float(np.sqrt(2 * rho))),
    }
    for t, order in [(0.35, "tCDP Rényi"), (0.7, "zCDP tCDP"), (1.0, "pure zCDP tCDP"), (3.0, "pure zCDP tCDP")]:
        bounds = [closed_form(loss_tail_bound(promises[name], t)) for name in order.split()]
        for low, high, names in zip(bounds, bounds[1:], zip(order.split(), order.split()[1:])):
            yield Point(f"loss above {t:g}: {names[0]} below {names[1]}", low, high)


@claim("T.2.3")
def basic_algorithms(budget: Budget) -> Points:
    """Per order, over what is promised: ε²/2 of Laplace noise and the exponential mechanism, Δ²/2σ² of Gaussian."""
    for epsilon in (0.1, 1.0, 3.0):
        laplace = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 2.0)
        yield Point(f"Laplace, ε = {epsilon:g}", _over(laplace, 2.0 * epsilon**2 / 2), constant(1.0))
        p, q = (exact.selection_distribution("exponential_mechanism", epsilon, scores) for scores in ([0, 1], [1, 0]))
        chosen = exact.divergence_of_outputs(p, q, 2.0)
        yield Point(f"exponential mechanism, ε = {epsilon:g}", _over(chosen, 2.0 * epsilon**2 / 2), constant(1.0))
        gaussian = exact.renyi_divergence_between(
            exact.Mixture(Gaussian(1 / epsilon)), exact.Mixture(Gaussian(1 / epsilon), (1.0,)), 2.0
        )
        yield Point(f"Gaussian, σ = {1 / epsilon:g}", _over(gaussian, 2.0 * epsilon**2 / 2), constant(1.0))


def _over(bounds: Bounds[float], by: float) -> Bounds[float]:
    return Bounds(bounds.lower / by, bounds.estimate / by, bounds.upper / by)
