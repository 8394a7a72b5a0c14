"""Below table 2: sampling without replacement under Rényi DP, by sums over whole orders; neighbours substitute."""

from collections.abc import Callable
from functools import partial
from math import exp, lgamma, log, log1p

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.variants.sampling import DIRECTIONS
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.privacy import pure_renyi

Case = tuple[float, float, int]  # σ, s, α
CASES: list[Case] = [(5.0, 0.01, 8), (1.0, 0.01, 4), (0.3, 0.9, 4)]
MORE_CASES: list[Case] = [(5.0, 0.01, 32), (2.0, 0.01, 8), (50.0, 0.1, 2), (1.0, 0.5, 4)]
NOISES: dict[str, Noise] = {"Gaussian": Gaussian(2.0), "Laplace": Laplace(1.0), "sinh-normal": SinhNormal(4.0, 80.0)}


@claim("V.rdp1")
def printed_sum(budget: Budget) -> Points:
    """Yield three pairs of laws that sampling without replacement of Gaussian noise leads to."""
    for sigma, s, order in budget.choose(CASES, [*CASES, *MORE_CASES]):
        right = closed_form(sampled_sum(_gaussian(sigma), s, order), 1e-10)
        noise, where = Gaussian(sigma), f"σ = {sigma:g}, s = {s:g}, α = {order}"
        for name, direction in DIRECTIONS.items():
            left = pair_divergences.renyi(*pair_divergences.sampled(noise, s, direction), float(order))
            yield Point(f"{where}, {name}", left, right)
        triangle = exact.equilateral_renyi(noise, 1.0, float(order), s)
        yield Point(f"{where}, a histogram of three bins", triangle, right)


def sampled_sum(epsilon: Callable[[int], float], s: float, order: int) -> float:
    """Return ε'(order) in nats as printed: log(1 + Σ_j 2 s^j C(order, j) e^((j-1) ε(j)))/(order - 1), j from 2."""
    terms = [log(2) + j * log(s) + _log_binomial(order, j) + (j - 1) * epsilon(j) for j in range(2, order + 1)]
    top = max(*terms, 0.0)
    rest = sum(exp(term - top) for term in terms)
    return (log1p(rest) if top == 0 else top + log(rest + exp(-top))) / (order - 1)


def _gaussian(sigma: float) -> Callable[[int], float]:
    return lambda order: order / (2 * sigma**2)


def _log_binomial(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


@claim("V.rdp1 much noise")
def sum_above_no_sampling(budget: Budget) -> Points:
    """Yield large σ: the first term of the sum is 2s² C(α, 2), however small ε is."""
    for sigma, s, order in budget.choose([(50.0, 0.1, 2)], [(50.0, 0.1, 2), (1e3, 0.1, 2), (1e3, 0.01, 8)]):
        left, right = order / (2 * sigma**2), sampled_sum(_gaussian(sigma), s, order)
        yield Point(f"σ = {sigma:g}, s = {s:g}, α = {order}", closed_form(left), closed_form(right, 1e-10))


@claim("V.rdp2")
def loosened_sums(budget: Budget) -> Points:
    """Yield ε(α - k) against ε(α), by quadrature and closed forms, and the sums that follow."""
    curves = {name: partial(_own, noise) for name, noise in NOISES.items()} | {"randomised response": _response}
    for name, curve in curves.items():
        for order, k in budget.choose([(8, 1), (8, 6)], [(3, 1), (8, 1), (8, 6), (32, 16)]):
            yield Point(f"{name}: ε({order - k}) against ε({order})", curve(order - k), curve(order))
        for s, order in budget.choose([(0.1, 8)], [(0.01, 4), (0.1, 8), (0.5, 16)]):
            epsilons = [curve(max(j, 1)).estimate for j in range(order + 1)]
            each = (epsilons, [epsilons[order]] * (order + 1))
            left, right = (closed_form(sampled_sum(one.__getitem__, s, order), 1e-9) for one in each)
            yield Point(f"{name}: the sums, s = {s:g}, α = {order}", left, right)


def _own(noise: Noise, order: int) -> Bounds[float]:
    """Return D at a whole order of the noise without sampling, for a query of sensitivity one."""
    return exact.renyi_divergence(noise, 1.0, float(order))


def _response(order: int) -> Bounds[float]:
    return closed_form(pure_renyi(1.0, order))


@claim("V.rdp3")
def sum_of_a_constant(budget: Budget) -> Points:
    """Yield sampled noises both ways. Little noise and large fractions come near to the bound."""
    noises = [Laplace(0.1), *NOISES.values()]
    for noise in budget.choose(noises, [*noises, Laplace(3.0)]):
        for order in budget.choose((2, 8), (2, 4, 8)):
            epsilons = [_own(noise, order).upper] * (order + 1)  # the noises are symmetric: D is the same both ways
            for s in budget.choose((0.01, 0.5), (0.01, 0.1, 0.5, 0.9)):
                right = closed_form(sampled_sum(epsilons.__getitem__, s, order), 1e-10)
                for name, direction in DIRECTIONS.items():
                    left = pair_divergences.renyi(*pair_divergences.sampled(noise, s, direction), float(order))
                    yield Point(f"{noise!r}, s = {s:g}, α = {order}, {name}", left, right)
