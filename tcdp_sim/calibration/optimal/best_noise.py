"""The best of all noises under a guarantee, and a lower bound on the cost of any noise.

Counts of neighbours differ by exactly one, in each of `coordinates` counts. So noise decomposes into its lattices
u + integers. The guarantee alone couples them, because it bounds the average over them of e^((a-1) D_a) or of
delta(epsilon). Three steps lead to the best of all noises, continuous ones included.

1. Mirror images average. A noise and its mirror image have the same guarantee and the same cost. The mean of both has
   the guarantee too, since e^((a-1) D_a) is jointly convex. So noise is symmetric. If several coordinates move up or
   down by one each, the guarantee is divided evenly, with D_a <= a rho / coordinates for each. The same holds of
   delta(epsilon).
2. The guarantee has a price. Charge every lattice for its part of the average, at any price lambda >= 0 for each order
   (or for delta). Then the cost of a noise that keeps the guarantee is at least the mean over its lattices of
   cost + lambda (part - limit). By weak duality it is at least the least value L(u) of that over all lattices
   u + integers. Lattices may get unequal parts of the guarantee, since the price is the same everywhere.
3. Where one lattice has the least L at every price, that lattice alone is best, at the prices of its best noise. This
   holds because its least cost is convex in the part of the guarantee that it gets, so prices exist at which L is that
   cost. There are three such cases.

   - P[|Z| > t]. It depends only on the number of points in [-t, t], wherever they lie. More points without cost make L
     smaller or leave it. The most is floor(2t) + 1, which the integers or the half-integers reach. The least quantile
     is the least t with a small enough least tail, so it is a multiple of 1/2.
   - E |Z|. With the noise on integers i fixed, the mean of |i + u| is linear in u between 0 and 1, and the guarantee
     does not depend on u. So L is concave there and least at an end, which is on the integers.
   - costs under pure DP. There every lattice keeps the guarantee alone, and nothing is averaged. The least mean square
     on u + integers is u^2 more than on the integers, by the proof in `least_square` without delta.

   Mean squares are different. Under (epsilon, delta)-DP integers, half-integers and others take turns as the price
   falls. The best noise is a mixture of two lattices in closed form (see `least_square`). Under zCDP and tCDP the noise
   is the best one on the integers, and the lower bound is the least L over all lattices (see `every_offset`).
"""

from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

from tcdp_sim.calibration.optimal.best_on_lattice import Best, best_on_lattice
from tcdp_sim.calibration.optimal.geometric import (
    depth_of_geometric,
    geometric,
    geometric_with_step,
    least_tail_with_step,
)
from tcdp_sim.calibration.optimal.lattice_mixture import LatticeMixture
from tcdp_sim.calibration.optimal.least_quantile import least_halves
from tcdp_sim.calibration.optimal.least_square import least_square, least_square_noise
from tcdp_sim.calibration.optimal.start import quantile_at_start
from tcdp_sim.calibration.optimal.stored_promise import slack
from tcdp_sim.calibration.optimal.truncated_geometric import depth_of_truncated, least_cost, truncated_geometric
from tcdp_sim.core.errors import whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.lattice import OFFSETS, LatticeNoise
from tcdp_sim.noise.objectives import LargestError, MeanAbsoluteError, MeanCost, MeanSquaredError, Tail
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.privacy.definitions import known

_HOW = "the best noise of all, by convex duality"
_ROUNDING = 1e-11  # relative, of costs of a given noise
_LEAST_UPPER = 1e-300  # upper ends of costs are at least this
_LEAST_TAIL = 1e-250  # least tail of a single error for which a quantile is searched


class _Best(NamedTuple):
    """A noise that keeps the guarantee, with its cost and a lower bound.

    No noise on its lattice costs less than `lower`. For a mean square no noise on any lattice does.
    """

    noise: LatticeNoise
    lower: float
    cost: float


