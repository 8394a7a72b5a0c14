"""Sections 4.1 and 4.2: the policies of noise on a concave function of the answer, and the two examples."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.per_record.unit_splitting import EMPLOYEES
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.per_record import Identity, Log, Root, Transform, TransformedRelease

NAMES = {Identity: "the identity", Root: "root", Log: "logarithm"}
ROOT_OF_EXAMPLE, LOG_OF_EXAMPLE = Root(4.0), Log(1.0)
SCALE = 2.0  # scale of both examples
TOTAL = float(sum(EMPLOYEES))
BY_THE_ROOT = (0.3, 0.3, 0.4, 0.6, 0.7, 12.5)  # Example 4.6
BY_THE_LOG = (0.4, 0.4, 0.7, 1.2, 1.5, 10.6)  # Example 4.8


@claim("P.L4.1 A1 T4.4")
def policy_of_transformations(budget: Budget) -> Points:
    """Yield V at several answers, by quadrature, and the release itself where its estimator merges two V."""
    some = (Identity(), Root(4.0), Log(1.0))
    yield from _policy_points(budget.choose(some, (*some, Root(2.5, 3.0), Log(0.1))), (1.0, 100.0), 1.5)
    square = TransformedRelease(Root(2.0), 1.0)
    for order in budget.choose((2.0,), (1.0, 2.0, 5.0, 20.0)):
        left = exact.record_renyi(square, 1.0, order, 0.0) / order
        where = f"root of degree 2 as released, influence 1, q = 0, α = {order:g}"
        yield Point(where, left, closed_form(float(square.policy(1.0))))


@claim("P.L4.1 A1 T4.4 proof step")
def step_of_the_proof(budget: Budget) -> Points:
    """Yield records that are removed: q' = q - Δ, where a concave f is steeper."""
    for transform in (Root(2.0), Root(4.0), Log(1.0)):
        for answer, influence in ((10.0, 10.0), (10_070.0, 10_000.0), (100.0, 1.0)):
            down, up = (closed_form(float(transform.rise(influence, start=q))) for q in (answer - influence, answer))
            yield Point(f"{_name(transform)}, q = {answer:g}, q' = {answer - influence:g}", down, up)


@claim("P.C4.5")
def policy_of_roots(budget: Budget) -> Points:
    """Yield noisy roots, which attain the policy at q = 0."""
    roots = [Root(degree, offset) for degree in (1.0, 2.0, 4.0, 7.0) for offset in (0.0, 10.0)]
    return _policy_points(budget.choose(roots[2:6], roots), (5.0, 1e4), 2.0)


@claim("P.4.1a")
def policies_of_two_roots(budget: Budget) -> Points:
    """Yield the exact losses of both roots at q = 0 and a = 0, against the forms named."""
    for influence in (0.01, 1.0, 100.0, 1e4, 1e8):
        for degree, form in ((2.0, influence), (4.0, influence**0.5)):
            left = gaussian_per_order(float(Root(degree).rise(influence)), SCALE, 2.0)
            yield Point(f"{_name(Root(degree))}, influence {influence:g}", left, closed_form(form / (2 * SCALE**2)))


@claim("P.C4.7 E4.8")
def policy_of_the_logarithm(budget: Budget) -> Points:
    """Yield noisy logarithms, which attain the policy at q = 0."""
    logs = [Log(1.0), Log(100.0), Log(0.01), Log(10.0)]
    return _policy_points(budget.choose(logs[:2], logs), (5.0, 1e4), 2.0)


def policy_formula(transform: Transform, influence: float, scale: float) -> float:
    """Return (f(t + a) - f(a))² / 2σ² (nats) as printed, with an explicit difference."""
    if isinstance(transform, Log):
        rise = np.log(influence + transform.offset) - np.log(transform.offset)
    else:
        power = 1 / getattr(transform, "degree", 1.0)
        rise = (influence + transform.offset) ** power - transform.offset**power
    return float(rise**2 / (2 * scale**2))


