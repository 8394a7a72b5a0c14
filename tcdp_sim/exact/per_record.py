"""What a release gives away about one record of influence t, exactly: per-record zCDP, Renyi and (epsilon, delta).

All of it is of the noisy number that the release is made of (`Release.worst_shift`), at the answer where the record
shows most. An estimator that gives one value for two noisy numbers, as Hermite polynomials and clamping do, may hide a
little more of it.
"""

from collections.abc import Callable
from math import inf, isnan, log
from typing import Any

from numpy.typing import ArrayLike
from scipy.optimize import brentq

from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.profile import hockey_stick, profile_function
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.exact.renyi.transformed import transformed_renyi
from tcdp_sim.exact.work import within
from tcdp_sim.noise import Noise
from tcdp_sim.releases import Release, TransformedRelease

MOST_POINTS = 25_000_000  # of an answer: some eight seconds for the most expensive noise
_CLOSE = 1e-13  # relative: how well the root of a profile is found
_WIDTH = 1e-12  # of an interval around it, relative; made wider until its ends are certain
_WIDENINGS = 40
_LOG_LARGE = 1e3  # the log of a profile that is zero in floats, less


def record_renyi(release: Release, influence: float, order: ArrayLike, answer: float | None = None) -> Bounds[Any]:
    """D_order in nats between the release with and without a record of influence t >= 0; order >= 1, inf among them.

    The larger one of both directions. answer: None for the answer at which it is largest; or the answer q >= 0 without
    the record, with which a transformed release gives away less. That of a confidential answer is no guarantee, and as
    confidential. Orders finite where an estimator merges noisy numbers. ValueError outside of the ranges.
    """
    if answer is not None and isinstance(release, TransformedRelease):
        return transformed_renyi(release, influence, order, answer)
    noise, shift = _in_scales(release, influence)
    return renyi_divergence(noise, shift, order)


def record_profile(release: Release, influence: float, epsilon: ArrayLike) -> Bounds[Any]:
    """delta(epsilon) of a record of influence t >= 0; epsilon in nats, finite, of any sign."""
    noise, shift = _in_scales(release, influence)
    return hockey_stick(noise, shift, epsilon)


@within(MOST_POINTS, "valid: `record_profile` at the epsilons of interest")
def record_epsilon(release: Release, influence: float, delta: float) -> Bounds:
    """Return the least epsilon >= 0, in nats, with delta(epsilon) <= delta, of a record of influence t >= 0.

    0 < delta < 1. Raises ValueError outside of the ranges, and where the search needs more than MOST_POINTS.
    """
    delta = scalar("delta", delta, 0, 1)
    noise, shift = _in_scales(release, influence)
    if shift == 0 or hockey_stick(noise, shift, 0.0).upper <= delta:
        return Bounds(0.0, 0.0, 0.0)
    profile = profile_function(noise, shift)
    known = noise.largest_loss(shift)
    largest = inf if isnan(known) else known
    high = largest if largest < inf else 1.0
    while largest == inf and profile(high).estimate > delta:
        high *= 2

    def excess(epsilon: float) -> float:
        middle = profile(epsilon).estimate
        return log(middle / delta) if middle > 0 else -_LOG_LARGE

    return _certified(profile, delta, _root(excess, high), largest)


def _root(excess: Callable[[float], float], high: float) -> float:
    """Where a falling function is 0; an end of [0, high] where it has one sign, as by rounding at the largest loss."""
    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, high, xtol=_CLOSE * high, rtol=_CLOSE)) if excess(high) < 0 else high


@within(MOST_POINTS, "valid: `record_renyi` at the orders of interest")
def record_policy(release: Release, influence: float, omega: float = inf) -> Bounds:
    """Return sup over 1 < order < omega of D_order / order in nats, of a record of influence t >= 0: its zCDP, or tCDP.

    inf where a divergence below omega is. omega > 1. A search over orders ends where it has taken MOST_POINTS, and its
    bounds are as wide as that leaves them. Raises ValueError where the first orders take more, and for omega = inf and
    a noise whose divergences are not linear in the order, unless it defines `privacy_loss` and a finite `largest_loss`.
    """
    omega = scalar("omega", omega, 1, finite=False)
    noise, shift = _in_scales(release, influence)
    return largest_ratio(noise, shift, omega)


def _in_scales(release: Release, influence: float) -> tuple[Noise, float]:
    """`worst_shift` in units of the noise's scale, if it says how it scales: the same value, no overflow far out."""
    noise, shift = release.worst_shift(influence)
    scale = float(getattr(noise, "scale", 1.0))
    scales = noise.parameters() == ("scale",) or type(noise).scaled is not Noise.scaled
    return (noise.scaled(1 / scale), shift / scale) if scales and shift / scale < inf else (noise, shift)


def _certified(profile: Callable[[float], Bounds], delta: float, root: float, largest: float) -> Bounds:
    """An interval around the root of a falling profile at whose ends it is certain; [0, largest] at the widest."""
    widths = [_WIDTH * max(root, 1e-300) * 8.0**i for i in range(_WIDENINGS)]
    lower = next((root - w for w in widths if w < root and profile(root - w).lower >= delta), 0.0)
    return Bounds(lower, root, _certain_upper(profile, delta, [root + w for w in widths], largest))


def _certain_upper(profile: Callable[[float], Bounds], delta: float, ends: list[float], largest: float) -> float:
    """The first end at which the profile is certainly no larger than delta; `largest`, where it is 0, if none is."""
    for end in ends:
        if end >= largest:
            break
        there = profile(end)
        if there.upper <= delta:
            return end
        if there.estimate == 0:  # what is left is the error of the quadrature, which is no smaller further out
            break
    return largest
