"""What five papers claim, as functions that gather evidence: a package a paper, whose modules register their claims."""

import importlib
import pkgutil
from collections.abc import Mapping

from tcdp_sim.experiments.papers.registry import Exhibit, exhibited, registered

from tcdp_sim.claims import Claim

__all__ = ["claims", "exhibits"]


def claims() -> Mapping[str, Claim]:
    """Id -> claim of every module of the papers' packages, in the order of the catalogue."""
    _load()
    return registered()


def exhibits() -> Mapping[str, Exhibit]:
    """Name -> figure or table, in the order of the papers."""
    _load()
    return exhibited()


def _load() -> None:
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
