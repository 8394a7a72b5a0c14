"""The common factor of the noise of several releases at which all of them together meet a guarantee."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import inf
from typing import Any, NamedTuple

from tcdp_sim.accounting import Additive, Claimed, Ledger, Release, tight_rho
from tcdp_sim.accounting.joined import joined
from tcdp_sim.accounting.least_factor import least_factor
from tcdp_sim.calibration.calibrated_releases import CalibratedReleases
from tcdp_sim.calibration.limits import MOST_COORDINATES, valid_step
from tcdp_sim.calibration.tradeoff_point import TradeoffPoint
from tcdp_sim.core import registry
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.privacy import Guarantee

Entry = tuple[Release, int]
MOST_RELEASES = 10**7
ROUNDING = 1e-12  # relative, of a sum of values of rho
_ROUGH = 1e-4  # relative tolerance of a measure


class Spent(NamedTuple):
    """A measure of a list of releases in a relation, to a relative tolerance, and the largest value that is valid."""

    name: str  # delta, epsilon or rho
    of: Callable[[Sequence[Entry], str | None, float], Bounds]
    allowed: float


def spent_by(guarantee: Guarantee | TradeoffPoint) -> Spent:
    """Return the measure of a guarantee. Raises ValueError for a guarantee of another kind."""
    if isinstance(guarantee, TradeoffPoint):
        return Spent("power", partial(_power, guarantee.alpha), 1 - guarantee.beta)
    pair, slope = guarantee.epsilon_delta, guarantee.rho_omega
    if slope:
        rho, omega = slope
        return Spent("rho", lambda entries, _, __: _rho(entries, omega), rho)
    if not pair:
        raise ValueError(f"guarantee = {guarantee!r} is not valid for releases; valid: ApproxDP, PureDP, ZCDP, TCDP")
    epsilon, delta = pair
    if not delta:
        return Spent(
            "epsilon", lambda entries, relation, _: Ledger(entries, relation).renyi(inf), scalar("epsilon", epsilon, 0)
        )
    scalar("delta", delta, 0, 1)
    return Spent(
        "delta", lambda entries, relation, share: Ledger(joined(entries), relation).delta(epsilon, share), delta
    )


def read_entries(releases: Any) -> tuple[Entry, ...]:
    """Return the pairs (release, times) of a list of releases or pairs. Raises ValueError for anything else."""
    if isinstance(releases, Release) or not isinstance(releases, Sequence) or not releases:
        raise ValueError(f"releases = {releases!r} is not valid; valid: a list of releases or (release, times)")
    found = []
    for item in releases:
        release, times = item if isinstance(item, tuple) and len(item) == 2 else (item, 1)
        if not isinstance(release, Release):
            raise ValueError(f"{item!r} is no entry of releases; valid: a release or (release, times)")
        found.append((release, whole("times", times, 1, MOST_RELEASES)))
    return tuple(found)


def free_entries(entries: Sequence[Entry], free: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the positions of the releases whose noise is free: the given ones, or all that can be scaled.

    Raises ValueError for a position outside the list, and for a release whose noise cannot be scaled.
    """
    if free is None:
        found = tuple(i for i, (release, _) in enumerate(entries) if release.has_scale)
        if not found:
            raise ValueError("releases have no noise that can be scaled; valid: at least one Additive or Sampled")
        return found
    given = [free] if isinstance(free, int) or not isinstance(free, Sequence) else free
    places = tuple(dict.fromkeys(whole("free", place, 0, len(entries) - 1) for place in given))
    if not places:
        raise ValueError("free = [] is not valid; valid: at least one position in releases")
    for place in places:
        if not entries[place][0].has_scale:
            raise ValueError(
                f"free = {place}: {entries[place][0]!r} has no scale for which more noise always protects more; "
                "valid: Additive or Sampled with noise that has a scale"
            )
    return places


