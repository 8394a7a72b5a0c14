"""Privacy profiles under subsampling: Theorems 8 to 11 of Balle-Barthe-Gaboardi 2018, and Poisson under substitution.

A privacy profile of a mechanism is a function from epsilon >= 0, in nats, to delta. It holds for one neighbouring
relation.
"""

from collections.abc import Callable
from functools import partial
from math import exp, expm1
from typing import TypeVar, cast

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.amplification.schemes import (
    draw_count_probabilities,
    inclusion_probability,
    known_scheme,
    log_unmixed,
)
from tcdp_sim.privacy.definitions import whole

Profile = Callable[[float], float]
GroupProfile = Callable[[int, float], float]  # (number of records that change, epsilon) -> delta
F = TypeVar("F", Profile, GroupProfile)


def amplified_profile(
    profile: Profile,
    sampling_probability: float,
    scheme: str,
    *,
    groups: GroupProfile | None = None,
    substitution: Profile | None = None,
    records: int | None = None,
) -> Profile:
    """Return the privacy profile of the subsampled mechanism.

    It is an upper bound for every mechanism with the given profile.

    Let eta be the probability that a record is drawn, and e^eps' = 1 + eta (e^eps - 1). The delta at eps' is:

    - "poisson" and "without_replacement": eta delta(eps), which is tight.
    - "with_replacement" and "hybrid": the mean of the group profiles delta_k(eps) over the number of draws k of the
      record.
    - "poisson_substitution": eta ((1 - b) delta(eps) + b delta_sub(eps)) with b = e^(eps' - eps). This bound comes from
      an unnatural pairing and is not known to be tight.

    Source: Balle et al. (2018), Theorems 8 to 11 [BBG18].

    Parameters
    ----------
    profile : callable
        Privacy profile of the mechanism on the subsample, epsilon -> delta.
    sampling_probability : float
        Fraction of the records that is sampled, in (0, 1].
    scheme : str
        Name of the sampling scheme, one of `SCHEMES`.
    groups : callable, optional
        Group profiles, (k, epsilon) -> delta_k. The default holds for any mechanism with the profile (`group_delta`).
    substitution : callable, optional
        Privacy profile under substitution, for "poisson_substitution". The default is the group profile of two changes.
    records : int, optional
        Number of records n, at least 1, which the schemes with replacement need. For "hybrid" it is that of the larger
        data set.

    Returns
    -------
    callable
        The privacy profile, epsilon -> delta. It raises ValueError for epsilon < 0, and if the given profile returns
        something that is no delta.

    Raises
    ------
    ValueError
        If an argument is outside its range or does not fit the scheme.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, amplified_profile, delta_at
    >>> profile = amplified_profile(lambda epsilon: delta_at(ZCDP(0.1), epsilon), 0.01, "poisson")
    >>> profile(0.1) < delta_at(ZCDP(0.1), 0.1)
    True
    """
    how = known_scheme(scheme)
    eta = inclusion_probability(sampling_probability, scheme, records)
    if substitution is not None and how.natural:
        raise ValueError(f"substitution is not valid for scheme = {scheme!r}; valid: only for poisson_substitution")
    profile = _checked("profile", profile)
    of_group = partial(group_delta, profile) if groups is None else _checked("groups", groups)
    if how.replaces:
        chances = draw_count_probabilities(sampling_probability, records)
        return partial(_mean_over_draws, of_group, chances, eta)
    if how.natural:
        return lambda epsilon: eta * profile(log_unmixed(eta, _valid(epsilon)))
    of_two = partial(of_group, 2) if substitution is None else _checked("substitution", substitution)
    return partial(_poisson_substitution, profile, of_two, eta)


def group_delta(profile: Profile, size: int, epsilon: float) -> float:
    """Return the delta that a privacy profile implies for groups of records, for any mechanism with this profile.

    With k = size it is (e^eps - 1) / (e^(eps/k) - 1) delta(eps/k), at most 1.

    Source: Balle et al. (2018), group-privacy profiles [BBG18].

    Parameters
    ----------
    profile : callable
        Privacy profile for one record, epsilon -> delta.
    size : int
        Number of records in the group, at least 1.
    epsilon : float
        Epsilon of the group, in nats, at least 0.

    Returns
    -------
    float
        The delta of the group, in [0, 1].

    Examples
    --------
    >>> from tcdp_sim.privacy import group_delta
    >>> round(group_delta(lambda epsilon: 1e-6, 2, 1.0), 9)
    2.649e-06
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
        if left <= 1e-16 * total:  # the remaining terms count as delta = 1 below
            break
    return min(total + max(left, 0.0), 1.0)


def _poisson_substitution(profile: Profile, substitution: Profile, eta: float, epsilon: float) -> float:
    inner = log_unmixed(eta, _valid(epsilon))
    beta = exp(epsilon - inner)
    return min(eta * ((1 - beta) * profile(inner) + beta * substitution(inner)), 1.0)


def _valid(epsilon: float) -> float:
    return scalar("epsilon", epsilon, 0, closed=True, finite=False)


def _checked(name: str, function: F) -> F:
    """Return a user's function with a check that its values are a delta."""
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
