"""Theorems 11 and 12 for every mechanism and all parameters of a box, by ball arithmetic.

Let P, Q, R have D_β <= ρβ between each other for all β < ω'. For T = sP + (1-s)R and U = sQ + (1-s)R, x = 1 + s(e^ε -
1) and δ(ε) = the largest hockey-stick divergence between P, Q and R at e^ε, the steps are:

1. E_U (T/U)^α = 1 + α(α-1) times the integral of y^(α-2) H_y(T || U) + y^(-α-1) H_y(U || T) over y > 1, by Taylor's
   formula with t^α around 1.
2. H_x(T || U) and H_x(U || T) are at most s δ(ε) (Balle, Barthe and Gaboardi 2018, Theorems 1 and 2).
3. So D_α <= log(1 + α(α-1) s² I)/(α-1), I = the integral of (x^(α-2) + x^(-α-1)) e^ε δ(ε) over ε > 0.
4. δ(ε) <= e^((β-1)(ρβ-ε)) (1-1/β)^β/(β-1) for β < ω' (Canonne, Kamath and Steinke 2020), and δ(ε) <= √(ρ/2) by
   Pinsker's inequality, as D_1 <= ρ.

The integrals of x^(α-2) e^ε and x^(-α-1) e^ε are elementary, and δ decreases. So a sum over panels with δ at their left
ends is an upper bound of I.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from math import log, sqrt
from typing import TYPE_CHECKING, TypeAlias

from tcdp_sim.experiments.papers.balls.arithmetic import ball, flint
from tcdp_sim.experiments.papers.balls.boxes import BITS, Cell, Searched, as_point, search
from tcdp_sim.experiments.papers.judge.evidence import Point

if TYPE_CHECKING:
    from flint import arb

Range: TypeAlias = tuple[float, float]
PANELS = 150
RHO_11, S_11 = (1e-4, 0.1), (1e-12, 0.1)
RHO_12, S_12 = (1e-3, 0.1), (1e-12, 1.0)
AIM_11, AIM_12 = 6.0, 8.0  # constants that are certified in place of 13; smaller ones take more cells


def points_of_theorem_11(limit: float) -> tuple[Point, ...]:
    """Return the box of Theorem 11, against a constant of at least AIM_11, as a point; none without python-flint."""
    where = f"all {_named(RHO_11, S_11)} and α < log(1/s)/4ρ"
    return (as_point(where, searched_11(), limit),) if find_spec("flint") else ()


def points_of_theorem_12(limit: float) -> tuple[Point, ...]:
    """Return the box of Theorem 12, against a constant of at least AIM_12, as a point; none without python-flint."""
    where = f"all {_named(RHO_12, S_12)}, ω' of condition (5) and α < ω'/2"
    return (as_point(where, searched_12(), limit),) if find_spec("flint") else ()


def _named(rho: Range, s: Range) -> str:
    return f"ρ in [{rho[0]:g}, {rho[1]:g}], s in [{s[0]:g}, {s[1]:g}]"


@cache
def searched_11(aim: float = AIM_11) -> Searched:
    """Return whether D_α <= aim s²ρα in the box of Theorem 11 for every mechanism."""
    most = log(1 / S_11[0]) / (4 * RHO_11[0]) * (1 + 1e-9)
    return search((RHO_11, S_11, (1.0, most)), theorem_11, aim)


@cache
def searched_12(aim: float = AIM_12) -> Searched:
    """Return whether D_α <= aim s²ρα in the box of Theorem 12 for every mechanism."""
    with flint().ctx.workprec(BITS):
        most = _largest_omega(RHO_12[0], S_12[0]) / 2
    return search((RHO_12, S_12, (1.0, most)), theorem_12, aim)


def theorem_11(cell: Cell) -> "arb":
    """Return a ball from 0 to an upper bound of D_α/(s²ρα) under Theorem 11, for all (ρ, s, α) of a cell."""
    (rho, rho_high), (s, s_high), (alpha, _) = cell
    if alpha > log(1 / s) / (4 * rho) * (1 + 1e-12):
        return ball(0)  # no order of the cell is promised
    return _share(cell, log(1 / s_high) / (2 * rho_high) * (1 - 1e-12))


def theorem_12(cell: Cell) -> "arb":
    """Return a ball from 0 to an upper bound of D_α/(s²ρα) under condition (5), for all (ρ, s, α) of a cell.

    Both ends of ω' in condition (5) decrease with ρ and s. An order α < ω'/2 needs ω' > 2α.
    """
    (rho, rho_high), (s, s_high), (alpha, _) = cell
    least, most = _least_omega(rho_high, s_high), _largest_omega(rho, s)
    if least > most or 2 * alpha > most:
        return ball(0)  # no ω' meets the condition, or no order of the cell is promised
    return _share(cell, max(2 * alpha, least))


@lru_cache(maxsize=4096)
def _least_omega(rho: float, s: float) -> float:
    """Return a number below all ω' of the left half of (5): 2 + log₂(1/ρ) + log₂(1/((ω'-2)s)) <= ω'."""

    def is_outside(omega: "arb") -> bool:
        return bool(2 - (ball(rho) * (omega - 2) * ball(s)).log() / ball(2).log() > omega)

    return _outside(is_outside, inside=2.0**60, outside=2.0**-40)


