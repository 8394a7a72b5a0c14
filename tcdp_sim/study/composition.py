"""A config from names and plain values, as the command line makes one from words."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from hydra import compose, initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from tcdp_sim.errors import UserError, known
from tcdp_sim.study import groups

FILE = "csv"  # the data set that reads a user's own table


def composed(chosen: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The resolved config of the options that are chosen of each group, with the given keys on top.

    chosen: group (experiment, data, cluster) -> option; given: nested keys and values, as in a yaml file; numpy's
    arrays and numbers are welcome. Raises UserError in one line.
    """
    for group, option in chosen.items():
        known(group, option, groups.options(group))
    before = GlobalHydra.instance().hydra  # a notebook's own
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module("tcdp_sim.conf", version_base="1.3"):
            base = compose("config", [f"{group}={option}" for group, option in chosen.items()])
    finally:
        GlobalHydra.instance().hydra = before
    OmegaConf.set_struct(base, False)
    try:
        return OmegaConf.to_container(OmegaConf.merge(base, _plain(given)), resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as mistake:
        raise UserError(f"{mistake.full_key} is not given") from None
    except OmegaConfBaseException as mistake:
        raise UserError(" ".join(str(mistake).split())) from None


def data_choice(data) -> tuple[str | None, dict[str, Any]]:
    """(option of the group data, its keys) of a name, or of keys: {"name": "zipf", "n": 5000}, {"path": "a.csv", ...}."""
    if data is None or isinstance(data, str):
        return data, {}
    if not isinstance(data, Mapping):
        raise UserError(f"data = {data!r} is not valid; valid: a name, or keys such as {{'path': 'a.csv', 'column': 'x'}}")
    own = dict(data)
    if own.get("name") in groups.options("data"):
        return own.pop("name"), own
    return FILE, own


def _plain(value):
    """What a yaml file could hold: numpy's values as Python's, tuples as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
