"""Section 3: zCDP beside pure and (epsilon, delta)-differential privacy."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.sides import ONE, scaled

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, pure_renyi, to_approx_dp, zcdp_budget

HALVINGS = 60


def least_epsilon(noise: Noise, delta: float) -> Bounds[float]:
    """The least epsilon >= 0 (nats) at which noise and itself shifted by one count are (epsilon, delta) apart."""
    low, high = 0.0, 1.0
    while exact.hockey_stick(noise, 1.0, high).upper > delta:
        high *= 2
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        spent = exact.hockey_stick(noise, 1.0, middle)
        if spent.lower > delta:
            low = middle
        elif spent.upper <= delta:
            high = middle
        else:
            break
    return Bounds(low, 0.5 * (low + high), high)


@claim("Z.P3 L21")
def conversion(budget: Budget) -> Points:
    """In epsilon, as that is what is given away; Laplace noise as (ε, 0)-zCDP, up to a ρ that hardly counts."""
    for rho, delta in budget.choose([(0.1, 1e-6), (1.0, 0.1)], [(0.1, 1e-6), (1.0, 0.1), (1e-3, 1e-9), (10.0, 1e-6)]):
        printed = closed_form(to_approx_dp(ZCDP(rho), delta, "paper").epsilon)
        left = least_epsilon(Gaussian(float(np.sqrt(0.5 / rho))), delta)
        yield Point(f"Gaussian, ρ = {rho:g}, δ = {delta:g}", left, printed)
    for epsilon, delta in ((0.5, 1e-6), (2.0, 0.01)):
        printed = closed_form(to_approx_dp(ZCDP(1e-6, epsilon), delta, "paper").epsilon)
        left = least_epsilon(Laplace(1 / epsilon), delta)
        yield Point(f"Laplace, ξ = {epsilon:g}, ρ = 1e-6, δ = {delta:g}", left, printed)


@claim("Z.L21b")
def inverse_conversion(budget: Budget) -> Points:
    """The conversion of the budget gives back the epsilon that it was made for."""
    for epsilon, delta, xi in ((1.0, 1e-6, 0.0), (0.01, 1e-9, 0.0), (5.0, 0.1, 1.0), (30.0, 1e-3, 0.2)):
        back = to_approx_dp(zcdp_budget(epsilon, delta, xi), delta, "paper").epsilon
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}, ξ = {xi:g}", closed_form(back), constant(epsilon))


@claim("Z.L21b roughly")
def rough_inverse(budget: Budget) -> Points:
    """As delta falls; from below."""
    for digits in (1, 3, 10, 30, 100, 300):
        left = closed_form(zcdp_budget(1.0, 10.0**-digits).rho)
        yield Point(f"ε = 1, δ = 1e-{digits}", left, closed_form(1 / (4 * digits * np.log(10))), at=digits)


@claim("Z.P4 P19 R20")
def pure_to_zcdp(budget: Budget) -> Points:
    """Randomised response; beyond order 2/ε the divergence, at most ε, cannot break the bound."""
    for epsilon in budget.choose((0.01, 1.0, 1.9), (1e-4, 0.01, 0.1, 0.5, 1.0, 1.5, 1.9)):
        for order in np.geomspace(1.0, 2 / epsilon, 5):
            ratio = closed_form(2 * pure_renyi(epsilon, float(order)) / (epsilon**2 * order), 1e-12)
            yield Point(f"randomised response, ε = {epsilon:g}, α = {order:.4g}", ratio, ONE)
    for epsilon in (0.5, 4.0):
        left = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 2.0)
        yield Point(f"Laplace, ε = {epsilon:g}, α = 2", scaled(left, 1 / epsilon**2), ONE)


@claim("Z.P4 P19 R20 mean loss")
def mean_loss(budget: Budget) -> Points:
    """And the exact mean loss below both."""
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        new, old = closed_form(0.5 * epsilon**2), closed_form(0.5 * epsilon * np.expm1(epsilon))
        yield Point(f"ε = {epsilon:g}", new, old)
        exactly = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 1.0)
        yield Point(f"ε = {epsilon:g}, the exact mean loss of Laplace noise", exactly, new)


@claim("Z.P19b")
def hyperbolic_sines(budget: Budget) -> Points:
    """On a grid up to 2, and beyond, where it holds as well."""
    xs = (0.1, 0.5, 1.0, 1.5, 2.0, 5.0, 30.0)
    for x in xs:
        for share in budget.choose((0.0, 0.5, 0.99), (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999)):
            y = share * x
            left = np.logaddexp((x + y) / 2, -(x + y) / 2) - np.logaddexp((x - y) / 2, -(x - y) / 2) - 0.5 * x * y
            yield Point(f"x = {x:g}, y = {share:g} x", closed_form(float(np.exp(left))), ONE)
