"""The best noise of all under a guarantee, and a lower bound on what any noise costs.

Counts of neighbours differ by exactly one, in each of `coordinates` counts. So noise decomposes into its lattices,
x + integers, which are coupled by the guarantee alone: the average over them of e^((a-1) D_a), or of delta(epsilon), is
bounded. Three steps make the best noise on the integers or the half-integers the best of all, continuous ones included.

1. Mirror images average: a noise and its mirror image keep the same promise and cost the same, and the mean of both
   keeps it, since e^((a-1) D_a) is jointly convex. So noise is symmetric, and what is promised of several coordinates
   that move up or down by one each is divided evenly: D_a <= a rho / coordinates for each.
   The same holds of delta(epsilon).
2. On one lattice, P[|Z| > t] depends on the number of its points in [-t, t] alone, shifted as it may be; floor(2t) + 1
   is the most, reached by the integers or the half-integers. The mean of |i - c| over noise on integers i is linear in
   c between 0 and 1, so its least value is concave in c, and least at c = 0. That of (i - c)^2 - c^2 is linear in c, so
   its least value is concave: the least value V(c) of (i - c)^2 is at least (1 - 2c) V(0) + 2c (V(1/2) - 1/4) + c^2.
3. The least cost on one lattice is convex in what the guarantee leaves to it. So nothing is gained by mixing lattices
   that get unequal shares. For delta(epsilon) too: it is convex and homogeneous in the masses.
"""

from functools import lru_cache
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np

from tcdp_sim.errors import whole
from tcdp_sim.noise.lattice import OFFSETS, LatticeNoise
from tcdp_sim.numerics import Bounds
from tcdp_sim.optimal.best_on_lattice import Best, best_on_lattice
from tcdp_sim.optimal.geometric import geometric, geometric_with_step
from tcdp_sim.optimal.least_quantile import least_halves
from tcdp_sim.optimal.objectives import LargestErrorQuantile, MeanAbsoluteError, MeanSquaredError, Objective, Tail
from tcdp_sim.optimal.start import quantile_at_start
from tcdp_sim.optimal.truncated_geometric import least_cost, truncated_geometric
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

_ROUNDING = 1e-11  # relative, of costs of a given noise
_LEAST_UPPER = 1e-300  # costs below it are rounded up
_LEAST_TAIL = 1e-250  # for which the least quantile is searched


class _Certified(NamedTuple):
    """A noise that keeps the guarantee, and what it costs: no noise on its lattice costs less than `lower`."""

    noise: LatticeNoise
    lower: float
    cost: float


def optimal_noise(
    guarantee: Guarantee, objective: Objective | LargestErrorQuantile, coordinates: int = 1
) -> tuple[LatticeNoise, Bounds]:
    """The additive noise of least cost under a guarantee, and certified bounds on the least cost of any noise.

    guarantee: PureDP, ZCDP with xi = 0, TCDP, or ApproxDP (one coordinate), when each of `coordinates` counts changes
    by exactly one (a histogram whose neighbours substitute a record: 2). objective: `Tail`, `LargestErrorQuantile`,
    `MeanAbsoluteError`, `MeanSquaredError`. The noise costs the upper bound, in the objective's unit. It hides whole
    numbers alone: where counts move by fractions it promises nothing. Tails below 1e-280 are bounded from above only,
    and the quantile may leave a single error a tail of 1e-250 at least. Of squares the bounds may be 1/16 apart.
    Raises ValueError for other guarantees and objectives. Source: derived here; see this file's head.
    """
    coordinates = whole("coordinates", coordinates, 1, 10**6)
    if isinstance(objective, LargestErrorQuantile):
        return _least_quantile(guarantee, objective, coordinates)
    if isinstance(objective, Tail):
        best = _on_lattice(guarantee, objective, coordinates, _offset(objective.beyond))
        return best.noise, _bounds(best.lower, best.cost)
    if isinstance(objective, MeanAbsoluteError):
        best = _on_lattice(guarantee, objective, coordinates, 0.0)
        return best.noise, _bounds(best.lower, best.cost)
    if isinstance(objective, MeanSquaredError):
        both = [_on_lattice(guarantee, objective, coordinates, offset) for offset in OFFSETS]
        best = min(both, key=lambda each: each.cost)
        return best.noise, _bounds(_least_square_between(both[0].lower, both[1].lower), best.cost)
    raise ValueError(
        f"objective = {objective!r} is not valid; valid: Tail, LargestErrorQuantile, MeanAbsoluteError, "
        "MeanSquaredError"
    )


def _bounds(lower: float, cost: float) -> Bounds:
    upper = max(cost * (1 + _ROUNDING), _LEAST_UPPER)
    return Bounds(min(max(lower, 0.0), cost), cost, upper)


def _least_square_between(integers: float, halves: float) -> float:
    """Of all lattices c + integers, from the least mean squares on two: see step 2."""
    slope = 2 * (halves - 0.25 - integers)
    c = min(max(-slope / 2, 0.0), 0.5)
    return integers + slope * c + c * c


