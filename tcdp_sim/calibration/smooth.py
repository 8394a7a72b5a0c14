"""Noise whose scale is a smooth sensitivity: the least that meets a guarantee, certified, or by published formulas."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from tcdp_sim import registry
from tcdp_sim.arrays import Floats
from tcdp_sim.calibration.concentrated import below_parabola, rounded_up
from tcdp_sim.calibration.fast_affine import COARSE, FINE, grid
from tcdp_sim.calibration.neighbouring_scales import (
    Pair,
    box_cells,
    box_pairs,
    covering_cells,
    covering_pairs,
    main_pairs,
)
from tcdp_sim.errors import choice, real, scalar
from tcdp_sim.exact.affine import affine_hockey_stick, directed_divergence
from tcdp_sim.noise import Noise
from tcdp_sim.noise.base import concentrated
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee

METHODS = ("tight", "box", "paper")
LARGEST_SMOOTHING = 2.0
_TAIL_DIGITS, _SHIFT_DIGITS = 3, 7  # few enough that every machine ends at the same noise
_LEAST_SHIFT, _MOST_SHIFT = 1e-6, 50.0
_STEP = 1e-4  # of the shift, by which it falls until it is certified; doubled every time
_ATTEMPTS = 10
_LARGEST_ORDER = 60.0  # up to which zCDP is certified order by order: a noise that needs more has too light a tail


class SmoothNoise(NamedTuple):
    """shift: s, the largest move of the answer in units of the noise's own scale; noise: Z of f(x) + S(x) Z, per S."""

    shift: float
    noise: Noise


@dataclass(frozen=True)
class _Target:
    """A guarantee, the smoothing and whether the whole box counts: hashable, so that answers are kept."""

    guarantee: Guarantee
    smoothing: float
    box: bool


def calibrate_smooth(family: str, guarantee: Guarantee, smoothing: float, method: str = "tight") -> SmoothNoise:
    """The noise Z of `family` with the least standard deviation such that f(x) + S(x) Z keeps the guarantee.

    S: a `smoothing`-smooth sensitivity of f, as `data.smooth_sensitivity` gives: S(x') <= e^smoothing S(x) and
    |f(x) - f(x')| <= S(x) for all neighbours. 0 < smoothing <= 2. guarantee: TCDP, ZCDP with xi = 0, ApproxDP with
    epsilon, delta > 0 (and PureDP of student_t by "paper").

    method: "tight" certifies all pairs of scale and shift that neighbours can have (`neighbouring_scales`) and all
    orders, by quadrature; "box" every shift up to s at every log-scale up to the smoothing, which is more than there is
    (and what the literature reduces the problem to); "paper" uses published formulas. Results are cached.
    Raises ValueError where a family cannot keep the guarantee, with the reason: sinh-normal noise never can.
    """
    noise_class: Any = registry.noise(family, "family")
    choice("method", method, METHODS)
    smoothing = scalar("smoothing", smoothing, 0, LARGEST_SMOOTHING, finite=False)
    if refusal := noise_class.smooth_refusal(guarantee, smoothing):
        raise ValueError(f"{family} gives no {guarantee} with smooth sensitivity (smoothing {smoothing:g}): {refusal}")
    if method == "paper":
        return _published(noise_class, guarantee, smoothing)
    if isinstance(guarantee, ApproxDP):
        real("epsilon", guarantee.epsilon, 0)
        real("delta", guarantee.delta, 0, 1)
    elif not concentrated(guarantee):
        raise ValueError(f"{guarantee} is not valid here; valid: TCDP, ZCDP with xi = 0, ApproxDP")
    return _least(noise_class, _Target(guarantee, smoothing, method == "box"))


def standard_deviation(calibrated: SmoothNoise) -> float:
    """Of the noise, in units of the smooth sensitivity."""
    return float(np.sqrt(calibrated.noise.var()))


def _published(noise_class: Any, guarantee: Guarantee, smoothing: float) -> SmoothNoise:
    def shift(unit: Noise) -> float:
        return max(float(unit.smooth_shift(guarantee, smoothing)), 0.0)

    unit = _best_tail(noise_class, shift)
    return _answer(unit, shift(unit))


@lru_cache(maxsize=1024)
def _least(noise_class: Any, target: _Target) -> SmoothNoise:
    def shift(unit: Noise) -> float:
        return _largest_shift(unit, target, box_pairs if target.box else main_pairs, COARSE)

    unit = _best_tail(noise_class, shift)
    pairs = box_pairs if target.box else covering_pairs
    start = _largest_shift(unit, target, pairs, FINE)
    if start <= 0:
        raise _nothing(unit, target.guarantee, target.smoothing)
    for attempt in range(_ATTEMPTS):
        certain = _rounded_down(start * (1 - _STEP * 2**attempt))
        if is_certified(unit, certain, target.guarantee, target.smoothing, target.box):
            return _answer(unit, certain)
    raise ValueError(f"{unit!r}: quadrature certifies no shift for {target.guarantee}, smoothing {target.smoothing:g}")


