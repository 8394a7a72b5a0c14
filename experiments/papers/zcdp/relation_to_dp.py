"""Section 3: zCDP beside pure and (epsilon, delta)-differential privacy."""

from math import exp, log

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import ZCDP, approx_zcdp_delta, pure_renyi, to_approx_dp, zcdp_budget

STEPS = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0)
ONE = constant(1.0)


def gaussian_of(rho: float) -> Gaussian:
    """Return the noise with which a count of sensitivity one is rho-zCDP, exactly."""
    return Gaussian(float(np.sqrt(0.5 / rho)))


def least_epsilon(noise: Noise, delta: float) -> Bounds[float]:
    """Return the least epsilon >= 0 (nats) at which noise and itself moved by one count are (epsilon, delta) apart."""
    return exact.record_epsilon(AdditiveRelease(noise), 1.0, delta) if delta < 1 else constant(0.0)


def spent(xi: float, rho: float, epsilon: float) -> Bounds[float]:
    """Return the exact delta at epsilon of randomised response of xi beside Gaussian noise of rho: (xi, rho)-zCDP."""
    kept = 1 / (1 + exp(-xi))
    high, low = (exact.hockey_stick(gaussian_of(rho), 1.0, epsilon + sign * xi) for sign in (-1, 1))
    return kept * high + (1 - kept) * low


@claim("Z.P3 L21")
def conversion(budget: Budget) -> Points:
    """Compare in epsilon, the privacy loss. Laplace noise is (ε, 0)-zCDP, up to a negligible ρ."""
    some = [(0.1, 1e-6), (1.0, 0.1), (0.1, 1.0)]
    for rho, delta in budget.choose(some, [*some, (1e-3, 1e-9), (10.0, 1e-6)]):
        printed = closed_form(to_approx_dp(ZCDP(rho), delta, "paper").epsilon)
        yield Point(f"Gaussian, ρ = {rho:g}, δ = {delta:g}", least_epsilon(gaussian_of(rho), delta), printed)
    for epsilon, delta in ((0.5, 1e-6), (2.0, 0.01), (0.5, 1.0)):
        printed = closed_form(to_approx_dp(ZCDP(1e-6, epsilon), delta, "paper").epsilon)
        left = least_epsilon(Laplace(1 / epsilon), delta)
        yield Point(f"Laplace, ξ = {epsilon:g}, ρ = 1e-6, δ = {delta:g}", left, printed)


@claim("Z.L21 not tight")
def sharper_conversion(budget: Budget) -> Points:
    """Evaluate both lemmas at the ε of the standard conversion."""
    for rho, delta in ((0.1, 1e-6), (1.0, 0.1), (1e-3, 1e-9), (10.0, 1e-6), (0.1, 0.999)):
        epsilon = rho + 2 * float(np.sqrt(rho * log(1 / delta)))
        left = closed_form(approx_zcdp_delta(ZCDP(rho), epsilon, form="paper"))
        yield Point(f"ρ = {rho:g}, δ = {delta:g}", left, constant(delta))


@claim("Z.L21b")
def inverse_conversion(budget: Budget) -> Points:
    """Convert the printed ρ back by Lemma 21. Gaussian noise spends ρ, and randomised response spends ξ."""
    for epsilon, delta, xi in ((1.0, 1e-6, 0.0), (0.01, 1e-9, 0.0), (5.0, 0.1, 1.0), (30.0, 1e-3, 0.2)):
        rho = zcdp_budget(epsilon, delta, xi).rho
        where = f"ε = {epsilon:g}, δ = {delta:g}, ξ = {xi:g}"
        back = xi + rho + 2 * float(np.sqrt(rho * log(1 / delta)))
        yield Point(f"ε by Lemma 21, {where}", closed_form(back), constant(epsilon))
        yield Point(f"exact δ, {where}", spent(xi, rho, epsilon), constant(delta))


@claim("Z.L21b roughly")
def rough_inverse(budget: Budget) -> Points:
    """Let delta fall, in the log domain. The ratio is 4L(√(x + L) - √L)²/x² with x = ε - ξ = 1, L = log 1/δ."""
    for digits in (1, 3, 10, 30, 100, 300, 10_000, 1_000_000):
        cost = digits * np.log(10)
        rho = (np.sqrt(1 + cost) + np.sqrt(cost)) ** -2.0
        yield Point(f"ε = 1, δ = 1e-{digits}", closed_form(rho), closed_form(1 / (4 * cost)), at=digits)


