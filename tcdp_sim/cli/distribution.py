"""The command `tcdp-sim distribution`, which prints the quantiles and the tail of an observable, or writes all bins."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.cli.say import say
from tcdp_sim.cli.values import value_of
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.texts import write_csv
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results.distribution import distribution
from tcdp_sim.store.run_settings import run_folder

USAGE = "tcdp-sim distribution RUN OBSERVABLE [AXIS=VALUE ...] [at=EPSILONS] [bins=N] [FILE.csv]"
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)  # near which the tail is printed
MOST = 20  # cells that are printed


def main(console: Any, words: Sequence[str]) -> int:
    """Print the distribution of an observable, or write it to a file. Returns the exit code. Raises UserError."""
    places, given = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    if not 2 <= len(places) <= 3:
        raise UserError(f"distribution takes a run and an observable, not {' '.join(places) or 'nothing'}: {USAGE}")
    axes = {key: value_of(key, text) for key, _, text in (word.partition("=") for word in given)}
    at, bins = axes.pop("at", None), axes.pop("bins", None)
    found = distribution(run_folder(places[0]), places[1], axes, at=at, bins=bins)
    if len(places) == 3:
        say(console, f"distribution: {_written(found, places[2])}")
        return 0
    cells = list(_cells(found))
    for where, cell in cells[:MOST]:
        console.print(_tail(cell, where))
        if at is not None:
            console.print(_deltas(cell, where))
    if len(cells) > MOST:
        say(console, f"and {len(cells) - MOST} more cells; choose some by AXIS=VALUE")
    return 0


def _cells(found: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield each cell that has trials, with words for its place."""
    dims = [dim for dim in found["trials"].dims]
    if not dims:
        yield "", found
        return
    for place in np.ndindex(*(found.sizes[dim] for dim in dims)):
        cell = found.isel(dict(zip(dims, place)))
        if cell["trials"] > 0:
            axes = [name for name in found.coords if set(found[name].dims) & set(dims)]
            yield " ".join(f"{axis}={cell[axis].item()}" for axis in axes), cell


def _tail(cell: xr.Dataset, where: str) -> Any:
    """Return the table of the tail of a cell at values near some quantiles."""
    below = 1 - cell["sf"].values
    places = sorted({min(int(np.searchsorted(below, level)), len(below) - 1) for level in LEVELS})
    names = ("upper", "sf", "sf_lower", "sf_upper", "sf_exact")
    rows = [[_text(cell[name].values[place]) for name in names] for place in places]
    named = f"{cell.attrs['long_name']} [{cell.attrs['units']}]{f', {where}' if where else ''}"
    title = f"{named}: the probability of exceeding"
    return terminal_table(title, ["value", "simulated", "95% from", "to", "exact"], rows)


def _deltas(cell: xr.Dataset, where: str) -> Any:
    rows = [
        [_text(cell[name].values[place]) for name in ("at", "delta", "delta_lower", "delta_upper", "delta_exact")]
        for place in range(cell.sizes["at"])
    ]
    title = f"delta(epsilon){f', {where}' if where else ''}"
    return terminal_table(title, ["epsilon", "simulated", "95% from", "to", "exact"], rows)


def _text(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4g}"


def _written(found: xr.Dataset, file: str) -> Path:
    """Write one row for each cell and bin. Raises UserError for another ending, or if it cannot be written."""
    path = Path(at_home(file))
    if path.suffix != ".csv":
        raise UserError(f"{path} is no .csv file; give a name that ends so")
    table: pd.DataFrame = found.drop_dims("at", errors="ignore").to_dataframe().reset_index()
    try:
        write_csv(table[table["trials"] > 0], path)
    except OSError as problem:
        raise UserError(f"{path} cannot be written ({reason(problem)})") from None
    return path
