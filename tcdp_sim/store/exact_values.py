"""What an experiment knows exactly beside what its study simulates: named functions, and their columns of the table."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.store import columns

Value = Callable[[Any], Any]  # mechanism -> a float, or for a quantity of quantiles one for each of columns.QUANTILES


@dataclass(frozen=True)
class ExactValues:
    """The exact values and bounds of an experiment, by quantity, as functions of a cell's mechanism.

    A function gives NaN where its quantity is not one of that mechanism's, and may refuse with ValueError, which is
    published as NaN. units: of quantities that are not simulated.
    """

    exact: Mapping[str, Value] = field(default_factory=dict)
    bound: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """A digest of the source of the modules that define the functions; "" without any."""
        functions = [*self.exact.values(), *self.bound.values()]
        names = sorted({function.__module__ for function in functions})
        sources = "".join(f"{name}\0{inspect.getsource(sys.modules[name])}\0" for name in names)
        return hashlib.blake2b(sources.encode(), digest_size=16).hexdigest() if names else ""


NO_EXACT_VALUES = ExactValues()


def of_experiment(module: ModuleType) -> ExactValues:
    """What an experiment's module declares as EXACT, BOUND and UNITS, each of which it may leave out."""
    return ExactValues(*(getattr(module, name, {}) for name in ("EXACT", "BOUND", "UNITS")))


def at_each_level(value: Callable[[Any, float], float]) -> Value:
    """The function of a mechanism that has value(mechanism, level) at each of QUANTILES; NaN where that is refused."""

    @wraps(value)  # its module and docstring too
    def values(mechanism):
        return np.array([_or_nan(value, mechanism, float(level)) for level in columns.QUANTILES])

    return values


def tabulate(values: ExactValues, mechanisms: Sequence[Mechanism], ids: Sequence[str], data: Mapping) -> dict:
    """Variables of some cells: name -> (dimensions, values, attributes), without those that are NaN everywhere.

    ids: of the cells, one law each, which is evaluated once. data: the variables of what the cells simulated, whose
    units and meanings are taken.
    """
    out = {}
    for ending, text, functions in (
        (columns.EXACT, "exact value", values.exact),
        (columns.BOUND, "proved or printed bound", values.bound),
    ):
        for name, function in functions.items():
            table = _column(name, function, mechanisms, ids)
            if not np.isnan(table).all():
                attributes = _about(name, function, data, values.units, text)
                out[name + ending] = ("cell", "quantile")[: table.ndim], table, attributes
    return out


def _column(name, function, mechanisms, ids: Iterable[str]) -> np.ndarray:
    shape = columns.QUANTILES.shape if columns.has_levels(name) else ()
    known: dict[str, np.ndarray] = {}
    for cell, mechanism in zip(ids, mechanisms):
        if cell not in known:
            known[cell] = np.broadcast_to(np.asarray(_or_nan(function, mechanism), dtype=float), shape)
    return np.array([known[cell] for cell in ids])


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
