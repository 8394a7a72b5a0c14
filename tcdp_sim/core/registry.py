"""The registry of names for classes and modules: the names of the package come first, then the names of plug-ins.

A plug-in is an installed distribution with entry points in the groups `tcdp_sim.noise`, `tcdp_sim.mechanism`,
`tcdp_sim.experiment` or `tcdp_sim.sweep`. The yaml files of a plug-in lie in the folder `conf` of its top package.
Nothing of a plug-in is imported before one of its names is asked for. No name is a path, so a config file cannot bring
code in, while an installed package can.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tcdp_sim.core import own_noises
from tcdp_sim.core.errors import UserError, known

KINDS = ("noise", "mechanism", "experiment", "sweep")
FIGURES = ("rows", "report", "figures")  # the functions that make a module an experiment


@dataclass(frozen=True)
class PlugIn:
    """An entry point of another distribution."""

    kind: str
    name: str
    entry: EntryPoint

    @property
    def distribution(self) -> tuple[str, str]:
        """Name and version of the plug-in's distribution."""
        return (self.entry.dist.name, self.entry.dist.version) if self.entry.dist else ("unknown", "0")

    @property
    def label(self) -> str:
        """Name and version in words."""
        return " ".join(self.distribution)

    def load(self) -> Any:
        """Import and return the entry point's object. Raises UserError that names the distribution if that fails."""
        try:
            return self.entry.load()
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # a foreign module may raise anything
            reason = " ".join(f"{type(problem).__name__}: {problem}".split())
            raise self.refused(f"cannot be loaded ({reason})") from None

    def refused(self, reason: str) -> UserError:
        """Return the error for an object that does not fit its group."""
        return UserError(f"{self.kind} {self.name} of distribution {self.label} {reason}")


def noise(family: str, key: str = "noise.family") -> Any:
    """Return the noise class of a family. Raises UserError that lists the families; `key` is the name's key in it."""
    return _class("noise", family, key, "family")


def mechanism(name: str, key: str = "mechanism.name") -> Any:
    """Return the mechanism class of a name. Raises UserError that lists the names."""
    return _class("mechanism", name, key, "name")


def sweep(name: str, key: str = "function") -> Any:
    """Return the function that an installed plug-in brings for sweeps. Raises UserError that lists the names."""
    plug_in = plug_ins("sweep")[known(key, name, names("sweep"))]
    found = plug_in.load()
    if not callable(found) and not callable(getattr(found, "simulate", None)):
        raise plug_in.refused(f"is not a function: it is {found!r}")
    return found


def beside_sweep(name: str) -> Any:
    """Return the module that a plug-in's function for sweeps stands in, with its exact values. Raises UserError."""
    sweep(name)
    return sys.modules[plug_ins("sweep")[name].entry.module]


def name_of_sweep(module: str, name: str) -> str:
    """Return the name of a function for sweeps that stands in this module of a plug-in, "" without one.

    Nothing is imported. So an object is known by the name of its class if it is alone in its module.
    """
    there = {of: plug_in.entry.attr for of, plug_in in plug_ins("sweep").items() if plug_in.entry.module == module}
    same = [of for of, attribute in there.items() if attribute == name]
    return same[0] if same else next(iter(there), "") if len(there) == 1 else ""


def experiment(name: str) -> Any:
    """Return the module of an experiment: `rows`, `report`, `figures`; `plain` for one that is a yaml file alone."""
    if name in _experiments():
        return importlib.import_module(f"tcdp_sim.experiments.{name}")
    if name not in plug_ins("experiment"):
        return importlib.import_module("tcdp_sim.experiments.plain")
    plug_in = plug_ins("experiment")[name]
    module = plug_in.load()
    if missing := [name for name in FIGURES if not callable(getattr(module, name, None))]:
        raise plug_in.refused(f"is not an experiment: it has no {missing[0]}; valid: {', '.join(FIGURES)}")
    return module


def names(kind: str) -> tuple[str, ...]:
    """Return all names of a kind; the names of plug-ins come last."""
    return (*_built_in(kind), *plug_ins(kind))


@cache
def plug_ins(kind: str) -> Mapping[str, PlugIn]:
    """Return the plug-ins of a kind by name. Raises UserError for a name that is built in or given twice."""
    brought: dict[str, PlugIn] = {}
    for plug_in in _entries(kind):
        name = plug_in.name
        if name in _built_in(kind):
            raise plug_in.refused("has a name that is built in; it has to be renamed, or the distribution uninstalled")
        if name in brought:
            raise plug_in.refused(f"is also brought by {brought[name].label}; uninstall one of them")
        brought[name] = plug_in
    return brought


def origins(*used: tuple[str, str]) -> dict[str, str]:
    """Return the versions of the distributions that provide these (kind, name), without the package's own."""
    own = [plug_ins(kind)[name] for kind, name in used if name not in _built_in(kind) and name in plug_ins(kind)]
    return dict(sorted(plug_in.distribution for plug_in in own))


