"""The claims of five papers: a data file and a folder of point functions for each paper, a judge, and a page."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from tcdp_sim.experiments.papers import library
from tcdp_sim.experiments.papers.library import Claim
from tcdp_sim.experiments.papers.registry import Exhibit, exhibited

__all__ = ["claims", "exhibits"]


def claims() -> Mapping[str, Claim]:
    """Return id -> claim, in the order of the papers, with the functions of all of them registered."""
    _load()
    return library.claims()


def exhibits() -> Mapping[str, Exhibit]:
    """Return name -> figure or table, in the order of the papers."""
    _load()
    return exhibited()


@cache
def _load() -> None:
    for name in library.FILES:
        package = importlib.import_module(f"{__name__}.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
