"""Validation of the arguments of a sweep."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, choice, only_keys, scalar, suggestion, whole
from tcdp_sim.core.identity import digest, identity
from tcdp_sim.core.user_files import home_of
from tcdp_sim.mechanisms.functions import Call, UserFunction, calling, listed
from tcdp_sim.mechanisms.functions.calls import name_of
from tcdp_sim.mechanisms.functions.returned import short
from tcdp_sim.store.columns import QUANTILES
from tcdp_sim.study import groups, sweeps
from tcdp_sim.study.points import Point, plain
from tcdp_sim.study.settings import MAX_SEED, MOST_TRIALS, MOST_TRIALS_A_CHUNK, folder_text, run_name
from tcdp_sim.sweeps import blocks, reference_arguments, stale_chunks

CHUNK = 10_000  # trials that share a stream by default; fewer trials are one chunk
MAX_TRIALS = 10_000_000  # trials of a cell under target_mcse, as in config.yaml


@dataclass(frozen=True, eq=False)
class Sweep:
    """The checked arguments of a sweep.

    - call: the function in one form; `function` has its module, name and digest.
    - axes: the axes in order. `sweep` and `also` are the blocks that give them, and `defaults` the values where a
      block does not.
    - points: the points of all cells by text, each once.
    - exact, bound: functions of the axes by the name of a number.
    - ranges: the least and the largest value of a trial by the name of a number.
    - max_trials, numerics, code, on_error: as in a study.
    - draws: False if the function leaves its generator alone, so that its numbers are not random.
    - observables, events: the names that a trial yields, found by a pilot; the units of observables.
    """

    call: Call
    function: Mapping[str, Any]
    axes: tuple[str, ...]
    sweep: Mapping[str, Any]
    also: Mapping[str, Any]
    defaults: Mapping[str, Any]
    points: Mapping[str, Point]
    trials: int
    chunk: int
    seed: int
    share: tuple[str, ...]
    target_mcse: Mapping[str, Any] | None
    exact: Mapping[str, Call]
    bound: Mapping[str, Call]
    units: Mapping[str, str]
    ranges: Mapping[str, tuple[float, float]]
    levels: tuple[float, ...]
    cluster: Mapping[str, Any]
    max_trials: int
    numerics: str
    code: str
    on_error: str
    folder: Path | None
    observables: Mapping[str, str]
    events: tuple[str, ...]
    draws: bool = True

    @property
    def chunks(self) -> int:
        """The number of chunks of a cell, without a target."""
        return -(-self.trials // self.chunk)

    @cached_property
    def kind(self) -> type[UserFunction]:
        """The mechanism of the cells."""
        return UserFunction.of(self.options)

    @property
    def options(self) -> dict[str, Any]:
        """The function as the settings of a mechanism."""
        found = {
            "function": dict(self.function),
            "axes": list(self.axes),
            "defaults": dict(self.defaults),
            "observables": dict(self.observables),
            "events": list(self.events),
        }
        found |= {"ranges": {name: list(ends) for name, ends in self.ranges.items()}} if self.ranges else {}
        return found | ({} if self.draws else {"draws": False})

    def yielding(self, observables: Iterable[str], events: Iterable[str]) -> "Sweep":
        """Return the sweep with the names that a trial yields. Raises UserError if an argument names another one."""
        names = (*observables, *events)
        blocks.check_derived_names(self.axes, (*observables,), (*events,))
        for key in ("exact", "bound", "units"):
            for name in getattr(self, key):
                if name not in names:
                    raise UserError(f"{key}: {_unknown(name, self.call.function, names)}")
        for name in self.ranges:
            if name not in observables:
                raise UserError(f"ranges: {_unknown(name, self.call.function, (*observables,))}")
        for name, wanted in (self.target_mcse or {}).items():
            if name not in names:
                raise UserError(f"target_mcse: {_unknown(name, self.call.function, names)}")
            reference_arguments.check_target(name, wanted)
        return replace(
            self, observables={name: self.units.get(name, "1") for name in observables}, events=tuple(events)
        )


def checked(
    function: Any,
    axes: Any,
    *,
    cells: Any = None,
    zip: Any = None,
    where: Any = None,
    also: Any = None,
    trials: Any = 10_000,
    chunk: Any = None,
    exact: Any = None,
    bound: Any = None,
    units: Any = None,
    ranges: Any = None,
    quantiles: Any = None,
    target_mcse: Any = None,
    share: Any = None,
    seed: Any = 0,
    cluster: Any = "serial",
    name: Any = None,
    results_dir: Any = "results",
    max_trials: Any = None,
    numerics: Any = "warn",
    code: Any = "same",
    on_error: Any = "raise",
) -> Sweep:
    """Return the arguments of `tcdp_sim.sweep` after checking them. Raises UserError."""
    function = _of_plug_in(function) if isinstance(function, str) else function
    sweep, further = blocks.block(axes, cells, zip, where), blocks.further(also)
    try:
        trials, seed = whole("trials", trials, 1, MOST_TRIALS), whole("seed", seed, 0, MAX_SEED - 1)
        chunk = None if chunk is None else whole("chunk", chunk, 1, MOST_TRIALS_A_CHUNK)
        levels = tuple(QUANTILES.tolist()) if quantiles is None else _levels(quantiles)
        most = _most(max_trials, trials, bool(target_mcse))
        numerics = choice("numerics", numerics, ("warn", "strict"))
        code = choice("code", code, ("same", "any"))
        on_error = choice("on_error", on_error, ("raise", "continue"))
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    named = sweeps.axes_of(sweeps.blocks(sweep, further).values(), calling_axes(function))
    call = calling(function, named)
    blocks.check_names(named, name is not None)
    defaults = _defaults(call, named)
    points, known = blocks.points_of(sweep, further, named, defaults), identified(function)
    folder = None if name is None else _folder(results_dir, name)
    chunk = chunk or stale_chunks.chunk_of(folder, known) or min(trials, CHUNK)
    return Sweep(
        call, known, tuple(named), sweep, further, defaults, points, trials, chunk, seed,
        _share(share, named), blocks.mapping("target_mcse", target_mcse, "{'error': {'relative': 1e-3}}") or None,
        reference_arguments.functions("exact", exact, named),
        reference_arguments.functions("bound", bound, named),
        reference_arguments.units(units),
        reference_arguments.ranges(ranges), levels,
        _cluster(cluster), most, numerics, code, on_error,
        folder, {}, (),
    )  # fmt: skip


def _of_plug_in(name: str) -> Any:
    """Return the function that a plug-in brings. Raises UserError."""
    brought = registry.names("sweep")
    if name not in brought:
        valid = f"a function, or the name of one that a plug-in brings ({', '.join(brought) or 'none is installed'})"
        raise UserError(f"function = {name!r} is not known; valid: {valid}{suggestion(name, brought)}")
    return registry.sweep(name)


def _folder(results_dir: Any, name: Any) -> Path:
    """Return the folder of a sweep with a name. Raises UserError."""
    if not isinstance(results_dir, str | Path):
        raise UserError(f"results_dir = {short(results_dir)} is not valid; valid: the path of a folder")
    return Path(folder_text(str(results_dir))) / run_name(name)


def _cluster(cluster: Any) -> dict[str, Any]:
    """Return the keys of a cluster. Raises UserError."""
    keys = {"name": cluster} if isinstance(cluster, str) else cluster
    if not isinstance(keys, Mapping) or not isinstance(keys.get("name"), str):
        example = "such as 'local' or {'name': 'slurm', 'workers': 40}"
        raise UserError(f"cluster = {short(cluster)} is not valid; valid: a name, or a name and its keys, {example}")
    only_keys("cluster", keys, {"name": None, "workers": None, **groups.named("cluster", keys["name"])})
    return dict(keys)


def _most(max_trials: Any, trials: int, has_target: bool) -> int:
    """Return the most trials of a cell under a target. Raises ValueError."""
    if max_trials is None:
        return max(MAX_TRIALS, trials)
    most = whole("max_trials", max_trials, 1, MOST_TRIALS)
    if has_target and most < trials:
        raise ValueError(f"max_trials = {most} is not valid with target_mcse; valid: at least trials = {trials}")
    return max(most, trials)


def calling_axes(function: Any) -> tuple[str, ...] | None:
    """Return the parameters of a function, None if they are not known."""
    own = getattr(function, "simulate", function) if not isinstance(function, type) else function
    try:
        return tuple(inspect.signature(own).parameters)
    except (ValueError, TypeError):
        return None


def identified(function: Any) -> dict[str, Any]:
    """Return module, name and digest of a function; the digest is None if it cannot be identified."""
    known = identity(function, home_of(function))
    if known is not None:
        package = known["module"].partition(".")[0]
        brought = registry.brought_by(package)  # a library's own functions are known by its version
        return known | ({"source": digest([known["source"], *brought])} if brought else {})
    own = function if hasattr(function, "__qualname__") else type(function)
    module, name = (str(getattr(own, part, "")) for part in ("__module__", "__qualname__"))
    return {"module": module, "name": name, "source": None}


def defaults_digest(function: Any) -> str | None:
    """Return a digest of the defaults of a function, which a call must not change; None if they are not plain data."""
    own = getattr(function, "__func__", function)
    try:
        return digest([getattr(own, "__defaults__", None), getattr(own, "__kwdefaults__", None)])
    except (TypeError, ValueError, RecursionError):
        return None


def _defaults(call: Call, axes: Sequence[str]) -> dict[str, Any]:
    """Return the defaults of axes that are plain data."""
    found = {}
    for axis in axes:
        if axis in call.defaults:
            try:
                found[axis] = plain(axis, call.defaults[axis])
            except UserError:
                continue  # a point that lacks the axis is refused
    return found


def _share(share: Any, axes: Sequence[str]) -> tuple[str, ...]:
    names = [share] if isinstance(share, str) else [] if share is None else listed(share)
    if not isinstance(names, list | tuple | Mapping):
        raise UserError(f"share = {short(share)} is not valid; valid: an axis, or a list of axes: {', '.join(axes)}")
    for name in names:
        if name not in axes:
            raise UserError(f"share: {name!r} is not an axis; valid: {', '.join(axes)}{suggestion(name, axes)}")
    return tuple(sorted(set(names)))


def _levels(quantiles: Any) -> tuple[float, ...]:
    given = listed(quantiles)
    given = given if isinstance(given, list | tuple) else [given]
    return tuple(sorted({scalar("quantiles", level, 0, 1) for level in given}))


def _unknown(name: Any, function: Any, names: Sequence[str]) -> str:
    return f"{name!r} is no number that {name_of(function)} returns; valid: {', '.join(names)}{suggestion(name, names)}"
