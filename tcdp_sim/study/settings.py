"""What a config means: names looked up in the package's yaml files, values checked, nothing executed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from tcdp_sim.errors import UserError

GROUPS = resources.files("tcdp_sim.conf")
DEFAULT_DATA = "one_bin"  # as in config.yaml
LONGEST_NAME, LONGEST_PATH = 255, 3000  # bytes; file systems end at 255 and 4096, and a folder holds paths of its own
LONGEST_DATA_NAME = 150  # figures are called after data
MAX_SEED = 2**128
MOST_TRIALS = 10**12
CONDITIONS = ("only_with", "unless_given")  # keys of a block that are no axes: whether it is there at all
MODES = ("run", "plan", "draw", "status", "verify", "replay", "merge", "diff")
GROUPED = ("experiment", "mechanism", "data", "cluster")
KEYS = (
    *("name", "mode", "seed", "trials", "chunk", "target_mcse", "max_trials", "results_dir", "invalid", "numerics"),
    *("on_error", "share"),
    *("sample", "cell", "index", "other", "sweep", "also"),
    *GROUPED,
)


@dataclass(frozen=True)
class Settings:
    """The checked top-level keys of a config."""

    name: str
    experiment: str
    mode: str
    seed: int
    trials: int
    chunk: int
    target_mcse: Mapping[str, Any] | None
    max_trials: int
    results_dir: str
    invalid: str
    numerics: str
    on_error: str
    share: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where the run's results are."""
        return Path(self.results_dir) / self.name

    @property
    def chunks(self) -> int:
        """How many chunks a cell has: the trials, rounded up to whole chunks."""
        return -(-self.trials // self.chunk)


def settings(config: Mapping[str, Any]) -> Settings:
    """The top-level keys, checked; UserError names the key, its value and what would be valid."""
    known_keys("config", config, KEYS)
    _complete(config)
    for group in ("mechanism", "cluster"):
        _one_of(config[group].get("name"), f"{group}.name", options(group))
    told = "a name without slashes and brackets: figures bear it"
    _text(config["data"].get("name"), "data.name", "/\\\0\n[]", told, LONGEST_DATA_NAME)
    known_keys("experiment", config["experiment"], ("name", "axes"))
    known_keys("cluster", config["cluster"], {"name": 0, "workers": 0, **named("cluster", config["cluster"]["name"])})
    experiment = _one_of(config["experiment"].get("name"), "experiment.name", options("experiment"))
    name = _text(config["name"], "name", "/\\\0\n", "a folder name without slashes")
    results_dir = _text(config["results_dir"], "results_dir", "\0\n", "the path of a folder")
    trials = _trials(config["trials"], Path(results_dir) / name)
    return Settings(
        name=name,
        experiment=experiment,
        mode=_one_of(config["mode"], "mode", MODES),
        seed=_whole(config["seed"], "seed", 0, MAX_SEED - 1),
        trials=trials,
        chunk=_whole(config["chunk"], "chunk", 1, 10**7),
        target_mcse=_targets(config, trials),
        max_trials=_whole(config["max_trials"], "max_trials", 1, MOST_TRIALS),
        results_dir=results_dir,
        invalid=_one_of(config["invalid"], "invalid", ("refuse", "skip")),
        numerics=_one_of(config["numerics"], "numerics", ("warn", "strict")),
        on_error=_one_of(config["on_error"], "on_error", ("raise", "continue")),
        share=_names(config["share"], "share"),
    )


def known_keys(where: str, found: Iterable[str], valid: Iterable[str]) -> None:
    """UserError for a key that nothing would read."""
    for key in found:
        if key not in valid:
            raise UserError(f"{where}: {key!r} is not a key; valid: {', '.join(valid)}")


def options(group: str) -> list[str]:
    """The names of a config group."""
    return sorted(f.name.removesuffix(".yaml") for f in (GROUPS / group).iterdir() if f.name.endswith(".yaml"))


@cache
def named(group: str, name: str) -> Mapping[str, Any]:
    """The content of conf/<group>/<name>.yaml; UserError listing the group's options."""
    _one_of(name, group, options(group))
    return OmegaConf.to_container(OmegaConf.create((GROUPS / group / f"{name}.yaml").read_text("utf-8")))


def blocks(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The blocks of the sweep: name -> axes. Later suggestions replace earlier ones, axis by axis:

    those of the chosen data set, of the experiment, of a data set that the block itself names; then what `sweep`
    gives, which holds in every block; then what the block itself gives. UserError names what is no block.
    """
    found = {"sweep": _completed(config, {})}
    for name, block in _further(config).items():
        if _absence(config, name, block) is None:
            own = {key: value for key, value in block.items() if key not in CONDITIONS}
            found[f"also.{name}"] = _completed(config, own, f"also.{name}.data")
    return found


def absent_blocks(config: Mapping[str, Any]) -> list[str]:
    """The blocks of `also` whose conditions leave them out of the study, each with the reason, for people.

    `only_with: x`: the block is there only if `sweep.data`, by default the chosen data set, is x;
    `unless_given: [k, rho]`: only if `sweep` gives none of these.
    """
    reasons = {name: _absence(config, name, block) for name, block in _further(config).items()}
    return [f"also.{name} is not part of this study: {reason}" for name, reason in reasons.items() if reason]


def data_spec(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The spec of a data set by name: the chosen one, or one of conf/data."""
    return config["data"] if name == str(config["data"].get("name")) else named("data", name)


def _further(config) -> dict[str, Mapping[str, Any]]:
    """The blocks of `also`; null is no block."""
    found = _mapping("also", {} if config["also"] is None else config["also"])
    return {name: _mapping(f"also.{name}", block) for name, block in found.items() if block is not None}


def _absence(config, name: str, block) -> str | None:
    """Why the block is not part of the study, or None if it is."""
    sweep, wanted, unless = config["sweep"], block.get("only_with"), block.get("unless_given")
    keys = unless if isinstance(unless, list) else [None]
    if unless is not None and not all(isinstance(key, str) and key in sweep for key in keys):
        raise UserError(f"also.{name}.unless_given = {unless!r} is not valid; valid: a list of keys of sweep: [k, rho]")
    if wanted is not None and wanted != sweep.get("data"):
        if wanted != config["data"].get("name"):
            _one_of(wanted, f"also.{name}.only_with", options("data"))
        return f"it goes with data {wanted}"
    for key, value in sweep.items():
        if value is not None and key.removeprefix("log10_") in (unless or ()):
            return f"sweep.{key} is given"
    return None


def _completed(config, own: Mapping[str, Any], where: str = "sweep.data") -> dict[str, Any]:
    """A block with the axes that it does not give itself, as `blocks` says."""
    experiment, chosen = _axes("experiment", config["experiment"]), _suggested(config, config["sweep"], "sweep.data")
    if isinstance(own.get("data"), str):
        suggested = _with_axes(experiment, _suggested(config, own, where))
    else:
        suggested = _with_axes(chosen, experiment)
    return _with_axes(_with_axes(suggested, config["sweep"]), own)


def _suggested(config, block, where: str) -> Mapping[str, Any]:
    """The axes of the data set that the block names; of the chosen one if it lists several; none if it has none."""
    name = block.get("data")
    if name is None:
        return {}  # the mechanism has no data
    if isinstance(name, str) and name != str(config["data"].get("name")):
        return _axes(where, named("data", _one_of(name, where, options("data"))))
    return _axes("data", config["data"])


def _trials(value, folder: Path) -> int:
    """The trials of a cell; "+50000" is so many more than in the results that are there."""
    if not (isinstance(value, str) and value.startswith("+")):
        return _whole(value, "trials", 1, MOST_TRIALS)
    try:
        about = json.loads((folder / "results.zarr" / "zarr.json").read_text("utf-8"))
        there = _whole(about["attributes"]["trials_per_cell"], "trials", 1, MOST_TRIALS)
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"trials = {value} adds to results, and {folder} has none; give the number of trials") from None
    try:
        return _whole(there + int(float(value)), "trials", there + 1, MOST_TRIALS)
    except (ValueError, OverflowError):
        raise UserError(f"trials = {value!r} is not valid; valid: a whole number, or one to be added: +50000") from None


def _names(value, name: str) -> tuple[str, ...]:
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not (isinstance(found, list) and all(isinstance(one, str) for one in found)):
        raise UserError(f"{name} = {value!r} is not valid; valid: null, or a list of axes: [noise]")
    return tuple(sorted(set(found)))


def _targets(config, trials: int) -> Mapping[str, Any] | None:
    value, most = config["target_mcse"], config["max_trials"]
    if value is not None:
        _mapping("target_mcse", value)
        if _whole(most, "max_trials", 1, MOST_TRIALS) < trials:
            raise UserError(f"max_trials = {most} is not valid with target_mcse; valid: at least trials = {trials}")
    return value or None


def _axes(where: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(f"{where}.axes", spec.get("axes") or {})


def _mapping(where: str, value) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(f"{where} = {value!r} is not valid; valid: keys and their values, such as {{k: 10}}")
    for key in value:
        if not isinstance(key, str):
            raise UserError(f"{where}: {key!r} is not a key; valid: text, such as k in {{k: 10}}")
    return value


def _with_axes(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`; an axis given as log10_x replaces x and the other way round."""
    given = {key.removeprefix("log10_") for key, value in over.items() if value is not None}
    if given & {"omega", "omega_sqrt_rho"}:
        given |= {"omega", "omega_sqrt_rho"}
    kept = {key: value for key, value in base.items() if key.removeprefix("log10_") not in given}
    return kept | {key: value for key, value in over.items() if value is not None}


def _one_of(value, name, valid):
    if value not in valid:
        raise UserError(f"{name} = {value!r} is not known; valid: {', '.join(valid)}")
    return value


def _complete(config: Mapping[str, Any]) -> None:
    """UserError unless every key is there and every section is one."""
    for key in KEYS:
        if key not in config:
            raise UserError(f"config: {key!r} is missing; every key of config.yaml is needed")
        if key in GROUPED and not isinstance(config[key], Mapping):
            raise UserError(f"{key} = {config[key]!r} is not known; valid: {', '.join(options(key))}")
    _mapping("sweep", config["sweep"])


def _text(value, name: str, forbidden: str, valid: str, longest: int = LONGEST_NAME) -> str:
    """The text, once it is known to make names of files: `longest` bytes for each of its parts, LONGEST_PATH in all."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text or set(text) & set(forbidden) or (name == "name" and set(text) == {"."}):
        raise UserError(f"{name} = {value!r} is not valid; valid: {valid}")
    try:
        sizes = [len(part.encode()) for part in text.split("/")]
    except UnicodeEncodeError:  # half of a character, as of a file name that is not UTF-8
        raise UserError(f"{name} = {text[:60]!r} is not valid; valid: text in UTF-8") from None
    if max(sizes) > longest or sum(sizes) + len(sizes) > LONGEST_PATH:
        most = f"{longest} bytes for a name, {LONGEST_PATH} for a path"
        raise UserError(f"{name} = {text[:30]!r}... is too long; valid: at most {most}")
    return text


def _whole(value, name, low, high):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(f"{name} = {value!r} is not valid; valid: a whole number from {low} to {high}")
    return value
