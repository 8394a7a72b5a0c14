"""The records of a run's population, for the rug of a figure."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.data.skewed import skewed_records


def record_values(run: Mapping[str, Any], population: str) -> tuple[Floats, Ints]:
    """Return the distinct values above 0 of a run's population, ascending, and how many records have each.

    run: the attributes of its results. The population is read again as the run's config says; there are none where
    that, or its file, is not there.
    """
    config = json.loads(run.get("provenance") or "{}").get("config") or {}
    spec = config.get("mechanism", {}).get("populations", {}).get(population)
    try:
        values = skewed_records(population, spec).values if spec else np.zeros(0)
    except ValueError:  # the user's file may have gone since
        values = np.zeros(0)
    distinct, counts = np.unique(values[values > 0], return_counts=True)
    return distinct, counts
