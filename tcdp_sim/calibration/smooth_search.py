"""The largest shift, in units of its scale, at which noise for smooth sensitivity keeps a guarantee, by quadrature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tcdp_sim.calibration.all_orders import below_parabola
from tcdp_sim.calibration.fast_affine import COARSE, FINE, grid
from tcdp_sim.calibration.neighbouring_scales import (
    Pair,
    box_cells,
    box_pairs,
    covering_cells,
    covering_pairs,
    main_pairs,
)
from tcdp_sim.calibration.tail_parameter import best_tail
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq
from tcdp_sim.exact.renyi.affine import affine_hockey_stick, directed_divergence
from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.privacy import ZCDP, Guarantee

_SHIFT_DIGITS = 7  # few enough that every machine finds the same noise
_LEAST_SHIFT, _MOST_SHIFT = 1e-6, 50.0
_STEP = 1e-4  # first relative fall of the shift; it doubles until quadrature confirms the shift
_ATTEMPTS = 12
_LARGEST_ORDERS = (60.0, 20.0, 1e4)  # last orders that zCDP checks one by one; lighter tails need higher ones
_HIGH_ORDERS = 1e3  # omega beyond which the zCDP that implies a tCDP guarantee is tried first


@dataclass(frozen=True)
class _Target:
    """A guarantee and the smoothing, with the region of pairs and the largest order of the search."""

    guarantee: Guarantee
    smoothing: float
    box: bool
    largest_order: float

    def pairs(self, some: bool = False) -> Callable[[float, float], list[Pair]]:
        """Return the pairs that stand for all pairs, or with `some` only the worst of them or nearly so."""
        return box_pairs if self.box else main_pairs if some else covering_pairs


@lru_cache(maxsize=1024)
def least(noise_class: Any, guarantee: Guarantee, smoothing: float, box: bool) -> tuple[Noise, float]:
    """Return the noise of unit scale with the least standard deviation per shift, and its largest shift.

    `box` covers every scale and shift up to the largest instead of the pairs of neighbours. Raises ValueError if
    quadrature confirms no shift.
    """
    for target in _targets(guarantee, smoothing, box):
        if (best := _least_of(noise_class, target)) is not None:
            return best
    goal = f"calibrate {noise_class.family} to {guarantee} at smoothing {smoothing:g}"
    needed: tuple[str, ...] = () if guarantee.is_approx else ("affine_max_order", "affine_tail")
    if guarantee.rho_omega is not None and np.isfinite(guarantee.rho_omega[1]):
        needed = needed[:1]  # a tail bound serves orders without end
    lacking = undefined(noise_class, *needed)
    raise cannot(
        goal, "quadrature confirms no scale, however large", *lacking, instead="less smoothing, or a weaker guarantee"
    )


def _targets(guarantee: Guarantee, smoothing: float, box: bool) -> list[_Target]:
    """Return the targets in the order in which they are tried.

    zCDP implies tCDP and needs no check of high orders, so it serves as a target too.
    """
    if guarantee.rho_omega is None:
        return [_Target(guarantee, smoothing, box, np.inf)]
    rho, omega = guarantee.rho_omega
    own = _Target(guarantee, smoothing, box, omega)
    zcdp = [_Target(ZCDP(rho), smoothing, box, order) for order in _LARGEST_ORDERS]
    if not np.isfinite(own.largest_order):
        return zcdp
    return [own, *zcdp] if own.largest_order <= _HIGH_ORDERS else [*zcdp, own]


def _least_of(noise_class: Any, target: _Target) -> tuple[Noise, float] | None:
    """Return the noise and its shift for one target, or None if quadrature confirms no shift."""

    def shift(unit: Noise) -> float:
        return _largest_shift(unit, target, target.pairs(some=True), COARSE)

    unit = best_tail(noise_class, shift)
    start = _largest_shift(unit, target, target.pairs(), FINE)

    def holds(shift: float) -> bool:
        return keeps_guarantee(unit, shift, target.guarantee, target.smoothing, target.box)

    for attempt in range(_ATTEMPTS if start > 0 else 0):
        if attempt == 1 and not holds(0.5 * start):
            break  # quadrature does not reach the necessary orders at any shift
        certain = _rounded_down(start * (1 - _STEP * 2**attempt))
        if holds(certain):
            return unit, certain
    return None


def keeps_guarantee(noise: Noise, shift: float, guarantee: Guarantee, smoothing: float, box: bool = False) -> bool:
    """Return True if upper ends show that f(x) + (S(x) / shift) X keeps the guarantee for all pairs and all orders."""
    if not noise.log_concave_size:
        return False
    if guarantee.epsilon_delta is not None:
        epsilon, delta = guarantee.epsilon_delta
        every = box_cells(smoothing, shift) if box else covering_cells(smoothing, shift)
        return all(affine_hockey_stick(noise, *each, epsilon).upper <= delta for each in every)
    rho: float = guarantee.rho_omega[0]  # type: ignore[index]
    omega = _last_order(noise, shift, guarantee, smoothing)
    pairs = box_pairs(smoothing, shift) if box else covering_pairs(smoothing, shift)
    if not all(noise.affine_max_order(*pair) > omega for pair in pairs):
        return False

    def curve(s: Floats, pair: Pair) -> Floats:
        return np.asarray(s * directed_divergence(noise, *pair, 1 + s).upper)

    return all(below_parabola(partial(curve, pair=pair), rho, omega) for pair in pairs)


def _last_order(noise: Noise, shift: float, guarantee: Any, smoothing: float) -> float:
    """Return the order up to which the guarantee needs a check. Beyond it the noise's own tail bound is enough."""
    rho, omega = guarantee.rho_omega
    if np.isfinite(omega):
        return float(omega)
    tail = noise.affine_tail(smoothing, shift)
    if tail is None or tail[0] >= rho:
        return np.inf
    return float(max(tail[1] / (rho - tail[0]), 3.0))


def _largest_shift(unit: Noise, target: _Target, pairs: Callable[[float, float], list[Pair]], orders: Floats) -> float:
    """Return the largest shift at which the fast divergences of the pairs meet the target, or 0 if there is none.

    `orders` are orders minus one.
    """
    guarantee, smoothing = target.guarantee, target.smoothing
    points = grid(unit)
    if guarantee.epsilon_delta is not None:
        epsilon, delta = guarantee.epsilon_delta

        def excess(log_shift: float) -> float:
            every = pairs(smoothing, np.exp(log_shift))
            return float(np.log(points.worst_delta(every, epsilon) + 1e-300) - np.log(delta))
    else:
        rho, omega = guarantee.rho_omega  # type: ignore[misc]
        last = _last_order(unit, np.sqrt(rho), guarantee, smoothing)
        if last > target.largest_order or not unit.affine_max_order(-smoothing, 0.0) > last:
            return 0.0

        def excess(log_shift: float) -> float:
            return float(np.log(points.worst_ratio(pairs(smoothing, np.exp(log_shift)), omega, orders) / rho))

    low, high = np.log(_LEAST_SHIFT), np.log(_MOST_SHIFT)
    if excess(low) > 0:
        return 0.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-7))) if excess(high) > 0 else _MOST_SHIFT


def _rounded_down(x: float) -> float:
    step = 10.0 ** (np.floor(np.log10(x)) - _SHIFT_DIGITS + 1)
    return float(f"{np.floor(x / step) * step:.{_SHIFT_DIGITS}g}")
