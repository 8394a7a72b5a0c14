"""The command `tcdp-sim describe`, which prints an experiment's question, axes, observables and figures."""

import inspect
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tcdp_sim.cli.say import say
from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import known
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.mechanisms.axes import DATA
from tcdp_sim.mechanisms.functions import calling
from tcdp_sim.mechanisms.functions.calls import TRIALS
from tcdp_sim.mechanisms.losses import asked_losses
from tcdp_sim.study import groups
from tcdp_sim.study.blocks import sweep_of
from tcdp_sim.study.compose import composed
from tcdp_sim.study.points import LOG10
from tcdp_sim.study.settings import Settings, settings
from tcdp_sim.sweeps.arguments import calling_axes

LONG = 40  # characters of a list that has a line of its own


def main(experiment: str, console: Console) -> None:
    """Print the description of an experiment. Raises UserError for an unknown name."""
    if experiment in registry.names("sweep"):
        _describe_sweep(experiment, console)
        return
    known("experiment", experiment, groups.options("experiment"))
    study = settings(composed({"experiment": experiment}))
    mechanism = mechanism_class(study.mechanism["name"])
    question = (
        study.experiment.question or f"no question is given; `experiment.question` in {experiment}.yaml is for it"
    )
    say(console, f"{experiment}: {question}")
    console.print(_axes(study, mechanism), soft_wrap=False)
    for axis in filter(_has_long_list, mechanism.axes.values()):
        say(console, f"{axis.name}: {valid_values(axis)}")
    console.print(_yields(mechanism), soft_wrap=False)
    for line in (*_losses(mechanism), *_drawn(experiment)):
        say(console, line)
    say(console, f"Clusters (cluster=...): {', '.join(groups.options('cluster'))}")
    say(console, f"Run it: tcdp-sim experiment={experiment}   What it would run: tcdp-sim plan experiment={experiment}")


def suggested(study: Settings) -> dict[str, Any]:
    """Return the axes that the experiment suggests and the axes that the sweep gives."""
    return {**study.experiment.axes, **{key: value for key, value in sweep_of(study).items() if value is not None}}


def valid_values(axis: Axis) -> str:
    """Return the valid values of an axis in words."""
    return ", ".join(groups.options(axis.name)) if axis.kind == "option" else axis.valid


def _describe_sweep(name: str, console: Console) -> None:
    """Print the question and the axes of a function that a plug-in brings for sweeps."""
    function = registry.sweep(name)
    question = inspect.getdoc(function) or "no question is given; the first line of its docstring is for it"
    say(console, f"{name}: {question.splitlines()[0]}")
    axes = [axis for axis in (calling_axes(function) or ())[1:] if axis != TRIALS]
    call = calling(function, axes)
    table = _table("Axes of the sweep (sweep.NAME=...; * must be given)", "axis", "default")
    for axis in axes:
        default = "" if axis in call.needed else _short(call.defaults.get(axis))
        table.add_row(escape(axis + ("*" if axis in call.needed else "")), escape(default))
    console.print(table, soft_wrap=False)
    say(console, f"Run it: tcdp-sim sweep {name} {' '.join(f'sweep.{axis}=...' for axis in call.needed)}")


def _axes(study: Settings, mechanism: type[Mechanism]) -> Table:
    table = _table("Axes of the sweep (sweep.NAME=...; * must be given)", "axis", "default", "meaning", "unit", "valid")
    given = suggested(study)
    by_data = {key.removeprefix(LOG10) for key in study.data.get("axes") or () if DATA.name in mechanism.axes}
    for name, axis in mechanism.axes.items():
        key = name if name in given else f"{LOG10}{name}"
        otherwise = "by data" if name in by_data else "" if axis.default is None else _short(axis.default)
        default = _short(given[key]) if key in given else otherwise
        star = "*" if name in mechanism.required else ""
        valid = "listed below" if _has_long_list(axis) else valid_values(axis)
        table.add_row(
            *map(
                escape,
                (name + star + (f" or {axis.short}" if axis.short else ""), default, axis.meaning, axis.unit, valid),
            )
        )
    return table


def _has_long_list(axis: Axis) -> bool:
    """Return whether the valid values would make the last column of the table long, and break names in it."""
    return axis.kind == "option" and len(valid_values(axis)) > LONG


def _yields(mechanism: type[Mechanism]) -> Table:
    table = _table("What a trial yields", "name", "meaning", "unit")
    asked = asked_losses(mechanism)
    for name, observable in mechanism.observables.items():
        meaning = f"{observable.meaning}; not with losses=false" if name in asked else observable.meaning
        table.add_row(*map(escape, (name, meaning, observable.unit)))
    for name, meaning in mechanism.events.items():
        table.add_row(*map(escape, (name, f"whether {meaning}", "yes or no")))
    return table


def _losses(mechanism: type[Mechanism]) -> list[str]:
    """Return the neighbours of the privacy losses that a run draws, and the cases without a loss."""
    pair = [f"Privacy loss: {mechanism.loss_pair}"] if mechanism.loss_pair else []
    cases = mechanism.reasons_without_losses().items()
    return pair + [f"No privacy loss, {case}: {reason}" for case, reason in cases]


def _drawn(experiment: str) -> list[str]:
    module = registry.experiment(experiment)
    text = " ".join((inspect.getdoc(module.figures) or "").split())
    return [f"Figures: {text.removeprefix('Draw ')}"] if text else []


def _short(value) -> str:
    if isinstance(value, Mapping) and {"from", "to"} <= set(value):
        return f"{value['from']:g} to {value['to']:g}"
    if isinstance(value, list):
        text = ", ".join(map(_short, value))
        return text if len(text) <= 40 else f"{_short(value[0])} ... {_short(value[-1])} ({len(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("axis", "name", "unit"))
    return table
