"""Sections 4.1 and 4.2: the losses of six establishments by the fourth root and by the logarithm."""

from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.transformation import (
    LOG_OF_EXAMPLE,
    ROOT_OF_EXAMPLE,
    SCALE,
    TOTAL,
    policy_formula,
    rounding,
)
from tcdp_sim.experiments.papers.per_record.unit_splitting import EMPLOYEES
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.releases import Transform, TransformedRelease

BY_THE_ROOT = (0.3, 0.3, 0.4, 0.6, 0.7, 12.5)  # Example 4.6
BY_THE_LOG = (0.4, 0.4, 0.7, 1.2, 1.5, 10.6)  # Example 4.8


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
    """Yield losses at a root mean squared error of 8,769 on a total of 10,070; unit splitting has 7.07."""
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
