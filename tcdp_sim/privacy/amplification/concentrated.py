"""tCDP under sampling without replacement: the paper's theorems, and a numerical bound with a smaller constant.

The printed Theorem 12 does not imply Theorem 11, because its omega' meets condition (5) for small s only (erratum E3).
The profile gives the statement of Theorem 11 without Theorem 12: with 6 in place of 13 by ball arithmetic for rho from
1e-4 to 0.1 and s from 1e-12 to 0.1 (row T.T11 of the papers), and `certified_tcdp` with at most 2.78 wherever it was
tried.
"""

from math import ceil, exp, log, log2

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.amplification.renyi import certified_excess
from tcdp_sim.privacy.definitions import TCDP, require
from tcdp_sim.privacy.renyi import renyi_bound

_FIRST, _RATIO = 1e-3, 0.06  # the grid of orders: the first order - 1, and the log of the ratio of consecutive ones
_ROOM = 1e-9  # relative allowance for quadrature and rounding


def theorem_11(base: TCDP, s: float) -> TCDP:
    """Return (13 s^2 rho, log(1/s) / (4 rho))-tCDP by Theorem 11 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18].

    Raise ValueError unless rho <= 0.1, s <= 0.1 and omega >= log(1/s) / (2 rho).
    """
    rho = base.rho
    require(rho <= 0.1, "rho", rho, "Theorem 11 needs rho <= 0.1")
    require(s <= 0.1, "sampling_probability", s, "Theorem 11 needs sampling_probability <= 0.1")
    least = -log(s) / (2 * rho)
    require(base.omega >= least, "omega", base.omega, f"Theorem 11 needs omega >= log(1/s)/(2 rho) = {least:.6g}")
    return TCDP(13 * s * s * rho, least / 2)


def theorem_12(base: TCDP, s: float) -> TCDP:
    """Return (13 s^2 rho, omega'/2)-tCDP by Theorem 12 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18].

    The omega' is the largest one up to omega that meets condition (5). The right half of the condition is
    omega' <= 2 + W(rho e^(-2 rho) / s) / rho, with Lambert's W. Raise ValueError unless rho <= 0.1 and omega > 2, or if
    no omega' meets the condition.
    """
    rho = base.rho
    require(rho <= 0.1, "rho", rho, "Theorem 12 needs rho <= 0.1")
    require(base.omega > 2, "omega", base.omega, "Theorem 12 needs omega > 2")
    inner = min(base.omega, largest_omega(rho, s))
    least = 2 + log2(1 / rho) - log2((inner - 2) * s)
    require(inner >= least, "omega'", inner, f"condition (5) of Theorem 12 needs omega' >= {least:.6g}")
    return TCDP(13 * s * s * rho, inner / 2)


def largest_omega(rho: float, s: float) -> float:
    """Return the largest omega' with omega' <= log(1 / ((omega' - 2) s)) / rho, rounded down."""
    from scipy.special import lambertw

    return 2 + float(lambertw(rho * exp(-2 * rho) / s).real) / rho * (1 - 1e-13)


def certified_tcdp(base: TCDP, s: float, omega: float | None = None) -> TCDP:
    """Return (c s^2 rho, omega)-tCDP with the least c that follows from the privacy profile.

    The guarantee holds for all orders below omega. The default omega is that of Theorem 11, log(1/s) / (4 rho), but at
    most halfway between 1 and the base's omega. Between the orders that are evaluated, (a - 1) D_a lies below its chord
    by convexity. The answer is never worse than without sampling. Raise ValueError for omega outside (1, base.omega).
    """
    if omega is None:
        omega = max(-log(s) / (4 * base.rho), 1 + -log(s) / (8 * base.rho))
        omega = min(omega, 0.5 * (1 + base.omega))
        omega = max(omega, min(1.5, 0.5 * (1 + base.omega)))
    omega = scalar("omega", omega, 1)
    require(omega < base.omega, "omega", omega, f"valid: below the base's, {base.omega:g}")
    bound = renyi_bound(base)
    first = min(_FIRST, 0.1 * (omega - 1))
    count = ceil(log((omega - 1) / first) / _RATIO)
    ends = [0.0] + [first * ((omega - 1) / first) ** (i / count) for i in range(count + 1)]
    values = [0.0] + [certified_excess(bound, s, 1 + x) for x in ends[1:]]
    slopes = [values[1] / ends[1]]  # below the first order, D_a is at most its value there
    slopes += [_steepest(*pair) for pair in zip(ends[1:], ends[2:], values[1:], values[2:])]
    rho = max(slopes) * (1 + _ROOM)
    return TCDP(rho, omega) if rho < base.rho else TCDP(base.rho, omega)


def _steepest(left: float, right: float, low: float, high: float) -> float:
    """Return the largest ratio of the chord of (a - 1) D_a to x (x + 1), for x = a - 1 from left to right."""
    slope = (high - low) / (right - left)
    start = low - slope * left  # at most 0, because the function is convex and zero at 0
    spots = [left, right]
    if start < 0 < slope:
        spots.append((-start + (start * start - start * slope) ** 0.5) / slope)
    return max((start + slope * x) / (x * (x + 1)) for x in spots if left <= x <= right)
