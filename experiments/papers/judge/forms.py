"""Points of asymptotic claims: an exact value against the form that the claim gives, as something grows."""

from collections.abc import Callable, Iterable, Iterator
from math import log, log10
from typing import Any

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point
from tcdp_sim.noise import Noise

LN_10 = log(10.0)
LEAST_LOG_K = 27.0
MOST_PLAIN = 1000  # exponents from which on numbers are written as 10^(...)
FAR = (12, 16, 32, 64, 128, 300, 1e3, 1e4, 1e5, 1e6, 1e8)  # log10 of k, for laws in closed form


def growing(
    exponents: Iterable[float],
    left: Callable[[float], Bounds[Any] | float],
    right: Callable[[float], float],
    name: str = "k",
) -> Iterator[Point]:
    """Yield points of an asymptotic claim: left(x) against the form right(x) at x = 10^exponent, up to 10^308."""
    for exponent in exponents:
        x = 10.0**exponent
        side = left(x)
        known = side if isinstance(side, Bounds) else closed_form(float(side))
        yield Point(f"{name} = {label(exponent)}", known, closed_form(float(right(x))), at=float(exponent))


def growing_in_logs(
    exponents: Iterable[float],
    left: Callable[[float], Bounds[Any] | float],
    right: Callable[[float], float],
    name: str = "k",
) -> Iterator[Point]:
    """Yield points for laws that are functions of log x, so that exponents may be as large as 10^6 or more.

    `left` and `right` are functions of the natural logarithm of x.
    """
    for exponent in exponents:
        log_x = float(exponent) * LN_10
        side = left(log_x)
        known = side if isinstance(side, Bounds) else closed_form(float(side))
        yield Point(f"{name} = {label(exponent)}", known, closed_form(float(right(log_x))), at=float(exponent))


def largest_error(noise: Noise, log_k: float, level: float = 0.5) -> Bounds[Any]:
    """Return the quantile of the largest of k independent errors, in counts, for log k >= 27, far beyond all floats.

    The quantile t has (1 - 2 sf(t))^k = level. So sf(t) is log(1/level)/2k, but for a relative error of 1/k.
    """
    if log_k < LEAST_LOG_K:
        raise ValueError(f"log_k = {log_k} is not valid; valid: at least {LEAST_LOG_K}, where 1/k is rounding")
    return closed_form(noise.isf_log(log(log(1 / level) / 2) - log_k), 1e-9)


def label(exponent: float) -> str:
    """Return 10^exponent as people write it: 2000, 1e12, 10^(10^8)."""
    if abs(exponent) < MOST_PLAIN:
        return f"{10.0**exponent:.4g}" if abs(exponent) < 6 else f"1e{exponent:g}"
    power = log10(exponent)
    return f"10^(10^{power:.0f})" if power == round(power) else f"10^{exponent:.6g}"
