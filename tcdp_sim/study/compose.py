"""A config from names and plain values, as the command line makes one from words."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from hydra import compose, initialize_config_module
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, known
from tcdp_sim.study import groups

CONFIG = "config"  # the yaml file of conf/ that every study begins with
OWN_TABLE = "csv"  # the data set that reads a user's own table


class PlugInConfigs(SearchPathPlugin):
    """Hydra's search path goes on, after the package's own yaml files, with those of plug-ins."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folder `conf` of every plug-in."""
        for folder, distribution in registry.config_folders().items():
            search_path.append(provider=distribution, path=f"file://{folder}")


@contextmanager
def our_configs() -> Iterator[None]:
    """Let Hydra compose our yaml files and those of plug-ins in the block, with any key of `sweep`.

    Mechanisms say which axes there are, so `open_sweep`, which config.yaml begins with, is a `sweep` without Hydra's
    lock against new keys. A yaml file cannot say so. Afterwards Hydra is as somebody else had set it, say a notebook.
    """
    Plugins.instance().register(PlugInConfigs)
    unlocked = OmegaConf.create({}, flags={"struct": False})
    ConfigStore.instance().store("open_sweep", OmegaConf.create({"sweep": unlocked}))
    before = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module("tcdp_sim.conf", version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().hydra = before


def composed(given: Mapping[str, Any]) -> dict[str, Any]:
    """The resolved config of the default study with the given keys on top, nested as in a yaml file.

    A key that is a group (experiment, mechanism, data, cluster) is an option's name, or the keys of an option with its
    `name`. NumPy's arrays and numbers are welcome. Raises UserError in one line.
    """
    chosen: dict[str, str] = {}
    keys: dict[str, Any] = {}
    for key, value in _plain(given).items():
        if key not in groups.CHOSEN:
            keys[key] = value
            continue
        option, own = _option(key, value)
        chosen |= {key: known(key, option, groups.options(key))} if option is not None else {}
        keys |= {key: own} if own else {}
    base = _chosen(chosen)
    OmegaConf.set_struct(base, False)  # keys that are not known are refused with the settings
    try:
        whole = OmegaConf.to_container(OmegaConf.merge(base, keys), resolve=True, throw_on_missing=True)
        return cast(dict[str, Any], whole)
    except MissingMandatoryValue as mistake:
        raise UserError(f"{mistake.full_key} is not given") from None
    except OmegaConfBaseException as mistake:
        raise UserError(" ".join(str(mistake).split())) from None


def _option(group: str, value: Any) -> tuple[str | None, dict[str, Any]]:
    """(option of a group, its keys) of a name, or of keys: {"name": "zipf", "n": 50}, {"path": "a.csv", ...}."""
    if value is None or isinstance(value, str):
        return value, {}
    if not isinstance(value, Mapping):
        raise UserError(f"{group} = {value!r} is not valid; valid: a name, or keys such as {{'name': 'x'}}")
    own = dict(value)
    if group != "data" or own.get("name") in groups.options("data"):
        return own.pop("name", None), own
    return OWN_TABLE, own  # whose name is the user's own


def _chosen(options: Mapping[str, str]) -> DictConfig:
    with our_configs():
        return compose(CONFIG, [f"{group}={option}" for group, option in options.items()])


def _plain(value: Any) -> Any:
    """What a yaml file could hold: NumPy's values as Python's, tuples as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