def _offset(beyond: float) -> float:
    """Of the lattice with most points in [-beyond, beyond]."""
    return 0.0 if floor(2 * beyond) % 2 == 0 else 0.5


def _on_lattice(guarantee: Guarantee, objective: Objective, coordinates: int, offset: float) -> _Certified:
    if isinstance(guarantee, PureDP):
        if guarantee.epsilon == 0:
            raise ValueError("epsilon = 0 is not valid: no noise hides everything; valid: epsilon > 0")
        epsilon = guarantee.epsilon / coordinates
        ideal = geometric(epsilon, offset)
        noise = geometric(_with_room(epsilon, 0.0, ideal)[0], offset)
        return _Certified(noise, objective(ideal) * (1 - _ROUNDING), objective(noise))
    if isinstance(guarantee, ApproxDP):
        return _of_one_coordinate(guarantee, objective, coordinates, offset)
    if isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0):
        omega = guarantee.omega if isinstance(guarantee, TCDP) else inf
        inside = objective.beyond if isinstance(objective, Tail) else 0.0
        best: Best = best_on_lattice(guarantee.rho / coordinates, omega, objective, offset, inside)
        return _Certified(best.noise, best.lower_bound(), objective(best.noise))
    raise ValueError(f"guarantee = {guarantee} is not valid; valid: PureDP, ZCDP with xi = 0, TCDP, ApproxDP")


def _of_one_coordinate(guarantee: ApproxDP, objective: Objective, coordinates: int, offset: float) -> _Certified:
    if coordinates != 1:
        raise ValueError(f"coordinates = {coordinates} is not valid with {guarantee}; valid: 1")
    epsilon, delta = guarantee.epsilon, guarantee.delta
    if isinstance(objective, Tail) and epsilon > 0:
        last = floor(objective.beyond - offset)
        ideal = geometric_with_step(epsilon, delta, offset, last)
        noise = geometric_with_step(*_with_room(epsilon, delta, ideal), offset, last)
        lower = objective(ideal) * (1 - _ROUNDING)
    else:
        ideal = truncated_geometric(epsilon, delta, offset)
        noise = truncated_geometric(*_with_room(epsilon, delta, ideal), offset)
        lower = least_cost(epsilon, delta, offset, objective)
    return _Certified(noise, lower, objective(noise))


def _with_room(epsilon: float, delta: float, ideal: LatticeNoise) -> tuple[float, float]:
    """Return the epsilon and delta to ask for, so that the noise keeps what is promised when its table is rounded.

    Each log is rounded a few times, so that a fall is off by less than `room`; what a step of more than epsilon spends
    is off by as much of the mass before it.
    """
    table = np.array([*ideal.log_mass, ideal.log_mass[-1] - ideal.fall])
    room = 2.0**-49 * (1 + float(np.abs(table[:-1]).max()))
    before = float(np.exp(table[:-1][-np.diff(table) > epsilon + 1e-9]).sum())
    return max(epsilon - room, epsilon / 2), max(delta - room * before, 0.0)


def _least_quantile(
    guarantee: Guarantee, objective: LargestErrorQuantile, coordinates: int
) -> tuple[LatticeNoise, Bounds]:
    if objective.tail < _LEAST_TAIL:
        raise ValueError(
            f"count = {objective.count:g} with level = {objective.level:g} is not valid here: one error may exceed "
            f"the quantile with probability {objective.tail:.2g}; valid: at least {_LEAST_TAIL:g}"
        )

    def tail(halves: int) -> Bounds:
        return least_tail(guarantee, halves, coordinates)[1]

    guess = quantile_of_a_noise(guarantee, objective.tail, coordinates)
    halves = least_halves(tail, objective.tail, ceil(2 * guess))
    return least_tail(guarantee, halves.upper, coordinates)[0], Bounds(*(each / 2 for each in halves))


@lru_cache(maxsize=1024)
def least_tail(guarantee: Guarantee, halves: int, coordinates: int) -> tuple[LatticeNoise, Bounds]:
    """Of many numbers of errors, the searches for the least quantile meet the same tails."""
    return optimal_noise(guarantee, Tail(halves / 2), coordinates)


def quantile_of_a_noise(guarantee: Guarantee, chance: float, coordinates: int) -> float:
    """What some noise exceeds with about that chance, in counts."""
    if isinstance(guarantee, TCDP):
        return quantile_at_start(guarantee.rho / coordinates, guarantee.omega, chance)
    if isinstance(guarantee, ZCDP):
        return quantile_at_start(guarantee.rho / coordinates, inf, chance)
    if isinstance(guarantee, PureDP | ApproxDP) and guarantee.epsilon > 0:
        return float(geometric(guarantee.epsilon / coordinates, 0.0).isf(chance / 2))
    return 0.0  # refused elsewhere