def _policy_points(transforms: Iterable[Transform], influences: Iterable[float], order: float) -> Points:
    for transform, influence, answer in product(transforms, influences, (0.0, 1.0, 50.0)):  # answers without the record
        left = gaussian_per_order(float(transform.rise(influence, start=answer)), SCALE, order)
        right = closed_form(policy_formula(transform, influence, SCALE))
        yield Point(f"{_name(transform)}, influence {influence:g}, q = {answer:g}", left, right)


def _name(transform: Transform) -> str:
    degree = f" of degree {transform.degree:g}" if isinstance(transform, Root) else ""
    return f"{NAMES[type(transform)]}{degree}, a = {transform.offset:g}"


@claim("P.E4.6")
def losses_by_the_root(budget: Budget) -> Points:
    """Yield 0.27951, 0.39528, 0.55902, 0.68465 and 12.5 nats."""
    return _rounded(ROOT_OF_EXAMPLE, BY_THE_ROOT)


@claim("P.C4.7 E4.8 example")
def losses_by_the_log(budget: Budget) -> Points:
    """Yield 0.40130, 0.71874, 1.15864, 1.47403 and 10.60403 nats."""
    return _rounded(LOG_OF_EXAMPLE, BY_THE_LOG)


@claim("P.E4.6 equal error")
def root_at_equal_error(budget: Budget) -> Points:
    """Yield losses at a root mean squared error of 8,769 on a total of 10,070, where unit splitting has 7.07."""
    return _against_gaussian(ROOT_OF_EXAMPLE)


@claim("P.C4.7 E4.8 equal error")
def log_at_equal_error(budget: Budget) -> Points:
    """Yield losses at a root mean squared error of 73,731 on a total of 10,070."""
    return _against_gaussian(LOG_OF_EXAMPLE)


@claim("P.4.8b")
def log_against_root(budget: Budget) -> Points:
    """Yield the records of the example: five small ones lose more by the logarithm, the largest loses less."""
    for place, size in enumerate(EMPLOYEES):
        yield _ordered(f"establishment {place + 1}, ", size, size > 1000)


@claim("P.4.8b all sizes")
def log_against_root_of_all_sizes(budget: Budget) -> Points:
    """Yield sizes on both sides of 2.529 and of 5,504.5 employees, where the curves cross."""
    for size in (1.0, 2.0, 3.0, 100.0, 5504.0, 5505.0, 10_000.0):
        yield _ordered("", size, not 3 <= size <= 5504)


def _ordered(place: str, size: float, log_below: bool) -> Point:
    root, log = _losses(size)
    where = f"{place}{size:g} employee{'s' * (size > 1)}"
    return Point(f"{where}: logarithm below root", log, root) if log_below else Point(where, root, log)


def _losses(size: float) -> tuple[Bounds[float], Bounds[float]]:
    root, log = (policy_formula(transform, size, SCALE) for transform in (ROOT_OF_EXAMPLE, LOG_OF_EXAMPLE))
    return closed_form(root), closed_form(log)


def _rounded(transform: Transform, printed: tuple[float, ...]) -> Points:
    for place, (size, number) in enumerate(zip(EMPLOYEES, printed)):
        sides = rounding(policy_formula(transform, size, SCALE), number, 0.05)
        yield Point(f"establishment {place + 1}, {size:g} employees, printed {number:g}", *sides)


def _against_gaussian(transform: Transform) -> Points:
    release = TransformedRelease(transform, SCALE)
    mse = float(release.mse(TOTAL))
    for place, size in enumerate(EMPLOYEES):
        left, right = closed_form(size**2 / (2 * mse)), closed_form(policy_formula(transform, size, SCALE))
        yield Point(f"establishment {place + 1}, {size:g} employees", left, right)


def rounding(value: float, printed: float, half: float) -> tuple[Bounds[float], Bounds[float]]:
    """Return two sides: the distance of a number from the printed one, and half a unit of its last digit."""
    above = closed_form(value) - printed
    most = max(above.upper, -above.lower)
    return Bounds(max(above.lower, -above.upper, 0.0), abs(above.estimate), most), constant(half)
