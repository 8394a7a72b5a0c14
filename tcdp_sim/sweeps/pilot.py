"""A pilot of a sweep: a few trials of the first cell show what the function returns and whether `rng` decides it."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.streams import generator
from tcdp_sim.core.texts import printable, said, shortened
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions import failed_trials
from tcdp_sim.mechanisms.functions.calls import name_of, place
from tcdp_sim.mechanisms.functions.noted_trials import ERROR, noted
from tcdp_sim.mechanisms.functions.returned import WrongResult
from tcdp_sim.store import columns
from tcdp_sim.study.points import Point
from tcdp_sim.sweeps.arguments import Sweep, defaults_digest
from tcdp_sim.sweeps.foreign_randomness import common_part, other_hashes

TRIALS = 20  # trials of a pilot: coin flips from two generators agree in all of them once in a million pilots
STREAM, OTHER_STREAM = "0" * 64, "f" * 64  # no cell has these ids
FEWEST = 10  # trials that can look random
MOST_POINTS = 1000  # of a function without random numbers that are tried
LONGEST_MESSAGE = 500  # characters
RESERVED = ("trials", columns.PILOT, "id", "quantile", "batch")


class Raised(Failure):
    """An error that a user's own function has raised."""


@dataclass(frozen=True)
class Pilot:
    """What a pilot has found.

    - sweep: the sweep with the names that its function returns.
    - repeats: True if two calls with one generator gave the same numbers, and would in another process.
    - hashes: True if they would not in another process, because they depend on `hash` of a text or an object.
    - fixed: the names of random-looking numbers that are the same with another generator.
    - common: the names of numbers that have a random-looking part in common with every generator.
    """

    sweep: Sweep
    repeats: bool
    hashes: bool
    fixed: tuple[str, ...]
    common: tuple[str, ...]


def tried(sweep: Sweep) -> Pilot:
    """Return what a few trials show.

    Raises UserError if the function fails, returns no numbers, or changes its own defaults.
    """
    before = defaults_digest(sweep.call.function)
    point, first = _first(sweep)
    with other_hashes():
        second = _drawn(sweep, point)
    if defaults_digest(sweep.call.function) != before:
        name = name_of(sweep.call.function)
        raise UserError(
            f"{name} changes a default of its own parameters, so that its trials depend on earlier calls; begin with a "
            "new object in the function"
        )
    _check_names(first, sweep.options["axes"])
    events = [name for name, values in first.items() if values.dtype == bool]
    found = sweep.yielding([name for name in first if name not in events], events)
    repeats = _alike(first, second)
    hashes = not repeats and _alike(first, _drawn(sweep, point))
    draws = not repeats or any(_draws(sweep, each) for each in _some(sweep, point))
    fixed = _fixed(sweep, point, first) if repeats else ()
    common = _common(sweep, point, fixed) if repeats and draws else ()
    return Pilot(found if draws else found.having(draws=False), repeats, hashes, fixed, common)


def _some(sweep: Sweep, first: Point) -> Iterator[Point]:
    """Yield the first point, then all of them. They end with the first one that draws, which is mostly the first."""
    yield first
    yield from sweep.points.values()


def _draws(sweep: Sweep, point: Point) -> bool:
    """Return False if the function leaves its generator alone at a point."""
    if len(sweep.points) > MOST_POINTS:
        return True
    rng = generator(sweep.settings.seed, STREAM, 0)
    before = _state(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            called(sweep, point, rng, min(sweep.settings.chunk, TRIALS))
        except (UserError, Failure):
            return True
    return _state(rng) != before


def _state(rng: np.random.Generator) -> str:
    """Return the state of a generator, and how many others it has made, as text."""
    made = getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0)
    return f"{rng.bit_generator.state} {made}"


def _fixed(sweep: Sweep, point: Point, first: Draws) -> tuple[str, ...]:
    """Return the names of random-looking numbers that a second generator leaves as they are.

    A function of one trial has none: with a seed of its own all its trials are equal, as of a constant.
    """
    random = [name for name, values in first.items() if looks_random(values)]
    if not random or sweep.call.form == "one":
        return ()
    other = _drawn(sweep, point, OTHER_STREAM)
    return tuple(name for name in random if name in other and np.array_equal(first[name], other[name], equal_nan=True))


