"""The value trials=+50000, which adds trials to the results."""

import json
from math import nan
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.paths import at_home


def with_trials(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the config with trials=+50000 replaced by the sum with the results' trials.

    Raises UserError if there are no results.
    """
    value, folder = raw.get("trials"), Path(at_home(str(raw.get("results_dir"))), str(raw.get("name")))
    if not (isinstance(value, str) and value.startswith("+")):
        return raw
    try:
        about = json.loads((folder / "results.zarr" / "zarr.json").read_text("utf-8"))
        there = int(about["attributes"]["trials_per_cell"])
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(
            f"trials = {value} adds to results, and {folder} has none; give the number of trials", "trials"
        ) from None
    try:
        more = float(value)
    except ValueError:
        more = nan
    if not (more >= 1 and more.is_integer()):
        raise UserError(f"trials = {value!r} is not valid; valid: a whole number, or one to be added: +50000", "trials")
    return {**raw, "trials": there + int(more)}
