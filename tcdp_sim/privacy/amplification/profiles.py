"""Privacy profiles under subsampling: Theorems 8 to 11 of Balle-Barthe-Gaboardi 2018, and Poisson under substitution.

A profile is a function epsilon >= 0 (nats) -> delta of one mechanism, under the relation of its data sets.
"""

from collections.abc import Callable
from functools import partial
from math import exp, expm1
from typing import TypeVar, cast

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.amplification.schemes import chance_drawn, drawn_again, known_scheme, log_unmixed
from tcdp_sim.privacy.definitions import whole

Profile = Callable[[float], float]
GroupProfile = Callable[[int, float], float]  # how many records change, epsilon -> delta
F = TypeVar("F", Profile, GroupProfile)


def amplified_profile(
    profile: Profile,
    sampling_fraction: float,
    scheme: str,
    *,
    groups: GroupProfile | None = None,
    substitution: Profile | None = None,
    records: int | None = None,
) -> Profile:
    """The profile of the subsampled mechanism, an upper bound for every mechanism with the base profile.

    With eta the chance that a record is drawn, e^eps' = 1 + eta (e^eps - 1):
    "poisson" (Theorem 8) and "without_replacement" (Theorem 9): eta delta(eps), tight. "with_replacement" (Theorem 10)
    and "hybrid" (Theorem 11): the mean over how often the record is drawn of the group profiles delta_k(eps);
    `records` = n, for "hybrid" the size of the larger data set. "poisson_substitution" (an unnatural pairing, not
    known to be tight): eta ((1 - b) delta(eps) + b delta_sub(eps)), b = e^(eps' - eps).
    groups: (k, epsilon) -> delta_k, white box; by default what any mechanism with this profile promises to groups.
    substitution: the base profile under substitution, for "poisson_substitution"; by default that of two changes.
    Raises ValueError for arguments out of range; the answer, for epsilon < 0 and for a profile that gives no delta.
    """
    how = known_scheme(scheme)
    eta = chance_drawn(sampling_fraction, scheme, records)
    if substitution is not None and how.natural:
        raise ValueError(f"substitution is not valid for scheme = {scheme!r}; valid: only for poisson_substitution")
    profile = _checked("profile", profile)
    of_group = partial(group_delta, profile) if groups is None else _checked("groups", groups)
    if how.replaces:
        chances = drawn_again(sampling_fraction, records)
        return partial(_mean_over_draws, of_group, chances, eta)
    if how.natural:
        return lambda epsilon: eta * profile(log_unmixed(eta, _valid(epsilon)))
    of_two = partial(of_group, 2) if substitution is None else _checked("substitution", substitution)
    return partial(_poisson_substitution, profile, of_two, eta)


def group_delta(profile: Profile, size: int, epsilon: float) -> float:
    """What a profile promises to groups, black box: (e^eps - 1)/(e^(eps/k) - 1) delta(eps/k), at most 1.

    Source: Balle-Barthe-Gaboardi 2018, Section 5. Raises ValueError unless size is whole and epsilon >= 0.
    """
    size, epsilon, profile = whole("size", size), _valid(epsilon), _checked("profile", profile)
    if size == 1:
        return profile(epsilon)
    part = profile(epsilon / size)
    if part == 0:
        return 0.0
    factor = float(size)
    if epsilon > 0:
        factor = expm1(epsilon) / expm1(epsilon / size) if epsilon < 700 else exp(min(epsilon * (1 - 1 / size), 709))
    return min(factor * part, 1.0)


def _mean_over_draws(of_group: GroupProfile, chances: list[float], eta: float, epsilon: float) -> float:
    inner = log_unmixed(eta, _valid(epsilon))
    total, left = 0.0, sum(chances)
    for k, chance in enumerate(chances, start=1):
        total += chance * of_group(k, inner)
        left -= chance
        if left <= 1e-16 * total:  # the rest, at worst
            break
    return min(total + max(left, 0.0), 1.0)


def _poisson_substitution(profile: Profile, substitution: Profile, eta: float, epsilon: float) -> float:
    inner = log_unmixed(eta, _valid(epsilon))
    beta = exp(epsilon - inner)
    return min(eta * ((1 - beta) * profile(inner) + beta * substitution(inner)), 1.0)


def _valid(epsilon: float) -> float:
    return scalar("epsilon", epsilon, 0, closed=True, finite=False)


def _checked(name: str, function: F) -> F:
    """A user's function, whose answers have to be a delta."""
    if not callable(function):
        raise ValueError(f"{name} = {function!r} is not valid; valid: a function of epsilon that gives delta")
    if getattr(function, "func", None) is _delta:
        return function
    return cast(F, partial(_delta, name, function))


def _delta(name: str, function: Callable[..., float], *arguments: float) -> float:
    value = function(*arguments)
    if isinstance(value, float) and 0 <= value <= 1:
        return value
    return scalar(f"{name}{arguments!r}".replace(",)", ")"), value, 0, 1, closed=True, finite=False)