@claim("Z.P4 P19 R20")
def pure_to_zcdp(budget: Budget) -> Points:
    """Try randomised response. Beyond order 2/ε the divergence, at most ε, cannot break the bound."""
    for epsilon in budget.choose((0.01, 1.0, 1.9), (1e-4, 0.01, 0.1, 0.5, 1.0, 1.5, 1.9)):
        for order in np.geomspace(1.0, 2 / epsilon, 5):
            ratio = closed_form(2 * pure_renyi(epsilon, float(order)) / (epsilon**2 * order), 1e-12)
            yield Point(f"randomised response, ε = {epsilon:g}, α = {order:.4g}", ratio, ONE)
    for epsilon in (0.5, 4.0):
        left = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 2.0)
        yield Point(f"Laplace, ε = {epsilon:g}, α = 2", left / epsilon**2, ONE)


@claim("Z.P4 P19 R20 mean loss")
def mean_loss(budget: Budget) -> Points:
    """Compare both bounds, and the exact mean loss of Laplace noise with the smaller one."""
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        new, old = closed_form(0.5 * epsilon**2), closed_form(0.5 * epsilon * np.expm1(epsilon))
        yield Point(f"ε = {epsilon:g}", new, old)
        exactly = exact.renyi_divergence(Laplace(1 / epsilon), 1.0, 1.0)
        yield Point(f"ε = {epsilon:g}, the exact mean loss of Laplace noise", exactly, new)


@claim("Z.P19b")
def hyperbolic_sines(budget: Budget) -> Points:
    """Take x up to 2, where the inequality is stated."""
    return _sines(budget, (0.1, 0.5, 1.0, 1.5, 2.0))


@claim("Z.P19b beyond")
def hyperbolic_sines_beyond(budget: Budget) -> Points:
    """Take x far beyond 2."""
    return _sines(budget, (2.5, 5.0, 30.0, 300.0))


def _sines(budget: Budget, xs: tuple[float, ...]) -> Points:
    for x in xs:
        for share in budget.choose((0.0, 0.5, 0.99), (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999)):
            y = share * x
            left = np.logaddexp((x + y) / 2, -(x + y) / 2) - np.logaddexp((x - y) / 2, -(x - y) / 2) - 0.5 * x * y
            yield Point(f"x = {x:g}, y = {share:g} x", closed_form(float(np.exp(left))), ONE)


@claim("Z.L22")
def family_to_zcdp(budget: Budget) -> Points:
    """Bound the loss of every mechanism of the family. Where the bound is too large, the lemma stays open."""
    xis = budget.choose((0.0, 0.3, 1.0), (0.0, 0.01, 0.1, 0.3, 0.6, 1.0))
    rhos = budget.choose((1e-8, 0.01, 1.0), (1e-12, 1e-8, 1e-4, 0.01, 0.1, 0.3, 1.0))
    for xi, rho in ((xi, rho) for xi in xis for rho in rhos):
        for order in budget.choose((1.01, 2.0, 64.0), (1.001, 1.01, 1.3, 2.0, 4.0, 16.0, 64.0, 1e4)):
            promised = xi - rho / 4 + 5 * rho**0.25 + rho * order / 4
            where = f"ξ' = {xi:g}, ρ' = {rho:g}, α = {order:g}"
            yield Point(where, most_allowed(xi, rho, order), closed_form(promised))


def most_allowed(xi: float, rho: float, order: float) -> Bounds[float]:
    """Return a bound of D_order for all mechanisms that are (xi + sqrt(rho log(1/delta)), delta)-DP for all delta."""
    return closed_form(min(_allowed_by(xi, rho, order - 1, step) for step in STEPS))


def _allowed_by(xi: float, rho: float, s: float, step: float) -> float:
    """Return that bound from the profile: E e^(sZ) = 1 + s(s + 1) ∫ (e^(sε) + e^(-(s + 1)ε)) δ(ε) dε over ε ≥ 0.

    That is Theorem 6 of Balle et al. 2018. Beyond the knee xi + step √rho, δ(ε) ≤ e^(-(ε - xi)²/rho), which equals
    `spare` at the knee. Below it the profile is that of the worst (knee, spare)-DP pair (Kairouz et al. 2015).
    """
    knee, spare = xi + step * np.sqrt(rho), np.exp(-(step**2))

    def log_weighted(epsilon: Floats) -> Floats:
        share = (np.exp(knee) - np.exp(np.minimum(epsilon, knee))) / (1 + np.exp(knee))
        log_delta = np.where(epsilon <= knee, np.log(spare + (1 - spare) * share), -((epsilon - xi) ** 2) / rho)
        return np.logaddexp(s * epsilon, -(s + 1) * epsilon) + log_delta

    far = max(xi + s * rho / 2, knee) + 12 * np.sqrt(rho)  # e^-140 of the peak is beyond
    edges = np.unique(np.concatenate([np.linspace(0, knee, 5), np.linspace(knee, far, 25)]))
    top = log_weighted(edges).max()
    total = integrate(lambda epsilon: np.exp(log_weighted(epsilon) - top), edges)
    return float(np.logaddexp(0.0, np.log(s * (s + 1)) + top + np.log(total.upper)) / s)