def optimal_noise(
    guarantee: Guarantee, objective: MeanCost | LargestError, coordinates: int = 1
) -> Calibrated[LatticeNoise | LatticeMixture]:
    """Return the additive noise of least cost under a guarantee, with bounds on the least cost of any noise.

    The proof is derived here. It stands in the docstring of the module `tcdp_sim.calibration.optimal.best_noise`.

    Parameters
    ----------
    guarantee : Guarantee
        PureDP, ZCDP with xi = 0, TCDP, or ApproxDP (one coordinate).
    objective : MeanCost or LargestError
        `Tail`, `LargestError`, `MeanAbsoluteError` or `MeanSquaredError`. A `LargestError` must leave a single error a
        tail of at least 1e-250.
    coordinates : int
        The number of counts that change by exactly one each, from 1 to 10^6. It is 2 for a histogram whose neighbours
        substitute a record.

    Returns
    -------
    Calibrated
        The noise costs `upper` of `bounds`, in the objective's unit, and no noise costs less than `lower`. Tails
        below 1e-280 are bounded from above only. The noise lies on the integers or the half-integers. For a mean square
        under ApproxDP it may be a `LatticeMixture`. It protects whole numbers alone. For counts that move by fractions
        it has no guarantee.

    Raises
    ------
    ValueError
        If the guarantee or the objective is not valid, or the noise would need too many points.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> optimal_noise(PureDP(20.0), LargestError(10)).bounds.upper
    0.0
    """
    if isinstance(objective, MeanSquaredError) and isinstance(guarantee, ApproxDP):
        noise = _least_square_noise(guarantee, whole("coordinates", coordinates, 1, 10**6))
        bounds = _bounds(least_square(guarantee.epsilon, guarantee.delta) * (1 - _ROUNDING), float(noise.var()))
        return Calibrated(noise, guarantee, bounds, _HOW)
    best = _on_best_lattice(guarantee, objective, coordinates)
    return Calibrated(best.noise, guarantee, best.bounds, best.method)


def best_lattice_noise(
    guarantee: Guarantee, objective: MeanCost | LargestError, coordinates: int = 1
) -> Calibrated[LatticeNoise]:
    """Return the noise of least cost among those on the integers and those on the half-integers.

    The result is that of `optimal_noise`, except for mean squares under ApproxDP.

    The proof is derived here. It stands in the docstring of the module `tcdp_sim.calibration.optimal.best_noise`.

    Parameters
    ----------
    guarantee : Guarantee
        The same guarantees as for `optimal_noise`.
    objective : MeanCost or LargestError
        The same objectives as for `optimal_noise`.
    coordinates : int
        The number of counts that change by exactly one each, from 1 to 10^6.

    Returns
    -------
    Calibrated
        The noise and bounds on the least cost. No noise at all, on whatever lattices, costs less than `lower` of
        `bounds`.

    Raises
    ------
    ValueError
        If the guarantee or the objective is not valid, or the noise would need too many points.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxDP
    >>> round(best_lattice_noise(ApproxDP(0.0, 0.3), MeanSquaredError()).bounds.estimate, 9)
    1.0
    """
    if isinstance(objective, MeanSquaredError) and isinstance(guarantee, ApproxDP):
        both = [_on_lattice(guarantee, objective, coordinates, offset) for offset in OFFSETS]
        best = min(both, key=lambda each: each.cost)
        of_all = least_square(guarantee.epsilon, guarantee.delta) * (1 - _ROUNDING)
        return Calibrated(best.noise, guarantee, _bounds(of_all, best.cost), "the better one of two lattices")
    return _on_best_lattice(guarantee, objective, coordinates)


def _on_best_lattice(
    guarantee: Guarantee, objective: MeanCost | LargestError, coordinates: int
) -> Calibrated[LatticeNoise]:
    coordinates = whole("coordinates", coordinates, 1, 10**6)
    if isinstance(objective, LargestError):
        return _least_quantile(guarantee, objective, coordinates)
    if not isinstance(objective, Tail | MeanAbsoluteError | MeanSquaredError):
        raise ValueError(
            f"objective = {objective!r} is not valid; valid: Tail, LargestError, MeanAbsoluteError, MeanSquaredError"
        )
    offset = _offset(objective.beyond) if isinstance(objective, Tail) else 0.0
    best = _on_lattice(guarantee, objective, coordinates, offset)
    return Calibrated(best.noise, guarantee, _bounds(best.lower, best.cost), _HOW)


def _bounds(lower: float, cost: float) -> Bounds:
    upper = max(cost * (1 + _ROUNDING), _LEAST_UPPER)
    return Bounds(min(max(lower, 0.0), cost), cost, upper)


def _offset(beyond: float) -> float:
    """Return the offset of the lattice with the most points in [-beyond, beyond]."""
    return 0.0 if floor(2 * beyond) % 2 == 0 else 0.5


