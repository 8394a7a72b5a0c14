"""Sections 1.1 and 2.2: the guarantees of groups."""

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ApproxDP, group_privacy, group_to_approx_dp

NOISES = [(3.0, 10.0, 4.0), (2.0, 8.0, 4.0), (5.0, 21.0, 10.5)]  # scale, knee, omega below the largest order


@claim("T.1.1a")
def group_order(budget: Budget) -> Points:
    """Yield three data sets in a row and a bit, for which neighbours keep (ρ, ω).

    A group of two exceeds 4ρα just above α = ω/2.
    """
    few = [(1.0, 10.0, 5.01), (1.0, 10.0, 5.263)]
    for rho, omega, order in budget.choose(few, [*few, (1.0, 10.0, 5.1), (0.1, 20.0, 10.2)]):
        bits = _bits(rho, omega, order)
        where = f"ρ = {rho:g}, ω = {omega:g}, α = {order:g}"
        yield Point(f"group, {where}", closed_form(4 * rho * order, 1e-15), _of_bits(bits[0], bits[2], order))
        orders = {1 + np.sqrt(bits[0] / -rho), omega, *np.linspace(1.001, omega, 200)}
        pairs = ((bits[0], bits[1]), (bits[1], bits[0]), (bits[1], bits[2]), (bits[2], bits[1]))
        spent = [_of_bits(*pair, float(each)) / rho / float(each) for pair in pairs for each in orders]
        yield Point(f"neighbours, {where}", max(spent, key=lambda bounds: bounds.upper), constant(1.0))


def _bits(rho: float, omega: float, order: float) -> tuple[float, float, float]:
    """Return log P[bit = 1] on three data sets, as the note on the claim derives them, slightly nearer for rounding."""
    v = omega * (order - 1) / (omega - order)
    first, second = v * v, (1 + v) ** 2
    third = omega + omega * second / (omega - 1)
    nearer = 1 - 1e-12
    return -rho * first, -rho * (first + nearer * (second - first)), -rho * (first + nearer * (third - first))


def _of_bits(log_p: float, log_q: float, order: float) -> Bounds[float]:
    """Return the divergence between two bits, given the logarithms of their chances to be 1."""
    one = order * log_p - (order - 1) * log_q
    zero = order * np.log1p(-np.exp(log_p)) - (order - 1) * np.log1p(-np.exp(log_q))
    return closed_form(float(np.logaddexp(one, zero)) / (order - 1), 1e-13)


@claim("T.1.1a bound")
def group_bound(budget: Budget) -> Points:
    """Yield points of sinh-normal noise at g times the shift."""
    for scale, knee, omega in budget.choose(NOISES[1:], NOISES):
        noise = SinhNormal(scale, knee)
        rho = largest_cost(noise, omega).upper
        for g in (2, 3, 5, 8):
            if omega / g > 1:
                left = largest_cost(noise, omega / g, float(g))
                where = f"scale {scale:g}, knee {knee:g}, ω = {omega:g}, g = {g}"
                yield Point(where, left, closed_form(g * g * rho))


@claim("T.1.1a tight in ρ")
def group_gaussian(budget: Budget) -> Points:
    """Yield divergences of Gaussian noise at the shift of a group, by quadrature."""
    for g in (1, 2, 5):
        for order in (1.5, 6.0):
            left = pair_divergences.renyi(*pair_divergences.moved(Gaussian(3.0), float(g)), order)
            yield Point(f"g = {g}, α = {order:g}", left, closed_form(g * g * order / 18))


@claim("T.1.1b")
def approximate_groups(budget: Budget) -> Points:
    """Return points of the group size from which the (ε, δ)-DP of one record promises nothing, because δ = 1 there."""
    return growing(range(2, 290, 12), lambda x: _last_group(0.1, 1 / x), lambda x: np.log(x) / 0.1, "1/δ")


@claim("T.1.1b attained")
def no_protection(budget: Budget) -> Points:
    """Yield truncated Laplace noise at twice its bound."""
    for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-12)]:
        noise = _truncated(epsilon, delta)
        apart = exact.hockey_stick(noise, 2 * float(noise.bound), 1.0)
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}", apart, constant(1.0))


