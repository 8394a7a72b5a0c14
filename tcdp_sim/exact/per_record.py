"""The exact privacy of one record of influence t in a release: per-record zCDP, Renyi divergence and (epsilon, delta).

All values are for the noisy number that the release is made of (`Release.worst_shift`), at the answer where the record
is most visible. An estimator that gives one value for two noisy numbers may hide slightly more. Hermite polynomials and
clamping do so.
"""

from collections.abc import Callable
from math import inf, isnan, log
from typing import Any

from numpy.typing import ArrayLike

from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.search import brentq
from tcdp_sim.exact.profile import hockey_stick, profile_function
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.exact.renyi.transformed import transformed_renyi
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise import Noise
from tcdp_sim.per_record import Release, TransformedRelease

_CLOSE = 1e-13  # relative: how well the root of a profile is found
_WIDTH = 1e-12  # of an interval around it, relative; made wider until its ends are certain
_WIDENINGS = 40
_LOG_LARGE = 1e3  # minus the log that stands for a profile that is zero in floats


def record_renyi(release: Release, influence: float, order: ArrayLike, answer: float | None = None) -> Bounds[Any]:
    """Return the Renyi divergence between the release with and without a record, the larger one of both directions.

    Source: Finley et al. (2024) [Fin24]. The exact divergence is derived here.

    Parameters
    ----------
    release : Release
        The release.
    influence : float
        The influence t of the record, >= 0, in the units of the answer.
    order : float or array
        The order, >= 1. inf is valid unless an estimator merges noisy numbers.
    answer : float, optional
        The answer q >= 0 without the record, for a transformed release. None stands for the answer at which the
        divergence is largest. The divergence at a confidential answer is no guarantee, and is itself confidential.

    Returns
    -------
    Bounds
        D_order in nats, of the shape of `order`.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.per_record import AdditiveRelease
    >>> round(record_renyi(AdditiveRelease(Gaussian(2.0)), 1.0, 2.0).estimate, 6)
    0.25
    """
    if answer is not None:
        answer = scalar("answer", answer, 0, closed=True)
    if answer is not None and isinstance(release, TransformedRelease):
        return transformed_renyi(release, influence, order, answer)
    noise, shift = _in_scales(release, influence)
    return renyi_divergence(noise, shift, order)


def record_profile(release: Release, influence: float, epsilon: ArrayLike) -> Bounds[Any]:
    """Return delta(epsilon) for a record.

    Source: Finley et al. (2024) [Fin24]. The exact profile is derived here.

    Parameters
    ----------
    release : Release
        The release.
    influence : float
        The influence t of the record, >= 0, in the units of the answer.
    epsilon : float or array
        epsilon in nats, finite, of any sign.

    Returns
    -------
    Bounds
        delta(epsilon), of the shape of `epsilon`.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.per_record import AdditiveRelease
    >>> round(record_profile(AdditiveRelease(Gaussian(1.0)), 1.0, 0.0).estimate, 6)
    0.382925
    """
    noise, shift = _in_scales(release, influence)
    return hockey_stick(noise, shift, epsilon)


@within(4 * MOST_POINTS, "valid: `record_profile` at the epsilons of interest")
def record_epsilon(release: Release, influence: float, delta: float) -> Bounds:
    """Return the least epsilon >= 0 with delta(epsilon) <= delta for a record.

    Source: Finley et al. (2024) [Fin24]. The exact epsilon is derived here.

    Parameters
    ----------
    release : Release
        The release.
    influence : float
        The influence t of the record, >= 0, in the units of the answer.
    delta : float
        delta, in (0, 1).

    Returns
    -------
    Bounds
        epsilon in nats.

    Raises
    ------
    ValueError
        If an argument is out of range, or the search needs more evaluations than its budget.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.per_record import AdditiveRelease
    >>> round(record_epsilon(AdditiveRelease(Gaussian(2.0)), 1.0, 1e-6).estimate, 3)
    2.254
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
        if high == inf:  # losses beyond all floats
            return Bounds(0.0, inf, inf)

    def excess(epsilon: float) -> float:
        middle = profile(epsilon).estimate
        return log(middle / delta) if middle > 0 else -_LOG_LARGE

    return _around_root(profile, delta, _root(excess, high), largest)


def _root(excess: Callable[[float], float], high: float) -> float:
    """Return the zero of a falling function on [0, high], or an end where it has one sign.

    Rounding at the largest loss can give it one sign.
    """
    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, high, xtol=_CLOSE * high, rtol=_CLOSE)) if excess(high) < 0 else high


@within(MOST_POINTS, "valid: `record_renyi` at the orders of interest")
def record_policy(release: Release, influence: float, omega: float = inf) -> Bounds:
    """Return the supremum of D_order / order over 1 < order < omega for a record, which is its zCDP or tCDP.

    Source: Finley et al. (2024) [Fin24]. The exact supremum is derived here.

    Parameters
    ----------
    release : Release
        The release.
    influence : float
        The influence t of the record, >= 0, in the units of the answer.
    omega : float
        omega > 1. inf (zCDP) is the default.

    Returns
    -------
    Bounds
        The supremum in nats. It is inf if a divergence below omega is. A search over orders that reaches its budget of
        evaluations ends with wider bounds.

    Raises
    ------
    ValueError
        If omega = inf and the divergences are not linear in the order, unless the noise defines `privacy_loss` and a
        finite `largest_loss`. If an argument is out of range, or the first orders need more evaluations than the
        budget.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.per_record import AdditiveRelease
    >>> round(record_policy(AdditiveRelease(Gaussian(2.0)), 1.0).estimate, 6)
    0.125
    """
    omega = scalar("omega", omega, 1, finite=False)
    noise, shift = _in_scales(release, influence)
    return largest_ratio(noise, shift, omega)


def _in_scales(release: Release, influence: float) -> tuple[Noise, float]:
    """Return `worst_shift` in units of the noise's scale, if it says how it scales, to avoid overflow far out."""
    noise, shift = release.worst_shift(influence)
    scale = float(getattr(noise, "scale", 1.0))
    scales = noise.parameters() == ("scale",) or type(noise).scaled is not Noise.scaled
    return (noise.scaled(1 / scale), shift / scale) if scales and shift / scale < inf else (noise, shift)


def _around_root(profile: Callable[[float], Bounds], delta: float, root: float, largest: float) -> Bounds:
    """Return an interval around the root of a falling profile with certain signs at its ends, or [0, largest]."""
    widths = [_WIDTH * max(root, 1e-300) * 8.0**i for i in range(_WIDENINGS)]
    lower = next((root - w for w in widths if w < root and profile(root - w).lower >= delta), 0.0)
    return Bounds(lower, root, _certain_upper(profile, delta, [root + w for w in widths], largest))


def _certain_upper(profile: Callable[[float], Bounds], delta: float, ends: list[float], largest: float) -> float:
    """Return the first end at which the profile is certainly at most delta, or `largest`, where it is 0, else."""
    for end in ends:
        if end >= largest:
            break
        there = profile(end)
        if there.upper <= delta:
            return end
        if there.estimate == 0:  # only the error of the quadrature remains, which does not shrink further out
            break
    return largest
