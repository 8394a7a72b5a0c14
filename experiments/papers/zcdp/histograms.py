"""Section 6.1: the largest error of a histogram."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.basics import gaussian_scale

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian
from tcdp_sim.store import columns

BETA, RHO = 0.05, 0.1
MEASURES = "probability that the largest of T Gaussian errors is above the radius, against β"


@claim(
    "Z.6.1e",
    kind=Kind.INEQUALITY,
    section="6.1",
    expected=Verdict.FALSE,
    needs=("histogram",),
    erratum="E1",
    printed="radius √(log(T/β)/ρ)",
    correct="radius √(2 log(T/β)/ρ)",
    consequence="a printed confidence radius is too small by a factor of √2: nearly always missed for a million bins",
)
def printed_radius(budget: Budget) -> Evidence:
    """Exactly at three T, and as simulated in the study of histograms."""
    points = _exact_points(1.0)
    run = budget.runs["histogram"]
    for cell in run.cells(noise="gaussian", rho=RHO, data="one_bin"):
        simulated = cell.proportion(columns.exceeds("linf_error", "printed"))
        points.append(Point(f"simulated, T = {cell['k']:.4g}, ρ = {RHO}", simulated, constant(BETA)))
    return Evidence(points, measures=MEASURES, universe="T ≥ 1, ρ > 0, 0 < β < 1")


@claim(
    "Z.6.1e",
    part="repaired",
    title="The same with the radius √(2 log(T/β)/ρ)",
    kind=Kind.INEQUALITY,
    section="6.1",
    expected=Verdict.HOLDS,
)
def proved_radius(budget: Budget) -> Evidence:
    """The union bound, exactly."""
    return Evidence(
        _exact_points(2.0),
        measures=MEASURES,
        universe="T ≥ 1, ρ > 0, 0 < β < 1",
        proof=Proof.SYMBOLIC,
        why="the union bound over T errors, each above x with probability e^(-ρx²/2) at most",
    )


def _exact_points(factor: float) -> list[Point]:
    points = []
    for bins in (10.0, 1e3, 1e6, 1e12):
        radius = float(np.sqrt(factor * np.log(bins / BETA) / RHO))
        left = exact.max_abs_sf(Gaussian(gaussian_scale(RHO)), bins, radius)
        points.append(Point(f"exact, T = {bins:g}, β = {BETA}", left, constant(BETA)))
    return points
