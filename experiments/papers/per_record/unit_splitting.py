"""Sections 2.5 and 3: unit splitting, the example of six establishments, and what scaling slowly means."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Growth, Point, Points, constant
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.numerics import closed_form
from tcdp_sim.releases import Root, TransformedRelease, UnitSplitRelease

EMPLOYEES = (5.0, 5.0, 10.0, 20.0, 30.0, 10_000.0)  # Table 1
THRESHOLD, SCALE = 10.0, float(np.sqrt(50))
PRINTED = (1.0, 1.0, 1.0, 4.0, 9.0, 1e6)  # Example 2.16; "999" in the text at hand is 9
ATTAINED = 1e-9
SPLIT = UnitSplitRelease(THRESHOLD, SCALE)
SIX = "the table has six establishments"


@claim("P.2.16 T1")
def printed_losses(budget: Budget) -> Points:
    """The policy of unit splitting at the six establishments, and the largest over the smallest."""
    yield from [
        Point(_establishment(i, size), closed_form(float(SPLIT.policy(size))), constant(printed))
        for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED))
    ]
    times = closed_form(float(SPLIT.policy(EMPLOYEES[5]) / SPLIT.policy(EMPLOYEES[0])))
    yield Point("establishment 6, in units of the loss of establishment 1", times, constant(1e6))


@claim("P.2.16 T1 exact")
def exact_losses(budget: Budget) -> Points:
    """0.25, 0.25, 1, 4, 9 and a million: a sum of split records is that of whole ones, with Gaussian noise."""
    return [
        Point(_establishment(i, size), gaussian_per_order(size, SCALE, 2.0), constant(printed))
        for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED))
    ]


@claim("P.2.5r")
def times_split(budget: Budget) -> Points:
    """A record in m pieces was split m - 1 times."""
    return _by_count(-1.0)


@claim("P.2.5r repaired")
def pieces(budget: Budget) -> Points:
    """Attained where all pieces are full."""
    return _by_count(0.0)


def _by_count(add: float) -> Points:
    rho = THRESHOLD**2 / (2 * SCALE**2)
    for size in (5.0, 10.0, 15.0, 20.0, 30.0, 10_000.0):
        rows = float(SPLIT.pieces_of(size))
        where = f"{size:g} employees, {rows:g} rows of at most 10"
        yield Point(where, gaussian_per_order(size, SCALE, 2.0), closed_form(rho * (rows + add) ** 2))


@claim("P.3")
def ten_rows(budget: Budget) -> Points:
    """A record in m full rows against one that is not split: the losses themselves, and the policy."""
    for rows in (10, 2, 1000):
        left = gaussian_per_order(rows * THRESHOLD, SCALE, 2.0)
        yield Point(f"loss of {rows} full rows, in units of that of one", left, closed_form(float(rows**2)))
        policy = float(SPLIT.policy(rows * THRESHOLD) / SPLIT.policy(THRESHOLD))
        yield Point(f"policy of {rows} rows", closed_form(policy), closed_form(float(rows**2)))


@claim("P.3 square root")
def square_root_is_linear(budget: Budget) -> Points:
    """Section 4.1 itself calls it linear: it outgrows every power below 1."""
    return _against_power(2.0, 0.9, Growth.AT_MOST)


@claim("P.3 third root")
def third_root_is_sublinear(budget: Budget) -> Points:
    """Slowly scaling roots begin with it."""
    return _against_power(3.0, 2 / 3, Growth.BOTH)


def _against_power(degree: float, power: float, growth: Growth) -> Points:
    release = TransformedRelease(Root(degree, 1.0), 1.0)
    for exponent in range(4, 41, 4):
        influence = 10.0**exponent
        left, right = closed_form(float(release.policy(influence))), closed_form(influence**power)
        yield Point(f"influence 1e{exponent}", left, right, at=exponent)


def _establishment(place: int, size: float) -> str:
    return f"establishment {place + 1}, {size:g} employees"