def _least_square_noise(guarantee: ApproxDP, coordinates: int) -> LatticeNoise | LatticeMixture:
    _one_coordinate(guarantee, coordinates)
    return least_square_noise(guarantee.epsilon, guarantee.delta)


def _on_lattice(guarantee: Guarantee, objective: MeanCost, coordinates: int, offset: float) -> _Best:
    pair, slope = known(guarantee).epsilon_delta, guarantee.rho_omega
    if pair is not None:
        epsilon, delta = pair
        if not delta:
            return _pure(epsilon / coordinates, objective, offset)
        _one_coordinate(guarantee, coordinates)
        return _approximate(epsilon, delta, objective, offset)
    if slope is None:
        raise ValueError(f"guarantee = {guarantee} is not valid; valid: PureDP, ZCDP with xi = 0, TCDP, ApproxDP")
    rho, omega = slope
    inside = objective.beyond if isinstance(objective, Tail) else 0.0
    best: Best = best_on_lattice(rho / coordinates, omega, objective, offset, inside)
    of_all = isinstance(objective, MeanSquaredError)
    lower = best.lower_bound_of_squares() if of_all else best.lower_bound()
    return _Best(best.noise, lower, objective(best.noise))


def _pure(epsilon: float, objective: MeanCost, offset: float) -> _Best:
    if epsilon == 0:
        raise ValueError("epsilon = 0 is not valid: no noise hides everything; valid: epsilon > 0")
    noise = geometric(epsilon, offset, slack(depth_of_geometric(epsilon, 1)))
    return _Best(noise, objective(geometric(epsilon, offset)) * (1 - _ROUNDING), objective(noise))


def _approximate(epsilon: float, delta: float, objective: MeanCost, offset: float) -> _Best:
    if isinstance(objective, Tail) and epsilon > 0:
        last = floor(objective.beyond - offset)
        noise = geometric_with_step(epsilon, delta, offset, last, slack(depth_of_geometric(epsilon, last + 1)))
        lower = least_tail_with_step(epsilon, delta, offset, last)
    else:
        noise = truncated_geometric(epsilon, delta, offset, slack(depth_of_truncated(epsilon, delta)))
        lower = least_cost(epsilon, delta, offset, objective)
    return _Best(noise, lower, objective(noise))


def _one_coordinate(guarantee: Guarantee, coordinates: int) -> None:
    if coordinates != 1:
        raise ValueError(f"coordinates = {coordinates} is not valid with {guarantee}; valid: 1")


def _least_quantile(guarantee: Guarantee, objective: LargestError, coordinates: int) -> Calibrated[LatticeNoise]:
    if objective.tail < _LEAST_TAIL:
        raise ValueError(
            f"k = {objective.k:g} with level = {objective.level:g} is not valid here: one error may exceed "
            f"the quantile with probability {objective.tail:.2g}; valid: at least {_LEAST_TAIL:g}"
        )

    def tail(halves: int) -> Bounds:
        return least_tail(guarantee, halves, coordinates).bounds

    guess = quantile_of_a_noise(guarantee, objective.tail, coordinates)
    halves = least_halves(tail, objective.tail, ceil(2 * guess))
    bounds = Bounds(*(each / 2 for each in halves))
    return Calibrated(least_tail(guarantee, halves.upper, coordinates).noise, guarantee, bounds, _HOW)


@lru_cache(maxsize=1024)
def least_tail(guarantee: Guarantee, halves: int, coordinates: int) -> Calibrated[LatticeNoise]:
    """Return the noise of least tail beyond halves / 2.

    Results are cached, since searches for quantiles repeat tails.
    """
    return _on_best_lattice(guarantee, Tail(halves / 2), coordinates)


def quantile_of_a_noise(guarantee: Guarantee, chance: float, coordinates: int) -> float:
    """Return an error in counts that a valid noise exceeds with about that chance, as a start for the search."""
    pair, slope = known(guarantee).epsilon_delta, guarantee.rho_omega
    if slope is not None:
        return quantile_at_start(slope[0] / coordinates, slope[1], chance)
    if pair is not None and pair[0] > 0:
        return float(geometric(pair[0] / coordinates, 0.0).isf(chance / 2))
    return 0.0  # the search for the tail refuses these guarantees
