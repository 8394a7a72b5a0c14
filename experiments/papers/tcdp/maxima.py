"""Section 1.2: the largest of many errors, sinh-normal against Gaussian noise, at equal privacy."""

from collections.abc import Callable

import numpy as np

from tcdp_sim import exact
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.privacy import TCDP

TARGET = TCDP(0.01, 5.0)  # omega = 1/(2 sqrt rho): the least that Theorem 17 covers, where it does best


@claim("T.1.2d")
def more_accurate(budget: Budget) -> Points:
    """Return points of Theorem 17's noise against Gaussian noise of the same ρ, for impractically many answers."""
    return _against_gaussian(lambda _: calibrate("sinh_normal", TARGET, method="paper").noise, (1e80, 1e150, 1e300))


@claim("T.1.2d at useful k")
def more_accurate_at_useful_k(budget: Budget) -> Points:
    """Return the same points for practical numbers of answers."""
    points = _against_gaussian(lambda _: calibrate("sinh_normal", TARGET, method="paper").noise, (1e3, 1e6, 1e12))
    return [Point(point.where, point.right, point.left) for point in points]


@claim("T.1.2d calibrated")
def more_accurate_calibrated(budget: Budget) -> Points:
    """Return the points for the least noise that is (ρ, ω)-tCDP."""
    return _against_gaussian(
        lambda k: calibrate("sinh_normal", TARGET, objective=LargestError(k)).noise, (1e3, 1e6, 1e12)
    )


def _against_gaussian(noise: Callable[[float], Noise], counts: tuple[float, ...]) -> Points:
    gaussian = Gaussian(float(1 / np.sqrt(2 * TARGET.rho)))
    for k in counts:
        left, right = exact.max_abs_quantile(noise(k), k, 0.5), exact.max_abs_quantile(gaussian, k, 0.5)
        yield Point(f"k = {k:g}", left, right)
