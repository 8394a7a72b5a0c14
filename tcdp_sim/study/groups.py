"""The yaml files of conf/, by group and name."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from omegaconf import OmegaConf

from tcdp_sim.errors import known

GROUPS = resources.files("tcdp_sim.conf")
CHOSEN = ("experiment", "mechanism", "data", "cluster")  # groups of which a study has one option


def options(group: str) -> list[str]:
    """The names of a group, sorted."""
    return sorted(f.name.removesuffix(".yaml") for f in (GROUPS / group).iterdir() if f.name.endswith(".yaml"))


@cache
def named(group: str, name: str) -> Mapping[str, Any]:
    """The content of conf/<group>/<name>.yaml; UserError listing the group's options."""
    known(group, name, options(group))
    return OmegaConf.to_container(OmegaConf.create((GROUPS / group / f"{name}.yaml").read_text("utf-8")))
