"""A function of the user's own file on the command line: for a sweep, and for its chunks to be computed again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcdp_sim.cli import overrides
from tcdp_sim.core import registry, user_files
from tcdp_sim.core.errors import UserError, only_keys, suggestion
from tcdp_sim.core.user_files import VALID
from tcdp_sim.mechanisms.functions import UserFunction, calling, needs_code, shipped
from tcdp_sim.mechanisms.functions.calls import KEPT, name_of
from tcdp_sim.mechanisms.functions.failed_trials import counting
from tcdp_sim.mechanisms.functions.returned import short
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import Settings
from tcdp_sim.sweeps.arguments import Sweep, calling_axes, checked, identified

PARTS = ("zip", "where", "cells")  # keys of `sweep` that are no axes
KEYS = (
    *("sweep", "also", "trials", "chunk", "exact", "bound", "units", "ranges", "quantiles", "target_mcse", "target"),
    *("share", "seed", "cluster", "name", "results_dir", "max_trials", "numerics", "code", "part"),
    *("on_error", "redraw", "trial_seconds"),
)


def asked(words: Sequence[str]) -> tuple[Sweep, str | None]:
    """Return the sweep of a command line, and the part of it that is asked for, such as 17/1000. Raises UserError."""
    if not words or "=" in words[0]:
        raise UserError(f"sweep needs a function first; {VALID}")
    place, given = words[0], dict(overrides.plain(words[1:]))
    function = named(place)
    _check_keys(function, given)
    part = given.pop("part", None)
    if part is not None and str(given.get("trials")).startswith("+"):
        raise UserError(f"trials = {given['trials']} is not valid with part, whose results may change in between")
    return checked(function, **arguments(place, function, given)), None if part is None else str(part)


def _check_keys(function: Any, given: Mapping[str, Any]) -> None:
    """Raise UserError for a key that nothing would read, or a key of `sweep` that is no mapping."""
    for key in given:
        if key not in (*KEYS, *KEPT) and key in (calling_axes(function) or ()):
            raise UserError(f"sweep: {key!r} is not a key; did you mean sweep.{key}?")
    only_keys("sweep", given, KEYS)
    if not isinstance(given.get("sweep") or {}, Mapping):
        raise UserError(f"sweep = {short(given['sweep'])} is not valid; valid: sweep.AXIS=VALUES")
    if "name" in given and given["name"] is None:
        raise UserError("name = null is not valid: the shell keeps each sweep in a folder; valid: a folder name")


def named(place: str) -> Any:
    """Return the function FILE.py:FUNCTION, or one that an installed plug-in brings under a name. Raises UserError."""
    brought = registry.names("sweep")
    if _of_plug_in(place):
        return registry.sweep(place)
    if ":" not in place and brought:
        valid = f"{VALID}, or a function of a plug-in: {', '.join(brought)}"
        raise UserError(f"{place!r} names no function; {valid}{suggestion(place, brought)}")
    if isinstance(found := user_files.load(place), str):  # tcdp_sim.sweep takes a text for the name of a plug-in
        raise UserError(f"{place} is no function but a text; {VALID}")
    return found


def arguments(place: str, function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a sweep from the keys of a command line."""
    block = dict(given.get("sweep") or {})
    cluster = given.get("cluster") or "local"
    cluster = {"name": "local", **cluster} if isinstance(cluster, Mapping) else cluster
    name = place if _of_plug_in(place) else name_of(function)
    keys = {"results_dir": "results", "name": name} | dict(given) | {"cluster": cluster}
    known = {kind: _functions(place, kind, keys.pop(kind, None)) for kind in ("exact", "bound")}
    parts = {part: block.pop(part, None) for part in PARTS}
    keys.pop("sweep", None)
    return {**with_trials(keys), **known, **parts, "axes": block}


def _of_plug_in(place: str) -> bool:
    return place in registry.names("sweep")


def _functions(place: str, kind: str, given: Any) -> dict[str, Any]:
    """Return the functions, or the numbers, that a key names in the file or module of the sweep's function."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UserError(f"{kind} = {given!r} is not valid; valid: {kind}.NAME=FUNCTION, a function in the same file")
    return {name: _beside(place, f"{kind}.{name}", one) if isinstance(one, str) else one for name, one in given.items()}


def _beside(place: str, key: str, name: str) -> Any:
    """Return the object of a name in the file or module of a sweep's function. Raises UserError."""
    file = registry.beside_sweep(place).__name__ if _of_plug_in(place) else place.rpartition(":")[0]
    if ":" in name:
        raise UserError(f"{key} = {name} is not valid; valid: the name of a function in {file}, or a number")
    if _of_plug_in(place):
        return user_files.attribute(registry.beside_sweep(place), file, name)
    return user_files.load(f"{file}:{name}")


@contextmanager
def code_of(settings: Settings, place: str | None) -> Iterator[None]:
    """Let this process simulate the cells of a run during the block. `place` is FILE.py:FUNCTION for a sweep.

    Raises UserError if a sweep's function is not given, if it is another one, or if it is given for another study.
    """
    if settings.mechanism["name"] != UserFunction.name:
        if place is not None:
            raise UserError(f"function = {place} is not valid: {settings.folder} is no sweep over a function of a file")
        yield
        return
    wanted = settings.options["function"]
    if place is None:
        raise UserError(needs_code(wanted))
    if wanted["source"] is None:
        raise UserError(
            f"the numbers of {settings.folder} cannot be computed again: its function cannot be identified, or draws "
            "from another generator"
        )
    function = named(place)
    if identified(function)["source"] != wanted["source"]:
        raise UserError(f"{Path(place).name} is not the function of {settings.folder}: its source differs")
    call = replace(calling(function, settings.options["axes"]), counts=counting(wanted))
    with shipped(settings.options, call):
        yield
