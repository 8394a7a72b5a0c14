"""The choice of the second parameter of a noise for smooth sensitivity, which says how heavy its tails are."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot

_DIGITS = 3  # few enough that every machine finds the same noise
_COARSE = 12  # number of values of the first, coarse search


def best_tail(noise_class: Any, shift: Callable[[Noise], float]) -> Noise:
    """Return the noise of unit scale whose second parameter, if it has one, gives the least standard deviation."""
    if noise_class.tail_range is None:
        if len(noise_class.parameters()) != 1:
            goal = f"calibrate {noise_class.family} over ({', '.join(noise_class.parameters())})"
            raise cannot(goal, "the range of its second parameter is unknown", "tail_range", instead="another noise")
        unit: Noise = noise_class(1.0)
        return unit

    def error(log_tail: float) -> float:
        noise = noise_class(1.0, np.exp(log_tail))
        s = shift(noise)
        return 0.5 * np.log(noise.var()) - np.log(s) if s > 0 else 1e3 + abs(log_tail)

    low, high = np.log(noise_class.tail_range)
    coarse = np.linspace(low, high, _COARSE)
    values = [error(each) for each in coarse]
    i = int(np.argmin(values))
    bounds = coarse[max(i - 1, 0)], coarse[min(i + 1, len(coarse) - 1)]
    best = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 5e-3}).x
    noise: Noise = noise_class(1.0, _rounded_up(float(np.exp(best))))
    return noise


def _rounded_up(x: float) -> float:
    """Return x rounded up, because the best tail may be next to one that is too light."""
    step = 10.0 ** (np.floor(np.log10(x)) - _DIGITS + 1)
    return float(f"{np.ceil(x / step) * step:.{_DIGITS}g}")
