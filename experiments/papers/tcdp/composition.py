"""Section 1.1 and 2: what tCDP is, and how it composes."""

import numpy as np
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim, definition
from tcdp_sim.experiments.papers.tcdp.sides import largest_cost

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form

definition("T.D1 D7 D16", section="1, 2, 4")

GOLDEN = 0.6180339887498949
FIRST, SECOND = 4.0, 8.0  # omega, omega'


@claim("T.L2", kind=Kind.INEQUALITY, section="1.1", expected=Verdict.HOLDS)
def adaptive_composition(budget: Budget) -> Evidence:
    """A release of three outputs, and one of two that depends on what came out; laws from a fixed sequence."""
    points = []
    for start in range(budget.choose(4, 20)):
        p, q = _law(start, 3), _law(start + 50, 3)
        then = [(_law(start + 100 + 7 * y, 2), _law(start + 150 + 7 * y, 2)) for y in range(3)]
        joint = [np.concatenate([law[y] * then[y][i] for y in range(3)]) for i, law in enumerate((p, q))]
        first = _cost(p, q, FIRST)
        second = max((_cost(*pair, SECOND) for pair in then), key=lambda cost: cost.upper)
        allowed = constant(first.upper + second.upper)
        points.append(Point(f"laws {start}", _cost(joint[0], joint[1], min(FIRST, SECOND)), allowed))
    return Evidence(
        points,
        measures="the ρ of both releases together up to order min(ω, ω'), against ρ + ρ' of each (nats)",
        universe="all mechanisms, the second chosen by the first's output",
    )


@claim(
    "T.L2",
    part="optimal",
    title="Composition is optimal: Gaussian releases attain ρ + ρ'",
    kind=Kind.IDENTITY,
    section="1.1",
    expected=Verdict.HOLDS,
)
def gaussian_composition(budget: Budget) -> Evidence:
    """Two releases of scale 1 at shifts a and b are, turned, one at the shift √(a² + b²)."""
    points = []
    for a, b in [(0.3, 0.4), (1.0, 1.0), (0.1, 2.0)]:
        noise = exact.Mixture(Gaussian(1.0))
        moved = exact.Mixture(Gaussian(1.0), (float(np.hypot(a, b)),))
        for order in (1.5, 4.0, 20.0):
            left = exact.renyi_divergence_between(noise, moved, order)
            right = closed_form((a * a / 2 + b * b / 2) * order)
            points.append(Point(f"ρ = {a * a / 2:g}, ρ' = {b * b / 2:g}, α = {order:g}", left, right))
    return Evidence(
        points,
        measures="Rényi divergence of both releases, by quadrature, against (ρ + ρ')α (nats)",
        universe="Gaussian releases of all scales and shifts, all orders",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="divergences of independent releases add up, and a Gaussian's is ρα at every order",
    )


@claim(
    "T.L2",
    part="postprocessing",
    title="Postprocessing keeps tCDP",
    kind=Kind.INEQUALITY,
    section="1.1",
    expected=Verdict.HOLDS,
)
def postprocessing(budget: Budget) -> Evidence:
    """Sinh-normal noise cut into bins, against what the noise itself costs."""
    noise, omega = SinhNormal(scale=2.0, knee=6.0), 3.0
    base = constant(largest_cost(noise, omega).upper)
    points = []
    for edges in ([0.5], [-1.0, 2.0], list(np.linspace(-4, 5, 10))):
        cdf = [np.concatenate([[0.0], noise.cdf(np.array(edges) - shift), [1.0]]) for shift in (0.0, 1.0)]
        left = _cost(np.diff(cdf[0]), np.diff(cdf[1]), omega)
        points.append(Point(f"{len(edges) + 1} bins", left, base))
    return Evidence(
        points,
        measures="the ρ of the bin up to order ω = 3, against that of the noisy answer (nats)",
        universe="all mechanisms and all functions of their outputs",
    )


def _cost(p: Floats, q: Floats, omega: float) -> Bounds[float]:
    """The least rho at which the finite laws are (rho, omega)-close, one way."""

    def divergence(orders: Floats) -> Bounds[Floats]:
        loss = np.log(p) - np.log(q)
        moments = np.exp(np.multiply.outer(orders[1:] - 1, loss)) @ p
        values = np.concatenate([[float(p @ loss)], np.log(moments) / (orders[1:] - 1)])
        return closed_form(np.maximum(values, 0.0), 1e-9)

    return largest_over_order(divergence, omega)


def _law(start: int, outputs: int) -> Floats:
    """A law on so many outputs, from multiples of the golden ratio."""
    weight = 0.2 + np.modf(GOLDEN * (start + 1) * (np.arange(outputs) + 1) + 0.37 * start)[0]
    return np.asarray(weight / weight.sum())
