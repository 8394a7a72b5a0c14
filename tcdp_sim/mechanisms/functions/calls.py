"""The call of a user's function for some trials.

A function has one of these forms:

- f(rng, trials, **axes) returns all trials at once, as an array of shape (trials,);
- f(rng, **axes) returns one trial, and is called once for each;
- f(**axes), or a class, returns an object with a method simulate(rng, trials).

An object with such a method stands for it. The first parameter is the generator, whatever its name.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.core.exits import ended
from tcdp_sim.core.sources import NOTHING, Sources, sources_of
from tcdp_sim.core.texts import shortened, show
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.failed_trials import Counting, one_by_one, without_nan
from tcdp_sim.mechanisms.functions.hung_trials import Limit
from tcdp_sim.mechanisms.functions.returned import (
    VALUE,
    WrongResult,
    by_trial,
    checked,
    kind,
    short,
    together,
    without_masks,
)

TRIALS = "trials"
KEPT = {"rng": "random generator", TRIALS: "number of trials"}  # names that no axis has
FORMS = "f(rng, trials, **axes) for all trials at once, f(rng, **axes) for one, or an object with simulate(rng, trials)"
Form = Literal["all", "one", "object"]


LONGEST_VALUE = 60  # characters of an axis's value in a message


def place(point: Mapping[str, Any]) -> str:
    """Return the beginning of a message about a cell."""
    shown = {axis: shortened(" ".join(show(value).split()), LONGEST_VALUE) for axis, value in point.items()}
    return f"cell {' '.join(f'{axis}={value}' for axis, value in shown.items())}: " if point else ""


@dataclass(frozen=True, eq=False)
class Call:
    """A function that can be called for some trials of a cell.

    - `form`: "all" for all trials at once, "one" for one trial, "object" for an object with simulate(rng, trials).
    - `defaults`: the defaults of its parameters. An axis without a value at some cells has its default there.
    - `known`: all axes that it takes, None if it takes any.
    - `names`: the axes that it is given.
    - `sources`: the user's modules that it can reach, which go to workers with it.
    - `counts`: how failed trials are counted, None if they are errors (see `failed_trials`).
    """

    function: Callable[..., Any]
    form: Form
    defaults: Mapping[str, Any]
    needed: tuple[str, ...]
    known: tuple[str, ...] | None
    names: tuple[str, ...] = ()
    sources: Sources = NOTHING
    counts: Counting | None = None

    def __reduce__(self) -> Any:
        """Send the user's sources first: a worker imports nothing of the user's from its own disk."""
        rest = (self.function, self.form, dict(self.defaults), self.needed, self.known, self.names, self.counts)
        return _with_sources, (self.sources, *rest)

    def __call__(self, rng: np.random.Generator, trials: int, point: Mapping[str, Any]) -> Draws:
        """Return the trials of a cell by name. Raises WrongResult for results of a wrong form, and Exits."""
        try:
            return self._trials(rng, trials, point)
        except (SystemExit, KeyboardInterrupt) as stop:
            raise ended(stop, name_of(self.function), place(point)) from stop

    def alone(self, rng: np.random.Generator, place: int, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return the numbers of one trial by name, after `place` others. Raises what the function raises, and Hung."""
        if place:
            self(rng, place, point)
        with Limit(self.counts.seconds if self.counts else None) as limit, limit.of_a_trial():
            found = by_trial(self.function(rng, **point))
        return dict(found) if isinstance(found, Mapping) else {VALUE: found}

    def _trials(self, rng: np.random.Generator, trials: int, point: Mapping[str, Any]) -> Draws:
        if self.form == "one":
            if self.counts:
                return one_by_one(self.function, rng, trials, point, self.counts)
            return together([self.function(rng, **point) for _ in range(trials)])
        if self.counts:
            return without_nan(lambda count: self._at_once(rng, count, point), rng, trials, self.counts)
        return self._at_once(rng, trials, point)

    def _at_once(self, rng: np.random.Generator, trials: int, point: Mapping[str, Any]) -> Draws:
        if self.form == "all":
            return self._checked(self.function(rng, trials=trials, **point), trials)
        made = self.function(**point)
        if not callable(getattr(made, "simulate", None)):
            name = name_of(self.function)
            raise WrongResult(f"{name} takes no generator, and what it returns is {kind(made)}; valid: {FORMS}")
        return self._checked(made.simulate(rng, trials), trials)

    def _checked(self, returned: Any, trials: int) -> Draws:
        return checked(without_masks(returned) if self.counts else returned, trials)


