"""The command that runs a study again, with the words that differ from the defaults, and a file that does so."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.mechanisms.functions.failed_trials import counting
from tcdp_sim.study import groups, own_noises, plain_yaml, study_file
from tcdp_sim.study.compose import OWN_TABLE, composed
from tcdp_sim.study.settings import MAX_TRIALS, OF_A_PROCESS

NOT_ITS_OWN = ("cluster", "results_dir")  # keys of the place where it ran
SWEEP = "sweep."  # its keys need no + in front, because the mechanism declares them
RUNS_AGAIN = "# `tcdp-sim run FILE.yaml` runs this study again.\n"
SWEEP_AGAIN = "# This command simulates the function again. Exact values and bounds are code: name them again.\n"
WITH_CODE = "# The command has to name the code as well: sweep.noise=[{},...].\n"
RELATIVE = "# Paths of data are relative to this file: keep it in the folder in which the study was run.\n"
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"  # characters that need no quotes


def command(config: Mapping[str, Any]) -> str:
    """Return the command line that runs a study of this resolved config again. It names no cluster."""
    return shlex.join(["tcdp-sim", *words(config)])


def is_sweep(config: Mapping[str, Any]) -> bool:
    """Return True if the config is of a sweep over a user's function."""
    return "function" in config["mechanism"]


def file(config: Mapping[str, Any]) -> str:
    """Return the text of a file that runs a study of this resolved config again, with every key of the config.

    No file runs a sweep over a user's function. The text is the command that does.
    """
    if is_sweep(config):
        return f"{SWEEP_AGAIN}{command(config)}\n"
    keys = own_noises.in_places(json.loads(json.dumps(config)))  # plain lists, where settings have tuples
    keys["cluster"] = _own_cluster(keys)
    whole = {key: value for key, value in composed({}, keys).items() if key not in OF_A_PROCESS}
    _take_away(keys, whole)
    note = RELATIVE if study_file.relative_paths(keys) else ""
    note += WITH_CODE.format(" ".join(code)) if (code := own_noises.places(config)) else ""
    return RUNS_AGAIN + note + plain_yaml.dump(keys)


def _own_cluster(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name of the cluster and the keys that differ from its defaults, which may name the run's folder."""
    name = config["cluster"]["name"]
    default = composed({}, {**config, "cluster": name})["cluster"]
    own = {key: value for key, value in config["cluster"].items() if key not in default or default[key] != value}
    return {"name": name, **own}


def _take_away(keys: dict[str, Any], whole: Mapping[str, Any]) -> None:
    """Set to null what the defaults bring into the whole config and the keys lack, such as a block of `also`."""
    for key, value in whole.items():
        if key not in keys:
            keys[key] = "linear" if {"from", "to"} <= set(keys) else None  # of a range only `scale` may be left out
        elif isinstance(value, Mapping) and isinstance(keys[key], dict) and key != "cluster":
            _take_away(keys[key], value)


def _words_of_sweep(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a sweep over a function. They do not name its exact values and bounds, which are code."""
    function = config["mechanism"]["function"]
    yield "sweep"
    named = registry.name_of_sweep(function["module"], function["name"])
    yield named or f"{function['module'].replace('.', '/')}.py:{function['name']}"
    yield from (f"sweep.{key}={_written(value)}" for key, value in config["sweep"].items())
    yield from (f"also.{key}={_written(value)}" for key, value in config["also"].items())
    keys = ("trials", "chunk", "seed", "target_mcse", "target", "share", "name")
    yield from (f"{key}={_written(config[key])}" for key in keys if config[key] not in (None, [], ()))
    targets = config["target"] or config["target_mcse"]
    if targets and config["max_trials"] != max(MAX_TRIALS, config["trials"]):
        yield f"max_trials={config['max_trials']}"
    if how := counting(function):
        yield "on_error=count"
        yield from (f"{key}={value}" for key, value in how.plain.items())


def words(config: Mapping[str, Any]) -> list[str]:
    """Return KEY=VALUE for every choice that differs from the default; of a sweep the words of its command.

    Raises UserError for an unknown experiment.
    """
    if is_sweep(config):
        return list(_words_of_sweep(config))
    config = own_noises.in_places(config)
    chosen = {"experiment": config["experiment"]["name"]}
    base = composed(chosen)
    if config["data"] != base["data"]:
        chosen["data"] = option = _option(config["data"])
        own_table = option == OWN_TABLE  # the sweep names the user's table as well
        base = composed({**chosen, "data": dict(config["data"]) if own_table else option})
        base |= {"data": groups.named("data", option)}
    own = {key: value for key, value in config.items() if key not in NOT_ITS_OWN}
    return [f"{key}={value}" for key, value in chosen.items()] + list(_different("", own, base))


def _option(data: Mapping[str, Any]) -> str:
    """Return the option of conf/data that this data set was made of: the one with the most equal keys."""

    def alike(option: str) -> tuple[int, bool]:
        there = groups.named("data", option)
        equal = sum(there.get(key) == value for key, value in data.items() if key in there and key != "name")
        return equal, option == data.get("name")

    return max(groups.options("data"), key=alike)


def _different(place: str, own: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[str]:
    for key, value in own.items():
        name, before = f"{place}{key}", base.get(key)
        nothing = not (value or before or isinstance(value, int | str))  # null, [] and {} are equal here
        if value == before or (nothing and (key in base or place == SWEEP)):
            continue
        if isinstance(value, Mapping) and isinstance(before, Mapping) and (before or f"{name}." == SWEEP):
            yield from _different(f"{name}.", value, before)
            yield from (f"~{name}.{gone}" for gone in before if gone not in value and before[gone] is not None)
        else:
            yield f"{'' if key in base or place == SWEEP else '+'}{name}={_written(value)}"


def _written(value: Any) -> str:
    """Return a value in the syntax of Hydra."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return value if value and set(value) <= set(PLAIN) and not _looks_otherwise(value) else _quoted(value)
    return repr(value)


def _looks_otherwise(text: str) -> bool:
    if text.lower() in ("null", "true", "false"):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