def _common(sweep: Sweep, point: Point, fixed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of numbers with a random-looking part that a function of many trials adds with every generator.

    A function of one trial adds the same number to all trials then, which looks like a constant.
    """
    if sweep.call.form == "one":
        return ()

    def call(number: int, trials: int) -> Draws:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return called(sweep, point, generator(sweep.settings.seed, OTHER_STREAM, number), trials)

    found = common_part(call, sweep.settings.chunk, sweep.settings.chunks * sweep.settings.chunk * len(sweep.points))
    return tuple(name for name in found if name not in fixed)


def looks_random(values: np.ndarray) -> bool:
    """Return False for trials that ascend, descend or repeat with a period, as indices, grids and groups do.

    Of 20 random numbers less than one in 10^17 sequences does, and of 20 coin flips one in 500.
    """
    numbers = values[np.isfinite(values)].astype(np.float64)
    steps = np.diff(numbers)
    if len(numbers) < FEWEST or (steps >= 0).all() or (steps <= 0).all():
        return False
    return not any(np.array_equal(numbers[period:], numbers[:-period]) for period in range(1, len(numbers) // 2 + 1))


def _first(sweep: Sweep) -> tuple[Point, Draws]:
    """Return the first point and some trials of it; with on_error=continue, the first point that has no error.

    With on_error=count, it is the first point with a trial that has not failed.
    """
    problems: list[Exception] = []
    for point in sweep.points.values():
        try:
            with noted() as failed:
                found = _drawn(sweep, point)
            if found.keys() - failed_trials.MEANINGS.keys():
                return point, found
            first = in_a_line(next(one.message for one in failed.values() if one.what == ERROR))
            problems.append(Raised(f"{place(point)}{first}; all trials of all pilots failed like this"))
        except (UserError, Failure) as problem:
            problems.append(problem)
            if sweep.settings.on_error != "continue":
                break
    raise problems[0]


def _drawn(sweep: Sweep, point: Point, stream: str = STREAM) -> Draws:
    """Return some trials of a point, from the same generator with every call for a stream. Raises as `called` does."""
    return drawn(sweep, point, generator(sweep.settings.seed, stream, 0))


def drawn(sweep: Sweep, point: Point, rng: np.random.Generator) -> Draws:
    """Return some trials of a point. Raises as `called` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the simulation itself repeats them
        return called(sweep, point, rng, min(sweep.settings.chunk, TRIALS))


def called(sweep: Sweep, point: Point, rng: np.random.Generator, trials: int) -> Draws:
    """Return the trials of a point. Raises UserError or Failure of one line that names the cell."""
    try:
        return sweep.call(rng, trials, point)
    except Exception as problem:  # a function may raise anything
        raise told(place(point), problem) from problem


def told(where: str, problem: BaseException) -> Exception:
    """Return an exception of the user's function as one line: UserError for results of a wrong form, else Raised."""
    line = in_a_line(said(problem))
    if isinstance(problem, WrongResult):
        return UserError(f"{where}{line}")
    return Raised(f"{where}{type(problem).__name__}: {line}")


def of_chunk(message: str, point: Point) -> Exception:
    """Return the error of a chunk from its stored message, as `told` does."""
    wrong, said = f"{WrongResult.__name__}: ", in_a_line(message)
    where = place(point)
    return UserError(f"{where}{said[len(wrong) :]}") if said.startswith(wrong) else Raised(f"{where}{said}")


def in_a_line(message: str) -> str:
    """Return a message of a user's function in one printable line of at most LONGEST_MESSAGE characters."""
    return shortened(printable(" ".join(message.split())), LONGEST_MESSAGE)


def _alike(first: Draws, second: Draws) -> bool:
    """Return True if two calls gave the same bits."""
    return first.keys() == second.keys() and all(
        np.array_equal(values, second[name], equal_nan=values.dtype != bool) for name, values in first.items()
    )


def _check_names(values: Draws, axes: Sequence[str]) -> None:
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
