"""The records of a run's population, for the rug of a figure."""

import json

import numpy as np
import xarray as xr

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.data.skewed import skewed_records


def record_values(flat: xr.Dataset, population: str) -> tuple[Floats, Ints]:
    """The distinct values above 0 of a run's population, ascending, and how many records have each.

    The population is read again as the run's config says; none where that, or its file, is not there.
    """
    config = json.loads(flat.attrs.get("provenance") or "{}").get("config") or {}
    spec = config.get("mechanism", {}).get("populations", {}).get(population)
    try:
        values = skewed_records(population, spec).values if spec else np.zeros(0)
    except ValueError:  # the user's file may have gone since
        values = np.zeros(0)
    distinct, counts = np.unique(values[values > 0], return_counts=True)
    return distinct, counts
