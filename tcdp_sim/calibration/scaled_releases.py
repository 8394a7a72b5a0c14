"""Releases of a list whose noise can be multiplied by a factor."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tcdp_sim.accounting import Additive, Release, Sampled
from tcdp_sim.core.errors import whole

Entry = tuple[Release, int]
MOST_RELEASES = 10**7


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
        found = tuple(i for i, (release, _) in enumerate(entries) if can_scale(release))
        if not found:
            raise ValueError("releases have no noise that can be scaled; valid: at least one Additive or Sampled")
        return found
    given = [free] if isinstance(free, int) or not isinstance(free, Sequence) else free
    places = tuple(dict.fromkeys(whole("free", place, 0, len(entries) - 1) for place in given))
    if not places:
        raise ValueError("free = [] is not valid; valid: at least one position in releases")
    for place in places:
        if not can_scale(entries[place][0]):
            raise ValueError(
                f"free = {place}: {entries[place][0]!r} has no scale for which more noise always protects more; "
                "valid: Additive or Sampled with noise that has a scale"
            )
    return places


def can_scale(release: Release) -> bool:
    """Return True for additive noise with a scale, also on a sample."""
    base = release.release if isinstance(release, Sampled) else release
    if not isinstance(base, Additive):
        return False
    return not base.noise.is_discrete or (not base.noise.is_optimized and len(base.noise.parameters()) == 2)


def scaled(release: Release, factor: float) -> Release:
    """Return the release with its noise multiplied by a factor. The lattice of a discrete noise stays."""
    additive: Any = release
    if isinstance(release, Sampled):
        return replace(release, release=scaled(release.release, factor))  # type: ignore[arg-type]
    noise = additive.noise
    return replace(additive, noise=noise.widened(factor) if noise.is_discrete else noise.scaled(factor))


def released(entries: Sequence[Entry], free: Sequence[int], factor: float) -> list[Entry]:
    """Return the entries with the noise of the free ones multiplied by a factor."""
    return [(scaled(release, factor) if i in free else release, times) for i, (release, times) in enumerate(entries)]
