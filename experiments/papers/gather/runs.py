"""The simulated numbers that claims read: cells of a published run, as sides of points."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.results import open_cells
from tcdp_sim.results.cells import cell_histogram, cell_mechanism, sample_skewness
from tcdp_sim.statistics.intervals import Simulated, simulated_mean, simulated_proportion, simulated_quantile
from tcdp_sim.store import columns


@dataclass(frozen=True)
class Cell:
    """One cell of a run: its coordinates, its mechanism, and its simulated values."""

    flat: xr.Dataset
    row: int

    def __getitem__(self, name: str) -> Any:
        """Return a coordinate, threshold or other number of the cell, by its name in the table."""
        return self.flat[name].values[self.row]

    @property
    def mechanism(self) -> Any:
        """The mechanism that the cell simulated: its noise, bins, thresholds."""
        return cell_mechanism(self.flat, self.row)

    def proportion(self, quantity: str) -> Simulated:
        """Return the probability of an event, or that an observable is above its threshold (`columns.exceeds`)."""
        return simulated_proportion(int(self[quantity + columns.COUNT]), int(self["trials"]))

    def mean(self, observable: str) -> Simulated:
        """Return the mean of an observable over its finite trials."""
        name = columns.mean(observable)
        skewness = sample_skewness(self.flat, self.row, observable)
        return simulated_mean(float(self[name]), float(self[name + columns.MCSE]), int(self["trials"]), skewness)

    def quantile(self, observable: str, q: float) -> Simulated:
        """Return the q-quantile of an observable, for any q in (0, 1)."""
        low, high, counts = cell_histogram(self.flat, self.row, observable)
        minus, plus = (
            int(self[observable + name]) if observable + name in self.flat else 0 for name in columns.INFINITE
        )
        low, high = (np.concatenate([[-np.inf], edges, [np.inf]]) for edges in (low, high))
        return simulated_quantile(low, high, np.concatenate([[minus], counts, [plus]]), q)


@dataclass(frozen=True)
class Run:
    """The published results of a study."""

    flat: xr.Dataset

    def cells(self, **where: Any) -> list[Cell]:
        """Return the cells with these coordinates (numbers to 1e-9), in the order of the sweep."""
        return [cell for cell in map(self._cell, range(self.flat.sizes["cell"])) if _has(cell, where)]

    def cell(self, **where: Any) -> Cell:
        """Return the one cell with these coordinates. Raise ValueError if there is none, or more than one."""
        found = self.cells(**where)
        if len(found) != 1:
            raise ValueError(f"{len(found)} cells of {self.flat.attrs.get('title')} have {where}; valid: one")
        return found[0]

    def _cell(self, row: int) -> Cell:
        return Cell(self.flat, row)


def opened(folder: Path) -> Run:
    """Return the results in a run's folder. Raise UserError if there are none."""
    return Run(open_cells(folder).load())


def _has(cell: Cell, where: dict[str, Any]) -> bool:
    return all(_same(cell[name], value) for name, value in where.items())


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return bool(value == wanted)
    return bool(np.isclose(float(value), wanted, rtol=1e-9, atol=0)) if value not in (None, "") else False
