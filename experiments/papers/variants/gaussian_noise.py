"""Table 1: the variance of Gaussian noise for each notion, and what each notion is in terms of (ε, δ)."""

from math import log, sqrt

from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import RDP, TCDP, ZCDP, to_approx_dp

SECTION = "Basic definitions"
MEASURES = "exact δ at ε of Gaussian noise with σ² = 2Δ² log(1.25/δ)/ε², against δ"


def classical_scale(epsilon: float, delta: float) -> float:
    """σ of the table's Gaussian noise for (epsilon, delta)-DP at sensitivity one, in counts."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


@claim("V.T1 Gauss")
def classical_variance(budget: Budget) -> Points:
    """Around the first ε at which it fails, for four δ."""
    pairs = [(0.5, 1e-5), (5.0, 1e-5), (8.4, 1e-5), (8.44, 1e-5), (20.0, 1e-5), (5.7, 0.1), (5.78, 0.1)]
    more = [(6.75, 1e-2), (6.79, 1e-2), (8.76, 1e-6), (8.8, 1e-6), (50.0, 1e-6)]
    return _classical(budget.choose(pairs, [*pairs, *more]), "ε > 0, 0 < δ < 1")


@claim("V.T1 Gauss repaired")
def classical_variance_below_one(budget: Budget) -> Points:
    """Small and large δ."""
    epsilons = budget.choose((0.01, 0.5, 0.999), (1e-4, 1e-3, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999))
    deltas = budget.choose((1e-10, 1e-5, 0.1, 0.9), (1e-100, 1e-10, 1e-5, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99))
    return _classical([(epsilon, delta) for epsilon in epsilons for delta in deltas], "0 < ε < 1, 0 < δ < 1")


def _classical(pairs: list[tuple[float, float]], universe: str) -> Points:
    for epsilon, delta in pairs:
        left = exact.hockey_stick(Gaussian(classical_scale(epsilon, delta)), 1.0, epsilon)
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}", left, constant(delta))


@claim("V.T1 Gauss Rényi")
def renyi_variances(budget: Budget) -> Points:
    """By quadrature of the two densities."""
    for order, epsilon in budget.choose([(2.0, 0.1), (16.0, 1.0)], [(1.5, 0.01), (2.0, 0.1), (16.0, 1.0), (64.0, 5.0)]):
        left = _divergence(sqrt(order / (2 * epsilon)), order)
        yield Point(f"Rényi DP, α = {order:g}, ε = {epsilon:g}", left, closed_form(epsilon))
    for rho in budget.choose((0.1,), (1e-4, 0.1, 2.0)):
        for order in (1.5, 8.0):
            left = _divergence(sqrt(1 / (2 * rho)), order)
            yield Point(f"zCDP, ρ = {rho:g}, α = {order:g}", left, closed_form(rho * order))


def _divergence(sigma: float, order: float) -> exact.Bounds[float]:
    noise = Gaussian(sigma)
    return exact.renyi_divergence_between(exact.Mixture(noise), exact.Mixture(noise, (1.0,)), order)


@claim("V.T1 conv")
def conversions(budget: Budget) -> Points:
    """What Gaussian noise really has, beside what its Rényi divergence at one order, or at all, says of it."""
    for rho in budget.choose((0.1, 1.0), (1e-3, 0.1, 1.0, 10.0)):
        noise = Gaussian(1 / sqrt(2 * rho))
        for delta in (1e-6, 1e-2, 0.5):
            epsilons = {"zCDP": to_approx_dp(ZCDP(rho), delta, "paper").epsilon}
            for order in budget.choose((2.0, 10.0), (1.1, 2.0, 10.0, 100.0)):
                epsilons[f"Rényi DP, α = {order:g}"] = to_approx_dp(RDP(order, rho * order), delta, "paper").epsilon
            for notion, epsilon in epsilons.items():
                left = exact.hockey_stick(noise, 1.0, epsilon)
                yield Point(f"{notion}, ρ = {rho:g}, δ = {delta:g}", left, constant(delta))


@claim("V.T1 conv sharper")
def sharper_conversions(budget: Budget) -> Points:
    """By how much the printed conversions are loose."""
    guarantees = {
        "ρ = 0.1": ZCDP(0.1),
        "ρ = 1e-4": ZCDP(1e-4),
        "Rényi DP, α = 2, ε = 0.2": RDP(2.0, 0.2),
        "Rényi DP, α = 32, ε = 1": RDP(32.0, 1.0),
        "tCDP, ρ = 0.1, ω = 5": TCDP(0.1, 5.0),
    }
    for name, guarantee in guarantees.items():
        for delta in budget.choose((1e-6, 0.1), (1e-12, 1e-6, 1e-3, 0.1, 0.9)):
            sharp, printed = (to_approx_dp(guarantee, delta, method).epsilon for method in ("tight", "paper"))
            yield Point(f"{name}, δ = {delta:g}", closed_form(sharp), closed_form(printed))
