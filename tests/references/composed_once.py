"""Hydra's configs, composed once for the same words: two fifths of the time of a small command were spent on it.

What Hydra composes is a function of the name, the words, the keys of a study's file, and yaml files that no test
changes. Nothing is remembered where it also depends on a plug-in's folder, or on what an interpolation in a word reads.
Nor are errors.
"""

from collections.abc import Callable
from typing import Any


def install() -> None:
    """Let our modules compose so, from now on."""
    from tcdp_sim.cli import overrides
    from tcdp_sim.study import compose

    if compose.compose.__name__ != "composed":
        compose.compose = overrides.compose = remembered(compose.compose)


def remembered(compose: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that composes as `compose` does, once for the same config name, words and keys of a file."""
    from hydra.core.config_store import ConfigStore
    from omegaconf import OmegaConf

    known: dict[Any, Any] = {}

    def composed(name: str, overrides: list[str]) -> Any:
        from tcdp_sim.core import registry

        if registry.config_folders() or any("$" in word for word in overrides):
            return compose(name, overrides)
        key = name, tuple(overrides), OmegaConf.to_yaml(ConfigStore.instance().load("study_file.yaml").node)
        if key not in known:
            known[key] = compose(name, overrides)
        return known[key]

    return composed
