"""Sections 2.5 and 3: unit splitting, the example of six establishments, and what scaling slowly means."""

import numpy as np
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.claims import Evidence, Growth, Kind, Point, Proof, Verdict, constant
from tcdp_sim.numerics import closed_form
from tcdp_sim.releases import Root, TransformedRelease, UnitSplitRelease

EMPLOYEES = (5.0, 5.0, 10.0, 20.0, 30.0, 10_000.0)  # Table 1
THRESHOLD, SCALE = 10.0, float(np.sqrt(50))
PRINTED = (1.0, 1.0, 1.0, 4.0, 9.0, 1e6)  # Example 2.16; "999" in the text at hand is 9
ATTAINED = 1e-9
SPLIT = UnitSplitRelease(THRESHOLD, SCALE)
SIX = "the table has six establishments"


@claim(
    "P.2.16 T1",
    kind=Kind.IDENTITY,
    section="2.5",
    expected=Verdict.HOLDS,
    erratum="E23",
    figure="per_record_table_1",
)
def printed_losses(budget: Budget) -> Evidence:
    """The policy of unit splitting at the six establishments, and the largest over the smallest."""
    points = [
        Point(_establishment(i, size), closed_form(float(SPLIT.policy(size))), constant(printed))
        for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED))
    ]
    times = closed_form(float(SPLIT.policy(EMPLOYEES[5]) / SPLIT.policy(EMPLOYEES[0])))
    points.append(Point("establishment 6, in units of the loss of establishment 1", times, constant(1e6)))
    return Evidence(
        points,
        measures="policy ρ m² of a record split into m rows (nats), against the number that is printed",
        universe="the six establishments of Table 1, split at 10 employees, σ² = 50",
        tolerance=1e-8,
        proof=Proof.EXHAUSTIVE,
        why=SIX,
    )


@claim(
    "P.2.16 T1",
    part="exact",
    title="What the six establishments lose really, is at most what is printed",
    kind=Kind.INEQUALITY,
    section="2.5",
    expected=Verdict.HOLDS,
    erratum="E35",
    figure="per_record_table_1",
)
def exact_losses(budget: Budget) -> Evidence:
    """0.25, 0.25, 1, 4, 9 and a million: a sum of split records is that of whole ones, with Gaussian noise."""
    return Evidence(
        [
            Point(_establishment(i, size), gaussian_per_order(size, SCALE, 2.0), constant(printed))
            for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED))
        ],
        measures="D_2/2 of the noisy sum with and without the establishment (nats), against the loss that is printed",
        universe="the six establishments of Table 1, split at 10 employees, σ² = 50",
        tolerance=ATTAINED,
        proof=Proof.EXHAUSTIVE,
        why=SIX + ", and D_α/α of Gaussian noise is the same at all orders",
    )


@claim(
    "P.2.5r",
    kind=Kind.INEQUALITY,
    section="2.5",
    expected=Verdict.FALSE,
    erratum="E35",
    printed="P(r) = ρ |A(r)|², A(r) the number of times that record r was split",
    correct="P(r) = ρ m(r)², m(r) the number of pieces: 1 for a record that was not split",
    consequence="read as it stands, a record that was never split would lose nothing, and one cut in two a quarter of "
    "what it loses",
)
def times_split(budget: Budget) -> Evidence:
    """A record in m pieces was split m - 1 times."""
    return _by_count(-1.0)


@claim(
    "P.2.5r",
    part="repaired",
    title="The loss of a unit-split record is at most ρ times the square of the number of its pieces",
    kind=Kind.INEQUALITY,
    section="2.5",
    expected=Verdict.HOLDS,
    erratum="E35",
)
def pieces(budget: Budget) -> Evidence:
    """Attained where all pieces are full."""
    return _by_count(0.0)


def _by_count(add: float) -> Evidence:
    rho = THRESHOLD**2 / (2 * SCALE**2)
    points = []
    for size in (5.0, 10.0, 15.0, 20.0, 30.0, 10_000.0):
        rows = float(SPLIT.pieces_of(size))
        where = f"{size:g} employees, {rows:g} rows of at most 10"
        points.append(Point(where, gaussian_per_order(size, SCALE, 2.0), closed_form(rho * (rows + add) ** 2)))
    return Evidence(
        points,
        measures="D_2/2 of the noisy sum with and without the record (nats), against ρ times the squared count",
        universe="all records and thresholds",
        tolerance=ATTAINED,
        proof=Proof.SYMBOLIC,
        why="a record of value v in m pieces of at most T shifts the sum by v ≤ m T, and Gaussian noise loses v²/2σ²",
    )


@claim("P.3", kind=Kind.IDENTITY, section="3", expected=Verdict.HOLDS)
def ten_rows(budget: Budget) -> Evidence:
    """A record in m full rows against one that is not split: the losses themselves, and the policy."""
    points = []
    for rows in (10, 2, 1000):
        left = gaussian_per_order(rows * THRESHOLD, SCALE, 2.0)
        points.append(Point(f"loss of {rows} full rows, in units of that of one", left, closed_form(float(rows**2))))
        policy = float(SPLIT.policy(rows * THRESHOLD) / SPLIT.policy(THRESHOLD))
        points.append(Point(f"policy of {rows} rows", closed_form(policy), closed_form(float(rows**2))))
    return Evidence(
        points,
        measures="loss of a record of m rows over that of one row, against m²; one row loses ρ = 1",
        universe="all m; 10 rows: 100 times",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="m full rows shift the sum m times as far, and the loss of Gaussian noise is the square of the shift",
    )


@claim(
    "P.3",
    part="square root",
    title="The policy of the square root is sublinear, as is said of all transformation mechanisms",
    kind=Kind.ASYMPTOTIC,
    section="3",
    expected=Verdict.INCONSISTENT,
)
def square_root_is_linear(budget: Budget) -> Evidence:
    """Section 4.1 itself calls it linear: it outgrows every power below 1."""
    return _against_power(2.0, 0.9, Growth.AT_MOST)


@claim(
    "P.3",
    part="third root",
    title="The policy of the third root is sublinear: it grows as the power 2/3 of the influence",
    kind=Kind.ASYMPTOTIC,
    section="3",
    expected=Verdict.CONSISTENT,
)
def third_root_is_sublinear(budget: Budget) -> Evidence:
    """Slowly scaling roots begin with it."""
    return _against_power(3.0, 2 / 3, Growth.BOTH)


def _against_power(degree: float, power: float, growth: Growth) -> Evidence:
    release = TransformedRelease(Root(degree, 1.0), 1.0)
    points = []
    for exponent in range(4, 41, 4):
        influence = 10.0**exponent
        left, right = closed_form(float(release.policy(influence))), closed_form(influence**power)
        points.append(Point(f"influence 1e{exponent}", left, right, at=exponent))
    return Evidence(
        points,
        measures=f"policy at influence t over t to the power of {power:.3g}, offset 1, σ = 1",
        universe="t → ∞",
        growth=growth,
    )


def _establishment(place: int, size: float) -> str:
    return f"establishment {place + 1}, {size:g} employees"
