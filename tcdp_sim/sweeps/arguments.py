"""Validation of the arguments of a sweep."""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, only_keys, scalar, suggestion, whole
from tcdp_sim.core.identity import digest, identity
from tcdp_sim.core.user_files import home_of
from tcdp_sim.mechanisms.functions import Call, UserFunction, calling, failed_trials, listed
from tcdp_sim.mechanisms.functions.calls import name_of
from tcdp_sim.mechanisms.functions.failed_trials import Counting
from tcdp_sim.mechanisms.functions.returned import short
from tcdp_sim.store.columns import QUANTILES
from tcdp_sim.study import groups, sweeps, targets
from tcdp_sim.study.points import Point, plain
from tcdp_sim.study.settings import (
    MAX_SEED,
    MAX_TRIALS,
    MOST_REDRAWS,
    MOST_TRIALS,
    MOST_TRIALS_A_CHUNK,
    Settings,
    folder_text,
    run_name,
    settings,
)
from tcdp_sim.sweeps import blocks, reference_arguments, stale_chunks

REDRAWS = 50  # of a failed trial with redraw=True
CHUNK = 10_000  # trials that share a stream by default; fewer trials are one chunk


@dataclass(frozen=True, eq=False)
class Sweep:
    """The checked arguments of a sweep.

    - settings: those of its study. Their mechanism names the function, its axes and what a trial yields.
    - kept: False for a sweep in memory, whose folder does not count.
    - call: the function in one form.
    - points: the points of all cells by text, each once.
    - exact, bound: functions of the axes by the name of a number.
    - units: of numbers by name.
    - levels: of quantiles.
    """

    settings: Settings
    kept: bool
    call: Call
    points: Mapping[str, Point]
    exact: Mapping[str, Call]
    bound: Mapping[str, Call]
    units: Mapping[str, str]
    levels: tuple[float, ...]

    @cached_property
    def kind(self) -> type[UserFunction]:
        """The mechanism of the cells."""
        return UserFunction.of(self.options)

    @cached_property
    def options(self) -> dict[str, Any]:
        """The function as the settings of a mechanism."""
        return self.settings.options

    @property
    def function(self) -> dict[str, Any]:
        """The module, the name and the digest of the function."""
        return self.options["function"]

    def having(self, **options: Any) -> "Sweep":
        """Return the sweep with other options of its mechanism."""
        mechanism = {**self.settings.mechanism, **options}
        return replace(self, settings=self.settings.model_copy(update={"mechanism": mechanism}))

    def yielding(self, observables: Iterable[str], events: Iterable[str]) -> "Sweep":
        """Return the sweep with the names that a trial yields. Raises UserError if an argument names another one."""
        names = (*observables, *events)
        blocks.check_derived_names(self.options["axes"], (*observables,), (*events,))
        for key in ("exact", "bound", "units"):
            for name in getattr(self, key):
                if name not in names:
                    raise UserError(f"{key}: {_unknown(name, self.call.function, names)}")
        for name in self.options.get("ranges", ()):
            if name not in observables:
                raise UserError(f"ranges: {_unknown(name, self.call.function, (*observables,))}")
        for name, wanted in (self.settings.target_mcse or {}).items():
            self._check_number("target_mcse", name, [*observables], [*events])
            reference_arguments.check_target(name, wanted)
        every = targets.targets(self.settings.target)
        for one in every:
            self._check_number("target", one.number, [*observables], [*events])
        targets.check(every, self.options["axes"], [*events])
        return self.having(observables={name: self.units.get(name, "1") for name in observables}, events=[*events])

    def _check_number(self, key: str, name: str, observables: Sequence[str], events: Sequence[str]) -> None:
        """Raise UserError unless a target can be met for a number of a trial."""
        if name not in (*observables, *events):
            raise UserError(f"{key}: {_unknown(name, self.call.function, (*observables, *events))}")
        if self.call.counts and name in events and name not in failed_trials.MEANINGS:
            valid = ", ".join([*(one for one in events if one in failed_trials.MEANINGS), *observables])
            raise UserError(f"{key}: {name} is an event; valid with on_error='count': {valid}")


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
    target: Any = None,
    share: Any = None,
    seed: Any = 0,
    cluster: Any = "serial",
    name: Any = None,
    results_dir: Any = "results",
    max_trials: Any = None,
    numerics: Any = "warn",
    code: Any = "same",
    on_error: Any = "stop",
    redraw: Any = False,
    trial_seconds: Any = None,
) -> Sweep:
    """Return the arguments of `tcdp_sim.sweep` after checking them. Raises UserError."""
    function = _of_plug_in(function) if isinstance(function, str) else function
    sweep, further = blocks.block(axes, cells, zip, where), blocks.further(also)
    try:
        trials, seed = whole("trials", trials, 1, MOST_TRIALS), whole("seed", seed, 0, MAX_SEED - 1)
        chunk = None if chunk is None else whole("chunk", chunk, 1, MOST_TRIALS_A_CHUNK)
        most = max(MAX_TRIALS, trials) if max_trials is None else whole("max_trials", max_trials, 1, MOST_TRIALS)
        levels = tuple(QUANTILES.tolist()) if quantiles is None else _levels(quantiles)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    named = sweeps.axes_of(sweeps.blocks(sweep, further).values(), calling_axes(function))
    call = calling(function, named)
    if on_error == "count":
        blocks.check_counted(named)
    call = replace(call, counts=_counting(call, on_error, redraw, trial_seconds))
    blocks.check_names(named, name is not None)
    defaults = _defaults(call, named)
    points, known = blocks.points_of(sweep, further, named, defaults), identified(function)
    known |= {failed_trials.ERRORS: call.counts.plain} if call.counts else {}
    folder = None if name is None else _folder(results_dir, name)
    wide = reference_arguments.ranges(ranges)
    options = {"function": known, "axes": named, "defaults": defaults, "observables": {}, "events": []}
    options |= {"ranges": wide} if wide else {}
    config = {
        "name": folder.name if folder else "memory",
        "results_dir": str(folder.parent) if folder else "results",
        "seed": seed,
        "trials": trials,
        "chunk": chunk or stale_chunks.chunk_of(folder, known) or min(trials, CHUNK),
        "target_mcse": blocks.mapping("target_mcse", target_mcse, "{'error': {'relative': 1e-3}}") or None,
        "target": blocks.mapping("target", target, "{'error': {'across': 'method'}}") or None,
        "max_trials": most,
        "invalid": "refuse",
        "numerics": numerics,
        "code": code,
        "on_error": on_error,
        "redraw": call.counts.redraw if call.counts else 0,
        "share": _share(share, named),
        "experiment": {"name": groups.KEPT["experiment"], "question": "", "axes": {}},
        "data": {"name": "one_bin"},
        "cluster": _cluster(cluster),
    }
    options |= {"name": groups.KEPT["mechanism"]}
    config |= json.loads(json.dumps({"sweep": sweep, "also": further, "mechanism": options}))
    return Sweep(
        settings(config), folder is not None, call, points,
        reference_arguments.functions("exact", exact, named),
        reference_arguments.functions("bound", bound, named),
        reference_arguments.units(units), levels,
    )  # fmt: skip


def _counting(call: Call, on_error: Any, redraw: Any, seconds: Any) -> Counting | None:
    """Return how failed trials are counted, None if they are not. Raises UserError."""
    if on_error != "count":
        for key, value in {"redraw": redraw, "trial_seconds": seconds}.items():
            if value not in (False, None, 0):
                raise UserError(f"{key} = {short(value)} is not valid with on_error={on_error!r}; valid: with 'count'")
        return None
    if seconds is not None and call.form != "one":
        what = "returns many trials at once; valid: for a function f(rng, **axes) of one trial"
        raise UserError(f"trial_seconds is not valid for {name_of(call.function)}, which {what}")
    try:
        times = REDRAWS * redraw if isinstance(redraw, bool) else whole("redraw", redraw, 0, MOST_REDRAWS)
        return Counting(times, None if seconds is None else scalar("trial_seconds", seconds, 0))
    except ValueError as mistake:
        raise UserError(" ".join(str(mistake).split())) from None


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