@claim("T.P9")
def large_groups(budget: Budget) -> Points:
    """Yield sinh-normal noise, which attains the order because its divergence is infinite from there on."""
    for scale, knee, omega in budget.choose(NOISES[:2], NOISES):
        noise = SinhNormal(scale, knee)
        rho = largest_cost(noise, omega)
        for k in (1, 2, 4, 8, 20):
            more = float(np.expm1(k * np.log1p(1 / (omega - 1))))
            bound = Bounds(rho.upper, rho.upper, rho.upper) * more * (omega - 1) * omega
            left = exact.renyi_divergence(noise, float(k), 1 + 1 / more)
            yield Point(f"scale {scale:g}, knee {knee:g}, ω = {omega:g}, k = {k}", left, bound)


@claim("T.P9 simplified")
def simplified(budget: Budget) -> Points:
    """Yield both sides in units of ρ, and orders as their distance from 1."""
    for omega in (1.1, 2.0, 10.5, 100.0):
        for k in (1, 3, 12, 40):
            growth, simple = float(np.expm1(k * np.log1p(1 / (omega - 1)))), float(np.exp(k / (omega - 1)))
            first = closed_form(growth * (omega - 1) * omega / omega**2)
            yield Point(f"bound, ω = {omega:g}, k = {k}", first, closed_form(simple))
            yield Point(f"order, ω = {omega:g}, k = {k}", closed_form(1 / simple), closed_form(1 / growth))


@claim("T.2.2")
def exponential_growth(budget: Budget) -> Points:
    """Return points of sinh-normal noise itself, and not only of the bound, at the order 1 that remains in the end."""
    noise = SinhNormal(scale=3.0, knee=10.0)

    def cost(k: float) -> Bounds[float]:
        return exact.renyi_divergence(noise, k, 1.0).log()

    return growing(np.linspace(1, 2, 5), cost, lambda k: 2 * k / 10.0)


@claim("T.2.2 order")
def shrinking_orders(budget: Budget) -> Points:
    """Return points of the order at which the divergence of sinh-normal noise at k shifts becomes infinite."""
    noise = SinhNormal(scale=3.0, knee=10.0)
    return growing(np.linspace(1, 2, 6), lambda k: _nearness(noise, k), lambda k: 2 * k / 10.0)


def _nearness(noise: SinhNormal, shift: float) -> Bounds[float]:
    """Return log 1/(order - 1) of the order from which the divergence is infinite, by bisection."""
    finite, infinite = 1e-11, 1e3  # order - 1
    while infinite > 1.01 * finite:
        middle = float(np.sqrt(finite * infinite))
        if np.isfinite(exact.renyi_divergence(noise, shift, 1 + middle).estimate):
            finite = middle
        else:
            infinite = middle
    return -Bounds(finite, finite, infinite).log()


@claim("T.P10")
def groups_to_approximate(budget: Budget) -> Points:
    """Yield points of sinh-normal noise at k shifts."""
    for scale, knee, omega in NOISES:
        noise = SinhNormal(scale, knee)
        promise = TCDP(largest_cost(noise, omega).upper, omega)
        for k, delta in [(1, 0.99), (1, 0.1), (1, 1e-6), (3, 0.5), (8, 0.5), (8, 1e-3)]:
            epsilon = group_to_approx_dp(promise, k, delta, "paper").epsilon
            left = exact.hockey_stick(noise, float(k), epsilon)
            yield Point(f"scale {scale:g}, knee {knee:g}, k = {k}, δ = {delta:g}", left, constant(delta))


def _last_group(epsilon: float, delta: float) -> float:
    """Return the real size at which `group` has delta = 1."""
    promise = ApproxDP(epsilon, delta, "one record")
    low, high = 1, 2
    while _delta(promise, high) < 1:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _delta(promise, middle) < 1 else (low, middle)
    return float(high)


def _delta(promise: ApproxDP, size: int) -> float:
    together = group_privacy(promise, size)
    return together.delta if isinstance(together, ApproxDP) else 0.0


def _truncated(epsilon: float, delta: float) -> TruncatedLaplace:
    """Return noise that is exactly (epsilon, delta)-DP for a query of sensitivity one."""
    return TruncatedLaplace(1 / epsilon, float(np.log1p(np.expm1(epsilon) / (2 * delta))) / epsilon)
