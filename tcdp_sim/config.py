"""What a config means: names looked up in the package's yaml files, values checked, nothing executed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from tcdp_sim.errors import UserError

GROUPS = resources.files("tcdp_sim") / "conf"
MAX_SEED = 2**128
GROUPED = ("experiment", "mechanism", "data", "cluster")
KEYS = (
    *("name", "mode", "seed", "trials", "chunk", "results_dir", "invalid", "numerics", "sweep", "also"),
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
    results_dir: str
    invalid: str
    numerics: str

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
    _text(config["data"].get("name"), "data.name", "/\\\0\n[]", "a name without slashes and brackets: figures bear it")
    known_keys("experiment", config["experiment"], ("name", "axes"))
    known_keys("cluster", config["cluster"], ("name", "workers"))
    return Settings(
        name=_text(config["name"], "name", "/\\\0\n", "a folder name without slashes"),
        experiment=_one_of(config["experiment"].get("name"), "experiment.name", options("experiment")),
        mode=_one_of(config["mode"], "mode", ("run", "plan", "draw")),
        seed=_whole(config["seed"], "seed", 0, MAX_SEED - 1),
        trials=_whole(config["trials"], "trials", 1, 10**12),
        chunk=_whole(config["chunk"], "chunk", 1, 10**7),
        results_dir=_text(config["results_dir"], "results_dir", "\0\n", "the path of a folder"),
        invalid=_one_of(config["invalid"], "invalid", ("refuse", "skip")),
        numerics=_one_of(config["numerics"], "numerics", ("warn", "strict")),
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


def blocks(config: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], Mapping[str, Any]]]:
    """The blocks of the sweep: name -> axes, each completed by what its experiment and its data set suggest.

    A block of `also` starts from `sweep`; if it names its own data, that data set's axes come before the sweep's.
    A block with `only_with: x` is left out unless the chosen data set is x.
    """
    data = config["data"]
    sweep = _with_axes(_axes("experiment", config["experiment"]), config["sweep"])
    suggested = _axes("data", data) if sweep.get("data") is not None else {}  # null: the mechanism has no data
    found = {"sweep": _with_axes(suggested, sweep)}
    for name, block in _mapping("also", config["also"] or {}).items():
        block = dict(_mapping(f"also.{name}", block))
        wanted = block.pop("only_with", data.get("name"))
        if wanted != data.get("name"):
            _one_of(wanted, f"also.{name}.only_with", options("data"))
            continue
        base = sweep
        if isinstance(block.get("data"), str):
            base = _with_axes(sweep, _axes("data", data_spec(config, block["data"])))
        found[f"also.{name}"] = _with_axes(base, block)
    return found


def data_spec(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The spec of a data set by name: the chosen one, or one of conf/data."""
    return config["data"] if name == config["data"].get("name") else named("data", name)


def _axes(where: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(f"{where}.axes", spec.get("axes") or {})


def _mapping(where: str, value) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(f"{where} = {value!r} is not valid; valid: keys and their values, such as {{k: 10}}")
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


def _text(value, name: str, forbidden: str, valid: str) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text or set(text) & set(forbidden) or (name == "name" and set(text) == {"."}):
        raise UserError(f"{name} = {value!r} is not valid; valid: {valid}")
    return text


def _whole(value, name, low, high):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(f"{name} = {value!r} is not valid; valid: a whole number from {low} to {high}")
    return value
