"""Sections 4.1 and 4.2: what six establishments lose by the fourth root and by the logarithm."""

from tcdp_sim.experiments.papers.per_record.transformation import (
    LOG_OF_EXAMPLE,
    ROOT_OF_EXAMPLE,
    SCALE,
    TOTAL,
    policy_formula,
    rounding,
)
from tcdp_sim.experiments.papers.per_record.unit_splitting import EMPLOYEES, SIX
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.releases import Transform, TransformedRelease

BY_THE_ROOT = (0.3, 0.3, 0.4, 0.6, 0.7, 12.5)  # Example 4.6
BY_THE_LOG = (0.4, 0.4, 0.7, 1.2, 1.5, 10.6)  # Example 4.8
ESTABLISHMENTS = "the six establishments of Table 1, σ = 2"


@claim("P.E4.6", kind=Kind.INEQUALITY, section="4.1", expected=Verdict.HOLDS, figure="per_record_table_1")
def losses_by_the_root(budget: Budget) -> Evidence:
    """0.27951, 0.39528, 0.55902, 0.68465 and 12.5."""
    return _rounded(ROOT_OF_EXAMPLE, BY_THE_ROOT)


@claim(
    "P.C4.7 E4.8",
    part="example",
    title="Example: losses under the logarithm, 0.4, 0.7, 1.2, 1.5, 10.6",
    kind=Kind.INEQUALITY,
    section="4.2",
    expected=Verdict.HOLDS,
    figure="per_record_table_1",
)
def losses_by_the_log(budget: Budget) -> Evidence:
    """0.40130, 0.71874, 1.15864, 1.47403 and 10.60403."""
    return _rounded(LOG_OF_EXAMPLE, BY_THE_LOG)


@claim(
    "P.E4.6",
    part="equal error",
    title="Gaussian noise of the same mean squared error costs each establishment less than the fourth root",
    kind=Kind.INEQUALITY,
    section="4.1",
    expected=Verdict.HOLDS,
    figure="per_record_table_1",
)
def root_at_equal_error(budget: Budget) -> Evidence:
    """The release has a root mean squared error of 8,769 on a total of 10,070; unit splitting has 7.07."""
    return _against_gaussian(ROOT_OF_EXAMPLE)


@claim(
    "P.C4.7 E4.8",
    part="equal error",
    title="Gaussian noise of the same mean squared error costs each establishment less than the logarithm",
    kind=Kind.INEQUALITY,
    section="4.2",
    expected=Verdict.HOLDS,
    figure="per_record_table_1",
)
def log_at_equal_error(budget: Budget) -> Evidence:
    """The release has a root mean squared error of 73,731 on a total of 10,070."""
    return _against_gaussian(LOG_OF_EXAMPLE)


@claim("P.4.8b", kind=Kind.ORDERING, section="4.2", expected=Verdict.HOLDS)
def log_against_root(budget: Budget) -> Evidence:
    """As said of the example's records: five small ones lose more by the logarithm, the largest loses less."""
    points = []
    for place, size in enumerate(EMPLOYEES):
        root, log = _losses(size)
        where = f"establishment {place + 1}, {size:g} employees"
        points.append(Point(where + ": logarithm below root", log, root) if size > 1000 else Point(where, root, log))
    return Evidence(
        points,
        measures="loss by the fourth root against that by the logarithm (nats), of establishment 6 the other way round",
        universe="the six establishments of Table 1, a = 0 and a = 1, σ = 2",
        proof=Proof.EXHAUSTIVE,
        why=SIX,
    )


@claim(
    "P.4.8b",
    part="all sizes",
    title="The same of records of all sizes: the logarithm costs every small one more than the root",
    kind=Kind.ORDERING,
    section="4.2",
    expected=Verdict.FALSE,
    erratum="E34",
    printed="smaller records incur a larger privacy loss under the log transformation than under the fourth root",
    correct="so do those of 3 to 5,504 employees; of 1 or 2 employees they lose less, as of 5,505 and more",
    consequence="the smallest records, of which there are most, are better off with the logarithm: one employee loses "
    "0.060 instead of 0.125",
)
def log_against_root_of_small_records(budget: Budget) -> Evidence:
    """The curves cross at 2.529 and 5,504.5 employees."""
    points = []
    for size in (1.0, 2.0, 3.0, 100.0, 5504.0, 5505.0):
        root, log = _losses(size)
        points.append(Point(f"{size:g} employee{'s' * (size > 1)}", *((log, root) if size > 5504 else (root, log))))
    return Evidence(
        points,
        measures="loss by the fourth root against that by the logarithm (nats), from 5,505 on the other way round",
        universe="all sizes, a = 0 and a = 1, σ = 2",
    )


def _losses(size: float) -> tuple[Bounds[float], Bounds[float]]:
    root, log = (policy_formula(transform, size, SCALE) for transform in (ROOT_OF_EXAMPLE, LOG_OF_EXAMPLE))
    return closed_form(root), closed_form(log)


def _rounded(transform: Transform, printed: tuple[float, ...]) -> Evidence:
    points = []
    for place, (size, number) in enumerate(zip(EMPLOYEES, printed)):
        sides = rounding(policy_formula(transform, size, SCALE), number, 0.05)
        points.append(Point(f"establishment {place + 1}, {size:g} employees, printed {number:g}", *sides))
    return Evidence(
        points,
        measures="distance of the policy from the number that is printed, against half of its last digit (nats)",
        universe=ESTABLISHMENTS,
        proof=Proof.EXHAUSTIVE,
        why=SIX,
    )


def _against_gaussian(transform: Transform) -> Evidence:
    release = TransformedRelease(transform, SCALE)
    mse = float(release.mse(TOTAL))
    points = []
    for place, size in enumerate(EMPLOYEES):
        left, right = closed_form(size**2 / (2 * mse)), closed_form(policy_formula(transform, size, SCALE))
        points.append(Point(f"establishment {place + 1}, {size:g} employees", left, right))
    return Evidence(
        points,
        measures=f"loss by Gaussian noise of standard deviation {mse**0.5:,.0f}, against that by the release (nats)",
        universe=ESTABLISHMENTS,
        proof=Proof.EXHAUSTIVE,
        why=SIX + "; for any t ≤ q it follows from the Cramér-Rao bound, and f being concave",
    )
