"""The profile of a list that is equivalent to a single release whose noise has a closed form.

For Poisson sampling with probability s the profiles of both directions follow from the profile H of the noise: adding
the record gives s H(log(1 + (e^e - 1) / s)), and removing it c H(log(s e^e / c)) with c = 1 - (1 - s) e^e, or 0 for c
<= 0 (Balle, Barthe, Gaboardi 2018 [BBG18], Theorems 2 and 8). A sample without replacement, in which one record is
replaced, has the first profile in both directions (Theorem 9 there).
"""

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt

import numpy as np

from tcdp_sim.accounting.composed_pairs import Entries
from tcdp_sim.accounting.joined import joined
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.numerics import ULP, Bounds

Profile = Callable[[float], Bounds]  # epsilon >= 0 -> delta
_FARTHEST = 700.0  # e^e is a float
_CLOSE = 1e-13  # relative
_LEAST = 1e-300
_MOST = 400  # steps of a search
_FASTER = 1e3  # the factor by which a search begins


def closed_profile(entries: Entries) -> Profile | None:
    """Return the profile of the worse direction in closed form, or None if there is none."""
    if not all(isinstance(item, Release) for item, _ in entries):
        return None
    alone = joined(entries)  # type: ignore[arg-type]
    if len(alone) != 1 or alone[0][1] != 1:
        return None
    release = alone[0][0]
    if isinstance(release, Additive):
        return _of_noise(release)
    if isinstance(release, Sampled) and release.has_closed_scheme and 0 < release.sampling_probability < 1:
        base = _of_noise(release.release)
        return None if base is None else _sampled(base, release.sampling_probability, release.is_poisson)
    return None


def exact_profile(entries: Entries) -> Profile | None:
    """Return the profile in closed form, or the profile of a single pair of mixtures; None if there is neither."""
    release = _only(entries)
    return release.profile if release is not None and release.has_profile else closed_profile(entries)


def best_profile(entries: Entries) -> Profile | None:
    """Return the profile of one release whose two ends come from different pairs; None for other lists."""
    release = _only(entries)
    return release.profile if release is not None and release.profile_is_best else None


def _only(entries: Entries) -> Release | None:
    release, times = entries[0] if len(entries) == 1 else (None, 0)
    return release if times == 1 and isinstance(release, Release) else None


def closed_epsilon(profile: Profile, delta: float, close: float = _CLOSE, least: float = _LEAST) -> Bounds:
    """Return the least epsilon >= 0 at a delta in (0, 1), with an infinite upper end if rounding hides it.

    A root has a relative error of at most `close`; a smaller one than `least` is between 0 and that.
    """
    if profile(0.0).upper <= delta:
        return Bounds(0.0, 0.0, 0.0)
    low = _last(lambda e: profile(e).lower >= delta, close, least)
    high = max(_last(lambda e: profile(e).upper > delta, close, least) * (1 + 2 * close), least)
    return Bounds(min(low, high), min(low, high) if high == inf else 0.5 * (low + high), high)


def _of_noise(release: Additive) -> Profile | None:
    noise, shift = release.noise, release.sensitivity
    if noise.is_discrete or noise.closed_hockey_stick(shift, np.zeros(1)) is None:
        return None

    def profile(epsilon: float) -> Bounds:
        found = noise.closed_hockey_stick(shift, np.array([epsilon]))
        assert found is not None
        return Bounds(*(float(end[0]) for end in found)).clipped(0.0, 1.0)

    return profile


def _sampled(base: Profile, s: float, is_poisson: bool) -> Profile:
    def beside(epsilon: float, error: float) -> Bounds:
        """Return the profile of the noise at an epsilon with a rounding error."""
        if epsilon == inf:
            return Bounds(0.0, 0.0, 0.0)
        return Bounds(base(epsilon + error).lower, base(epsilon).estimate, base(max(epsilon - error, 0.0)).upper)

    def profile(epsilon: float) -> Bounds:
        rise = expm1(epsilon) / s if epsilon < _FARTHEST else inf
        farther = log1p(rise) if rise < inf else epsilon - log(s)
        adding = s * beside(farther, 8 * ULP * (1 + farther))
        left = s - expm1(epsilon) * (1 - s) if is_poisson and epsilon < _FARTHEST else 0.0
        if left <= 4 * ULP * s:
            return adding
        error = ULP * s * exp(epsilon) / left
        farther = epsilon + log(s) - log(left)
        removing = Bounds(max(left - 4 * error * left, 0.0), left, left * (1 + 4 * error))
        removing = removing * beside(farther, 8 * (error + ULP * (1 + farther)))
        return Bounds(*(max(ends) for ends in zip(adding, removing)))

    return profile


def _last(holds: Callable[[float], bool], close: float, least: float) -> float:
    """Return an epsilon at which a condition still holds that ends to hold somewhere, close to the end; 0 for none."""
    low, high = 0.0, least
    while holds(high):
        low, high = high, _FASTER * high
        if high == inf:
            return inf
    for _ in range(_MOST):
        if high - low <= close * high or low == 0:
            break
        middle = sqrt(low) * sqrt(high) if high > 2 * low else 0.5 * (low + high)
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
