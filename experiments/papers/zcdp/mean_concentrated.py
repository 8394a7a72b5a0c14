"""Section 4: zero- and mean-concentrated differential privacy."""

from functools import partial

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import divergence
from tcdp_sim.experiments.papers.zcdp.renyi_divergences import by_quadrature
from tcdp_sim.privacy import pure_renyi

ONE = constant(1.0)
CUTS = ((3.0, 3.6), (5.0, 5.6), (10.0, 10.5))  # λ, cut
LN_10 = float(np.log(10))
DIGITS = (1, 2, 5, 20, 60, 150, 300, 10_000, 1_000_000)


@claim("Z.L24a")
def mean_to_zero(budget: Budget) -> Points:
    """Try Gaussian noise and randomised response, for which ξ = 0, and a rare loss of 1, for which ξ < 0."""
    for sigma in (0.7, 3.0):
        rho = 0.5 / sigma**2
        for order in (1.5, 8.0):
            yield Point(
                f"Gaussian({sigma:g}), α = {order:g}", by_quadrature(sigma, 1.0, order), closed_form(rho * order)
            )
    for epsilon in (0.3, 2.0):
        rho = epsilon * np.tanh(epsilon / 2)
        for order in (1.5, 2.0, 8.0):
            left = closed_form(pure_renyi(epsilon, order))
            yield Point(f"randomised response, ε = {epsilon:g}, α = {order:g}", left, closed_form(rho * order))
    for chance in (1e-3, 0.1):
        p, q = (np.array([rare, 1 - rare]) for rare in (chance, chance * np.exp(-1)))
        loss = np.log(p / q)
        mean, tau = float(p @ loss), two_point_tau(np.log(p[1] / p[0]), loss[0] - loss[1])
        for order in (1.5, 8.0, 64.0):
            most = closed_form(mean + (order - 1) * tau**2 / 2)
            yield Point(f"P[Z = 1] = {chance:g}, α = {order:g}", divergence(p, q, order), most)


@claim("Z.L24b")
def zero_to_mean(budget: Budget) -> Points:
    """Try two outcomes, the rarer with the probability 1e-digits: its loss is 1, or that of a bit of Gaussian noise.

    With randomised response, where τ = √2ρ, they are the mechanisms for which a subgaussian loss is hardest to have.
    """
    for digits in DIGITS:
        log_rare = -digits * LN_10
        width = 1 + log1mexp(log_rare - 1) - log1mexp(log_rare)
        tau = closed_form(two_point_tau(log1mexp(log_rare) - log_rare, width))
        yield Point(f"P[Z = 1] = 1e-{digits}", tau, root_of_two_rho(log_rare, 1.0), at=digits)
    for cut in (0.5, 2.0, 5.2, 12.0, 40.0):
        log_p, loss = bit(cut)
        tau, at = closed_form(cut_tau(cut)), -log_p.min() / LN_10
        yield Point(f"N(1, 1) or N(0, 1) above {cut:g}", tau, root_of_two_rho(log_p[0], loss[0]), at=at)
    for digits in DIGITS:
        epsilon = digits * LN_10
        tau = closed_form(two_point_tau(epsilon, 2 * epsilon))
        right = closed_form(float(np.sqrt(2 * epsilon * np.tanh(epsilon / 2))))
        yield Point(f"randomised response, ε = {epsilon:.4g}", tau, right, at=digits)


@claim("Z.L24b randomised response")
def zero_to_mean_of_bits(budget: Budget) -> Points:
    """Take randomised response as (ε, 0)-zCDP at large ε: τ² = 2ε tanh(ε/2)."""
    for exponent in range(1, 8):
        epsilon = 10.0**exponent
        tau = closed_form(two_point_tau(epsilon, 2 * epsilon))
        yield Point(f"ε = {epsilon:g}", tau, closed_form(float(np.sqrt(epsilon))), at=exponent)


def two_point_tau(log_odds: float, width: float) -> float:
    """Return the least tau with which a variable of two values, `width` apart, is subgaussian.

    `log_odds` is the log of their probabilities' quotient and not 0. The formula is tau² = width² tanh(log_odds/2)/(2
    log_odds), which equals width² (1 - 2p)/(2 log((1 - p)/p)) (Kearns-Saul 1998).
    """
    return float(width * np.sqrt(np.tanh(log_odds / 2) / (2 * log_odds)))


