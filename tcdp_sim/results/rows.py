"""The table of an experiment: the rows that it makes of each cell, then the rows that need no simulation."""

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

NUMBERS = ("simulated", "mcse", "lower", "upper")  # the columns of a row that has one simulated number
Row = dict[str, Any]


class Cell(Mapping[str, Any]):
    """A cell of published results, from which an experiment makes its rows.

    The mapping gives the axes and every published number without a further dimension, by name.

    Attributes
    ----------
    place : int
        The number of the cell in the run, from 0.
    total : int
        The number of cells of the run.

    Examples
    --------
    >>> def rows(cell: Cell) -> Row:  # in a module of an experiment
    ...     return cell.only("k", "rho") | cell.numbers("linf_error_mean", "simulated")
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
        """The labels `noise_label`, `noise_family` and `noise_calibration` of the cell, "" if it has no noise."""
        return self._block.noises[self.get("noise") or ""]

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the run in words; "" if the results do not state it."""
        return neighbours(self._block.flat)

    def only(self, *names: str) -> Row:
        """Return the values of the given names, in the given order, without the names that the run does not have."""
        return {name: self._values[name] for name in names if name in self._values}

    def numbers(self, quantity: str, name: str, level: float | None = None, endings=columns.WITH_EXACT) -> Row:
        """Return a quantity with each of its endings, renamed to `name`; NaN for numbers that are not published.

        For a quantity of quantiles, `level` chooses one of them. A mean with an exact value has its skewness too,
        because few trials of a skewed law contradict less.
        """
        if level is None:
            found = {name + end: self._values.get(quantity + end, np.nan) for end in endings}
            is_mean = quantity.endswith(columns.MEAN) and np.isfinite(found.get(name + columns.EXACT, np.nan))
            observable = quantity.removesuffix(columns.MEAN)
            return found | ({name + columns.SKEWNESS: self.skewness(observable)} if is_mean else {})
        values = self.quantiles(quantity, endings)[:, self.levels.index(level)].tolist()
        return dict(zip((name + end for end in endings), values))

    @property
    def levels(self) -> list[float]:
        """The levels of the published quantiles."""
        return self._block.levels

    def quantiles(self, quantity: str, endings=columns.WITH_EXACT) -> Floats:
        """Return a quantity of quantiles, shape (endings, levels); NaN for numbers that are not published."""
        known, missing = self._block.by_level, np.full(len(self.levels), np.nan)
        names = (quantity + end for end in endings)
        return np.array([known[name][self._i] if name in known else missing for name in names])

    def unit(self, observable: str) -> str:
        """Return the unit of an observable."""
        return str(self._block.flat.variables[columns.histogram(observable)[0]].attrs["units"])

    def mean(self, observable: str) -> tuple[float, float, float, float]:
        """Return mean, MCSE and 95% interval of an observable: see `mean_interval`."""
        return read.mean_interval(self, observable)

    def skewness(self, observable: str) -> float:
        """Return the sample skewness of the finite trials of an observable: see `sample_skewness`."""
        return read.sample_skewness(self._block.flat, self._i, observable)

    def p_value(self, observable: str, level: Any, exact: Any) -> Any:
        """Return p-values for the hypothesis that the quantiles of these levels are `exact`; NaN without trials."""
        found = read.cell_p_values(self._block.flat, self._i, observable, level, exact)
        return float(found) if np.ndim(found) == 0 else found.tolist()

    def histogram(self, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the binned trials of an observable: see `cell_histogram`."""
        return read.cell_histogram(self._block.flat, self._i, observable)


@dataclass(frozen=True, eq=False)
class _Block:
    """The arrays that the cells of one part of a table share, because reading them from a Dataset is slow."""

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
    """Yield the cells of `open_cells`, or of one of its `cell_blocks`.

    The first cell has the number `first` in the run, which has `total` cells.
    """
    block = _Block(flat, first, flat.sizes["cell"] if total is None else total)
    plain = {str(name): variable.values for name, variable in flat.variables.items() if variable.dims == ("cell",)}
    for i, values in enumerate(zip(*(array.tolist() for array in plain.values()))):
        yield Cell(block, i, dict(zip(plain, values)))


def neighbours(flat: xr.Dataset) -> str:
    """Return the neighbouring relation of a run in words; "" if its results do not state it."""
    return str(flat.attrs.get("neighbouring_relation", ""))


def table(experiment: ModuleType, flat: xr.Dataset, first: int = 0, total: int | None = None) -> pd.DataFrame:
    """Return the table that an experiment makes of cells: its rows, then the rows that need no simulation.

    The last column is `neighbours`, unless the rows have one. It holds the experiment's RELATION, else the relation of
    the run. If RELATION is None there is no such column.
    """
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
    """Return True if an experiment makes the rows of a cell from that cell alone: its table can be made in parts."""
    return not hasattr(experiment, "known")
