"""Section 1.1: the privacy loss, its moments and its tails."""

from math import expm1, log10

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp import finite_laws
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal

EPSILONS = (1.0, 0.1, 0.01, 1e-3)
DELTA = 1e-6


@claim("Z.eq2")
def moments_of_the_loss(budget: Budget) -> Points:
    """Integrate the tail of the loss, which shares nothing with the code of divergences."""
    noises: list[tuple[str, Noise]] = [("Laplace(2)", Laplace(2.0)), ("Gaussian(1.5)", Gaussian(1.5))]
    noises += budget.choose([], [("sinh-normal(3, 9)", SinhNormal(3.0, 9.0))])
    for name, noise in noises:
        for order in (1.5, 3.0, 8.0):
            left = exact.renyi_divergence(noise, 1.0, order)
            yield Point(f"{name}, α = {order:g}", left, divergence_by_tail(noise, order - 1))


def divergence_by_tail(noise: Noise, s: float) -> Bounds[float]:
    """Return log(E e^(sZ)) / s (nats): E e^(sZ) = e^(s low) + s times the integral of e^(sz) P[Z > z] from low on."""
    law = exact.PrivacyLossDistribution(noise, 1.0)
    low, high = (float(law.isf(p)) for p in (1 - 1e-13, 1e-60))
    total = integrate(lambda z: np.exp(s * z) * law.sf(z), np.linspace(low, high, 33), relative=1e-11)
    return ((np.exp(s * low) + s * total) * closed_form(1.0, 1e-10)).log() / s


@claim("Z.1.1a")
def tail_of_the_loss(budget: Budget) -> Points:
    """Try Gaussian noise, exactly and as simulated, and Laplace noise, which is ε tanh(ε/2)-zCDP."""
    for rho in budget.choose((0.01, 0.5), (0.001, 0.01, 0.1, 0.5, 2.0)):
        law = exact.PrivacyLossDistribution(Gaussian(float(np.sqrt(0.5 / rho))), 1.0)
        yield from [_tail_point(f"Gaussian, ρ = {rho:g}", law, rho, share) for share in (0.001, 0.5, 2, 6, 12)]
    for epsilon in (0.2, 1.0):
        law = exact.PrivacyLossDistribution(Laplace(1 / epsilon), 1.0)
        rho = epsilon * np.tanh(epsilon / 2)
        yield from [_tail_point(f"Laplace, ε = {epsilon:g}", law, rho, share) for share in (0.1, 0.5)]
    for excess in (0.4, 0.9, 1.9, 2.9):
        cell = budget.runs["privacy_loss"].cell(noise="gaussian", rho=0.1, epsilon=0.1 + excess)
        most = closed_form(float(np.exp(-(excess**2) / 0.4)))
        yield Point(f"simulated, Gaussian, ρ = 0.1, λ = {excess:g}", cell.mean("loss_tail"), most)


def _tail_point(name: str, law: exact.PrivacyLossDistribution, rho: float, share: float) -> Point:
    """Return the point at λ = share times √2ρ, the standard deviation of a Gaussian loss."""
    excess = float(share * np.sqrt(2 * rho))
    left = closed_form(float(law.sf(excess + rho)))
    return Point(f"{name}, λ = {share:g} √2ρ", left, closed_form(float(np.exp(-(excess**2) / (4 * rho)))))


@claim("Z.1.1b")
def pure_by_the_loss(budget: Budget) -> Points:
    """Yield the worst of all events for finite laws, and Laplace noise, which has an atom at its largest loss."""
    for index in range(budget.choose(5, 20)):
        p, q = (finite_laws.example(2 * index + i, 6) for i in (0, 1))
        loss = closed_form(float(np.log(p / q).max()))
        yield Point(f"laws {2 * index + 1} and {2 * index + 2}", _worst_event(p, q), loss)
    for epsilon in (0.2, 1.0, 4.0):
        noise = Laplace(1 / epsilon)
        largest = closed_form(float(exact.PrivacyLossDistribution(noise, 1.0).isf(0.0)))
        yield Point(f"Laplace({1 / epsilon:g})", exact.renyi_divergence(noise, 1.0, np.inf), largest)


def _worst_event(p: Floats, q: Floats) -> Bounds[float]:
    """Return the largest log P(S)/Q(S) (nats) over all events S that are not empty."""
    events = (np.arange(1, 2 ** len(p))[:, None] >> np.arange(len(p))) & 1
    return closed_form(float(np.log((events @ p) / (events @ q)).max()))


@claim("Z.1.1c")
def approximate_by_the_loss(budget: Budget) -> Points:
    """Let ε fall. A loss in the parameters that stays small would keep the ratio bounded."""
    for epsilon in EPSILONS:
        p, q = attaining(epsilon, DELTA)
        spent = max(finite_laws.delta(p, q, epsilon), finite_laws.delta(q, p, epsilon))
        above = closed_form(float(p[np.log(p / q) > 2 * epsilon].sum()))
        yield Point(f"ε = {epsilon:g}, two outcomes of δ = {DELTA:g}", above, spent, at=-log10(epsilon))


@claim("Z.1.1c one way")
def approximate_from_the_loss(budget: Budget) -> Points:
    """Compare δ(ε) of two noises with the tails of their losses."""
    noises: list[tuple[str, Noise]] = [("Gaussian(1)", Gaussian(1.0)), ("Laplace(0.5)", Laplace(0.5))]
    for name, noise in noises:
        law = exact.PrivacyLossDistribution(noise, 1.0)
        for epsilon in (0.1, 1.0, 1.9):
            tail = closed_form(float(law.sf(epsilon)))
            yield Point(f"{name}, ε = {epsilon:g}", exact.hockey_stick(noise, 1.0, epsilon), tail)


@claim("Z.1.1c repaired")
def approximate_to_the_loss(budget: Budget) -> Points:
    """Try the two outcomes, which attain it but for the part by which the loss exceeds 2ε, and Gaussian noise."""
    for epsilon in EPSILONS:
        share, noise = -expm1(-epsilon), Gaussian(1 / epsilon)
        p, q = attaining(epsilon, DELTA)
        yield Point(f"ε = {epsilon:g}, two outcomes", constant(float(p[0])), finite_laws.delta(p, q, epsilon) / share)
        above = closed_form(float(exact.PrivacyLossDistribution(noise, 1.0).sf(2 * epsilon)))
        spent = exact.hockey_stick(noise, 1.0, epsilon)
        yield Point(f"ε = {epsilon:g}, Gaussian({1 / epsilon:g})", above, spent / share)


def attaining(epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """Return laws of two outcomes, the first with a loss just above 2 epsilon, that differ by `delta` at epsilon."""
    loss = 2 * epsilon * (1 + 1e-6)
    rare = delta / -expm1(epsilon - loss)
    return np.array([rare, 1 - rare]), np.array([rare * np.exp(-loss), 1 - rare * np.exp(-loss)])
