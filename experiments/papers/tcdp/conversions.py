"""Sections 1.3, 2.1 and 2.3: tails of the privacy loss by notion, and the relations of tCDP to other notions."""

from itertools import product
from typing import Any

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    Guarantee,
    PureDP,
    group_privacy,
    loss_tail_bound,
    pure_renyi,
    renyi_to_approx_dp,
)
from tcdp_sim.privacy import to_approx_dp as convert

NOISE, OMEGA = SinhNormal(scale=3.0, knee=10.0), 4.0
LOSSES = 0.1, 0.3, 0.8, 1.5, 3.0
ORDERS = 1.0, 1.5, 2.0, 8.0, 50.0


@claim("T.1.3a–d")
def truncated_tail(budget: Budget) -> Points:
    """Return points of sinh-normal noise on both branches, and where they meet."""
    rho = largest_cost(NOISE, OMEGA).upper
    return _tails(NOISE, TCDP(rho, OMEGA), (rho * (2 * OMEGA - 1), *LOSSES))


@claim("T.1.3a–d zCDP")
def concentrated_tail(budget: Budget) -> Points:
    """Return points of Gaussian noise."""
    return _tails(Gaussian(3.0), ZCDP(1 / 18), LOSSES)


@claim("T.1.3a–d Rényi")
def renyi_tail(budget: Budget) -> Points:
    """Return points of sinh-normal noise."""
    return _tails(NOISE, RDP(OMEGA, exact.renyi_divergence(NOISE, 1.0, OMEGA).upper), LOSSES)


def _tails(noise: Noise, promise: Guarantee, losses: tuple[float, ...]) -> Points:
    loss = PrivacyLossDistribution(noise, 1.0)
    for t in losses:
        right = closed_form(loss_tail_bound(promise, t))
        yield Point(f"loss above {t:.3g}", closed_form(float(loss.sf(t)), 1e-9), right)


@claim("T.1.3a–d pure")
def pure_tail(budget: Budget) -> Points:
    """Yield Laplace noise of scale 1/ε, and the exponential mechanism on a lattice of scores that move by up to one."""
    scores = np.array(list(product(range(3), repeat=3)))
    for epsilon in (0.1, 1.0, 5.0):
        for shift in (0.5, 1.0):
            largest = closed_form(float(PrivacyLossDistribution(Laplace(1 / epsilon), shift).isf(0.0)))
            yield Point(f"Laplace, ε = {epsilon:g}, shift {shift:g}", largest, constant(epsilon))
        logs = np.log(
            [exact.selection_distribution("exponential_mechanism", epsilon, each).estimate for each in scores]
        )
        moved = np.abs(scores[:, None] - scores).max(axis=2) <= 1
        largest = closed_form(float(np.abs(logs[:, None] - logs).max(axis=2)[moved].max()))
        yield Point(f"exponential mechanism, ε = {epsilon:g}", largest, constant(epsilon))


@claim("T.1.3e")
def approximate_tail(budget: Budget) -> Points:
    """Yield two outputs, one of probability p with a loss just above cε, where p = δ/(1 - e^(ε - loss))."""
    delta = 1e-6
    for factor in (2, 10):
        for epsilon in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5):
            left = closed_form(rare_output(epsilon, delta, factor) / delta, 1e-8)
            yield Point(f"c = {factor}, ε = {epsilon:g}, δ = {delta:g}", left, constant(10.0))


def rare_output(epsilon: float, delta: float, factor: float) -> float:
    """Return P[rare output], of loss `factor` epsilon, of two outputs that are exactly (epsilon, delta)-DP."""
    loss = factor * epsilon * (1 + 1e-9)
    return float(delta / -np.expm1(epsilon - loss))


@claim("T.1.3e one way")
def tail_to_profile(budget: Budget) -> Points:
    """Yield profiles, which are at most the tail."""
    for name, noise in [("Gaussian", Gaussian(1.0)), ("Laplace", Laplace(1.0)), ("sinh-normal", NOISE)]:
        loss = PrivacyLossDistribution(noise, 1.0)
        for epsilon in (0.05, 0.3, 0.9):
            left = exact.hockey_stick(noise, 1.0, epsilon)
            yield Point(f"{name}, ε = {epsilon:g}", left, closed_form(float(loss.sf(epsilon)), 1e-9))


@claim("T.1.3f")
def pure_to_tcdp(budget: Budget) -> Points:
    """Yield randomised response, the worst ε-DP mechanism at every order."""
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        for order in (1.0, 2.0, 8.0, 100.0):
            left = closed_form(pure_renyi(epsilon, order) / (order * epsilon**2 / 2), 1e-9)
            yield Point(f"ε = {epsilon:g}, α = {order:g}", left, constant(1.0))


@claim("T.L6 L8 2.1")
def to_approx_dp(budget: Budget) -> Points:
    """Yield both branches. Above δ = 1 the printed formula is no number, and there is nothing to promise."""
    rho = largest_cost(NOISE, OMEGA).upper
    for name, noise, promise in [("Gaussian", Gaussian(3.0), TCDP(1 / 18, 3.0)), ("sinh-normal", NOISE, TCDP(rho, 4))]:
        for delta in (0.99, 0.8, 0.3, 1e-2, 1e-6):
            epsilon = convert(promise, delta, "paper").epsilon
            left = exact.hockey_stick(noise, 1.0, epsilon)
            yield Point(f"{name}, δ = {delta:g}, ε = {epsilon:.4g}", left, constant(delta))


