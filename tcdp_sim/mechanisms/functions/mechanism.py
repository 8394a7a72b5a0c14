"""The mechanism that calls a user's function at one point of a sweep.

A law names the function by module, name and digest of its source; it holds no code. A process can simulate only the
functions in its `shipped`: the driver has the function itself, and workers receive it with their tasks.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from math import isfinite
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.base import Draws, Law, Mechanism, Observable, Options, Point
from tcdp_sim.mechanisms.functions.calls import Call
from tcdp_sim.mechanisms.functions.failed_trials import GIVEN, MEANINGS, counting
from tcdp_sim.mechanisms.functions.returned import WrongResult
from tcdp_sim.privacy import Guarantee

NAME = "function"
_encoded = json.JSONEncoder(sort_keys=True).encode
_SHIPPED: "dict[tuple[Any, ...], tuple[Call, type[UserFunction]]]" = {}  # the functions that this process has


@dataclass(frozen=True)
class UserFunction(Mechanism):
    """A user's function at one point of a sweep.

    `function`: its module, its name and the digest of its source; the digest is None if it cannot be identified.
    `point`: the value of each axis.
    """

    function: Mapping[str, Any]
    point: Mapping[str, Any]

    name = NAME
    version = 2
    axes = declared()
    required = ()
    options = ("function", "axes", "observables", "events", "ranges", "draws")
    observables = MappingProxyType({})
    events = MappingProxyType({})
    neighbours = ""

    @classmethod
    def of(cls, options: Options) -> "type[UserFunction]":
        """Return the class with the axes and observables that a study's options declare."""
        ranges, how = options.get("ranges", {}), counting(options["function"])
        given = GIVEN if how else ""
        declaring = {
            "axes": declared(*(Axis(name, "axis of the function", kind="plain") for name in options["axes"])),
            "observables": {
                name: Observable(unit, f"{name}{given}", *ranges.get(name, ()))
                for name, unit in options["observables"].items()
            },
            "events": {name: MEANINGS.get(name, f"{name}{given}") if how else name for name in options["events"]},
            "missing": how.missing if how else "",
            "of_trials": tuple(name for name in options["events"] if how and name in MEANINGS),
        }
        return type("UserFunction", (cls,), declaring)

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return tuple(point)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        return law_of(options["function"], point)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Self:
        return cls(law["function"], at(law))

    @property
    def guarantee(self) -> Guarantee | None:
        return None

    @property
    def work(self) -> float:
        return 1.0

    def simulate(self, rng: np.random.Generator, trials: int) -> Draws:
        call, kind = self._shipped
        return kind.fitting(call(rng, trials, self.point))

    @property
    def _shipped(self) -> "tuple[Call, type[UserFunction]]":
        """The call of the function, and its kind in the present sweep. Raises UserError in a process without it."""
        if not is_here(self.function):
            raise UserError(needs_code(self.function))
        return _SHIPPED[_key(self.function)]

    @property
    def one_by_one(self) -> bool:
        """True if the function returns one trial."""
        return self._shipped[0].form == "one"

    def trial(self, rng: np.random.Generator, place: int) -> dict[str, Any]:
        """Return the numbers of one trial of a function of one trial, which follows `place` others.

        It may raise anything.
        """
        return self._shipped[0].alone(rng, place, self.point)

    @classmethod
    def fitting(cls, values: Draws) -> Draws:
        """Return the trials of a cell. Raises WrongResult unless the first cell has the same names and kinds."""
        if cls.missing and values.keys() == {*cls.of_trials}:  # all trials are missing
            count = len(values[cls.missing])
            none = {name: np.full(count, np.nan) for name in cls.observables}
            values = none | {name: np.zeros(count, bool) for name in cls.events} | values
        for name, array in values.items():
            if name not in (cls.events if array.dtype == bool else cls.observables):
                raise WrongResult(f"{name} is {_kind(array.dtype == bool)}, and the first cell has {cls.yields()}")
        if len(values) < len(cls.observables) + len(cls.events):
            missing = next(name for name in (*cls.observables, *cls.events) if name not in values)
            raise WrongResult(f"{missing} is not returned, and the first cell has {cls.yields()}")
        return values

    @classmethod
    def yields(cls) -> str:
        """Return the names and kinds of the results in words."""
        kinds = {**dict.fromkeys(cls.observables, False), **dict.fromkeys(cls.events, True)}
        return ", ".join(f"{name} ({_kind(event)})" for name, event in kinds.items())


def _kind(event: bool) -> str:
    return "yes or no" if event else "a number"


def law_of(function: Mapping[str, Any], point: Point) -> dict[str, Any]:
    """Return the law of a function at a point."""
    return {"mechanism": NAME, "version": UserFunction.version, "function": dict(function), "point": point_text(point)}


def point_text(point: Point) -> str:
    """Return a point as canonical text."""
    texts = [
        f"{encode_basestring_ascii(axis)}: {_TEXTS.get(type(value), _encoded)(value)}"
        for axis, value in sorted(point.items())
    ]
    return f"{{{', '.join(texts)}}}"


def _of_float(value: float) -> str:
    return repr(value) if isfinite(value) else _encoded(value)


# the JSON of the most frequent values, because an encoder takes three times as long for every point
_TEXTS: Mapping[type, Callable[[Any], str]] = {float: _of_float, int: repr, str: encode_basestring_ascii}


def at(law: Law) -> dict[str, Any]:
    """Return the point of a law, with the values that its function is called with."""
    return {axis: _without_lists(value) for axis, value in json.loads(law["point"]).items()}


def _without_lists(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_without_lists, value))
    return {key: _without_lists(each) for key, each in value.items()} if isinstance(value, dict) else value


@contextmanager
def shipped(options: Options, call: Call) -> Iterator[None]:
    """Let this process simulate a function during the block."""
    key = _key(options["function"])
    before = _SHIPPED.get(key)
    _SHIPPED[key] = call, UserFunction.of(options)
    try:
        yield
    finally:
        if before is None:
            del _SHIPPED[key]
        else:
            _SHIPPED[key] = before


def needs_code(function: Mapping[str, Any]) -> str:
    """Return the message for a function that this process does not have."""
    name = f"{function['module']}:{function['name']}"
    given = registry.name_of_sweep(function["module"], function["name"]) or "FILE.py:FUNCTION"
    return f"the numbers come from the function {name}, and no folder holds code; give function={given}"


def is_here(function: Mapping[str, Any]) -> bool:
    """Return True if this process can simulate a function."""
    return _key(function) in _SHIPPED


def _key(function: Mapping[str, Any]) -> tuple[Any, ...]:
    return function["module"], function["name"], function["source"], counting(function)
