"""The command `tcdp-sim plan`, which estimates the cost of a run. It runs and writes nothing."""

from collections.abc import Sequence
from functools import partial

from rich.console import Console

from tcdp_sim.cli import user_function
from tcdp_sim.cli.planning import planned
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.engine.forecast import ExactForecast, Forecast, forecast
from tcdp_sim.engine.pilot import Pilot
from tcdp_sim.store.exact_values import ExactValues, known_exactly
from tcdp_sim.study.blocks import absent_blocks
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study
from tcdp_sim.sweeps import in_folder, run

QUEUED = ("slurm", "pbs")  # clusters that queue their workers


def main(settings: Settings, console: Console) -> None:
    """Print the cells, chunks and trials of a study, an estimate of time and disk space, and the parts left out."""
    _tell_of(planned(settings), known_exactly(settings.experiment.name), console)
    for why in absent_blocks(settings):
        say(console, why)


def of_a_sweep(words: Sequence[str], console: Console) -> None:
    """Print the same of the sweep of a command line, whose function is called for a pilot. Raises UserError."""
    sweep, part = user_function.asked(words)
    if part:
        say(console, f"part={part} is left aside: this is the plan of the whole run")
    sweep, _ = run.prepared(sweep, lambda line: say(console, f"warning: {line}"))
    with in_folder.here(sweep) as values:
        _tell_of(planned(sweep.settings), values, console)


def _tell_of(study: Study, values: ExactValues, console: Console) -> None:
    s, cells = study.settings, len(study.plan.laws)
    coming = forecast(study, partial(say, console), values)
    say(console, f"{s.name}: {cells} cells x {s.chunks * s.chunk:,} trials in {s.chunks} chunks, seed {s.seed}")
    trials = coming.missing * s.chunk
    say(console, f"to simulate: {coming.missing} of {cells * s.chunks} chunks, {trials:,} trials")
    if coming.pilot:
        _estimate(coming, coming.pilot, s, console)
    if coming.exact:
        _exact(coming.exact, console)
    if coming.pilot or coming.exact:
        _driver(coming, console)
    say(console, f"folder: {study.folder}")
    say_all(console, study.notes)


def _estimate(coming: Forecast, pilot: Pilot, settings: Settings, console: Console) -> None:
    if key := "target_mcse" if settings.target_mcse else "target" if settings.target else "":
        trials = f"{pilot.chunks * settings.chunk:,.3g} trials a cell on average, {coming.chunks} chunks"
        say(console, f"{key}: about {trials}; at most {settings.max_trials:,} trials a cell")
    sharing = f" that share {coming.at_once} cores" if coming.at_once < coming.workers else ""
    work = f"in about {coming.tasks} tasks, {_size(coming.bytes)} of journal"
    queued = ", once they are there" if settings.cluster["name"] in QUEUED else ""
    text = f"{_duration(coming.seconds)} on {coming.workers} workers{sharing}, {work}{queued}"
    say(console, f"estimated by a pilot of {pilot.cells} cells: {text}")
    low, high = map(_duration, coming.between)
    say(console, f"that is between {low} and {high}, with {_sizes(coming.bytes_between)} of journal")
    if pilot.errors:
        say(console, f"warning: {pilot.errors} of the {pilot.cells} cells of the pilot ended with an error")


def _exact(coming: ExactForecast, console: Console) -> None:
    low, high = map(_duration, coming.between)
    text = f"then {_duration(coming.seconds)} for the exact values of {coming.cells} cells, between {low} and {high}"
    say(console, f"{text}, by a pilot of {coming.pilot.cells} of them")


def _driver(coming: Forecast, console: Console) -> None:
    table = f"{_duration(coming.writing)} to write the table" if coming.writing >= 1 else "no time for the table"
    memory = f"memory of the driver: {_sizes(coming.memory)}"
    say(console, f"then {table}; {memory}; figures come on top")


def _sizes(sizes: tuple[float, float]) -> str:
    return " to ".join(map(_size, sizes))


def _size(size: float) -> str:
    for power, unit in ((1e12, "TB"), (1e9, "GB")):
        if size >= power:
            return f"{size / power:.2g} {unit}"
    return f"{size / 1e6:.3g} MB"


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 1 else "less than 1 s"
