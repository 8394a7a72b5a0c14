"""Releases of one number whose privacy depends on the record, and the families that they belong to."""

from tcdp_sim.core import registry
from tcdp_sim.per_record.additive import AdditiveRelease
from tcdp_sim.per_record.base import Release
from tcdp_sim.per_record.clipped import ClippedRelease
from tcdp_sim.per_record.families import BoundedLossFamily, ReleaseFamily
from tcdp_sim.per_record.transformed import TransformedRelease
from tcdp_sim.per_record.transforms import Identity, Log, Root, Transform
from tcdp_sim.per_record.unit_splitting import UnitSplitRelease

#: The forms of a per-record release, by name.
FORMS: dict[str, type[Release]] = registry.defined(__name__, Release, "form")
#: The families of per-record releases that can be calibrated to a policy, by name.
RELEASE_FAMILIES: dict[str, type[ReleaseFamily]] = registry.defined(__name__, ReleaseFamily, "name")

__all__ = [
    "FORMS",
    "RELEASE_FAMILIES",
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