def calling(function: Any, axes: Iterable[str]) -> Call:
    """Return the call of a function whose axes have these names."""
    if not isinstance(function, type) and callable(getattr(function, "simulate", None)):
        function = function.simulate
    if not callable(function):
        raise UserError(f"{short(function)} is not a function; valid: {FORMS}")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # a compiled function without a signature
        raise UserError(
            f"the parameters of {short(function)} are not known; wrap it: def f(rng, trials, ...)"
        ) from None
    axes = list(axes)
    form = _form(parameters, axes)
    own = [each for each in parameters[form != "object" :] if each.name != TRIALS or form == "object"]
    call = Call(function, form, *_axes_of(own), tuple(axes), sources_of(function))
    unnamed = {each.name for each in parameters if each.kind is each.POSITIONAL_ONLY}
    for name in ([TRIALS] if form == "all" else []) + axes:
        if name in unnamed:
            raise UserError(f"{name_of(function)} takes `{name}` by position only; remove the / after it")
    _check_axes(name_of(function), call, axes)
    return call


def _with_sources(sources: Sources, function: Any, form: Form, *rest: Any) -> Call:
    """Return a call that has arrived, after its sources."""
    defaults, needed, known, names, counts = rest
    return Call(function, form, defaults, needed, known, names, sources, counts)


def name_of(function: Any) -> str:
    """Return the name of a function, or of the class of an object."""
    return str(getattr(function, "__name__", type(function).__name__))


def _form(parameters: list[inspect.Parameter], axes: list[str]) -> Form:
    """Return the form of a function with these parameters."""
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    variable = parameters and parameters[0].kind == inspect.Parameter.VAR_POSITIONAL
    if not (placed or variable) or (placed and placed[0].name in (*axes, TRIALS)):
        return "object"
    return "all" if any(each.name == TRIALS for each in parameters) else "one"


def _axes_of(parameters: list[inspect.Parameter]) -> tuple[Mapping[str, Any], tuple[str, ...], tuple[str, ...] | None]:
    """Return the defaults, the names without one, and all names, None if any name is taken."""
    empty = inspect.Parameter.empty
    own = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    defaults = {each.name: each.default for each in own if each.default is not empty}
    needed = tuple(each.name for each in own if each.default is empty)
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters)
    return defaults, needed, None if any_name else tuple(each.name for each in own)


def _check_axes(name: str, call: Call, axes: list[str]) -> None:
    """Raise UserError for an axis that the function does not take, or that it needs and does not get."""
    for axis in axes:
        if axis in KEPT:
            raise UserError(f"axis {axis}: this name is kept for the {KEPT[axis]}; rename the axis")
        if call.known is not None and axis not in call.known:
            valid = ", ".join(call.known) or "none"
            raise UserError(f"{name} takes no {axis!r}; its axes: {valid}{suggestion(axis, call.known)}")
    if displaced := [kept for kept in KEPT if kept in call.needed]:
        raise UserError(f"{name} takes {displaced[0]!r} in another place; valid: {FORMS}")
    if missing := [axis for axis in call.needed if axis not in axes]:
        raise UserError(f"{name} needs {missing[0]!r}; give it as an axis: {{{missing[0]!r}: [...]}}")


def listed(values: Any) -> Any:
    """Return arrays, ranges, sets' and iterators' values as a list; everything else unchanged."""
    if isinstance(values, np.ndarray | np.generic):
        return values.tolist()
    if isinstance(values, str | bytes | Mapping | list | tuple):
        return values
    return list(values) if isinstance(values, Iterable) else values
