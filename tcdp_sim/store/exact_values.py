"""What an experiment knows exactly beside what its study simulates: named functions, and their columns of the table."""

import hashlib
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
from tcdp_sim.store import columns

Value = Callable[[Any], Any]  # mechanism -> a float, or for a quantity of quantiles one for each of columns.QUANTILES
KINDS = ((columns.EXACT, "exact value"), (columns.BOUND, "proved or printed bound"))


@dataclass(frozen=True)
class ExactValues:
    """The exact values and bounds of an experiment, by quantity, as functions of a cell's mechanism.

    A function gives NaN where its quantity is not one of that mechanism's, and may refuse with ValueError, which is
    published as NaN. units: of quantities that are not simulated; experiment: by whose name workers find them again,
    "" for functions that are known in this process alone.
    """

    exact: Mapping[str, Value] = field(default_factory=dict)
    bound: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    experiment: str = ""

    @property
    def code(self) -> str:
        """A digest of the source of the modules that define the functions; "" without any."""
        names = self.modules
        sources = "".join(f"{name}\0{inspect.getsource(sys.modules[name])}\0" for name in names)
        return hashlib.blake2b(sources.encode(), digest_size=16).hexdigest() if names else ""

    @property
    def modules(self) -> list[str]:
        """The modules that define the functions."""
        return sorted({function.__module__ for _, function, _ in self._functions()})

    @property
    def width(self) -> int:
        """How many numbers a mechanism has: one for a quantity, for one of quantiles one a level."""
        return sum(_levels(name) for name, *_ in self._functions())

    def names(self) -> list[tuple[str, str, str]]:
        """Column, module and function of each."""
        named = ((name + kind[0], function) for name, function, kind in self._functions())
        return [(column, function.__module__, getattr(function, "__qualname__", "")) for column, function in named]

    def values(self, mechanism: Mechanism) -> np.ndarray:
        """All of a mechanism, one after the other, the exact ones first; shape (width,), in the quantities' units."""
        parts = [np.full(_levels(name), _or_nan(function, mechanism)) for name, function, _ in self._functions()]
        return np.concatenate([np.zeros(0), *parts]).astype(float)

    def tabulate(self, rows: Sequence[np.ndarray], data: Mapping[str, Any]) -> dict[str, tuple]:
        """Variables of some cells: name -> (dimensions, values, attributes), without those that are NaN everywhere.

        rows: the `values` of each cell; data: the variables of what the cells simulated, whose units and meanings are
        taken.
        """
        table, at, out = np.array(rows).reshape(len(rows), self.width), 0, {}
        for name, function, (ending, text) in self._functions():
            part = table[:, at : at + _levels(name)]
            at += _levels(name)
            if not np.isnan(part).all():
                dims, found = (("cell", "quantile"), part) if columns.has_levels(name) else (("cell",), part[:, 0])
                out[name + ending] = dims, found, _about(name, function, data, self.units, text)
        return out

    def _functions(self) -> Iterator[tuple[str, Value, tuple[str, str]]]:
        for kind, functions in zip(KINDS, (self.exact, self.bound)):
            yield from ((name, function, kind) for name, function in functions.items())


NO_EXACT_VALUES = ExactValues()


def of_experiment(module: ModuleType, name: str = "") -> ExactValues:
    """What an experiment's module declares as EXACT, BOUND and UNITS, each of which it may leave out.

    name: by which workers find the experiment.
    """
    exact, bound, units = (getattr(module, part, {}) for part in ("EXACT", "BOUND", "UNITS"))
    return ExactValues(exact, bound, units, name)


def known_exactly(experiment: str) -> ExactValues:
    """What the experiment of that name knows exactly beside what its study simulates. UserError if there is none."""
    return of_experiment(registry.experiment(experiment), experiment)


def at_each_level(value: Callable[[Any, float], float]) -> Value:
    """The function of a mechanism that has value(mechanism, level) at each of QUANTILES; NaN where that is refused."""

    @wraps(value)  # its module and docstring too
    def values(mechanism):
        return np.array([_or_nan(value, mechanism, float(level)) for level in columns.QUANTILES])

    return values


def _levels(name: str) -> int:
    return len(columns.QUANTILES) if columns.has_levels(name) else 1


def _or_nan(function, *arguments):
    try:
        return function(*arguments)
    except ValueError:
        return np.nan


def _about(name, function, data, units, text) -> dict[str, str]:
    if name in data:
        about = data[name][2]
        return {"units": about["units"], "long_name": f"{about['long_name']}: {text}"}
    meaning = (inspect.getdoc(function) or name).splitlines()[0].rstrip(".")
    return {"units": units.get(name, "1"), "long_name": f"{meaning}: {text}"}
