"""Section 3: zCDP beside pure and (epsilon, delta)-differential privacy."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.sides import ONE, scaled

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
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


@claim("Z.P3 L21", kind=Kind.INEQUALITY, section="1.2, 3.2", expected=Verdict.HOLDS)
def conversion(budget: Budget) -> Evidence:
    """In epsilon, as that is what is given away; Laplace noise as (ε, 0)-zCDP, up to a ρ that hardly counts."""
    points = []
    for rho, delta in budget.choose([(0.1, 1e-6), (1.0, 0.1)], [(0.1, 1e-6), (1.0, 0.1), (1e-3, 1e-9), (10.0, 1e-6)]):
        printed = closed_form(to_approx_dp(ZCDP(rho), delta, "paper").epsilon)
        left = least_epsilon(Gaussian(float(np.sqrt(0.5 / rho))), delta)
        points.append(Point(f"Gaussian, ρ = {rho:g}, δ = {delta:g}", left, printed))
    for epsilon, delta in ((0.5, 1e-6), (2.0, 0.01)):
        printed = closed_form(to_approx_dp(ZCDP(1e-6, epsilon), delta, "paper").epsilon)
        left = least_epsilon(Laplace(1 / epsilon), delta)
        points.append(Point(f"Laplace, ξ = {epsilon:g}, ρ = 1e-6, δ = {delta:g}", left, printed))
    return Evidence(
        points,
        measures="exact ε at δ, against ξ + ρ + 2√(ρ log 1/δ) (nats)",
        universe="(ξ, ρ)-zCDP, 0 < δ ≤ 1; at δ > 1, which the paper allows too, the root is not real",
        proof=Proof.SYMBOLIC,
        why="δ(ε) ≤ P[Z > ε], and Markov's inequality for e^((α - 1)Z) at α = (ε - ξ + ρ)/2ρ",
    )


@claim("Z.L21b", kind=Kind.IDENTITY, section="3.2", expected=Verdict.HOLDS)
def inverse_conversion(budget: Budget) -> Evidence:
    """The conversion of the budget gives back the epsilon that it was made for."""
    points = []
    for epsilon, delta, xi in ((1.0, 1e-6, 0.0), (0.01, 1e-9, 0.0), (5.0, 0.1, 1.0), (30.0, 1e-3, 0.2)):
        back = to_approx_dp(zcdp_budget(epsilon, delta, xi), delta, "paper").epsilon
        points.append(Point(f"ε = {epsilon:g}, δ = {delta:g}, ξ = {xi:g}", closed_form(back), constant(epsilon)))
    return Evidence(
        points,
        measures="ξ + ρ + 2√(ρ log 1/δ) at the printed ρ, against ε (nats)",
        universe="ε > ξ ≥ 0, 0 < δ < 1",
        tolerance=1e-9,
        proof=Proof.IDENTITY,
        why="with x = √ρ and L = log 1/δ, x² + 2√L x = ε - ξ, and the printed x is its positive root",
    )


@claim(
    "Z.L21b",
    part="roughly",
    title="That ρ is roughly (ε - ξ)²/(4 log 1/δ)",
    kind=Kind.ASYMPTOTIC,
    section="3.2",
    expected=Verdict.CONSISTENT,
)
def rough_inverse(budget: Budget) -> Evidence:
    """As delta falls; from below."""
    points = []
    for digits in (1, 3, 10, 30, 100, 300):
        left = closed_form(zcdp_budget(1.0, 10.0**-digits).rho)
        points.append(Point(f"ε = 1, δ = 1e-{digits}", left, closed_form(1 / (4 * digits * np.log(10))), at=digits))
    return Evidence(points, measures="ρ over (ε - ξ)²/(4 log 1/δ), ε = 1, ξ = 0", universe="δ → 0 at fixed ε > ξ")


@claim("Z.P4 P19 R20", kind=Kind.INEQUALITY, section="1.2, 3.1", expected=Verdict.HOLDS)
def pure_to_zcdp(budget: Budget) -> Evidence:
    """Randomised response; beyond order 2/ε the divergence, at most ε, cannot break the bound."""
    points = []
    for epsilon in budget.choose((0.01, 1.0, 1.9), (1e-4, 0.01, 0.1, 0.5, 1.0, 1.5, 1.9)):
        for order in np.geomspace(1.0, 2 / epsilon, 5):
            ratio = closed_form(2 * pure_renyi(epsilon, float(order)) / (epsilon**2 * order), 1e-12)
            points.append(Point(f"randomised response, ε = {epsilon:g}, α = {order:.4g}", ratio, ONE))
    for epsilon in (0.5, 4.0):
        left = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 2.0)
        points.append(Point(f"Laplace, ε = {epsilon:g}, α = 2", scaled(left, 1 / epsilon**2), ONE))
    return Evidence(
        points,
        measures="2D_α/(ε²α), against 1",
        universe="ε-DP, ε > 0, α ≥ 1",
        proof=Proof.SYMBOLIC,
        why="log E_Q (P/Q)^α is 0 at α = 0 and 1, and its second derivative, a variance within [-ε, ε], is at most ε²",
    )


@claim(
    "Z.P4 P19 R20",
    part="mean loss",
    title="ε²/2 is below the older bound ε(e^ε - 1)/2 of the mean loss",
    kind=Kind.ORDERING,
    section="3.1",
    expected=Verdict.HOLDS,
)
def mean_loss(budget: Budget) -> Evidence:
    """And the exact mean loss below both."""
    points = []
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        new, old = closed_form(0.5 * epsilon**2), closed_form(0.5 * epsilon * np.expm1(epsilon))
        points.append(Point(f"ε = {epsilon:g}", new, old))
        exactly = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 1.0)
        points.append(Point(f"ε = {epsilon:g}, the exact mean loss of Laplace noise", exactly, new))
    return Evidence(
        points,
        measures="ε²/2, against ε(e^ε - 1)/2 (nats)",
        universe="ε-DP, ε > 0",
        proof=Proof.SYMBOLIC,
        why="e^ε - 1 ≥ ε",
    )


@claim("Z.P19b", kind=Kind.INEQUALITY, section="3.1", expected=Verdict.HOLDS)
def hyperbolic_sines(budget: Budget) -> Evidence:
    """On a grid up to 2, and beyond, where it holds as well."""
    xs = (0.1, 0.5, 1.0, 1.5, 2.0, 5.0, 30.0)
    points = []
    for x in xs:
        for share in budget.choose((0.0, 0.5, 0.99), (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999)):
            y = share * x
            left = np.logaddexp((x + y) / 2, -(x + y) / 2) - np.logaddexp((x - y) / 2, -(x - y) / 2) - 0.5 * x * y
            points.append(Point(f"x = {x:g}, y = {share:g} x", closed_form(float(np.exp(left))), ONE))
    return Evidence(
        points,
        measures="(sinh x - sinh y)/sinh(x - y) = cosh((x + y)/2)/cosh((x - y)/2), over e^(xy/2), against 1",
        universe="0 ≤ y < x; x ≤ 2 is not needed",
        tolerance=1e-9,
        proof=Proof.SYMBOLIC,
        why="log cosh has the derivative tanh t ≤ t, and the integral of t from (x - y)/2 to (x + y)/2 is xy/2",
    )
