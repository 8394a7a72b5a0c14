"""The results of several runs as one object: a Dataset along `mechanism` if they share their axes, else a DataTree."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.core.errors import UserError
from tcdp_sim.store.figure_record import TITLE

MECHANISM = "mechanism"  # the dimension of a joined dataset
OF_DATA = ("data_start", "data_size")  # places in the counts of one run
QUANTILE = "quantile"


def labels(runs: Sequence[xr.Dataset], paths: Sequence[Path]) -> list[str]:
    """Return a label for each run: its mechanism, or the name of its folder if several runs have one mechanism.

    Raises UserError if two labels are equal.
    """
    names = [_mechanism(run) for run in runs]
    counts = Counter(names)
    found = [name if counts[name] == 1 else path.resolve().name for name, path in zip(names, paths)]
    if len(set(found)) < len(found):
        raise UserError(f"several runs are called {Counter(found).most_common(1)[0][0]}; give each run once")
    return found


def joined(runs: Mapping[str, xr.Dataset]) -> xr.Dataset | xr.DataTree:
    """Return the results of several runs, which have their axes of length one, by label.

    They are one Dataset if each axis with several values is an axis of all of them. Otherwise they are a DataTree with
    a node for each run: one Dataset would repeat the numbers of a mechanism along the axes of the others, and would
    have the size of the product of all axes.
    """
    axes = {label: _axes(run) for label, run in runs.items()}
    shared = [axis for axis in next(iter(axes.values())) if all(axis in own for own in axes.values())]
    fits = all(set(_several(run, axes[label])) <= set(shared) and "cell" not in run.dims for label, run in runs.items())
    return _dataset(runs, axes, shared) if fits else _tree(runs)


def _mechanism(run: xr.Dataset) -> str:
    """Return the name of a run's mechanism, or the name of the user's function that a sweep simulates."""
    if "function" in run.attrs:
        return re.split("[:.]", run.attrs["function"])[-1]
    laws = (law for law in np.ravel(run["law"].values) if law)  # "" is a point outside of the sweep
    return str(json.loads(next(laws))["mechanism"])


def _axes(run: xr.Dataset) -> list[str]:
    """Return the axes of a run, also the axes that no law of it depends on."""
    return list(json.loads(run.attrs["axes"]))


def _several(run: xr.Dataset, axes: Sequence[str]) -> list[str]:
    return [axis for axis in axes if run.sizes.get(axis, 1) > 1]


def _tree(runs: Mapping[str, xr.Dataset]) -> xr.DataTree:
    """Return a node for each run; the root has the experiments along `mechanism`."""
    experiments = [str(run.attrs.get("title", "")).removeprefix(TITLE) for run in runs.values()]
    root = xr.Dataset({"experiment": (MECHANISM, experiments)}, {MECHANISM: [*runs]})
    return xr.DataTree.from_dict({"/": root, **runs})


def _dataset(runs: Mapping[str, xr.Dataset], axes: Mapping[str, Sequence[str]], shared: Sequence[str]) -> xr.Dataset:
    """Return the runs along `mechanism`; an axis of some mechanisms alone is a coordinate along it."""
    parts = [_part(run, axes[label], shared) for label, run in runs.items()]
    used = [axis for axis in shared if any(axis in part.dims for part in parts)]
    levels = {axis: pd.unique(np.concatenate([part[axis] for part in parts if axis in part.dims])) for axis in used}
    parts = [part.expand_dims({axis: levels[axis] for axis in used if axis not in part.dims}) for part in parts]
    whole = xr.concat(
        [part.reset_coords() for part in parts],
        xr.DataArray([*runs], dims=MECHANISM, name=MECHANISM),
        data_vars="all",
        coords="minimal",
        compat="override",
        join="outer",
        combine_attrs="drop_conflicts",
    )
    texts = {name: column.where(column.notnull(), "") for name, column in whole.items() if column.dtype.kind == "O"}
    coordinates = {str(name) for part in parts for name in part.coords} - {*used, QUANTILE}
    own = [axis for axis in dict.fromkeys(chain.from_iterable(axes.values())) if axis in coordinates]
    about = {"axes": json.dumps([MECHANISM, *used, *own])}
    return whole.assign(texts).set_coords(sorted(coordinates)).assign_attrs(about)


def _part(run: xr.Dataset, axes: Sequence[str], shared: Sequence[str]) -> xr.Dataset:
    """Return a run on the shared axes, without its bins and batches, which other runs do not share."""
    run = run.squeeze([axis for axis in axes if axis in run.dims and axis not in shared])
    run = run.drop_dims([dim for dim in run.dims if dim not in (*shared, QUANTILE)])
    return run.drop_vars(OF_DATA, errors="ignore")
