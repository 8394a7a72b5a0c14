"""Releases of one number whose privacy depends on the record, and the families that they belong to."""

from tcdp_sim.core import registry
from tcdp_sim.releases.additive import AdditiveRelease
from tcdp_sim.releases.base import Release
from tcdp_sim.releases.clipped import ClippedRelease
from tcdp_sim.releases.families import BoundedLossFamily, ReleaseFamily
from tcdp_sim.releases.transformed import ESTIMATORS, TransformedRelease
from tcdp_sim.releases.transforms import Identity, Log, Root, Transform
from tcdp_sim.releases.unit_splitting import RULES, UnitSplitRelease

FORMS: dict[str, type[Release]] = registry.defined(__name__, Release, "form")
RELEASE_FAMILIES: dict[str, type[ReleaseFamily]] = registry.defined(__name__, ReleaseFamily, "name")

__all__ = [
    "ESTIMATORS",
    "FORMS",
    "RELEASE_FAMILIES",
    "RULES",
    "AdditiveRelease",
    "BoundedLossFamily",
    "ClippedRelease",
    "Identity",
    "Log",
    "Release",
    "ReleaseFamily",
    "Root",
    "Transform",
    "TransformedRelease",
    "UnitSplitRelease",
]
