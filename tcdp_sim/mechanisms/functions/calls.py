"""The call of a user's function for some trials, and the check of the numbers that it returns.

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

from tcdp_sim.core import user_files
from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.mechanisms.base import Draws

VALUE = "value"  # the name of a number that is returned without one
TRIALS = "trials"
FORMS = "f(rng, trials, **axes) for all trials at once, f(rng, **axes) for one, or an object with simulate(rng, trials)"
Form = Literal["all", "one", "object"]


class WrongResult(ValueError):
    """A result of a user's function that is not one number, or one yes or no, for each trial."""


@dataclass(frozen=True, eq=False)
class Call:
    """A function that can be called for some trials of a cell.

    Parameters
    ----------
    function : callable
        The function, method or class.
    form : str
        "all" for all trials at once, "one" for one trial, "object" for an object with simulate(rng, trials).
    defaults : mapping
        The defaults of its parameters. An axis without a value at some cells has its default there.
    needed : tuple of str
        The axes that it must be given.
    known : tuple of str or None
        All axes that it takes, None if it takes any.
    names : tuple of str
        The axes that it is given.

    Examples
    --------
    >>> import numpy as np
    >>> call = calling(lambda rng, trials, k: rng.random(trials) < 1 / k, ["k"])
    >>> call(np.random.default_rng(0), 3, {"k": 1})["value"].tolist()
    [True, True, True]
    """

    function: Callable[..., Any]
    form: Form
    defaults: Mapping[str, Any]
    needed: tuple[str, ...]
    known: tuple[str, ...] | None
    names: tuple[str, ...] = ()

    def __reduce__(self) -> Any:
        """Send a function of the user's file by its place, because no worker could import it by its module."""
        if place := user_files.place_of(self.function):
            return _from_file, (place, self.names)
        return Call, (self.function, self.form, dict(self.defaults), self.needed, self.known, self.names)

    def __call__(self, rng: np.random.Generator, trials: int, point: Mapping[str, Any]) -> Draws:
        """Return the trials of a cell by name. Raises WrongResult for results of a wrong form."""
        if self.form == "all":
            return _checked(self.function(rng, trials=trials, **point), trials)
        if self.form == "one":
            return _together([self.function(rng, **point) for _ in range(trials)])
        made = self.function(**point)
        if not callable(getattr(made, "simulate", None)):
            name = name_of(self.function)
            raise WrongResult(f"{name} takes no generator, and what it returns is {_kind(made)}; valid: {FORMS}")
        return _checked(made.simulate(rng, trials), trials)


def calling(function: Any, axes: Iterable[str]) -> Call:
    """Return the call of a function whose axes have these names.

    Parameters
    ----------
    function : callable, or object with simulate(rng, trials)
        The user's function.
    axes : iterable of str
        The names of the axes that a sweep gives it.

    Returns
    -------
    Call
        The function in one form.

    Raises
    ------
    UserError
        If it is no function, takes no generator, or does not take these axes.

    Examples
    --------
    >>> calling(lambda rng, n: rng.random(n).max(), ["n"]).form
    'one'
    """
    if not isinstance(function, type) and callable(getattr(function, "simulate", None)):
        function = function.simulate
    if not callable(function):
        raise UserError(f"{_short(function)} is not a function; valid: {FORMS}")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # a compiled function without a signature
        raise UserError(
            f"the parameters of {_short(function)} are not known; wrap it: def f(rng, trials, ...)"
        ) from None
    axes = list(axes)
    named = {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    form = _form(parameters, axes)
    own = [each for each in parameters[form != "object" :] if each.name != TRIALS or form == "object"]
    call = Call(function, form, *_axes_of(own), tuple(axes))
    _check_axes(name_of(function), call, axes)
    if form == "all" and TRIALS not in named:
        raise UserError(f"{name_of(function)} takes `trials` by position only; remove the / after it")
    return call


def _from_file(place: str, axes: tuple[str, ...]) -> Call:
    """Return the call of a function in the user's file."""
    return calling(user_files.load(place), axes)


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
        if axis == TRIALS:
            raise UserError(f"axis {TRIALS}: this name is kept for the number of trials; rename the axis")
        if call.known is not None and axis not in call.known:
            valid = ", ".join(call.known) or "none"
            raise UserError(f"{name} takes no {axis!r}; its axes: {valid}{suggestion(axis, call.known)}")
    if missing := [axis for axis in call.needed if axis not in axes]:
        raise UserError(f"{name} needs {missing[0]!r}; give it as an axis: {{{missing[0]!r}: [...]}}")


def listed(values: Any) -> Any:
    """Return arrays, ranges, sets' and iterators' values as a list; everything else unchanged."""
    if isinstance(values, np.ndarray | np.generic):
        return values.tolist()
    if isinstance(values, str | bytes | Mapping | list | tuple):
        return values
    return list(values) if isinstance(values, Iterable) else values


def _checked(returned: Any, trials: int) -> Draws:
    """Return the trials by name. Raises WrongResult unless each name has one number or one yes or no for each trial."""
    if not isinstance(returned, Mapping):
        return {VALUE: _column(VALUE, returned, trials)}
    if not returned:
        raise WrongResult("no number is returned: the dict is empty")
    return {_name(name): _column(name, values, trials) for name, values in returned.items()}


def _together(trials: list[Any]) -> Draws:
    """Return single trials as one array for each name."""
    if not isinstance(trials[0], Mapping):
        return _checked(trials, len(trials))
    names = trials[0].keys()
    for one in trials:
        if not isinstance(one, Mapping) or one.keys() != names:
            raise WrongResult(f"the trials return different names: {sorted(map(str, names))} and {_short(one)}")
    return _checked({name: [one[name] for one in trials] for name in names}, len(trials))


def _column(name: str, values: Any, trials: int) -> Any:
    """Return the trials of one name as floats, or as booleans for an event. Raises WrongResult."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise WrongResult(f"{name} is {_kind(values)} of unequal parts; valid: one number for each trial") from None
    if array.dtype.kind not in "biuf":
        first = values[0] if isinstance(values, list) and len(values) else values
        what = f"of type {array.dtype}" if isinstance(first, np.ndarray) else _kind(first)
        raise WrongResult(f"{name} is {what}; valid: numbers, or True and False")
    if array.shape != (trials,):
        if array.shape[:1] == (trials,):
            raise WrongResult(f"a trial of {name} has shape {array.shape[1:]}; valid: one number for each trial")
        shape = f"has shape {array.shape}" if array.shape else "is one number"
        raise WrongResult(f"{name} {shape} for {trials} trials; valid: an array of shape ({trials},)")
    return array if array.dtype == bool else array.astype(np.float64, copy=False)


def _name(name: Any) -> str:
    """Return a name of a number. Raises WrongResult unless it is text."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or "/" in name:
        raise WrongResult(f"{_short(name)} is no name of a number; valid: text without slashes")
    return name


def _kind(value: Any) -> str:
    """Return the type of a value in words."""
    return "None" if value is None else f"of type {type(value).__name__}"


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
