"""Section 8: approximate zCDP."""

from collections.abc import Iterator
from itertools import pairwise
from math import inf

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp import finite_laws
from tcdp_sim.experiments.papers.zcdp.finite_laws import divergence, example, independent

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Gaussian, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, ApproxZCDP, lemma_38_delta

ORDERS = (1.5, 4.0, 64.0)
Laws = tuple[Floats, Floats]


def events(p: Floats, q: Floats, epsilon: float) -> Laws:
    """The parts of two laws in events E and E', as large as the profile at epsilon allows, within e^(±epsilon).

    Where one law is more than e^epsilon times the other it is cut to that; then the heavier part is lowered towards
    e^-epsilon times the other until both have the same mass. What is cut off is at most the larger delta(epsilon).
    """
    grown = np.exp(epsilon)
    first, second = np.minimum(p, grown * q), np.minimum(q, grown * p)
    if first.sum() < second.sum():
        return first, _lowered(second, first, grown)
    return _lowered(first, second, grown), second


def _lowered(heavy: Floats, light: Floats, grown: float) -> Floats:
    excess = heavy.sum() - light.sum()
    room = heavy - light / grown
    return heavy - (excess / room.sum() if excess > 0 else 0.0) * room


def _pairs(budget: Budget) -> Iterator[tuple[str, Floats, Floats, float]]:
    """Finite laws with an epsilon at which delta is positive."""
    for index in range(budget.choose(4, 40)):
        p, q = (example(2 * index + i, 6) for i in (0, 1))
        for share in (0.2, 0.6):
            epsilon = share * float(np.abs(np.log(p / q)).max())
            yield f"laws {2 * index + 1} and {2 * index + 2}, ε = {epsilon:.4g}", p, q, epsilon


@claim("Z.D12 D36 P13 L37")
def to_approximate(budget: Budget) -> Points:
    """The events are built, for any laws; given them ε-DP holds, and so ε²/2-zCDP."""
    for name, p, q, epsilon in _pairs(budget):
        first, second = events(p, q, epsilon)
        spent = max(finite_laws.delta(p, q, epsilon).estimate, finite_laws.delta(q, p, epsilon).estimate)
        left_out = closed_form(float(1 - first.sum()), 1e-9)
        yield Point(f"what the events leave out, {name}", left_out, closed_form(spent, 1e-9))
        given = first / first.sum(), second / second.sum()
        for a, b, way in ((*given, "forth"), (*given[::-1], "back")):
            yield Point(f"D_∞ {way}, {name}", divergence(a, b, inf), closed_form(epsilon))
            yield from [
                Point(f"D_α {way}, α = {order:g}, {name}", divergence(a, b, order), closed_form(epsilon**2 * order / 2))
                for order in ORDERS
            ]


@claim("Z.8a")
def approximate_composition(budget: Budget) -> Points:
    """Two mechanisms, and the first two outcomes of the first made one."""
    pairs = list(_pairs(budget))
    for (name, p, q, epsilon), (_, r, s, other) in pairwise(pairs):
        first, second = events(p, q, epsilon), events(r, s, other)
        total = (epsilon**2 + other**2) / 2
        masses = [float(independent(first[i], second[i]).sum()) for i in (0, 1)]
        both = [independent(first[i], second[i]) / masses[i] for i in (0, 1)]
        promised = 1 - float(first[0].sum() * second[0].sum())
        yield Point(
            f"1 - P[both events], {name} and the next",
            closed_form(1 - masses[0], 1e-9),
            closed_form(promised, 1e-9),
        )
        for order in ORDERS:
            most = closed_form(total * order)
            yield Point(f"both, α = {order:g}, {name} and the next", divergence(*both, order), most)
            merged = [np.append(part[0] + part[1], part[2:]) / part.sum() for part in first]
            kept = closed_form(epsilon**2 * order / 2)
            yield Point(f"postprocessed, α = {order:g}, {name}", divergence(*merged, order), kept)


@claim("Z.8a groups")
def approximate_groups(budget: Budget) -> Points:
    """Truncated Laplace noise, moved farther than its support is wide, is seen to be moved: no events help."""
    for epsilon, delta in ((0.5, 1e-6), (1.0, 1e-3)):
        bound = float(np.log1p(np.expm1(epsilon) / (2 * delta)) / epsilon)
        size = int(np.ceil(2 * bound))
        rho = 0.5 * (epsilon * size) ** 2
        far = rho + 2 * np.sqrt(rho * np.log(1 / delta))
        promised = closed_form(lemma_38_delta(ApproxZCDP(delta, rho), float(far)))
        seen = exact.hockey_stick(TruncatedLaplace(1 / epsilon, bound), size, float(far))
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}, k = {size}, at ε' = {far:.4g}", promised, seen)


@claim("Z.L38")
def sharper_conversion(budget: Budget) -> Points:
    """With probability δ all is told, else Gaussian noise is added."""
    some = [(0.1, 1.0), (0.1, 0.1), (2.0, 3.0)]
    for rho, epsilon in budget.choose(some, [*some, (1e-3, 0.2), (1.0, 1.0), (10.0, 12.0), (10.0, 40.0)]):
        profile = exact.hockey_stick(Gaussian(float(np.sqrt(0.5 / rho))), 1.0, epsilon)
        for delta in (0.0, 1e-3):
            left = Bounds(*(delta + (1 - delta) * end for end in profile))
            guarantee = ApproxZCDP(delta, rho) if delta else ZCDP(rho)
            right = closed_form(lemma_38_delta(guarantee, epsilon, form="paper"))
            yield Point(f"ρ = {rho:g}, ε = {epsilon:g}, δ = {delta:g}", left, right)
    for epsilon in (0.5, 1.0, 2.0):
        cell = budget.runs["privacy_loss"].cell(noise="gaussian", rho=0.1, epsilon=epsilon)
        right = closed_form(lemma_38_delta(ZCDP(0.1), epsilon, form="paper"))
        yield Point(f"simulated, ρ = 0.1, ε = {epsilon:g}, δ = 0", cell.mean("hockey_stick"), right)


@claim("Z.L38 equivalence")
def equivalence(budget: Budget) -> Points:
    """What the built events leave out is what any events must."""
    for name, p, q, epsilon in _pairs(budget):
        first, _ = events(p, q, epsilon)
        spent = max(finite_laws.delta(p, q, epsilon), finite_laws.delta(q, p, epsilon))
        yield Point(name, closed_form(float(1 - first.sum()), 1e-9), spent)