def is_certified(noise: Noise, shift: float, guarantee: Guarantee, smoothing: float, box: bool = False) -> bool:
    """Whether f(x) + (S(x) / shift) X keeps the guarantee for X the noise: for all pairs, and all orders, in bounds."""
    if not noise.log_concave_size:
        return False
    if isinstance(guarantee, ApproxDP):
        every = box_cells(smoothing, shift) if box else covering_cells(smoothing, shift)
        return all(affine_hockey_stick(noise, *each, guarantee.epsilon).upper <= guarantee.delta for each in every)
    rho = guarantee.rho  # type: ignore[attr-defined]
    omega = _last_order(noise, shift, guarantee, smoothing)
    pairs = box_pairs(smoothing, shift) if box else covering_pairs(smoothing, shift)
    if not all(noise.affine_max_order(*pair) > omega for pair in pairs):
        return False

    def curve(s: Floats, pair: Pair) -> Floats:
        return np.asarray(s * directed_divergence(noise, *pair, 1 + s).upper)

    return all(below_parabola(partial(curve, pair=pair), rho, omega) for pair in pairs)


def _last_order(noise: Noise, shift: float, guarantee: Any, smoothing: float) -> float:
    """The order up to which the guarantee has to be looked at: beyond, the noise's own bound is enough."""
    if isinstance(guarantee, TCDP) and np.isfinite(guarantee.omega):
        return float(guarantee.omega)
    tail = noise.affine_tail(smoothing, shift)
    if tail is None or tail[0] >= guarantee.rho:
        return np.inf
    return float(max(tail[1] / (guarantee.rho - tail[0]), 3.0))


def _largest_shift(
    unit: Noise, target: _Target, pairs: Callable[[float, float], list[Pair]], orders: Floats
) -> float:
    """The largest shift at which the pairs meet the target at these orders, less one, by the fast divergences; or 0."""
    guarantee, smoothing = target.guarantee, target.smoothing
    points = grid(unit)
    if isinstance(guarantee, ApproxDP):

        def excess(log_shift: float) -> float:
            every = pairs(smoothing, np.exp(log_shift))
            return float(np.log(points.worst_delta(every, guarantee.epsilon) + 1e-300) - np.log(guarantee.delta))
    else:
        rho: float = guarantee.rho  # type: ignore[attr-defined]
        omega = _last_order(unit, np.sqrt(rho), guarantee, smoothing)
        if omega > max(_LARGEST_ORDER, getattr(guarantee, "omega", 0.0)) or not unit.affine_max_order(-smoothing, 0.0) > omega:
            return 0.0
        omega = guarantee.omega if isinstance(guarantee, TCDP) else np.inf

        def excess(log_shift: float) -> float:
            return float(np.log(points.worst_ratio(pairs(smoothing, np.exp(log_shift)), omega, orders) / rho))

    low, high = np.log(_LEAST_SHIFT), np.log(_MOST_SHIFT)
    if excess(low) > 0:
        return 0.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-7))) if excess(high) > 0 else _MOST_SHIFT


def _best_tail(noise_class: Any, shift: Callable[[Noise], float]) -> Noise:
    """The noise of unit scale whose second parameter, if it has one, gives the least standard deviation."""
    if noise_class.tail_range is None:
        unit: Noise = noise_class(1.0)
        return unit

    def error(log_tail: float) -> float:
        noise = noise_class(1.0, np.exp(log_tail))
        s = shift(noise)
        return 0.5 * np.log(noise.var()) - np.log(s) if s > 0 else 1e3 + abs(log_tail)

    low, high = np.log(noise_class.tail_range)
    coarse = np.linspace(low, high, 12)
    values = [error(each) for each in coarse]
    i = int(np.argmin(values))
    bounds = coarse[max(i - 1, 0)], coarse[min(i + 1, len(coarse) - 1)]
    best = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 5e-3}).x
    noise: Noise = noise_class(1.0, rounded_up(np.exp(best), _TAIL_DIGITS))
    return noise


def _answer(unit: Noise, shift: float) -> SmoothNoise:
    if not shift > 0:
        raise ValueError(f"{unit.family}: no noise meets the guarantee; valid: less smoothing, or a weaker guarantee")
    return SmoothNoise(shift, unit.scaled(1 / shift))


def _nothing(unit: Noise, guarantee: Guarantee, smoothing: float) -> ValueError:
    return ValueError(
        f"{unit.family}: no noise meets {guarantee} at smoothing {smoothing:g}, however large; "
        "valid: less smoothing, or a weaker guarantee"
    )


def _rounded_down(x: float) -> float:
    step = 10.0 ** (np.floor(np.log10(x)) - _SHIFT_DIGITS + 1)
    return float(f"{np.floor(x / step) * step:.{_SHIFT_DIGITS}g}")
