"""The smallest noise for smooth sensitivity that meets a guarantee, by quadrature or by published formulas."""

from typing import Any

import numpy as np

from tcdp_sim.calibration.tail_parameter import best_tail
from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.noise import Noise
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.objectives import VARIANCE
from tcdp_sim.privacy import Guarantee
from tcdp_sim.privacy.definitions import known
from tcdp_sim.privacy.magnitudes import need_moderate

LARGEST_SMOOTHING = 2.0


_HOW = {
    "tight": "upper ends for all pairs of scale and shift that neighbours can have",
    "box": "upper ends for all shifts at all scales, which is more than neighbours can have",
    "paper": "a published formula",
}


def calibrate_smooth(family: str, guarantee: Guarantee, smoothing: float, method: str = "tight") -> Calibrated:
    """Return the noise Z of least standard deviation such that f(x) + S(x) Z keeps a guarantee.

    Source: Bun and Steinke (2019) [BS19]. The set of pairs that "tight" covers is derived here.

    Parameters
    ----------
    family : str
        The name of a noise.
    guarantee : Guarantee
        TCDP, ZCDP with xi = 0, or ApproxDP with epsilon > 0 and delta of about 1e-13 or more. "paper" also takes PureDP
        for student_t.
    smoothing : float
        The smoothing of S, with 0 < smoothing <= 2. `data.smooth_sensitivity` gives such an S. It has
        S(x') <= e^smoothing S(x) and |f(x) - f(x')| <= S(x) for all neighbours.
    method : {"tight", "box", "paper"}
        "tight" covers all pairs of scale and shift that neighbours can have (`neighbouring_scales`) and all orders, by
        quadrature. "box" covers every shift up to the largest at every log-scale up to the smoothing. That is more than
        neighbours can have, and the literature reduces the problem to it. "paper" uses published formulas.

    Returns
    -------
    Calibrated
        The noise Z, per unit of S, with bounds on its variance. One over its `scale` is the largest move of the answer
        in units of the noise's own scale. Results are cached.

    Raises
    ------
    ValueError
        If a family cannot keep the guarantee. The message gives the reason. Sinh-normal noise never can.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> round(standard_deviation(calibrate_smooth("laplace_log_normal", ZCDP(0.1), 0.05, "paper")), 2)
    6.28
    """
    noise_class: Any = registry.noise(family, "family")
    choice("method", method, tuple(_HOW))
    smoothing = scalar("smoothing", smoothing, 0, LARGEST_SMOOTHING, finite=False)
    need_moderate(known(guarantee))
    if refusal := noise_class.smooth_refusal(guarantee, smoothing):
        raise ValueError(f"{family} gives no {guarantee} with smooth sensitivity (smoothing {smoothing:g}): {refusal}")
    if method == "paper":
        unit, shift = _published(noise_class, guarantee, smoothing)
    else:
        unit, shift = _searched(noise_class, guarantee, smoothing, method == "box")
    if not shift > 0:
        raise ValueError(f"{family}: no noise meets the guarantee; valid: less smoothing, or a weaker guarantee")
    noise = unit.scaled(1 / shift)
    variance = VARIANCE(noise)
    return Calibrated(noise, guarantee, Bounds(-np.inf, variance, closed_form(variance).upper), _HOW[method])


def standard_deviation(calibrated: Calibrated) -> float:
    """Return the standard deviation of a noise.

    Parameters
    ----------
    calibrated : Calibrated
        A result of `calibrate_smooth`.

    Returns
    -------
    float
        The standard deviation, in units of the smooth sensitivity.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP
    >>> round(standard_deviation(calibrate_smooth("gaussian", TCDP(0.5, 3.0), 0.05)), 2)
    1.13
    """
    return float(np.sqrt(calibrated.noise.var()))


def _searched(noise_class: Any, guarantee: Guarantee, smoothing: float, box: bool) -> tuple[Noise, float]:
    """Return the noise of unit scale and the largest shift, by quadrature."""
    if guarantee.is_approx:
        real("epsilon", guarantee.epsilon_delta[0], 0)  # type: ignore[index]
        real("delta", guarantee.epsilon_delta[1], 0, 1)  # type: ignore[index]
    elif not guarantee.is_concentrated:
        raise ValueError(f"{guarantee} is not valid here; valid: TCDP, ZCDP with xi = 0, ApproxDP")
    from tcdp_sim.calibration import smooth_search  # workers never need it, because they receive finished noises

    return smooth_search.least(noise_class, guarantee, smoothing, box)


def _published(noise_class: Any, guarantee: Guarantee, smoothing: float) -> tuple[Noise, float]:
    """Return the noise of unit scale and the largest shift, by a published formula."""

    def shift(unit: Noise) -> float:
        return max(float(unit.smooth_shift(guarantee, smoothing)), 0.0)

    unit = best_tail(noise_class, shift)
    return unit, shift(unit)
