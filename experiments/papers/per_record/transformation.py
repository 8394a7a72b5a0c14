"""Section 4: the policies of noise on a concave function of the answer, and the two examples."""

from collections.abc import Iterable

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order, over
from tcdp_sim.experiments.papers.per_record.unit_splitting import EMPLOYEES
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.releases import Identity, Log, Root, Transform, TransformedRelease

ATTAINED = 1e-9
ANSWERS = (0.0, 1.0, 50.0)  # without the record
MEASURES = "D_α/α of the noisy f(q + a), with and without the record, against the policy (nats)"
WHY = "the output shows no more than V; the rise of a concave f over the influence is largest at q = 0"
NAMES = {Identity: "the identity", Root: "root", Log: "logarithm"}
ROOT_OF_EXAMPLE, LOG_OF_EXAMPLE = Root(4.0), Log(1.0)
SCALE = 2.0  # of both examples
TOTAL = float(sum(EMPLOYEES))


@claim("P.L4.1 A1 T4.4")
def policy_of_transformations(budget: Budget) -> Points:
    """By quadrature of V at several answers, and of what is released where its estimator merges two V."""
    some = budget.choose((Identity(), Root(4.0), Log(1.0)), (Identity(), Root(4.0), Log(1.0), Root(2.5, 3.0), Log(0.1)))
    yield from _policy_points(some, (1.0, 100.0), 1.5)
    square = TransformedRelease(Root(2.0), 1.0)
    for order in budget.choose((2.0,), (1.0, 2.0, 5.0, 20.0)):
        left = over(exact.record_renyi(square, 1.0, order, 0.0), order)
        where = f"root of degree 2 as released, influence 1, q = 0, α = {order:g}"
        yield Point(where, left, closed_form(float(square.policy(1.0))))


@claim("P.L4.1 A1 T4.4 proof step")
def step_of_the_proof(budget: Budget) -> Points:
    """The record is removed: q' = q - Δ, where a concave f is steeper."""
    for transform in (Root(2.0), Root(4.0), Log(1.0)):
        for answer, influence in ((10.0, 10.0), (10_070.0, 10_000.0), (100.0, 1.0)):
            down, up = (float(transform.rise(influence, start=start)) for start in (answer - influence, answer))
            where = f"{_name(transform)}, q = {answer:g}, q' = {answer - influence:g}"
            yield Point(where, closed_form(down), closed_form(up))


@claim("P.C4.5")
def policy_of_roots(budget: Budget) -> Points:
    """Attained by the noisy root at q = 0."""
    roots = [Root(degree, offset) for degree in (1.0, 2.0, 4.0, 7.0) for offset in (0.0, 10.0)]
    return _policy_points(budget.choose(roots[2:6], roots), (5.0, 1e4), 2.0)


@claim("P.C4.7 E4.8")
def policy_of_the_logarithm(budget: Budget) -> Points:
    """Attained by the noisy logarithm at q = 0."""
    logs = [Log(1.0), Log(100.0), Log(0.01), Log(10.0)]
    return _policy_points(budget.choose(logs[:2], logs), (5.0, 1e4), 2.0)


def policy_formula(transform: Transform, influence: float, scale: float) -> float:
    """(f(t + a) - f(a))² / 2σ² as it is printed, with the difference as it stands."""
    if isinstance(transform, Log):
        rise = np.log(influence + transform.offset) - np.log(transform.offset)
    else:
        power = 1 / getattr(transform, "degree", 1.0)
        rise = (influence + transform.offset) ** power - transform.offset**power
    return float(rise**2 / (2 * scale**2))


def _policy_points(transforms: Iterable[Transform], influences: Iterable[float], order: float) -> list[Point]:
    points = []
    for transform in transforms:
        for influence in influences:
            promised = closed_form(policy_formula(transform, influence, SCALE))
            for answer in ANSWERS:
                shift = float(transform.rise(influence, start=answer))
                left = gaussian_per_order(shift, SCALE, order)
                where = f"{_name(transform)}, influence {influence:g}, q = {answer:g}"
                points.append(Point(where, left, promised))
    return points


def _name(transform: Transform) -> str:
    degree = f" of degree {transform.degree:g}" if isinstance(transform, Root) else ""
    return f"{NAMES[type(transform)]}{degree}, a = {transform.offset:g}"


def rounding(value: float, printed: float, half: float) -> tuple[Bounds[float], Bounds[float]]:
    """How far a number is from the one that is printed, and half of its last digit, as sides of a point."""
    distance = closed_form(value)
    least, most = sorted((abs(distance.lower - printed), abs(distance.upper - printed)))
    inside = distance.lower <= printed <= distance.upper
    return Bounds(0.0 if inside else least, abs(value - printed), most), Bounds(half, half, half)
