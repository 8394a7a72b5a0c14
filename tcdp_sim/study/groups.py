"""The yaml files of conf/ and of plug-ins, by group and name."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, cast

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, known

GROUPS = resources.files("tcdp_sim.conf")
DEFAULTS = GROUPS / "config.yaml"  # every key of a study, with its default
CHOSEN = ("experiment", "mechanism", "data", "cluster")  # a study has one option of each of these groups
KEPT = {"experiment": "sweep", "mechanism": "function"}  # what a sweep over a user's function has; no words choose it
PLUGGED = ("noise", "mechanism", "experiment", "data")  # groups to which plug-ins may add


def options(group: str) -> list[str]:
    """Return the names of a group, sorted. Raises UserError if a plug-in brings a name that is taken."""
    return sorted(_files(group))


@cache
def named(group: str, name: str) -> Mapping[str, Any]:
    """Return the content of conf/<group>/<name>.yaml. Raises UserError listing the options if the name is not known."""
    return _content(text(group, name))


def text(group: str, name: str) -> str:
    """Return the text of conf/<group>/<name>.yaml. Raises UserError listing the options if the name is not known."""
    known(group, name, options(group))
    return _files(group)[name].read_text("utf-8")


def general_keys() -> list[str]:
    """Return the lines of config.yaml with the keys that are neither groups nor axes, with their comments."""
    lines = DEFAULTS.read_text("utf-8").partition("\n\n")[2].partition("\n\n")[0].splitlines()
    return [line for line in lines if not line.startswith("#")]


def study_keys() -> list[str]:
    """Return every key of a study as it is written in a command: seed, sweep.k, and the groups."""
    content = _content(DEFAULTS.read_text("utf-8"))
    del content["defaults"]
    sweep = [f"sweep.{axis}" for axis in content.pop("sweep")]
    figures = [f"figures.{name}" for name in content.pop("figures")]
    return [*CHOSEN, *content, *figures, *sweep]


def _content(yaml: str) -> dict[str, Any]:
    """Return the keys and values of a yaml file."""
    from omegaconf import OmegaConf  # slow to import

    return cast(dict[str, Any], OmegaConf.to_container(OmegaConf.create(yaml)))


@cache
def _files(group: str) -> Mapping[str, Traversable]:
    files = _yaml_files(GROUPS / group)
    for folder, distribution in registry.config_folders().items() if group in PLUGGED else ():
        brought = _yaml_files(folder / group)
        if twice := sorted(files.keys() & brought.keys()):
            conflict = f"distribution {distribution} brings conf/{group}/{twice[0]}.yaml, a name that is taken"
            raise UserError(f"{conflict}; it has to be renamed, or the distribution uninstalled")
        files |= brought
    return files


def _yaml_files(folder: Traversable) -> dict[str, Traversable]:
    if not folder.is_dir():
        return {}
    return {file.name.removesuffix(".yaml"): file for file in folder.iterdir() if file.name.endswith(".yaml")}
