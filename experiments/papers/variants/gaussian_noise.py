"""Table 1: the variance of Gaussian noise for each notion, and the conversion of each notion to (ε, δ)-DP."""

from math import exp, expm1, log, sqrt

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import RDP, TCDP, ZCDP, pure_renyi, to_approx_dp


def classical_scale(epsilon: float, delta: float) -> float:
    """Return σ (counts) of the table's Gaussian noise for (epsilon, delta)-DP at sensitivity one."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


@claim("V.T1 Gauss")
def classical_variance(budget: Budget) -> Points:
    """Yield points for small and large δ. The bound is tightest where both ε and δ are near one."""
    deltas = budget.choose((1e-10, 1e-5, 0.1, 0.99), (1e-100, 1e-10, 1e-5, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99))
    for epsilon in budget.choose((0.01, 0.5, 0.999), (1e-4, 1e-3, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999)):
        yield from [_classical(epsilon, delta) for delta in deltas]


@claim("V.T1 Gauss outside")
def classical_variance_of_large_epsilon(budget: Budget) -> Points:
    """Yield points on both sides of the first ε at which the noise is too small, for four δ."""
    pairs = [(8.4, 1e-5), (8.44, 1e-5), (20.0, 1e-5), (5.7, 0.1), (5.78, 0.1)]
    more = [(6.75, 1e-2), (6.79, 1e-2), (8.76, 1e-6), (8.8, 1e-6), (50.0, 1e-6)]
    yield from [_classical(*pair) for pair in budget.choose(pairs, [*pairs, *more])]


def _classical(epsilon: float, delta: float) -> Point:
    left = exact.hockey_stick(Gaussian(classical_scale(epsilon, delta)), 1.0, epsilon)
    return Point(f"ε = {epsilon:g}, δ = {delta:g}", left, constant(delta))


@claim("V.T1 Gauss Rényi")
def renyi_variances(budget: Budget) -> Points:
    """Yield divergences by quadrature of the two densities."""
    for order, epsilon in budget.choose([(2.0, 0.1), (16.0, 1.0)], [(1.5, 0.01), (2.0, 0.1), (16.0, 1.0), (64.0, 5.0)]):
        left = _divergence(sqrt(order / (2 * epsilon)), order)
        yield Point(f"Rényi DP, α = {order:g}, ε = {epsilon:g}", left, closed_form(epsilon))
    for rho in budget.choose((0.1,), (1e-4, 0.1, 2.0)):
        for order in (1.5, 8.0):
            left = _divergence(sqrt(1 / (2 * rho)), order)
            yield Point(f"zCDP, ρ = {rho:g}, α = {order:g}", left, closed_form(rho * order))


def _divergence(sigma: float, order: float) -> Bounds[float]:
    noise = Gaussian(sigma)
    return pair_divergences.renyi(*pair_divergences.moved(noise, 1.0), order)


@claim("V.T1 conv")
def conversions(budget: Budget) -> Points:
    """Yield the exact δ of Gaussian noise and of a randomised response at the ε that their divergences promise."""
    orders = budget.choose((2.0, 10.0), (1.1, 2.0, 10.0, 100.0))
    for rho in budget.choose((0.1, 10.0), (1e-3, 0.1, 1.0, 10.0)):
        for delta in (1e-6, 1e-2, 0.5, 0.99):
            epsilons = {"zCDP": to_approx_dp(ZCDP(rho), delta, "paper").epsilon}
            epsilons |= {f"Rényi DP, α = {order:g}": _converted(order, rho * order, delta) for order in orders}
            for notion, epsilon in epsilons.items():
                left = exact.hockey_stick(Gaussian(1 / sqrt(2 * rho)), 1.0, epsilon)
                yield Point(f"{notion}, ρ = {rho:g}, δ = {delta:g}", left, constant(delta))
    for order in orders:
        for delta in (0.9, 0.99):
            excess = 1.0 - _converted(order, pure_renyi(1.0, order), delta)  # excess of the loss over the promised ε
            left = closed_form(max(-expm1(-excess), 0.0) / (1 + exp(-1.0)))
            yield Point(f"Rényi DP, α = {order:g}, a randomised response, ε = 1, δ = {delta:g}", left, constant(delta))


def _converted(order: float, epsilon: float, delta: float) -> float:
    return to_approx_dp(RDP(order, epsilon), delta, "paper").epsilon


@claim("V.T1 conv sharper")
def sharper_conversions(budget: Budget) -> Points:
    """Yield the least ε by the sharper conversion and the printed one, for five guarantees."""
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
