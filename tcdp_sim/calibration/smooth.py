"""Noise whose scale is a smooth sensitivity: the least that meets a guarantee, certified, or by published formulas."""

from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.calibration.tail_parameter import best_tail
from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.privacy.definitions import concentrated

METHODS = ("tight", "box", "paper")
LARGEST_SMOOTHING = 2.0


class SmoothNoise(NamedTuple):
    """shift: s, the largest move of the answer in units of the noise's own scale; noise: Z of f(x) + S(x) Z, per S."""

    shift: float
    noise: Noise


def calibrate_smooth(family: str, guarantee: Guarantee, smoothing: float, method: str = "tight") -> SmoothNoise:
    """The noise Z of `family` with the least standard deviation such that f(x) + S(x) Z keeps the guarantee.

    S: a `smoothing`-smooth sensitivity of f, as `data.smooth_sensitivity` gives: S(x') <= e^smoothing S(x) and
    |f(x) - f(x')| <= S(x) for all neighbours. 0 < smoothing <= 2. guarantee: TCDP, ZCDP with xi = 0, ApproxDP with
    epsilon > 0 and delta from some 1e-13 on (and PureDP of student_t by "paper").

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
    from tcdp_sim.calibration import smooth_search  # workers never come here: they are given finished noises

    unit, shift = smooth_search.least(noise_class, guarantee, smoothing, method == "box")
    return _answer(unit, shift)


def standard_deviation(calibrated: SmoothNoise) -> float:
    """Of the noise, in units of the smooth sensitivity."""
    return float(np.sqrt(calibrated.noise.var()))


def _published(noise_class: Any, guarantee: Guarantee, smoothing: float) -> SmoothNoise:
    def shift(unit: Noise) -> float:
        return max(float(unit.smooth_shift(guarantee, smoothing)), 0.0)

    unit = best_tail(noise_class, shift)
    return _answer(unit, shift(unit))


def _answer(unit: Noise, shift: float) -> SmoothNoise:
    if not shift > 0:
        raise ValueError(f"{unit.family}: no noise meets the guarantee; valid: less smoothing, or a weaker guarantee")
    return SmoothNoise(shift, unit.scaled(1 / shift))
