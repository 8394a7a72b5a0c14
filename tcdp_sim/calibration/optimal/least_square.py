"""The noise of least mean square under (epsilon, delta)-DP of a shift by one, a mixture of at most two lattices.

Let q = e^(-epsilon). The run of m points has masses proportional to q^|i| at the points i - c, where c is the mean of
i. For m = 2k + 1 we have -k <= i <= k, and for m = 2k + 2 we have -k <= i <= k + 1. The run and its mirror image
together spend delta_m, half of the masses of the two ends, and have a mean square V_m. The best noise mixes the runs m
and m + 1 with delta_m >= delta >= delta_(m+1), each with its mirror image, so that delta is spent.

*Proof.* By weak duality it is enough that for every price lambda of delta no noise on a lattice u + integers,
0 <= u <= 1/2, has cost + lambda delta below the least V_m + lambda delta_m. On that lattice consider the linear program
of p_i >= 0 at i + u, of mass one. It has the cost sum of p_i (i + u)^2. In addition lambda / 2 is charged for each unit
by which p_i exceeds e^epsilon p_(i+1) or e^epsilon p_(i-1). The dual is to maximise mu over 0 <= y_i, z_i <= lambda / 2
with

    y_i - e^epsilon y_(i-1) + z_i - e^epsilon z_(i+1) >= mu - (i + u)^2.

Let y be zero on the left of 0 and z on its right, and share mu - u^2 between y_0 and z_0. Let the others follow from
equality outwards, and be zero once that is negative. The condition y_j <= lambda / 2 bounds y_0 by e^(-epsilon j) times
the rest of lambda / 2 after the points 1 .. j. The bound is least at the last point with
(j + u)^2 <= mu + (e^epsilon - 1) lambda / 2. Let this be n, and -k the same on the left, where k - n is 0 or 1. So a
share exists as long as both bounds together are at least mu - u^2. (Neither is negative then. The costs (i - u)^2 on
the left lie between those of i - 1 and i on the right, so where one bound is negative their sum is too small.) At the
largest such mu they are equal to it. Then the run from -k to n with masses q^|i| has cost + lambda delta = mu. A run
costs least where its mean is 0, so mu is at least V_m + lambda delta_m for m = k + n + 1.

The points (delta_m, V_m) are the corners of a convex curve. Let N and S be the sums of q^|i| and i^2 q^|i| over -k..k,
g = q^(k+1) and N' = N + g. The slopes after m = 2k + 1 and 2k + 2 are -2q / (1 + q) times

    (k+1)^2 (N' - 2g + g^2 / N') - S  and  (k+1)^2 (N' + g^2 / N') - S.

The second is larger by 2g (k+1)^2, and the next first one is larger again since N' >= (2k+2) g.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np

from tcdp_sim.calibration.optimal.lattice_mixture import LatticeMixture
from tcdp_sim.calibration.optimal.stored_promise import kept, slack
from tcdp_sim.calibration.optimal.truncated_geometric import number_of_points, truncated_geometric
from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import LatticeNoise

_ON_INTEGERS = 1e-9  # counts; a lattice this close to the integers lowers the mean square by only 1e-18


class _Run(NamedTuple):
    """A run of m = `points` neighbouring points with masses q^|i|, q = e^-fall, as in the head of this file."""

    points: int
    fall: float

    @property
    def steps(self) -> Floats:
        """The i of every point."""
        return np.arange(float(self.points)) - (self.points - 1) // 2

    @property
    def mass(self) -> Floats:
        return np.exp(-self.fall * np.abs(self.steps))

    @property
    def mean(self) -> float:
        """The mean of i, which is 0 for an odd number of points."""
        end = self.points // 2
        return end * exp(-self.fall * end) / float(self.mass.sum()) if self.points % 2 == 0 else 0.0

    @property
    def square(self) -> float:
        """V_m, the mean square of the run."""
        return float(self.mass @ (self.steps - self.mean) ** 2 / self.mass.sum())

    @property
    def delta(self) -> float:
        """delta_m, the delta that the run spends."""
        mass = self.mass
        return float((mass[0] + mass[-1]) / (2 * mass.sum()))


def least_square_noise(epsilon: float, delta: float) -> LatticeNoise | LatticeMixture:
    """Return the noise of least mean square with (epsilon, delta)-DP at a shift by one, for its masses as stored.

    The ranges are epsilon >= 0 in nats and 0 < delta < 1. If a run's mean is no more than rounding, the runs lie on the
    integers, where they are one noise. Raises ValueError for more than a million points.
    """
    points = number_of_points(epsilon, delta)
    room = slack(epsilon * points + log(4 * points))
    fall, less = kept(epsilon, delta, room)
    runs = [(run, share) for run, share in _mixture(fall, less) if share > 0]
    if any(run.points % 2 == 0 and run.mean < _ON_INTEGERS for run, _ in runs):
        return truncated_geometric(epsilon, delta, 0.0, room)
    first = tuple(float(run.steps[0]) - run.mean for run, _ in runs)
    tables = (-fall * np.abs(run.steps) + log(share / float(run.mass.sum())) for run, share in runs)
    return LatticeMixture(first, tuple(tuple(table.tolist()) for table in tables))


def least_square(epsilon: float, delta: float) -> float:
    """Return the least mean square of any noise with (epsilon, delta)-DP at a shift by one, to 1e-12 relative."""
    return sum(share * run.square for run, share in _mixture(epsilon, delta))


def _mixture(epsilon: float, delta: float) -> tuple[tuple[_Run, float], tuple[_Run, float]]:
    """Return the two runs and their probabilities."""
    points = _points_before(epsilon, delta)
    run, longer = _Run(points, epsilon), _Run(points + 1, epsilon)
    q, k = exp(-epsilon), (points - 1) // 2
    step = q**k * (1 + q) / (2 * float(run.mass.sum()) * float(longer.mass.sum()))  # delta_m - delta_(m+1)
    share = min(max((run.delta - delta) / step, 0.0), 1.0)
    return (run, 1 - share), (longer, share)


def _points_before(epsilon: float, delta: float) -> int:
    """Return the largest m with delta_m >= delta."""
    q, k = exp(-epsilon), np.arange(float(number_of_points(epsilon, delta)))
    ends = np.exp(-epsilon * k)
    odd = 2 * np.cumsum(ends) - 1  # the masses of 2k + 1 points
    return int((ends >= delta * odd).sum() + (ends * (1 + q) / 2 >= delta * (odd + q * ends)).sum())
