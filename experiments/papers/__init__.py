"""What five papers claim, as functions that gather evidence: a package a paper, whose modules register their claims."""

import importlib
import pkgutil
from collections.abc import Mapping

from tcdp_sim.experiments.papers.registry import registered

from tcdp_sim.claims import Claim

__all__ = ["claims"]


def claims() -> Mapping[str, Claim]:
    """Id -> claim of every module of the papers' packages, in the order of the catalogue."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return registered()
