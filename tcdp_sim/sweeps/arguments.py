"""Validation of the arguments of a sweep."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, choice, real, suggestion, whole
from tcdp_sim.core.identity import digest, identity
from tcdp_sim.core.user_files import home_of
from tcdp_sim.mechanisms.functions import Call, UserFunction, calling, listed
from tcdp_sim.mechanisms.functions.calls import name_of
from tcdp_sim.store.columns import QUANTILES
from tcdp_sim.study import sweeps
from tcdp_sim.study.points import KEYWORDS, Point, plain
from tcdp_sim.study.settings import MAX_SEED, MOST_TRIALS, MOST_TRIALS_A_CHUNK, run_name
from tcdp_sim.sweeps import stored

CHUNK = 10_000  # trials that share a stream by default; fewer trials are one chunk
MAX_TRIALS = 10_000_000  # trials of a cell under target_mcse, as in config.yaml
MOST_VALUES = 10**6


@dataclass(frozen=True)
class Constant:
    """An exact value or bound that is the same at every point."""

    value: float

    def __call__(self) -> float:
        """Return the value."""
        return self.value


@dataclass(frozen=True, eq=False)
class Sweep:
    """The checked arguments of a sweep.

    - call: the function in one form; `function` has its module, name and digest.
    - axes: the axes in order. `sweep` and `also` are the blocks that give them, and `defaults` the values where a
      block does not.
    - points: the points of all cells by text, each once.
    - exact, bound: functions of the axes by the name of a number.
    - max_trials, numerics, on_error: as in a study.
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
    levels: tuple[float, ...]
    cluster: Mapping[str, Any]
    max_trials: int
    numerics: str
    on_error: str
    folder: Path | None
    observables: Mapping[str, str]
    events: tuple[str, ...]

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
        return {
            "function": dict(self.function),
            "axes": list(self.axes),
            "defaults": dict(self.defaults),
            "observables": dict(self.observables),
            "events": list(self.events),
        }

    def yielding(self, observables: Iterable[str], events: Iterable[str]) -> "Sweep":
        """Return the sweep with the names that a trial yields. Raises UserError if an argument names another one."""
        names = (*observables, *events)
        for key in ("exact", "bound", "units"):
            for name in getattr(self, key):
                if name not in names:
                    raise UserError(f"{key}: {_unknown(name, self.call.function, names)}")
        for name, wanted in (self.target_mcse or {}).items():
            if name not in names:
                raise UserError(f"target_mcse: {_unknown(name, self.call.function, names)}")
            _check_target(name, wanted)
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
    quantiles: Any = None,
    target_mcse: Any = None,
    share: Any = None,
    seed: Any = 0,
    cluster: Any = "serial",
    name: Any = None,
    results_dir: Any = "results",
    max_trials: Any = None,
    numerics: Any = "warn",
    on_error: Any = "raise",
) -> Sweep:
    """Return the arguments of `tcdp_sim.sweep` after checking them. Raises UserError."""
    function = registry.sweep(function) if isinstance(function, str) else function
    sweep, further = _block(axes, cells, zip, where), _also(also)
    try:
        trials, seed = whole("trials", trials, 1, MOST_TRIALS), whole("seed", seed, 0, MAX_SEED - 1)
        chunk = None if chunk is None else whole("chunk", chunk, 1, MOST_TRIALS_A_CHUNK)
        levels = tuple(QUANTILES.tolist()) if quantiles is None else _levels(quantiles)
        most = _most(max_trials, trials, bool(target_mcse))
        numerics = choice("numerics", numerics, ("warn", "strict"))
        on_error = choice("on_error", on_error, ("raise", "continue"))
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    named = sweeps.axes_of(sweeps.blocks(sweep, further).values(), calling_axes(function))
    call = calling(function, named)
    defaults = _defaults(call, named)
    points, known = _points(sweep, further, named, defaults), identified(function)
    folder = None if name is None else Path(results_dir) / run_name(name)
    chunk = chunk or stored.chunk_of(folder, known) or min(trials, CHUNK)
    return Sweep(
        call, known, tuple(named), sweep, further, defaults, points, trials, chunk, seed,
        _share(share, named), _mapping("target_mcse", target_mcse, "{'error': {'relative': 1e-3}}") or None,
        _functions("exact", exact, named), _functions("bound", bound, named),
        _mapping("units", units, "{'error': 'counts'}"), levels,
        {"name": cluster} if isinstance(cluster, str) else dict(cluster), most, numerics, on_error,
        folder, {}, (),
    )  # fmt: skip


def _most(max_trials: Any, trials: int, has_target: bool) -> int:
    """Return the most trials of a cell under a target. Raises ValueError."""
    if max_trials is None:
        return max(MAX_TRIALS, trials)
    most = whole("max_trials", max_trials, 1, MOST_TRIALS)
    if has_target and most < trials:
        raise ValueError(f"max_trials = {most} is not valid with target_mcse; valid: at least trials = {trials}")
    return max(most, trials)


def _points(sweep: Any, also: Any, axes: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Point]:
    """Return the points of all cells by text."""
    found = sweeps.distinct(sweeps.points_of(sweeps.blocks(sweep, also), axes, defaults))
    for axis in axes:
        sweeps.check_labels(axis, [point[axis] for point in found.values()])
    return found


