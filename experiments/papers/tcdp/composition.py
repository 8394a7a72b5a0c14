"""Sections 1.1 and 2: the definition of tCDP, and its composition."""

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_cost, largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, SinhNormal

GOLDEN = 0.6180339887498949
FIRST, SECOND = 4.0, 8.0  # omega, omega'


@claim("T.L2")
def adaptive_composition(budget: Budget) -> Points:
    """Yield a release with three outputs, followed by one with two outputs whose law depends on the first output."""
    for start in range(budget.choose(4, 20)):
        p, q = _law(start, 3), _law(start + 50, 3)
        then = [(_law(start + 100 + 7 * y, 2), _law(start + 150 + 7 * y, 2)) for y in range(3)]
        joint = [np.concatenate([law[y] * then[y][i] for y in range(3)]) for i, law in enumerate((p, q))]
        second = max(_cost(*pair, SECOND).upper for pair in then)
        allowed = constant(_cost(p, q, FIRST).upper + second)
        yield Point(f"laws {start}", _cost(joint[0], joint[1], min(FIRST, SECOND)), allowed)


@claim("T.L2 optimal")
def gaussian_composition(budget: Budget) -> Points:
    """Yield two releases of scale 1 at shifts a and b, which after a rotation are one at the shift √(a² + b²)."""
    for a, b in [(0.3, 0.4), (1.0, 1.0), (0.1, 2.0)]:
        laws = pair_divergences.moved(Gaussian(1.0), float(np.hypot(a, b)))
        for order in (1.5, 4.0, 20.0):
            left = pair_divergences.renyi(*laws, order)
            right = closed_form((a * a / 2 + b * b / 2) * order)
            yield Point(f"ρ = {a * a / 2:g}, ρ' = {b * b / 2:g}, α = {order:g}", left, right)


@claim("T.L2 order")
def beyond_the_order(budget: Budget) -> Points:
    """Yield a bit, 1 with probability 1e-6 or 1e-9 (ρ = 0.5757 up to ω = 4), and a Gaussian release of ρ' = 1."""
    p, q = np.array([1e-6, 1 - 1e-6]), np.array([1e-9, 1 - 1e-9])
    rho = _cost(p, q, 4.0)
    yield Point("ρ of the bit, which D_4/4 attains", rho, closed_form(_divergence(p, q, np.array([4.0]))[0] / 4))
    for order in (4.1, 4.5, 5.0):
        right = closed_form(_divergence(p, q, np.array([order]))[0] + order, 1e-9)
        yield Point(f"α = {order:g}", (rho + 1.0) * order, right)


@claim("T.L2 postprocessing")
def postprocessing(budget: Budget) -> Points:
    """Yield points of sinh-normal noise cut into bins, against the cost of the noise itself."""
    noise, omega = SinhNormal(scale=2.0, knee=6.0), 3.0
    base = constant(largest_cost(noise, omega).upper)
    for edges in ([0.5], [-1.0, 2.0], list(np.linspace(-4, 5, 10))):
        cdf = [np.concatenate([[0.0], noise.cdf(np.array(edges) - shift), [1.0]]) for shift in (0.0, 1.0)]
        left = _cost(np.diff(cdf[0]), np.diff(cdf[1]), omega)
        yield Point(f"{len(edges) + 1} bins", left, base)


def _cost(p: Floats, q: Floats, omega: float) -> Bounds[float]:
    """Return the least rho at which finite laws are (rho, omega)-close, both ways."""

    def divergence(orders: Floats) -> Bounds[Floats]:
        return closed_form(np.maximum(_divergence(p, q, orders), _divergence(q, p, orders)), 1e-9)

    return largest_over_order(divergence, omega)


def _divergence(p: Floats, q: Floats, orders: Floats) -> Floats:
    """Return the Renyi divergences of finite laws at orders >= 1, shape (n,)."""
    loss = np.log(p) - np.log(q)
    s = np.maximum(orders - 1, 1e-300)  # the moments of order 1 are not used
    return np.where(orders > 1, np.log1p(np.expm1(np.multiply.outer(s, loss)) @ p) / s, p @ loss)


def _law(start: int, outputs: int) -> Floats:
    """Return a law on that many outputs, from multiples of the golden ratio."""
    weight = 0.2 + np.modf(GOLDEN * (start + 1) * (np.arange(outputs) + 1) + 0.37 * start)[0]
    return np.asarray(weight / weight.sum())