@claim("T.L6 L8 2.1 Lemma 8")
def from_one_order(budget: Budget) -> Points:
    """Yield points at the ε of one order, also for δ > 1, where ε may be negative."""
    for name, noise in [("Gaussian", Gaussian(3.0)), ("Laplace", Laplace(1.0)), ("sinh-normal", NOISE)]:
        for order in (1.5, 2.0, 4.0):
            divergence = exact.renyi_divergence(noise, 1.0, order).upper
            for delta in (2.0, 0.99, 0.3, 1e-2, 1e-6):
                epsilon = divergence + float(np.log(1 / delta)) / (order - 1)
                left = exact.hockey_stick(noise, 1.0, epsilon)
                yield Point(f"{name}, α = {order:g}, δ = {delta:g}, ε = {epsilon:.4g}", left, constant(delta))


@claim("T.L6 L8 2.1 best order")
def best_order(budget: Budget) -> Points:
    """Return points at orders below, at and above the best one."""
    points: list[Point] = []
    for rho, omega, delta in [(0.1, 5.0, 1e-6), (0.1, 50.0, 1e-6), (1.0, 3.0, 0.1)]:
        least = closed_form(convert(TCDP(rho, omega), delta, "paper").epsilon, 1e-12)
        best = min(omega, 1 + float(np.sqrt(np.log(1 / delta) / rho)))
        for order in (1 + 0.3 * (best - 1), 1 + 0.9 * (best - 1), best, min(omega, 1.2 * best + 0.1)):
            right = closed_form(renyi_to_approx_dp(rho, order, delta).epsilon, 1e-12)
            name = f"ρ = {rho:g}, ω = {omega:g}, δ = {delta:g}, α = {order:.4g}"
            if name not in {point.where for point in points}:
                points.append(Point(name, least, right))
    return points


@claim("T.1.3h")
def advice(budget: Budget) -> Points:
    """Yield groups of g = √(1/2ρ), which get (1/2, ω/g)-tCDP as for ε = 1; ω = √(1/2ρ) leaves the order ω/g = 1."""
    for size in (2, 5, 50):
        rho = 1 / (2 * size**2)
        together = group_privacy(TCDP(rho, 3.0 * size), size)
        assert isinstance(together, TCDP)
        yield Point(f"ρ = 1/(2·{size}²): ρ of the group", closed_form(together.rho), constant(0.5))
        yield Point(f"ρ = 1/(2·{size}²): order per ω√(2ρ)", closed_form(together.omega / 3.0), constant(1.0))
        epsilon = closed_form(float(np.sqrt(2 * rho)) * size)
        yield Point(f"ρ = 1/(2·{size}²): pure DP of ε = √(2ρ)", epsilon, constant(1.0))


@claim("T.F1")
def figure_1(budget: Budget) -> Points:
    """Yield the curves at the parameters ρ = 0.1, ω = 3, ε = √(2ρ), where they run as drawn."""
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
def pure_algorithms(budget: Budget) -> Points:
    """Yield Laplace noise for two sensitivities, and the exponential mechanism with scores that move by one."""
    for epsilon in (0.1, 1.0, 3.0):
        for order in ORDERS:
            for shift in (1.0, 3.0):
                laplace = exact.renyi_divergence(Laplace(shift / epsilon), shift, order)
                name = f"Laplace, Δ = {shift:g}, ε = {epsilon:g}, α = {order:g}"
                yield Point(name, laplace / order / (epsilon**2 / 2), constant(1.0))
            for k in (2, 5) if order > 1 else ():
                laws = [_chosen(epsilon, scores) for scores in ([0.0] * (k - 1) + [1.0], [1.0] * (k - 1) + [0.0])]
                for name, (p, q) in (("", laws), (" reversed", laws[::-1])):
                    left = exact.divergence_of_outputs(p, q, order) / order / (epsilon**2 / 2)
                    where = f"exponential mechanism{name}, k = {k}, ε = {epsilon:g}, α = {order:g}"
                    yield Point(where, left, constant(1.0))


@claim("T.2.3 Gaussian")
def gaussian_algorithm(budget: Budget) -> Points:
    """Yield divergences of Gaussian noise by quadrature."""
    for shift, scale in [(1.0, 10.0), (1.0, 1.0), (3.0, 2.0)]:
        laws = pair_divergences.moved(Gaussian(scale), shift)
        for order in ORDERS:
            right = closed_form(order * shift**2 / (2 * scale**2))
            where = f"Δ = {shift:g}, σ = {scale:g}, α = {order:g}"
            yield Point(where, pair_divergences.renyi(*laws, order), right)


def _chosen(epsilon: float, scores: list[float]) -> Bounds[Any]:
    return exact.selection_distribution("exponential_mechanism", epsilon, scores)
