"""Releases of one number whose privacy depends on the record: their exact laws and printed policies."""

from tcdp_sim.releases.additive import AdditiveRelease
from tcdp_sim.releases.base import Release
from tcdp_sim.releases.clipped import ClippedRelease
from tcdp_sim.releases.transformed import ESTIMATORS, TransformedRelease
from tcdp_sim.releases.transforms import Identity, Log, Root, Transform
from tcdp_sim.releases.unit_splitting import RULES, UnitSplitRelease

__all__ = [
    "ESTIMATORS",
    "RULES",
    "AdditiveRelease",
    "ClippedRelease",
    "Identity",
    "Log",
    "Release",
    "Root",
    "Transform",
    "TransformedRelease",
    "UnitSplitRelease",
]
