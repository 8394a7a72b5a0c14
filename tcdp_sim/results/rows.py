"""The table of an experiment: the rows that it makes of each cell, then those that are known without simulation."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.results import cells as read
from tcdp_sim.store import columns

NUMBERS = ("simulated", "mcse", "lower", "upper")  # a simulated number of a row that has a single one
Row = dict[str, Any]


class Cell(Mapping[str, Any]):
    """One cell of published results, which an experiment makes its rows of.

    As a mapping it gives the axes and every published number that has no further dimension, by name.

    Attributes
    ----------
    place, total : int
        The number of the cell in the run, and how many cells the run has.
    """

    def __init__(self, block: "_Block", i: int, values: Row):
        self._block, self._i, self._values = block, i, values
        self.place = block.first + i
        self.total = block.total

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def mechanism(self) -> Any:
        """The mechanism that was simulated, rebuilt from the results alone."""
        mechanism: Mechanism = read.cell_mechanism(self._block.flat, self._i)
        return mechanism

    @cached_property
    def law(self) -> Row:
        """The law of the cell, as plain data."""
        law: Row = json.loads(self._values["law"])
        return law

    @property
    def counts(self) -> np.ndarray:
        """The counts of the data set that the cell is about."""
        return read.cell_counts(self._block.flat, self._i)

    @property
    def run(self) -> Mapping[str, Any]:
        """The attributes of the run: seed, versions, axes, provenance."""
        return self._block.flat.attrs

    @property
    def noise(self) -> Row:
        """`noise_label`, `noise_family` and `noise_calibration` of the cell; "" where it has no noise."""
        return self._block.noises[self.get("noise") or ""]

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the run in words; "" where the results do not say so."""
        return neighbours(self._block.flat)

    def only(self, *names: str) -> Row:
        """Return the values of these names, in this order, without those that the run does not have."""
        return {name: self._values[name] for name in names if name in self._values}

    def numbers(self, quantity: str, name: str, level: float | None = None, endings=columns.WITH_EXACT) -> Row:
        """Return a quantity with each ending under another name; NaN for what is not published.

        level: which of the quantiles, if it is a quantity of quantiles.
        """
        if level is None:
            return {name + end: self._values.get(quantity + end, np.nan) for end in endings}
        values = self.quantiles(quantity, endings)[:, self.levels.index(level)].tolist()
        return dict(zip((name + end for end in endings), values))

    @property
    def levels(self) -> list[float]:
        """The levels of the published quantiles."""
        return self._block.levels

    def quantiles(self, quantity: str, endings=columns.WITH_EXACT) -> Floats:
        """Return a quantity of quantiles, shape (endings, levels); NaN for what is not published."""
        known, missing = self._block.by_level, np.full(len(self.levels), np.nan)
        names = (quantity + end for end in endings)
        return np.array([known[name][self._i] if name in known else missing for name in names])

    def unit(self, observable: str) -> str:
        """Return the unit of an observable."""
        return str(self._block.flat.variables[columns.mean(observable)].attrs["units"])

    def mean(self, observable: str) -> tuple[float, float, float, float]:
        """Return mean, MCSE and 95% interval of an observable, as `mean_interval`."""
        return read.mean_interval(self, observable)

    def skewness(self, observable: str) -> float:
        """Return the sample skewness of the finite trials, as `sample_skewness`."""
        return read.sample_skewness(self._block.flat, self._i, observable)

    def p_value(self, observable: str, level: Any, exact: Any) -> Any:
        """Return the p-values that the quantiles of these levels are `exact`; NaN where the cell has no trials."""
        found = read.chance_of_quantiles(self._block.flat, self._i, observable, level, exact)
        return float(found) if np.ndim(found) == 0 else found.tolist()

    def histogram(self, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the binned trials, as `cell_histogram`."""
        return read.cell_histogram(self._block.flat, self._i, observable)


@dataclass(frozen=True, eq=False)
class _Block:
    """What cells of one part of a table share; reading an array from a Dataset takes longer than a cell's numbers."""

    flat: xr.Dataset
    first: int
    total: int

    @cached_property
    def noises(self) -> Mapping[str, Row]:
        return read.noise_labels(self.flat)

    @cached_property
    def levels(self) -> list[float]:
        levels: list[float] = self.flat.variables["quantile"].values.tolist()
        return levels

    @cached_property
    def by_level(self) -> Mapping[str, np.ndarray]:
        found = self.flat.variables.items()
        return {str(name): variable.values for name, variable in found if variable.dims == ("cell", "quantile")}


def cells(flat: xr.Dataset, first: int = 0, total: int | None = None) -> Iterator[Cell]:
    """Return the cells of `open_cells`, or of one of its `cell_blocks`, one after the other.

    first: the number in the run of the first cell; total: how many cells the run has.
    """
    block = _Block(flat, first, flat.sizes["cell"] if total is None else total)
    plain = {str(name): variable.values for name, variable in flat.variables.items() if variable.dims == ("cell",)}
    for i, values in enumerate(zip(*(array.tolist() for array in plain.values()))):
        yield Cell(block, i, dict(zip(plain, values)))


def neighbours(flat: xr.Dataset) -> str:
    """Return the neighbouring relation of a run in words; "" where its results do not say so."""
    return str(flat.attrs.get("neighbouring_relation", ""))


def table(experiment: ModuleType, flat: xr.Dataset, first: int = 0, total: int | None = None) -> pd.DataFrame:
    """Return what an experiment makes of cells: its rows, then what is known without simulation.

    The last column is `neighbours`, unless the rows have one: the relation of the run, or RELATION of the experiment,
    of which None is no column. A module that has `reference` instead of `rows` is asked for that.
    """
    if _uses_reference(experiment):
        return pd.DataFrame(experiment.reference(flat))
    known = getattr(experiment, "known", None)
    asked: Iterable[Cell] = cells(flat, first, total)
    asked = list(asked) if known else asked
    rows = [row for cell in asked for row in _several(experiment.rows(cell))]
    found = pd.DataFrame([*rows, *known(rows, asked)] if known else rows)
    relation = getattr(experiment, "RELATION", neighbours(flat))
    return found if relation is None or "neighbours" in found else found.assign(neighbours=relation)


def _several(rows: Row | Iterable[Row]) -> Iterable[Row]:
    return (rows,) if isinstance(rows, dict) else rows


def by_cell(experiment: ModuleType) -> bool:
    """Return True if the rows of a cell are made of that cell alone, so that any part of a table will do."""
    if _uses_reference(experiment):
        return bool(getattr(experiment, "BY_CELL", False))
    return not hasattr(experiment, "known")


def _uses_reference(experiment: ModuleType) -> bool:
    """Return True for an experiment of a plug-in in the older form, of which the registry has warned."""
    return not hasattr(experiment, "rows") and hasattr(experiment, "reference")
