"""Sections 2.5 and 3: unit splitting, the example of six establishments, and a policy that scales slowly."""

import numpy as np

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.per_record.divergences import gaussian_per_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.per_record import Root, TransformedRelease, UnitSplitRelease

EMPLOYEES = (5.0, 5.0, 10.0, 20.0, 30.0, 10_000.0)  # Table 1
THRESHOLD, SCALE = 10.0, float(np.sqrt(50))
PRINTED = (1.0, 1.0, 1.0, 4.0, 9.0, 1e6)  # Example 2.16; "999" in the text at hand is 9
SPLIT = UnitSplitRelease(THRESHOLD, SCALE)


@claim("P.2.16 T1")
def printed_losses(budget: Budget) -> Points:
    """Yield the policy of unit splitting at the six establishments, and the largest over the smallest."""
    for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED)):
        yield Point(_establishment(i, size), closed_form(float(SPLIT.policy(size))), constant(printed))
    times = closed_form(float(SPLIT.policy(EMPLOYEES[5]) / SPLIT.policy(EMPLOYEES[0])))
    yield Point("establishment 6, in units of the loss of establishment 1", times, constant(1e6))


@claim("P.2.16 T1 exact")
def exact_losses(budget: Budget) -> Points:
    """Yield the losses 0.25, 0.25, 1, 4, 9 and a million.

    A sum of split records is that of whole ones, with Gaussian noise.
    """
    for i, (size, printed) in enumerate(zip(EMPLOYEES, PRINTED)):
        yield Point(_establishment(i, size), _loss(size), constant(printed))


@claim("P.2.5r")
def pieces(budget: Budget) -> Points:
    """Yield records whose pieces are full, which attain the bound, and others."""
    for size in (5.0, 10.0, 15.0, 20.0, 30.0, 10_000.0):
        rows = float(SPLIT.pieces_of(size))
        right = closed_form(THRESHOLD**2 / (2 * SCALE**2) * rows**2)
        yield Point(f"{size:g} employees, {rows:g} rows of at most 10", _loss(size), right)


@claim("P.3")
def ten_rows(budget: Budget) -> Points:
    """Yield all whole sizes that are split into ten rows, and into two, against the largest that is not split."""
    for rows in (2, 10):
        for size in range(10 * rows - 9, 10 * rows + 1):
            share = _loss(size) / _loss(THRESHOLD)
            yield Point(f"{size} employees, {rows} rows", share, constant(rows**2))


def _loss(size: float) -> Bounds[float]:
    """Return the exact loss of an establishment (nats, per order), by quadrature."""
    return gaussian_per_order(size, SCALE, 2.0)


@claim("P.3 third root")
def third_root_is_sublinear(budget: Budget) -> Points:
    """Yield influences up to the range of floats."""
    release = TransformedRelease(Root(3.0, 1.0), 1.0)
    for exponent in (4, 8, 16, 40, 80, 160, 300):
        influence = 10.0**exponent
        left, right = closed_form(float(release.policy(influence))), closed_form(influence ** (2 / 3))
        yield Point(f"influence 1e{exponent}", left, right, at=exponent)


def _establishment(place: int, size: float) -> str:
    return f"establishment {place + 1}, {size:g} employees"
