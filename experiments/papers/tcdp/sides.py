"""Arithmetic on sides of points: what several claims do with certified numbers."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, constant
from tcdp_sim.experiments.papers.orders import largest_over_order

from tcdp_sim import exact
from tcdp_sim.noise import Noise
from tcdp_sim.numerics import Bounds, closed_form

ONE = constant(1.0)
ROUNDING = 1e-14


def scaled(bounds: Bounds[float], factor: float) -> Bounds[float]:
    """Bounds times a factor > 0, which is known to 1e-15."""
    return Bounds(
        bounds.lower * factor * (1 - ROUNDING), bounds.estimate * factor, bounds.upper * factor * (1 + ROUNDING)
    )


def logged(bounds: Bounds[float]) -> Bounds[float]:
    """The logarithm of bounds > 0, with a relative error of 1e-14 on top."""
    low, middle, high = (float(np.log(end)) for end in bounds)
    return Bounds(low - ROUNDING * abs(low), middle, high + ROUNDING * abs(high))


def largest_cost(noise: Noise, omega: float, shift: float = 1.0) -> Bounds[float]:
    """The least rho at which the noise is (rho, omega)-tCDP for a query that moves by exactly `shift`, omega < inf."""
    return largest_over_order(partial(exact.renyi_divergence, noise, shift), omega)


def growing(
    exponents: Iterable[float],
    left: Callable[[float], Bounds[Any] | float],
    right: Callable[[float], float],
    name: str = "k",
) -> list[Point]:
    """Points of an asymptotic claim at 10^exponent of what grows: left(x) against the form right(x)."""
    points = []
    for exponent in exponents:
        x = 10.0**exponent
        side = left(x)
        known = side if isinstance(side, Bounds) else closed_form(float(side))
        points.append(Point(f"{name} = {label(exponent)}", known, closed_form(float(right(x))), at=float(exponent)))
    return points


def label(exponent: float) -> str:
    """10^exponent as people write it."""
    return f"{10.0**exponent:.4g}" if abs(exponent) < 6 else f"1e{exponent:g}"