def root_of_two_rho(log_rare: float, loss: float) -> Bounds[float]:
    """Return √2ρ for the least ρ with D_α ≤ ρα at all orders both ways. Beyond the last order the largest loss is less.

    The first of the two outcomes has probability e^log_rare and this loss.
    """
    other = log1mexp(log_rare) - log1mexp(log_rare - loss)
    p, losses = np.array([log_rare, log1mexp(log_rare)]), np.array([loss, other])
    last = 20 * (1 - min(log_rare, log_rare - loss))
    ways = [largest_over_order(partial(_curve, p, losses), last)]
    ways.append(largest_over_order(partial(_curve, p - losses, -losses), last))
    beyond = float(np.abs(losses).max()) / last
    rho = Bounds(*(max(ends) for ends in zip(*ways)))
    return Bounds(*(float(np.sqrt(2 * end)) for end in (rho.lower, rho.estimate, max(rho.upper, beyond))))


def _curve(log_p: Floats, loss: Floats, orders: Floats) -> Bounds[Floats]:
    """Return D of each order, to 1e-11 absolute: log E_P e^(sL) / s."""
    s = np.maximum(orders - 1, 1e-3)
    value = np.logaddexp.reduce(log_p[:, None] + np.multiply.outer(loss, s), axis=0) / s  # rises with s
    value = np.maximum(np.where(orders == 1, np.exp(log_p) @ loss, value), 0.0)
    return Bounds(np.maximum(value - 1e-11, 0.0) * (orders > 1.001), value, value + 1e-11)


def log1mexp(x: float) -> float:
    """Return log(1 - e^x), x < 0."""
    return float(np.log1p(-np.exp(x)))


def bit(cut: float) -> tuple[Floats, Floats]:
    """Return the log law, and the losses, of whether N(1, 1) is above or below the cut, against N(0, 1)."""
    log_p, log_q = (log_ndtr(np.array([1.0, -1.0]) * (mean - cut)) for mean in (1.0, 0.0))
    return log_p, log_p - log_q


def cut_tau(cut: float) -> float:
    """Return the least tau with which the loss of that bit is subgaussian, the larger of both directions."""
    log_p, loss = bit(cut)
    laws = log_p, log_p - loss
    return max(two_point_tau(law[1] - law[0], loss[0] - loss[1]) for law in laws)


@claim("Z.1.2b")
def cut_to_a_bit(budget: Budget) -> Points:
    """Release only the bit that N(1, 1) is above a cut. Against N(0, 1) the noise itself is (½, 1)-mCDP."""
    for power, cut in CUTS:
        yield Point(f"above {cut:g}, λ = {power:g}", ONE, _moment(power, cut))


def _moment(power: float, cut: float) -> Bounds[float]:
    """Return log E e^(λ(Z - E Z)) over λ²/2 of the bit's loss Z, with power = λ."""
    log_p, loss = bit(cut)
    moment = np.logaddexp.reduce(log_p + power * loss) - power * (np.exp(log_p) @ loss)
    return closed_form(float(2 * moment / power**2), 1e-9)


@claim("Z.1.1d")
def no_way_back(budget: Budget) -> Points:
    """Take the same bits, which are ½-zCDP at all orders."""
    for power, cut in CUTS:
        log_p, loss = bit(cut)
        yield Point(f"√2ρ, above {cut:g}", root_of_two_rho(log_p[0], loss[0]), ONE)
        yield Point(f"moment, above {cut:g}, λ = {power:g}", ONE, _moment(power, cut))


@claim("Z.1.2f")
def postprocessed_mean_concentration(budget: Budget) -> Points:
    """Postprocess Gaussian noise to the bit that it lies above a cut, for cuts farther and farther out."""
    for cut in (0.5, 2.0, 3.0, 4.0, 5.2, 8.0, 12.0, 40.0, 300.0, 2000.0):
        at = -float(log_ndtr(-cut)) / LN_10
        yield Point(f"above {cut:g}", closed_form(cut_tau(cut)), ONE, at=at)
