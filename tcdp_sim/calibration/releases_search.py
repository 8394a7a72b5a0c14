"""The common factor of the noise of several releases at which all of them together meet a guarantee."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from tcdp_sim.accounting import Ledger, Release
from tcdp_sim.accounting.least_factor import least_factor
from tcdp_sim.calibration.calibrated_releases import CalibratedReleases
from tcdp_sim.calibration.scaled_releases import Entry, released, scaled
from tcdp_sim.calibration.share_spent import Spent, spent_by
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.privacy import Guarantee

_ROUGH = 1e-4  # relative tolerance of a measure


@lru_cache(maxsize=256)
def calibrated_releases(
    entries: tuple[Entry, ...], free: tuple[int, ...], guarantee: Guarantee, relation: str | None
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
    monotone = all(_monotone(entries[i][0], measure) for i in free)
    noise = getattr(scaled(entries[free[0]][0], factor), "noise", None) if len(free) == 1 else None
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


def _monotone(release: Release, measure: Spent) -> bool:
    """Return True if it is proved that less noise never protects more, by the given measure."""
    noise: Any = getattr(getattr(release, "release", release), "noise")  # noqa: B009
    return not noise.is_discrete or (measure.concentrated and noise.linear_in_order)


def _need_room(
    entries: Sequence[Entry], free: Sequence[int], measure: Spent, relation: str | None, guarantee: Guarantee
) -> None:
    """Raise ValueError if the releases that are not free exceed the guarantee without the free ones."""
    fixed = [entry for i, entry in enumerate(entries) if i not in free]
    alone = measure.of(fixed, relation, _ROUGH).lower if fixed else 0.0
    if alone >= measure.allowed:
        raise ValueError(
            f"the releases that are not free spend {measure.name} = {alone:.6g}, and {guarantee} allows "
            f"{measure.allowed:.6g}; valid: a larger budget, or fewer releases"
        )
