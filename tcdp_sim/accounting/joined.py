"""Equivalent lists of releases with fewer entries."""

from collections.abc import Iterable
from math import sqrt
from typing import Any

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.core.numerics import ULP

Entry = tuple[Release, int]


def joined(entries: Iterable[Entry]) -> list[Entry]:
    """Return an equivalent list in which one release stands for all of continuous isotropic noise, as Gaussian noise.

    Several such answers are one answer of many coordinates, in units of their noise. Its loss depends on the Euclidean
    length of the change alone.
    """
    square, kept, unit = 0.0, [], None
    count = 0
    for release, times in entries:
        noise: Any = getattr(release, "noise", None)
        count += 1
        if isinstance(release, Additive) and noise.isotropic and noise.parameters() == ("scale",):
            square += times * (release.sensitivity / float(noise.scale)) ** 2
            unit = type(noise)(1.0)
        else:
            kept.append((release, times))
    if unit is not None:
        kept.append((Additive(unit, sqrt(square) * (1 + ULP * count)), 1))
    return kept