def distributions() -> dict[str, str]:
    """Return the version of every installed distribution with a plug-in."""
    return dict(sorted(plug_in.distribution for kind in KINDS for plug_in in _entries(kind)))


def packages_of(distribution: str) -> list[str]:
    """Return the top packages of a distribution's plug-ins."""
    own = (plug_in for kind in KINDS for plug_in in _entries(kind) if plug_in.distribution[0] == distribution)
    return sorted({plug_in.entry.module.partition(".")[0] for plug_in in own})


def brought_by(package: str) -> list[str]:
    """Return name and version of the distributions whose plug-ins for sweeps lie in a package."""
    return sorted(plug_in.label for plug_in in _entries("sweep") if plug_in.entry.module.partition(".")[0] == package)


def require(law: Mapping[str, Any]) -> None:
    """Raise UserError unless this process has the code of a law: plug-ins in their versions, and the user's noise."""
    own_noises.require(law)
    for name, version in law.get("plug_ins", {}).items():
        if distributions().get(name) != version:
            here = distributions().get(name, "none")
            raise UserError(f"this needs {name} {version}, and the version that is installed here is {here}")


@cache
def config_folders() -> Mapping[Path, str]:
    """Return the distribution of each plug-in's folder `conf`, found without importing anything."""
    every = [plug_in for kind in KINDS for plug_in in _entries(kind)]
    return {folder: plug_in.label for plug_in in every for folder in _config_folders(plug_in.entry.module)}


def _entries(kind: str) -> tuple[PlugIn, ...]:
    """Return every entry point of a kind by name, valid or not."""
    return _by_kind()[kind]


@cache
def _by_kind() -> Mapping[str, tuple[PlugIn, ...]]:
    """Return every entry point by kind. The files of all distributions are read once, which takes a while."""
    every = entry_points()
    found = {kind: every.select(group=f"tcdp_sim.{kind}") for kind in KINDS}
    return {
        kind: tuple(PlugIn(kind, one.name, one) for one in sorted(found[kind], key=lambda one: (one.name, one.value)))
        for kind in KINDS
    }


def _config_folders(module: str) -> Iterator[Path]:
    """Yield the folders `conf` of a module's top package."""
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return  # reported once its name is asked for
    for place in (spec and spec.submodule_search_locations) or ():
        if (folder := Path(place) / "conf").is_dir():
            yield folder


def defined(package: str, base: type, attribute: str) -> dict[str, Any]:
    """Return the subclasses of `base` that the modules of a package define and name, by name."""
    folder = importlib.import_module(package).__path__
    modules = [importlib.import_module(f"{package}.{file.name}") for file in pkgutil.iter_modules(folder)]
    own = [
        each
        for module in modules
        for each in vars(module).values()
        if getattr(each, "__module__", "") == module.__name__
    ]
    classes = [each for each in own if isinstance(each, type) and issubclass(each, base)]
    return {vars(each)[attribute]: each for each in classes if attribute in vars(each)}


def _class(kind: str, name: str, key: str, attribute: str) -> Any:
    """Return the class of a name, checked if it is a plug-in's. Raises UserError."""
    built_in = _built_in(kind)
    if isinstance(name, str) and name in built_in:
        return built_in[name]
    if kind == "noise" and (own := own_noises.find(name)):
        return own.noise
    plug_in = plug_ins(kind)[known(key, name, names(kind))]
    base = importlib.import_module(f"tcdp_sim.{_HOMES[kind][0]}.base").__dict__[kind.capitalize()]
    loaded = plug_in.load()
    if not (isinstance(loaded, type) and issubclass(loaded, base)):
        raise plug_in.refused(f"is not a {kind.capitalize()}: it is {loaded!r}")
    if lacking := sorted(loaded.__abstractmethods__):  # type: ignore[attr-defined]
        raise plug_in.refused(f"has no {lacking[0]}, which every {kind} gives")
    if getattr(loaded, attribute, None) != name:
        raise plug_in.refused(f"calls itself {getattr(loaded, attribute, None)!r}; valid: {attribute} = {name!r}")
    return loaded


# package and mapping of the built-in classes
_HOMES = {"noise": ("noise", "FAMILIES"), "mechanism": ("mechanisms", "MECHANISMS")}


def _built_in(kind: str) -> Mapping[str, Any]:
    """Return the built-in names of a kind."""
    if kind == "sweep":
        return {}
    if kind == "experiment":
        return _experiments()
    room, mapping = _HOMES[kind]
    # quick, because every cell asks for it
    home = sys.modules.get(f"tcdp_sim.{room}") or importlib.import_module(f"tcdp_sim.{room}")
    classes: Mapping[str, Any] = getattr(home, mapping)
    return classes


@cache
def _experiments() -> Mapping[str, None]:
    """Return the names of the modules of tcdp_sim.experiments without importing them."""
    spec = find_spec("tcdp_sim.experiments")
    files = [path for place in (spec and spec.submodule_search_locations) or () for path in Path(place).iterdir()]
    stems = [path.stem for path in files if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return dict.fromkeys(sorted(stem for stem in stems if not stem.startswith("_")))
