"""A function that makes a config from names and plain values, as the command line makes one from words."""

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
    """A search path of Hydra that continues with the yaml files of plug-ins after the package's own."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folder `conf` of every plug-in."""
        for folder, distribution in registry.config_folders().items():
            search_path.append(provider=distribution, path=f"file://{folder}")


@contextmanager
def our_configs() -> Iterator[None]:
    """Let Hydra compose our yaml files and those of plug-ins in the block, with any key of `sweep`.

    Mechanisms declare the axes. So config.yaml begins with `open_sweep`, a `sweep` without Hydra's lock against new
    keys, which a yaml file cannot express. Afterwards Hydra has the settings that other code, such as a notebook, gave
    it.
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
    """Return the resolved config of the default study with the given keys on top, nested as in a yaml file.

    A key that is a group (experiment, mechanism, data, cluster) has the name of an option, or the keys of an option
    with its `name`. Arrays and numbers of NumPy are accepted. Raises UserError.
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
    """Return the option of a group and its keys, from a name or from keys such as {"name": "zipf", "n": 50}."""
    if value is None or isinstance(value, str):
        return value, {}
    if callable(value) and group == "experiment":
        raise UserError(f"{group} = {value!r} is not valid; valid: a name; `tcdp_sim.sweep` simulates a function")
    if not isinstance(value, Mapping):
        raise UserError(f"{group} = {value!r} is not valid; valid: a name, or keys such as {{'name': 'x'}}")
    own = dict(value)
    if group != "data" or own.get("name") in groups.options("data"):
        return own.pop("name", None), own
    return OWN_TABLE, own  # the user has named this data set


def _chosen(options: Mapping[str, str]) -> DictConfig:
    with our_configs():
        return compose(CONFIG, [f"{group}={option}" for group, option in options.items()])


def _plain(value: Any) -> Any:
    """Return a value that a yaml file can hold: NumPy's values as Python's, tuples as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
