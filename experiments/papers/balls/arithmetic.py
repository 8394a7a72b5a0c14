"""Ball arithmetic for the papers' page: numbers with proved error bounds, which share no code with the package.

A ball (python-flint's `arb`) has a midpoint and a radius, and contains the true number. Integrals come from
`acb.integral`, which certifies its own error. The part beyond the ends of integration is bounded by a formula beside
it. Numbers are given exactly: whole numbers, fractions, decimals as text ("0.1"), or floats.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import wraps
from itertools import pairwise
from math import comb, inf, nextafter
from types import ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

from tcdp_sim.core.errors import UserError

if TYPE_CHECKING:
    from flint import acb, arb

Given: TypeAlias = "arb | int | float | str | Fraction"
Function = Callable[["acb", bool], "acb"]  # (x, whether it must be analytic on the ball x) -> its value
BITS = 256
CLOSE = Fraction(1, 2**120)  # relative error allowed for an integral
REST = "1e-60"  # the omitted part of an integral of about one, which the ball includes
P = ParamSpec("P")
T = TypeVar("T")


def flint() -> ModuleType:
    """Return python-flint. Raise UserError if it is not installed."""
    try:
        import flint as library
    except ImportError:
        raise UserError("ball arithmetic needs python-flint; install it by pip install 'tcdp_sim[rigorous]'") from None
    return library


def precise(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with a precision of BITS bits for its balls. Outside of it balls have 53 bits again."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with flint().ctx.workprec(BITS):
            return function(*args, **kwargs)

    return run


def ball(value: Given) -> "arb":
    """Return a number as a ball that holds it: exactly, or to the precision in force ("0.1", 1/3)."""
    if isinstance(value, Fraction):
        return flint().arb(value.numerator) / value.denominator
    return flint().arb(value)


def floats(number: "arb") -> tuple[float, float, float]:
    """Return certified floats: at most all of a ball, nearest to its middle, and at least all of it."""
    lower, upper = number.lower(), number.upper()
    low, high = float(lower), float(upper)
    low = low if flint().arb(low) <= lower else nextafter(low, -inf)
    high = high if flint().arb(high) >= upper else nextafter(high, inf)
    return low, min(max(float(number.mid()), low), high), high


def between(low: Given, high: Given) -> "arb":
    """Return a ball that holds all numbers from `low` to `high`."""
    return ball(low).union(ball(high))


def largest(numbers: Iterable["arb"]) -> "arb":
    """Return a ball that holds the largest of several numbers, at least one."""
    first, *others = numbers
    for other in others:
        first = first.max(other)
    return first


@precise
def normal_tail(x: Given) -> "arb":
    """Return P[N > x] of a standard normal N."""
    return (ball(x) / ball(2).sqrt()).erfc() / 2


@precise
def normal_cdf(x: Given) -> "arb":
    """Return P[N <= x] of a standard normal N."""
    return normal_tail(-ball(x))


def power(x: "acb", exponent: "arb", analytic: bool) -> "acb":
    """Return x^exponent, exponent > 0, for an integrand. Around 0 it is not analytic; return a ball of that size."""
    library = flint()
    value = x.pow(library.acb(exponent), analytic=analytic)
    if analytic or value.is_finite():
        return value
    size = library.arb(0, (x.abs_upper() ** exponent).upper())
    return library.acb(size, size)


@precise
def integral(integrand: Function, edges: Sequence["arb"], relative: Given = CLOSE, absolute: Given = 0) -> "arb":
    """Return the integral of a real function over [edges[0], edges[-1]], with an edge wherever it is not analytic.

    `relative` and `absolute` are goals for the width of the ball, which contains the integral whatever its width.
    """
    library = flint()
    goals = {"rel_tol": ball(relative), "abs_tol": ball(absolute)}
    parts = (library.acb.integral(integrand, a, b, **goals).real for a, b in pairwise(edges))
    return sum(parts, library.arb(0))


def far_enough(rest: Callable[["arb"], "arb"], most: Given, start: Given = 1) -> "arb":
    """Return a reach beyond which the bound `rest` is below `most`. The first one tried is `start` > 0."""
    reach, most = ball(start).mid(), ball(most)
    for _ in range(4000):
        if rest(reach) < most:
            return reach
        reach = (reach * 5 / 4).mid()
    raise ValueError(f"the tail beyond {reach} is not below {most}")


@precise
def responses_delta(releases: int, epsilon: Given, total: Given) -> "arb":
    """Return δ at `total` (nats) of that many randomised responses, each exactly epsilon-DP.

    If J of them are true, the loss is (2J - k)ε. Therefore δ is the sum of C(k, j) e^(jε) (1 - e^(total - loss))_+ over
    (1 + e^ε)^k.
    """
    epsilon, total = ball(epsilon), ball(total)
    zero = ball(0)
    parts = zero
    for j in range(releases + 1):
        gained = (1 - (total - (2 * j - releases) * epsilon).exp()).max(zero)
        if not gained.is_zero():
            parts += comb(releases, j) * (j * epsilon).exp() * gained
    return parts / (1 + epsilon.exp()) ** releases


@precise
def finite_delta(p: Sequence[Given], q: Sequence[Given], factor: Given) -> "arb":
    """Return the sum of (p - factor q)_+ over the outcomes of two finite laws."""
    zero, factor = ball(0), ball(factor)
    return sum(((ball(a) - factor * ball(b)).max(zero) for a, b in zip(p, q, strict=True)), zero)
