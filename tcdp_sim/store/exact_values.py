"""The exact values and bounds of an experiment: named functions, and their columns of the published table."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.store import columns, digests

Value = Callable[[Any], Any]  # mechanism -> a float, or one for each of columns.QUANTILES if the quantity has quantiles
Functions = Mapping[str, Mapping[str, Any]]  # column -> about its function
KINDS = ((columns.EXACT, "exact value"), (columns.BOUND, "proved or printed bound"))


@dataclass(frozen=True)
class ExactValues:
    """The exact values and bounds of an experiment, by quantity, as functions of a cell's mechanism.

    A function returns NaN for a mechanism that does not have its quantity. It may refuse with ValueError, which is
    published as NaN.

    - units: the units of quantities that are not simulated.
    - reasons: by simulated quantity, why it or some cells of it have neither an exact value nor a bound.
    - experiment: the name by which workers find the functions, "" for functions of this process alone.
    - functions: of a sweep, the key, the word and the source of the function of each column, in the order of values.
      The source is None for a function that cannot be identified.
    - rows: the values by cell, as bytes of float64, where the functions are not there; NaN for `unknown` cells.
    """

    exact: Mapping[str, Value] = field(default_factory=dict)
    bound: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    experiment: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)
    rows: Mapping[str, bytes] | None = None
    unknown: Sequence[str] = ()

    def reason(self, quantity: str) -> str:
        """Return "not known: " and the declared reason why cells have no exact value of a quantity."""
        return columns.NOT_KNOWN + self.reasons.get(quantity, columns.UNDECLARED)

    @property
    def code(self) -> str:
        """A digest of the source of the modules that define the functions, or of a sweep's functions; "" for none."""
        if self.functions:
            return digests.of_plain(self.functions)
        names = self.modules
        sources = "".join(f"{name}\0{inspect.getsource(sys.modules[name])}\0" for name in names)
        return digests.of_bytes(sources.encode()) if names else ""

    @property
    def modules(self) -> list[str]:
        """The names of the modules that define the functions."""
        return sorted({function.__module__ for _, function, _ in self._functions()})

    @property
    def width(self) -> int:
        """The count of numbers per mechanism: one for each quantity, or one for each level of its quantiles."""
        return sum(_levels(name) for name, *_ in self._functions())

    def names(self) -> list[tuple[str, str, str]]:
        """Return the column, the module and the function name of each value."""
        named = ((name + kind[0], function) for name, function, kind in self._functions())
        return [(column, function.__module__, getattr(function, "__qualname__", "")) for column, function in named]

    def values(self, mechanism: Mechanism) -> np.ndarray:
        """Return all values of a mechanism in the quantities' units, the exact ones first, shape (width,)."""
        value = _called if self.functions else _or_nan  # a sweep's function has told its refusals from its mistakes
        parts = [np.full(_levels(name), value(function, mechanism)) for name, function, _ in self._functions()]
        return np.concatenate([np.zeros(0), *parts]).astype(float)

    def tabulate(self, rows: Sequence[np.ndarray], declared: Mapping[str, Any]) -> dict[str, tuple]:
        """Return the variables of some cells: name -> (dimensions, values, attributes).

        `rows` holds the `values` of each cell. `declared` has the attributes of the simulated quantities, from which
        units and meanings are taken. A variable that is NaN everywhere is left out.
        """
        table, at, out = np.array(rows).reshape(len(rows), self.width), 0, {}
        for name, function, (ending, text) in self._functions():
            part = table[:, at : at + _levels(name)]
            at += _levels(name)
            if not np.isnan(part).all():
                dims, found = (("cell", "quantile"), part) if columns.has_levels(name) else (("cell",), part[:, 0])
                out[name + ending] = dims, found, _about(name, function, declared, self.units, text)
        return out

    def _functions(self) -> Iterator[tuple[str, Value, tuple[str, str]]]:
        """Yield the quantity, the function and the kind of each value."""
        for kind, functions in zip(KINDS, (self.exact, self.bound)):
            yield from ((name, function, kind) for name, function in functions.items())


NO_EXACT_VALUES = ExactValues()


def of_experiment(module: ModuleType, name: str = "") -> ExactValues:
    """Return the exact values that a module declares as EXACT, BOUND, UNITS and UNKNOWN, each of them optional.

    `name` is the name by which workers find the experiment.
    """
    exact, bound, units, reasons = (getattr(module, part, {}) for part in ("EXACT", "BOUND", "UNITS", "UNKNOWN"))
    return ExactValues(exact, bound, units, name, reasons)


def of_sweep(every: Mapping[str, tuple[Mapping[str, Any], Value]]) -> ExactValues:
    """Return the values of a sweep's columns, each with what is known about its function and the function itself.

    They are ordered by name, so that their head shows nothing else.
    """
    exact, bound = ({name: every[name] for name in sorted(every) if name.endswith(ending)} for ending, _ in KINDS)
    functions = {name: about for name, (about, _) in (exact | bound).items()}
    return ExactValues(
        {name.removesuffix(columns.EXACT): call for name, (_, call) in exact.items()},
        {name.removesuffix(columns.BOUND): call for name, (_, call) in bound.items()},
        functions=functions,
    )


def known_exactly(experiment: str) -> ExactValues:
    """Return the exact values of the experiment with this name. Raises UserError if there is no such experiment."""
    return of_experiment(registry.experiment(experiment), experiment)


def at_each_level(value: Callable[[Any, float], float]) -> Value:
    """Return a function of a mechanism with value(mechanism, level) at each of QUANTILES, NaN where it refuses."""

    @wraps(value)  # keeps its module and docstring, from which the digest and the column's meaning are made
    def values(mechanism):
        return np.array([_or_nan(value, mechanism, float(level)) for level in columns.QUANTILES])

    return values


def _levels(name: str) -> int:
    """Return the count of numbers that a quantity has for one mechanism."""
    return len(columns.QUANTILES) if columns.has_levels(name) else 1


def _called(function, mechanism):
    return function(mechanism)


def _or_nan(function, *arguments):
    """Return the function's value, or NaN if it refuses."""
    try:
        return function(*arguments)
    except ValueError:
        return np.nan


def _about(name, function, declared, units, text) -> dict[str, str]:
    """Return the units and the meaning of a column."""
    if name in declared:
        about = declared[name]
        return {"units": about["units"], "long_name": f"{about['long_name']}: {text}"}
    meaning = (inspect.getdoc(function) or name).splitlines()[0].rstrip(".")
    return {"units": units.get(name, "1"), "long_name": f"{meaning}: {text}"}
