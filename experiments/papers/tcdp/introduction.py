"""Section 1: the landscape of selection."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.numerics import closed_form


@claim("T.fn3")
def gap_for_large_omega(budget: Budget) -> Points:
    """The form of Proposition 5 over that of zCDP as omega grows, k = 1e6 and rho = 0.1."""
    target = np.sqrt(np.log(1e6) / 0.1)
    points = []
    for exponent in range(0, 9):
        omega = 10.0**exponent
        left = closed_form(float(omega * np.log1p(target / omega)))
        points.append(Point(f"ω = {omega:g}", left, closed_form(float(target)), at=exponent))
    return points[1:]
