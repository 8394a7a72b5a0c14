"""Noise for a vector query whose coordinates move by unequal amounts, under tCDP.

Let one record move the coordinates by s_1, ..., s_n. Divergences of independent noises add up, so the sum of D_a(s_i)
has to stay below rho a. We look for noise with D_a(s) <= c a s^2 for all s up to the largest move, with c = rho over
the squared Euclidean distance. Gaussian noise has equality. For log-concave noise D_a is convex in s and zero at s = 0.
So finitely many moves suffice: between two of them the chord exceeds the parabola by a factor that is known, and below
the least one it is a straight line.
"""

from typing import Any

from numpy import geomspace, inf

from tcdp_sim.core import registry
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Noise
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.objectives import VARIANCE, Objective
from tcdp_sim.privacy import TCDP
from tcdp_sim.privacy.definitions import known
from tcdp_sim.privacy.magnitudes import need_moderate

LEAST = 1e-4  # of the largest move: the least move at which divergences are checked
MOVES = 52  # at which divergences are checked: neighbours differ by a factor of 1.2
_RATIO = LEAST ** (-1 / (MOVES - 1))
_CHORD = (1 + _RATIO) ** 2 / (4 * _RATIO)  # the most by which a chord exceeds the parabola between neighbours


def calibrate_unequal(
    family: str, guarantee: TCDP, largest: float, distance: float, coordinates: int, objective: Objective = VARIANCE
) -> Calibrated:
    """Return the noise of a family for a vector query whose coordinates move by unequal amounts.

    Parameters
    ----------
    family : str
        The name of a continuous noise, such as "sinh_normal".
    guarantee : TCDP
        The guarantee of all coordinates together.
    largest : float
        The largest change of one coordinate between neighbours, in counts, > 0.
    distance : float
        The largest Euclidean distance between neighbours, in counts, at least `largest`.
    coordinates : int
        The number of coordinates, from 1 to 10^8.
    objective : callable
        The function of a noise that is minimised, as for `calibrate`.

    Returns
    -------
    Calibrated
        The noise. It holds for all moves with these bounds, so it need not be the least for a given query. The margin
        is 0.8% of rho, and more for 10^7 coordinates or more.

    Raises
    ------
    ValueError
        If an argument is out of range, or no noise of the family has divergences that are confirmed to be below the
        parabola. Noise with heavy tails, such as Laplace noise, has none.

    Notes
    -----
    The argument is ours. The divergences are upper ends of brackets, and they cover all orders by convexity.

    Examples
    --------
    >>> found = calibrate_unequal("sinh_squared", TCDP(0.1, 6.0), 1.0, 1.8, 1024)
    >>> 0.98 < 1.8**2 / (2 * 0.1) / float(found.noise.var()) < 1.0
    True
    """
    noise_class: Any = registry.noise(family, "family")
    largest, distance = scalar("largest", largest, 0), scalar("distance", distance, largest, closed=True)
    count = whole("coordinates", coordinates, 1, 10**8)
    if not isinstance(guarantee, TCDP) or not guarantee.omega < inf:
        raise ValueError(f"guarantee = {guarantee} is not valid for unequal moves; valid: TCDP with finite omega")
    need_moderate(known(guarantee))
    if noise_class.is_optimized or noise_class.is_discrete:
        raise ValueError(f"family = {family} is not valid for unequal moves; valid: continuous noise")
    from tcdp_sim.calibration.search import by_divergences  # imports exact divergences, which workers do not need

    squares = distance**2 * _CHORD + count * (LEAST * largest) ** 2
    slope = guarantee.rho / squares
    noise = by_divergences(noise_class, slope * largest**2, guarantee.omega, largest, objective)
    if not _below_parabola(noise, largest, slope, guarantee.omega):
        raise ValueError(
            f"{family}: no noise with D_a(s) <= c a s^2 is confirmed for moves of unequal size; valid: gaussian noise, "
            "or noise with lighter tails"
        )
    value = float(objective(noise))
    bounds = Bounds(-inf, value, value + 1e-11 * abs(value))
    return Calibrated(noise, guarantee, bounds, "upper ends of divergences below a parabola in the move")


def _below_parabola(noise: Noise, largest: float, slope: float, omega: float) -> bool:
    """Return True if D_a(s) <= slope a s^2 is confirmed at all moves that are checked, and for all orders."""
    from tcdp_sim.calibration.all_orders import holds_at_all_orders

    moves = largest * geomspace(LEAST, 1.0, MOVES)
    return all(holds_at_all_orders(noise, float(move), slope * float(move) ** 2, omega) for move in moves[::-1])
