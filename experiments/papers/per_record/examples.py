"""Sections 4.1 and 4.2: what six establishments lose by the fourth root and by the logarithm."""

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
ESTABLISHMENTS = "the six establishments of Table 1, σ = 2"


@claim("P.E4.6")
def losses_by_the_root(budget: Budget) -> Points:
    """0.27951, 0.39528, 0.55902, 0.68465 and 12.5."""
    return _rounded(ROOT_OF_EXAMPLE, BY_THE_ROOT)


@claim("P.C4.7 E4.8 example")
def losses_by_the_log(budget: Budget) -> Points:
    """0.40130, 0.71874, 1.15864, 1.47403 and 10.60403."""
    return _rounded(LOG_OF_EXAMPLE, BY_THE_LOG)


@claim("P.E4.6 equal error")
def root_at_equal_error(budget: Budget) -> Points:
    """The release has a root mean squared error of 8,769 on a total of 10,070; unit splitting has 7.07."""
    return _against_gaussian(ROOT_OF_EXAMPLE)


@claim("P.C4.7 E4.8 equal error")
def log_at_equal_error(budget: Budget) -> Points:
    """The release has a root mean squared error of 73,731 on a total of 10,070."""
    return _against_gaussian(LOG_OF_EXAMPLE)


@claim("P.4.8b")
def log_against_root(budget: Budget) -> Points:
    """As said of the example's records: five small ones lose more by the logarithm, the largest loses less."""
    for place, size in enumerate(EMPLOYEES):
        root, log = _losses(size)
        where = f"establishment {place + 1}, {size:g} employees"
        yield Point(where + ": logarithm below root", log, root) if size > 1000 else Point(where, root, log)


@claim("P.4.8b all sizes")
def log_against_root_of_small_records(budget: Budget) -> Points:
    """The curves cross at 2.529 and 5,504.5 employees."""
    for size in (1.0, 2.0, 3.0, 100.0, 5504.0, 5505.0):
        root, log = _losses(size)
        yield Point(f"{size:g} employee{'s' * (size > 1)}", *((log, root) if size > 5504 else (root, log)))


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
