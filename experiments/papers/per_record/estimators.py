"""Section 4.3: estimators that undo the transformation without bias, and their variances."""

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import comb, factorial

import numpy as np
from scipy.special import eval_hermitenorm

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.per_record import Log, Root, Transform, TransformedRelease

REACH = 20.0  # standard deviations; beyond, none of these integrands has 1e-60 of its mass
CENTRED = 4.0  # for e^(2V), whose mass lies 2 scale to the right
CASES = ((10.0, 0.0, 1.0), (10.0, 3.0, 0.5), (1e4, 1.0, 2.0))  # q, a, σ
Estimator = Callable[[Floats], Floats]


def printed_estimator(degree: int | None, offset: float, scale: float) -> Estimator:
    """Return g as Theorem 4.9 prints it, for the root of that degree or for the logarithm (None)."""
    if degree is None:
        return lambda x: np.exp(x - scale**2 / 2) - offset
    return lambda x: (-scale) ** degree * eval_hermitenorm(degree, -x / scale) - offset


def printed_variance(degree: int | None, q: float, offset: float, scale: float) -> float:
    """Return the variance of the release as Theorem 4.9 prints it."""
    if degree is None:
        return float(np.expm1(scale**2) * (q + offset) ** 2)
    k = degree
    terms = (
        comb(k, i) ** 2 * factorial(k - i) * scale ** (2 * (k - i)) * (q + offset) ** (2 * i / k) for i in range(k)
    )
    return float(sum(terms))


ROWS: dict[str, tuple[int | None, Callable[[Floats, float, float], Floats], Callable[[float, float], float]]] = {
    "identity": (1, lambda x, a, s: x - a, lambda y, s: s**2),
    "square root": (2, lambda x, a, s: x**2 - s**2 - a, lambda y, s: 2 * s**4 + 4 * s**2 * y),
    "fourth root": (
        4,
        lambda x, a, s: x**4 - 6 * x**2 * s**2 + 3 * s**4 - a,
        lambda y, s: 24 * s**8 + 96 * s**6 * y**0.5 + 72 * s**4 * y + 16 * s**2 * y**1.5,
    ),
    "k-th root, k = 3": (  # the row of the k-th root, at k = 3
        3,
        lambda x, a, s: x**3 - 3 * x * s**2 - a,
        lambda y, s: 6 * s**6 + 18 * s**4 * y ** (2 / 3) + 9 * s**2 * y ** (4 / 3),
    ),
    "logarithm": (None, lambda x, a, s: np.exp(x - s**2 / 2) - a, lambda y, s: float(np.expm1(s**2)) * y**2),
}  # Table 2 as printed: degree, g(x, a, σ), variance(q + a, σ)


@claim("P.T4.9 T2")
def unbiased_estimators(budget: Budget) -> Points:
    """Yield means and variances of the printed estimators, and of the rows of Table 2, by quadrature."""
    for degree, (q, offset, scale) in product(budget.choose((1, 2, 3, 4, None), (1, 2, 3, 4, 5, 7, 10, None)), CASES):
        offset = max(offset, 1.0) if degree is None else offset
        name = "logarithm" if degree is None else f"root of degree {degree}"
        mean, variance = moments(printed_estimator(degree, offset, scale), degree, q, offset, scale)
        at, printed = f"{name}, q = {q:g}, a = {offset:g}, σ = {scale:g}", printed_variance(degree, q, offset, scale)
        yield Point(f"mean, {at}", mean, closed_form(q))
        yield Point(f"variance, {at}", variance, closed_form(printed))
    for name in ROWS:
        yield from moments_of_row(name, 100.0, 2.0, 1.5)


def moments_of_row(name: str, q: float, offset: float, scale: float) -> Iterator[Point]:
    """Yield mean and variance of a row of Table 2 by quadrature, against q and the printed variance."""
    degree, g, variance = ROWS[name]
    mean, spread = moments(lambda x: g(x, offset, scale), degree, q, offset, scale)
    yield Point(f"Table 2, mean of the {name}", mean, closed_form(q))
    yield Point(f"Table 2, variance of the {name}", spread, closed_form(float(variance(q + offset, scale))))


def moments(
    g: Estimator, degree: int | None, q: float, offset: float, scale: float
) -> tuple[Bounds[float], Bounds[float]]:
    """Return mean and variance of g(N(f(q + a), scale²)) by quadrature. f is a root of that degree or the logarithm."""
    centre = np.log(q + offset) if degree is None else (q + offset) ** (1 / degree)
    edges = centre + scale * np.linspace(-REACH, REACH + CENTRED * scale, 81)

    def weighed(values: Callable[[Floats], Floats]) -> Bounds[float]:
        density = lambda v: np.exp(-0.5 * ((v - centre) / scale) ** 2) / (scale * np.sqrt(2 * np.pi))  # noqa: E731
        return integrate(lambda v: values(v) * density(v), edges, relative=1e-12)

    variance = weighed(lambda v: (g(v) - q) ** 2)
    return _padded(weighed(g), q + variance.estimate**0.5), _padded(variance, variance.estimate)


def _padded(bounds: Bounds[float], size: float) -> Bounds[float]:
    """Return bounds widened by the rounding of an integrand of that size. Quadrature counts the rounding of the sum."""
    slack = 1e-12 * size
    return Bounds(bounds.lower - slack, bounds.estimate, bounds.upper + slack)


@claim("P.4.9b")
def variance_grows(budget: Budget) -> Points:
    """Yield successive answers q."""
    transforms: tuple[Transform, ...] = (Root(2.0), Root(3.0, 1.0), Root(4.0), Root(7.0), Log(1.0))
    answers = (0.0, 1.0, 10.0, 1e3, 1e6)
    for transform in transforms:
        release = TransformedRelease(transform, 1.5)
        name = "logarithm" if isinstance(transform, Log) else f"root of degree {transform.degree:g}"  # type: ignore[attr-defined]
        for less, more in pairwise(answers):
            left, right = (closed_form(float(release.var(q))) for q in (less, more))
            yield Point(f"{name}, σ = 1.5, q = {less:g} and {more:g}", left, right)


@claim("P.T4.9 T2 equal error")
def gaussian_at_equal_error(budget: Budget) -> Points:
    """Yield records up to the whole answer. Transformations pay only where groups have unlike answers."""
    transforms: tuple[Transform, ...] = (Root(2.0), Root(3.0, 5.0), Root(4.0, 1e3), Log(1.0), Log(100.0), Log(1e5))
    for transform, scale in product(transforms, budget.choose((0.5,), (0.01, 0.5, 2.0))):
        release = TransformedRelease(transform, scale)
        for q, share in product((10.0, 1e4), (0.001, 0.1, 1.0)):
            left = closed_form(float((share * q) ** 2 / (2 * release.var(q))))
            right = closed_form(float(release.policy(share * q)))
            yield Point(f"{transform!r}, σ = {scale:g}, q = {q:g}, t = {share:g} q", left, right)
