"""A function that makes a config from names and plain values, as the command line makes one from words."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from hydra import compose, initialize_config_module
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, known
from tcdp_sim.study import groups

CONFIG = "config"  # the yaml file of conf/ that every study begins with
OWN_TABLE = "csv"  # the data set that reads a user's own table
NO_KEYS: Mapping[str, Any] = MappingProxyType({})


class PlugInConfigs(SearchPathPlugin):
    """A search path of Hydra that continues with the yaml files of plug-ins after the package's own."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folder `conf` of every plug-in."""
        for folder, distribution in registry.config_folders().items():
            search_path.append(provider=distribution, path=f"file://{folder}")


@contextmanager
def our_configs(keys: Mapping[str, Any] = NO_KEYS) -> Iterator[None]:
    """Let Hydra compose the package's and plug-ins' yaml files in the block, with any key of `sweep`.

    Mechanisms declare the axes. So config.yaml begins with `open_sweep`, a `sweep` without Hydra's lock against new
    keys, which a yaml file cannot express. It ends with `study_file`: the `keys` of a user's file, which words
    override. `under_study_file` has null in their places, because a list cannot replace a range, nor a range another
    one, unless null has. Afterwards Hydra has the settings that other code, such as a notebook, gave it.
    """
    Plugins.instance().register(PlugInConfigs)
    unlocked = OmegaConf.create({}, flags={"struct": False})
    ConfigStore.instance().store("open_sweep", OmegaConf.create({"sweep": unlocked}))
    ConfigStore.instance().store("under_study_file", OmegaConf.create(_nulls(keys)))
    ConfigStore.instance().store("study_file", OmegaConf.create(dict(keys)))
    before = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module("tcdp_sim.conf", version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().hydra = before


def _nulls(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys with null in place of values, lists and ranges."""
    sections = {key: isinstance(value, Mapping) and not {"from", "to"} <= set(value) for key, value in keys.items()}
    return {key: _nulls(keys[key]) if section else None for key, section in sections.items()}


def composed(given: Mapping[str, Any], file: Mapping[str, Any] = NO_KEYS) -> dict[str, Any]:
    """Return the resolved config of the default study with the given keys on top, nested as in a yaml file.

    A key that is a group (experiment, mechanism, data, cluster) has the name of an option, or the keys of an option
    with its `name`. Arrays and numbers of NumPy are accepted. `file` has the keys of a study in a file, which lie
    between the default study and the given keys. Raises UserError.
    """
    chosen, keys = split(given)
    chosen_by_file, keys_of_file = split(file)
    words = [f"{group}={option}" for group, option in (chosen_by_file | chosen).items()]
    try:
        with our_configs(keys_of_file):
            base = compose(CONFIG, words)
        OmegaConf.set_struct(base, False)  # keys that are not known are refused with the settings
        whole = OmegaConf.to_container(OmegaConf.merge(base, keys), resolve=True, throw_on_missing=True)
        return cast(dict[str, Any], whole)
    except MissingMandatoryValue as mistake:
        raise UserError(f"{mistake.full_key} is not given", str(mistake.full_key)) from None
    except (OmegaConfBaseException, HydraException) as mistake:
        raise UserError(" ".join(str(mistake).split())) from None


def split(given: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the chosen options of the groups, and all other keys, of keys that are nested as in a yaml file.

    Raises UserError for an option that its group lacks.
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
    if keys.get("sweep", 0) is None:
        del keys["sweep"]  # a sweep without axes
    return chosen, keys


def places(given: Mapping[str, Any]) -> set[str]:
    """Return the keys that are given as words of the command line would give them: data, data.n, sweep.k, trials."""
    chosen, keys = split(given)
    found = set(chosen)
    for key, value in keys.items():
        found |= {f"{key}.{own}" for own in value} if isinstance(value, Mapping) else {key}
    return found


def _option(group: str, value: Any) -> tuple[str | None, dict[str, Any]]:
    """Return the option of a group and its keys, from a name or from keys such as {"name": "zipf", "n": 50}."""
    if value is None or isinstance(value, str):
        return value, {}
    if callable(value) and group == "experiment":
        raise UserError(
            f"{group} = {value!r} is not valid; valid: a name; `tcdp_sim.sweep` simulates a function", group
        )
    if not isinstance(value, Mapping):
        raise UserError(f"{group} = {value!r} is not valid; valid: a name, or keys such as {{'name': 'x'}}", group)
    own = dict(value)
    if group == "data" and own.get("name") not in groups.options("data"):
        return _renamed(own), own
    return own.pop("name", None), own


def _renamed(data: Mapping[str, Any]) -> str | None:
    """Return the option of a data set that the user has named: the one with its shape or file, or the user's own table.

    None stands for the default data set, some of whose keys are given.
    """
    for key in ("shape", "file"):
        for option in groups.options("data") if key in data else ():
            if groups.named("data", option).get(key) == data[key]:
                return option
    if {"path", "column"} & set(data):
        return OWN_TABLE
    return known("data.name", data["name"], groups.options("data")) if "name" in data else None


def _plain(value: Any) -> Any:
    """Return a value that a yaml file can hold: NumPy's values as Python's, tuples as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
