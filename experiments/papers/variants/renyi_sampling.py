"""Below table 2: sampling without replacement under Rényi DP, by sums over whole orders; neighbours substitute."""

from collections.abc import Callable
from math import exp, lgamma, log, log1p
from typing import cast

from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.variants.sampling import DIRECTIONS

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import RDP, ZCDP, amplify, pure_renyi

Case = tuple[float, float, int]  # σ, s, α
Curve = Callable[[int], Bounds[float]]  # order -> D of it, nats
CASES: list[Case] = [(5.0, 0.01, 8), (1.0, 0.01, 4)]
MORE_CASES: list[Case] = [(5.0, 0.01, 32), (2.0, 0.01, 8), (50.0, 0.1, 2), (1.0, 0.5, 4)]


@claim("V.rdp1")
def printed_sum(budget: Budget) -> Points:
    """Three pairs of laws that sampling without replacement of Gaussian noise leads to."""
    for sigma, s, order in budget.choose(CASES, [*CASES, *MORE_CASES]):
        right = closed_form(sampled_sum(_gaussian(sigma), s, order), 1e-10)
        noise, where = Gaussian(sigma), f"σ = {sigma:g}, s = {s:g}, α = {order}"
        for name, direction in DIRECTIONS.items():
            left = exact.subsampled_renyi(noise, 1.0, float(order), s, direction)
            yield Point(f"{where}, {name}", left, right)
        triangle = exact.equilateral_renyi(noise, 1.0, float(order), s)
        yield Point(f"{where}, a histogram of three bins", triangle, right)


def sampled_sum(epsilon: Callable[[int], float], s: float, order: int) -> float:
    """ε'(order) in nats as printed: log(1 + Σ_j 2 s^j C(order, j) e^((j-1) ε(j)))/(order - 1), j = 2 ... order."""
    terms = [log(2) + j * log(s) + _log_binomial(order, j) + (j - 1) * epsilon(j) for j in range(2, order + 1)]
    top = max(*terms, 0.0)
    rest = sum(exp(term - top) for term in terms)
    return (log1p(rest) if top == 0 else top + log(rest + exp(-top))) / (order - 1)


def _gaussian(sigma: float) -> Callable[[int], float]:
    return lambda order: order / (2 * sigma**2)


def _log_binomial(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


@claim("V.rdp1 tight")
def wang_is_tight(budget: Budget) -> Points:
    """Another bound, for any mechanism with the same Rényi curve, is lower: so theirs is not the least there is."""
    for sigma, s, order in budget.choose(CASES[:1], [CASES[0], *MORE_CASES[:2]]):
        wang, proved = (_bound(sigma, s, order, method) for method in ("wang2019", "certified"))
        yield Point(f"σ = {sigma:g}, s = {s:g}, α = {order}", closed_form(wang), closed_form(proved, 1e-6))


def _bound(sigma: float, s: float, order: int, method: str) -> float:
    return cast(RDP, amplify(ZCDP(1 / (2 * sigma**2)), s, "without_replacement", method, order=order)).epsilon


@claim("V.rdp1 much noise")
def sum_above_no_sampling(budget: Budget) -> Points:
    """The first term of the sum is 2s² C(α, 2), however small ε is: it does not vanish."""
    for sigma, s, order in budget.choose([(50.0, 0.1, 2)], [(50.0, 0.1, 2), (1e3, 0.1, 2), (1e3, 0.01, 8)]):
        right = sampled_sum(_gaussian(sigma), s, order)
        left = order / (2 * sigma**2)
        yield Point(f"σ = {sigma:g}, s = {s:g}, α = {order}", closed_form(left), closed_form(right, 1e-10))


@claim("V.rdp2")
def loosened_sums(budget: Budget) -> Points:
    """ε(α - k) ≤ ε(α) by quadrature and closed forms, and the sums that follow."""
    for name, curve in _curves().items():
        for order, k in budget.choose([(8, 1), (8, 6)], [(3, 1), (8, 1), (8, 6), (32, 16)]):
            yield Point(f"{name}: ε({order - k}) against ε({order})", curve(order - k), curve(order))
        for s, order in budget.choose([(0.1, 8)], [(0.01, 4), (0.1, 8), (0.5, 16)]):
            sums = (sampled_sum(of, s, order) for of in (_exact(curve), _at_last(curve, order)))
            left, right = (closed_form(each, 1e-9) for each in sums)
            yield Point(f"{name}: the sums, s = {s:g}, α = {order}", left, right)


def _exact(curve: Curve) -> Callable[[int], float]:
    return lambda j: curve(j).estimate


def _at_last(curve: Curve, order: int) -> Callable[[int], float]:
    last = curve(order).estimate
    return lambda _: last


def _curves() -> dict[str, Curve]:
    noises = {"Gaussian": Gaussian(2.0), "Laplace": Laplace(1.0), "sinh-normal": SinhNormal(scale=4.0, knee=80.0)}

    def of(name: str) -> Curve:
        return lambda order: exact.renyi_divergence(noises[name], 1.0, float(order))

    return {name: of(name) for name in noises} | {
        "randomised response": lambda order: closed_form(pure_renyi(1.0, order))
    }