def one_more(family: str, sensitivity: float, coordinates: int, step: float) -> Entry:
    """Return the entry of one more release, with noise of unit scale."""
    noise_class: Any = registry.noise(family, "family")
    names = tuple(noise_class.parameters())
    if len(names) != 1 + ("step" in names):
        raise ValueError(f"family = {family!r} has several scales; valid with releases: a noise with one scale")
    unit = noise_class(1.0, valid_step(noise_class, step)) if "step" in names else noise_class(1.0)
    count = whole("coordinates", coordinates, 1, MOST_COORDINATES)
    return Additive(unit, scalar("sensitivity", sensitivity, 0)), count


@lru_cache(maxsize=256)
def least_noise(
    entries: tuple[Entry, ...], free: tuple[int, ...], guarantee: Guarantee | TradeoffPoint, relation: str | None
) -> CalibratedReleases:
    """Return the releases with the noise of those in `free` multiplied by the least common factor that is found.

    The upper end of the measure meets the guarantee, so the answer is safe. Raises ValueError if the other releases
    alone exceed the guarantee, or no factor meets it.
    """
    measure = spent_by(guarantee)

    def at(factor: float, tolerance: float) -> Bounds:
        return measure.of(released(entries, free, factor), relation, tolerance)

    room = partial(_need_room, entries, free, measure, relation, guarantee)
    factor, spent, below = least_factor(at, measure.allowed, room)
    found = released(entries, free, factor)
    monotone = all(entries[i][0].less_noise_spends_more(measure.name == "rho") for i in free)
    noise = getattr(entries[free[0]][0].scaled(factor), "noise", None) if len(free) == 1 else None
    return CalibratedReleases(
        ledger=Ledger(found, relation),
        factor=factor,
        guarantee=guarantee,
        noise=noise,
        spent=spent,
        allowed=measure.allowed,
        below=below,
        least=monotone and below.lower > measure.allowed,
    )


def _need_room(
    entries: Sequence[Entry],
    free: Sequence[int],
    measure: Spent,
    relation: str | None,
    guarantee: Guarantee | TradeoffPoint,
) -> None:
    """Raise ValueError if the releases that are not free exceed the guarantee without the free ones."""
    fixed = [entry for i, entry in enumerate(entries) if i not in free]
    alone = measure.of(fixed, relation, _ROUGH).lower if fixed else 0.0
    if alone >= measure.allowed:
        raise ValueError(
            f"the releases that are not free spend {measure.name} = {alone:.6g}, and {guarantee} allows "
            f"{measure.allowed:.6g}; valid: a larger budget, or fewer releases"
        )


def released(entries: Sequence[Entry], free: Sequence[int], factor: float) -> list[Entry]:
    """Return the entries with the noise of the free ones multiplied by a factor."""
    return [(release.scaled(factor) if i in free else release, times) for i, (release, times) in enumerate(entries)]


def _power(alpha: float, entries: Sequence[Entry], relation: str | None, _: float) -> Bounds:
    """Return the power of the best test with a type I error."""
    return (1 - Ledger(joined(entries), relation).tradeoff(alpha)).clipped(0.0, 1.0)


def _rho(entries: Sequence[Entry], omega: float) -> Bounds:
    """Return a bracket of the least rho: the sum of the single ones from above, and the divergence at order 1."""
    low = middle = high = 0.0
    for release, times in entries:
        bounds = _single(release, omega)
        low, middle, high = (total + times * end for total, end in zip((low, middle, high), bounds))
    return Bounds(low * (1 - ROUNDING), middle, high * (1 + ROUNDING))


def _single(release: Release, omega: float) -> Bounds:
    if isinstance(release, Additive):
        high = largest_ratio(release.noise, release.sensitivity, omega)
        return Bounds(renyi_divergence(release.noise, release.sensitivity, 1.0).lower, high.estimate, high.upper)
    value = tight_rho(release, omega)
    lower = value if isinstance(release, Claimed) else Ledger([release]).renyi(1.0).lower
    return Bounds(min(lower, value), value, value)
