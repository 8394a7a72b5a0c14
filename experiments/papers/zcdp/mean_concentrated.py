"""Section 4: zero- and mean-concentrated differential privacy."""

from functools import partial

import numpy as np
from scipy.special import log_ndtr
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.sides import ONE

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import pure_renyi


@claim("Z.L24a")
def mean_to_zero(budget: Budget) -> Points:
    """Gaussian noise attains it; randomised response is (ρ, √2ρ)-mCDP with ρ = ε tanh(ε/2)."""
    for sigma in (0.7, 3.0):
        rho = 0.5 / sigma**2
        for order in (1.5, 8.0):
            left = exact.renyi_divergence_between(
                exact.Mixture(Gaussian(sigma)), exact.Mixture(Gaussian(sigma), (1.0,)), order
            )
            yield Point(f"Gaussian({sigma:g}), α = {order:g}", left, closed_form(rho * order))
    for epsilon in (0.3, 2.0):
        rho = epsilon * np.tanh(epsilon / 2)
        for order in (1.5, 2.0, 8.0):
            left = closed_form(pure_renyi(epsilon, order))
            yield Point(f"randomised response, ε = {epsilon:g}, α = {order:g}", left, closed_form(rho * order))


@claim("Z.L24b")
def zero_to_mean(budget: Budget) -> Points:
    """A loss of 1 that is rare: the mechanisms for which a subgaussian loss is hardest to have."""
    for digits in (1, 2, 5, 20, 60, 150, 300):
        log_rare = -digits * np.log(10)
        width = 1 + log1mexp(log_rare - 1) - log1mexp(log_rare)
        tau = closed_form(two_point_tau(10.0**-digits, width))
        yield Point(f"P[Z = 1] = 1e-{digits}", tau, root_of_two_rho(log_rare, 1.0), at=digits)


@claim("Z.L24b randomised response")
def zero_to_mean_of_bits(budget: Budget) -> Points:
    """As (ε, 0)-zCDP at large ε: τ² = 2ε tanh(ε/2)."""
    for exponent in range(1, 8):
        epsilon = 10.0**exponent
        tau = closed_form(two_point_tau(1 / (1 + np.exp(epsilon)) if epsilon < 700 else 0.0, 2 * epsilon, epsilon))
        yield Point(f"ε = {epsilon:g}", tau, closed_form(float(np.sqrt(epsilon))), at=exponent)


def two_point_tau(chance: float, width: float, log_odds: float | None = None) -> float:
    """The least tau with which a variable of two values, `width` apart, the higher with `chance` < 1/2, is subgaussian.

    tau² = width² (1 - 2 chance)/(2 log((1 - chance)/chance)) (Kearns-Saul 1998).
    """
    odds = np.log1p(-chance) - np.log(chance) if log_odds is None else log_odds
    return float(width * np.sqrt((1 - 2 * chance) / (2 * odds)))


def root_of_two_rho(log_rare: float, loss: float) -> Bounds[float]:
    """√2ρ, ρ the least with D_α ≤ ρα at all orders both ways: beyond the last of these the largest loss is less.

    Of two outcomes, the first with probability e^log_rare and this loss.
    """
    other = log1mexp(log_rare) - log1mexp(log_rare - loss)
    p, losses = np.array([log_rare, log1mexp(log_rare)]), np.array([loss, other])
    last = 20 * (1 - log_rare)
    forth = largest_over_order(partial(_curve, p, losses), last)
    back = largest_over_order(partial(_curve, p - losses, -losses), last)
    rho = [
        max(forth.lower, back.lower),
        max(forth.estimate, back.estimate),
        max(forth.upper, back.upper, abs(loss) / last),
    ]
    return Bounds(*(float(np.sqrt(2 * end)) for end in rho))


def _curve(log_p: Floats, loss: Floats, orders: Floats) -> Bounds[Floats]:
    """D of each order, to 1e-11 absolute: log E_P e^(sL) / s."""
    s = np.maximum(orders - 1, 1e-3)
    value = np.logaddexp.reduce(log_p[:, None] + np.multiply.outer(loss, s), axis=0) / s  # rises with s
    value = np.maximum(np.where(orders == 1, np.exp(log_p) @ loss, value), 0.0)
    return Bounds(np.maximum(value - 1e-11, 0.0) * (orders > 1.001), value, value + 1e-11)


def log1mexp(x: float) -> float:
    """log(1 - e^x), x < 0."""
    return float(np.log1p(-np.exp(x)))


@claim("Z.1.2b")
def cut_to_a_bit(budget: Budget) -> Points:
    """N(1, 1) against N(0, 1) is (½, 1)-mCDP; of its output only whether it is above a cut is given out."""
    for power, cut in ((3.0, 3.6), (5.0, 5.6), (10.0, 10.5)):
        log_p, log_q = (log_ndtr(np.array([1.0, -1.0]) * (mean - cut)) for mean in (1.0, 0.0))
        loss = log_p - log_q
        moment = np.logaddexp.reduce(log_p + power * loss) - power * (np.exp(log_p) @ loss)
        yield Point(f"above {cut:g}, λ = {power:g}", ONE, closed_form(float(2 * moment / power**2), 1e-9))