def calling_axes(function: Any) -> tuple[str, ...] | None:
    """Return the parameters of a function, None if they are not known."""
    own = getattr(function, "simulate", function) if not isinstance(function, type) else function
    try:
        return tuple(inspect.signature(own).parameters)
    except (ValueError, TypeError):
        return None


def _block(axes: Any, cells: Any, zip: Any, where: Any) -> dict[str, Any]:
    """Return the first block: the axes with listed values, and the keywords that are given."""
    block = {axis: _values(axis, values) for axis, values in _mapping("axes", axes, "{'n': [10, 100]}").items()}
    for axis in block:
        if axis in KEYWORDS:
            raise UserError(f"axis {axis}: this name is kept for the argument {axis}=; rename the parameter")
    given = {"cells": _cells(cells), "zip": listed(zip), "where": listed(where)}
    return block | {key: value for key, value in given.items() if value is not None}


def _values(axis: Any, values: Any) -> Any:
    """Return the values of an axis as a list, as plain data."""
    size = len(values) if isinstance(values, range) else 0
    if size > MOST_VALUES:
        raise UserError(f"axis {axis} has {size:,} values; valid: at most {MOST_VALUES:,}")
    values = listed(values)
    if isinstance(values, list | tuple):
        return [plain(f"axis {axis}", value) for value in values]
    return values if isinstance(values, Mapping) else plain(f"axis {axis}", values)


def _cells(cells: Any) -> Any:
    if cells is None or isinstance(cells, Mapping):
        return cells
    cells = listed(cells)
    if not isinstance(cells, list | tuple) or not all(isinstance(cell, Mapping) for cell in cells):
        raise UserError(f"cells = {cells!r} is not valid; valid: a list of points, such as [{{'n': 10, 'k': 2}}]")
    return [{axis: plain(f"cells: {axis}", value) for axis, value in cell.items()} for cell in cells]


def _also(also: Any) -> dict[str, Any]:
    """Return the further blocks by name."""
    given = _mapping("also", also, "{'large': {'n': 1000}}")
    blocks = {str(name): block for name, block in given.items() if block is not None}
    return {name: _further(name, block) for name, block in blocks.items()}


def _further(name: str, block: Any) -> dict[str, Any]:
    own = _mapping(f"also.{name}", block, "{'n': 1000}")
    axes = {axis: values for axis, values in own.items() if axis not in KEYWORDS}
    return _block(axes, own.get("cells"), own.get("zip"), own.get("where"))


def _mapping(key: str, value: Any, example: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UserError(f"{key} = {value!r} is not valid; valid: names and their values, such as {example}")
    return value


def identified(function: Any) -> dict[str, Any]:
    """Return module, name and digest of a function; the digest is None if it cannot be identified."""
    known = identity(function, home_of(function))
    if known is not None:
        package = known["module"].partition(".")[0]
        brought = registry.brought_by(package)  # a library's own functions are known by its version
        return known | ({"source": digest([known["source"], *brought])} if brought else {})
    own = function if hasattr(function, "__qualname__") else type(function)
    return {"module": str(own.__module__), "name": str(getattr(own, "__qualname__", "")), "source": None}


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
    names = [share] if isinstance(share, str) else list(share or ())
    for name in names:
        if name not in axes:
            raise UserError(f"share: {name!r} is not an axis; valid: {', '.join(axes)}{suggestion(name, axes)}")
    return tuple(sorted(set(names)))


def _levels(quantiles: Any) -> tuple[float, ...]:
    levels = np.unique([real("quantiles", level, 0, 1) for level in listed(quantiles) or ()])
    return tuple(levels.tolist())


def _functions(key: str, given: Any, axes: Sequence[str]) -> dict[str, Call]:
    """Return functions of the axes by the name of the number that they are about."""
    given = _mapping(key, given, "{'error': lambda n: 1 / n}")
    return {name: _of_axes(f"{key}[{name!r}]", function, axes) for name, function in given.items()}


def _of_axes(where: str, function: Any, axes: Sequence[str]) -> Call:
    if isinstance(function, int | float | np.number) and not isinstance(function, bool):
        return Call(Constant(float(function)), "object", {}, (), ())
    if not callable(function):
        raise UserError(f"{where} = {function!r} is not valid; valid: a function of the axes, or a number")
    parameters = list(inspect.signature(function).parameters.values())
    taken = tuple(each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY))
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for each in parameters:
        if each.name in taken and each.name not in axes and each.default is each.empty:
            near = suggestion(each.name, axes)
            raise UserError(
                f"{where} takes {each.name!r}, which is no axis; the axes: {', '.join(axes) or 'none'}{near}"
            )
    return Call(function, "object", {}, (), None if any_name else tuple(axis for axis in taken if axis in axes))


def _check_target(name: str, wanted: Any) -> None:
    """Raise UserError unless a target is absolute or relative."""
    where = f"target_mcse.{name}"
    if not isinstance(wanted, Mapping) or len(wanted) != 1 or not set(wanted) <= {"absolute", "relative"}:
        raise UserError(f"{where} = {wanted!r} is not valid; valid: {{'absolute': 0.1}} or {{'relative': 0.001}}")
    for kind, value in wanted.items():
        try:
            real(f"{where}.{kind}", value, 0)
        except ValueError as mistake:
            raise UserError(str(mistake)) from None


def _unknown(name: Any, function: Any, names: Sequence[str]) -> str:
    return f"{name!r} is no number that {name_of(function)} returns; valid: {', '.join(names)}{suggestion(name, names)}"
