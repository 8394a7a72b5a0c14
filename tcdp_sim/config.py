"""What a config means: names looked up in the package's yaml files, values checked, nothing executed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from omegaconf import OmegaConf

from tcdp_sim.errors import UserError

GROUPS = resources.files("tcdp_sim") / "conf"
MAX_SEED = 2**128
KEYS = (
    *("name", "mode", "seed", "trials", "chunk", "results_dir", "invalid", "numerics", "sweep", "also"),
    *("experiment", "mechanism", "data", "cluster"),
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
    def chunks(self) -> int:
        """How many chunks a cell has: the trials, rounded up to whole chunks."""
        return -(-self.trials // self.chunk)


def settings(config: Mapping[str, Any]) -> Settings:
    """The top-level keys, checked; UserError names the key, its value and what would be valid."""
    known_keys("config", config, KEYS)
    name = str(config["name"])
    if not name or name in (".", "..") or any(c in name for c in "/\\\0"):
        raise UserError(f"name = {name!r} is not valid; valid: a folder name without slashes")
    return Settings(
        name=name,
        experiment=_one_of(config["experiment"].get("name"), "experiment.name", options("experiment")),
        mode=_one_of(config["mode"], "mode", ("run", "plan", "draw")),
        seed=_whole(config["seed"], "seed", 0, MAX_SEED - 1),
        trials=_whole(config["trials"], "trials", 1, 10**12),
        chunk=_whole(config["chunk"], "chunk", 1, 10**7),
        results_dir=str(config["results_dir"]),
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
    """The blocks of the sweep: name -> axes, each completed by what its data set suggests.

    A block of `also` starts from `sweep`; if it names its own data, that data set's axes come before the sweep's.
    A block with `only_with: x` is left out unless the chosen data set is x.
    """
    sweep, data = config["sweep"], config["data"]
    found = {"sweep": _with_axes(data.get("axes") or {}, sweep)}
    for name, block in (config.get("also") or {}).items():
        if not isinstance(block, Mapping):
            raise UserError(f"also.{name} = {block!r} is not a block of axes")
        block = dict(block)
        if block.pop("only_with", data["name"]) != data["name"]:
            continue
        base = sweep
        if isinstance(block.get("data"), str):
            base = _with_axes(sweep, data_spec(config, block["data"]).get("axes") or {})
        found[f"also.{name}"] = _with_axes(base, block)
    return found


def data_spec(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The spec of a data set by name: the chosen one, or one of conf/data."""
    return config["data"] if name == config["data"]["name"] else named("data", name)


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


def _whole(value, name, low, high):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(f"{name} = {value!r} is not valid; valid: a whole number from {low} to {high}")
    return value