@lru_cache(maxsize=4096)
def _largest_omega(rho: float, s: float) -> float:
    """Return a number above all ω' of the right half of (5): (ω'-2) s e^(ρω') <= 1."""

    def is_outside(omega: "arb") -> bool:
        return bool((omega - 2) * ball(s) * (ball(rho) * omega).exp() > 1)

    return _outside(is_outside, inside=2.0**-40, outside=2.0**60)


def _outside(is_outside: "Callable[[arb], bool]", inside: float, outside: float) -> float:
    """Return a number near the end of a range that is certified to be outside of it; both starts are distances to 2."""
    for _ in range(80):
        middle = sqrt(inside * outside)
        inside, outside = (inside, middle) if is_outside(ball(2 + middle)) else (middle, outside)
    if not is_outside(ball(2 + outside)):
        raise ArithmeticError(f"2 + {outside:g} is not certified to be outside of condition (5)")
    return 2 + outside


def _share(cell: Cell, omega: float) -> "arb":
    """Return the ball of a cell for mechanisms whose ω' is at least `omega` everywhere in the cell.

    log(1 + yI)/y decreases with y and increases with I. I increases with ρ, and `_integral` bounds it.
    """
    (rho, rho_high), (s, s_high), (alpha, alpha_high) = cell
    if omega <= max(alpha_high, 2) + 0.1:
        return flint().arb.pos_inf().union(ball(0))
    total = _integral(rho_high, (s, s_high), (alpha, alpha_high), omega)
    y = ball(alpha) * (ball(alpha) - 1) * ball(s) ** 2
    most = (total / ball(rho)) if alpha == 1 else (y * total).log1p() / (y * ball(rho))
    return ball(0).union(most)


def _integral(rho: float, s: Range, alpha: Range, omega: float) -> "arb":
    """Return an upper bound of I for all s and α in two ranges."""
    most, least = ball(alpha[1]), ball(alpha[0])
    grows = alpha[1] >= 2  # x^(α-2) increases with α, and with s from α = 2 on
    at, low = s[1] if grows else s[0], ball(s[0])
    deltas, logs, logs_low = _profile(rho, omega), _logs(rho, omega, at), _logs(rho, omega, s[0])
    rising = [((most - 1) * x).exp() for x in logs]
    falling = [(-least * x).exp() for x in logs_low]
    total = ball(0)
    for i in range(PANELS):
        part = (rising[i + 1] - rising[i]) / ((most - 1) * ball(at)) + (falling[i] - falling[i + 1]) / (least * low)
        total += deltas[i] * part
    return total + _tail(rho, omega, deltas[-1], logs[-1], most)


def _tail(rho: float, omega: float, delta: "arb", log_x: "arb", alpha: "arb") -> "arb":
    """Return an upper bound of the integral beyond the last panel, at ε = E.

    There δ <= δ(E) e^(-(ω'-1)(ε-E)), and x grows at most like e^ε.
    """
    size = delta * ball(_edges(rho, omega)[-1]).exp()
    growth = (alpha - 2).max(ball(0))
    return size * ((growth * log_x).exp() / (ball(omega) - 2 - growth) + 1 / (ball(omega) - 2))


@lru_cache(maxsize=4096)
def _edges(rho: float, omega: float) -> tuple[float, ...]:
    """Return the edges of the panels in ε, denser towards 0, up to where the best order of step 4 is ω'."""
    end = max(rho * (2 * omega - 1), 4 * sqrt(rho))
    return tuple(end * (i / PANELS) ** 3 for i in range(PANELS + 1))


@lru_cache(maxsize=4096)
def _profile(rho: float, omega: float) -> "list[arb]":
    """Return upper bounds of δ at the edges, at the last one by the order ω'."""
    pinsker = (ball(rho) / 2).sqrt()
    *inner, last = _edges(rho, omega)
    return [pinsker.min(_delta(rho, edge, omega)) for edge in inner] + [_converted(rho, last, omega)]


def _delta(rho: float, epsilon: float, omega: float) -> "arb":
    """Return the bound of step 4 at an order near the best one; any order up to ω' gives a bound."""
    return _converted(rho, epsilon, min(max((epsilon + rho) / (2 * rho) + 0.5, 1.05), omega))


def _converted(rho: float, epsilon: float, order: float) -> "arb":
    beta, excess = ball(order), ball(order) - 1
    log_bound = excess * (ball(rho) * beta - ball(epsilon)) + beta * (1 - 1 / beta).log() - excess.log()
    return log_bound.exp()


@lru_cache(maxsize=4096)
def _logs(rho: float, omega: float, s: float) -> "list[arb]":
    """Return log x at the edges."""
    return [(ball(s) * ball(edge).expm1()).log1p() for edge in _edges(rho, omega)]
