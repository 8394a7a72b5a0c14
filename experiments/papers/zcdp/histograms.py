"""Section 6.1: the largest error of a histogram."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.basics import gaussian_scale

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian
from tcdp_sim.store import columns

BETA, RHO = 0.05, 0.1
MEASURES = "probability that the largest of T Gaussian errors is above the radius, against β"


@claim("Z.6.1e")
def printed_radius(budget: Budget) -> Points:
    """Exactly at three T, and as simulated in the study of histograms."""
    yield from _exact_points(1.0)
    run = budget.runs["histogram"]
    for cell in run.cells(noise="gaussian", rho=RHO, data="one_bin"):
        simulated = cell.proportion(columns.exceeds("linf_error", "printed"))
        yield Point(f"simulated, T = {cell['k']:.4g}, ρ = {RHO}", simulated, constant(BETA))


@claim("Z.6.1e repaired")
def proved_radius(budget: Budget) -> Points:
    """The union bound, exactly."""
    return _exact_points(2.0)


def _exact_points(factor: float) -> list[Point]:
    points = []
    for bins in (10.0, 1e3, 1e6, 1e12):
        radius = float(np.sqrt(factor * np.log(bins / BETA) / RHO))
        left = exact.max_abs_sf(Gaussian(gaussian_scale(RHO)), bins, radius)
        points.append(Point(f"exact, T = {bins:g}, β = {BETA}", left, constant(BETA)))
    return points
