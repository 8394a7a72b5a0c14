"""A pilot of a sweep: a few trials of the first cell show what the function returns and whether `rng` decides it."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.calls import WrongResult, name_of
from tcdp_sim.store import columns
from tcdp_sim.study.packed_cells import show
from tcdp_sim.study.points import Point
from tcdp_sim.sweeps.arguments import Sweep, defaults_digest

TRIALS = 20  # trials of a pilot: coin flips from two generators agree in all of them once in a million pilots
STREAM = "0" * 64  # no cell has this id
RESERVED = ("trials", "id", "quantile", "batch")


class Raised(Failure):
    """An error that a user's own function has raised."""


def tried(sweep: Sweep) -> tuple[Sweep, bool]:
    """Return the sweep with the names that its function returns, and True if its numbers follow from `rng`.

    Raises UserError if the function fails, returns no numbers, or changes its own defaults.
    """
    before = defaults_digest(sweep.call.function)
    point, first = _first(sweep)
    second = _called(sweep, point)
    if defaults_digest(sweep.call.function) != before:
        name = name_of(sweep.call.function)
        raise UserError(
            f"{name} changes a default of its own parameters, so that its trials depend on earlier calls; begin with a "
            "new object in the function"
        )
    _check_names(first, sweep.axes)
    events = [name for name, values in first.items() if values.dtype == bool]
    found = sweep.yielding([name for name in first if name not in events], events)
    return found, _alike(first, second)


def _first(sweep: Sweep) -> tuple[Point, Draws]:
    """Return the first point and some trials of it; with on_error=continue, the first point that has no error."""
    problems: list[Exception] = []
    for point in sweep.points.values():
        try:
            return point, _called(sweep, point)
        except (UserError, Failure) as problem:
            problems.append(problem)
            if sweep.on_error == "raise":
                break
    raise problems[0]


def _called(sweep: Sweep, point: Point) -> Draws:
    """Return some trials of a point, from the same generator with every call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the simulation itself repeats them
        return called(sweep, point, generator(sweep.seed, STREAM, 0), min(sweep.chunk, TRIALS))


def called(sweep: Sweep, point: Point, rng: np.random.Generator, trials: int) -> Draws:
    """Return the trials of a point. Raises UserError or Failure of one line that names the cell."""
    try:
        return sweep.call(rng, trials, point)
    except Exception as problem:  # a function may raise anything
        raise told(place(point), problem) from problem


def told(where: str, problem: Exception) -> Exception:
    """Return an exception of the user's function as one line: UserError for results of a wrong form, else Raised."""
    said = " ".join(str(problem).split())
    if isinstance(problem, WrongResult):
        return UserError(f"{where}{said}")
    return Raised(f"{where}{type(problem).__name__}: {said}")


def place(point: Mapping[str, Any]) -> str:
    """Return the beginning of a message about a cell."""
    return f"cell {' '.join(f'{axis}={show(value)}' for axis, value in point.items())}: " if point else ""


def _alike(first: Draws, second: Draws) -> bool:
    """Return True if two calls gave the same bits."""
    return first.keys() == second.keys() and all(
        np.array_equal(values, second[name], equal_nan=values.dtype != bool) for name, values in first.items()
    )


def _check_names(values: Draws, axes: tuple[str, ...]) -> None:
    """Raise UserError if a name of a number is also the name of something else in the results."""
    endings = {end for end in (*columns.WITH_EXACT, columns.BOUND, columns.COUNT, columns.DEVIATION, columns.LEAST)}
    endings |= {columns.MOST, columns.NONFINITE, *columns.INFINITE, "_quantile", "_mean", "_batch_mean"} - {""}
    for name in values:
        taken = name in (*axes, *RESERVED) or any(
            name.endswith(end) and name.removesuffix(end) in values for end in endings - {""}
        )
        if taken:
            what = "an axis" if name in axes else "taken: the results have it already"
            raise UserError(f"the number {name!r} cannot have this name, which is {what}; return it under another one")
