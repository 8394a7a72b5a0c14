"""The comparisons of a sweep with a target, as an attribute of its results."""

import json
from math import isfinite
from typing import Any

from tcdp_sim.engine import decisions, stopping
from tcdp_sim.engine.decisions import Decisions
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.study.study import prepare
from tcdp_sim.sweeps.arguments import Sweep

ATTRIBUTE = "comparisons"


def attribute(sweep: Sweep, compared: Decisions | None) -> dict[str, str]:
    """Return the attribute with the rows of comparisons.csv as JSON; nothing without a comparison.

    Whole numbers on the axes are as the function was called with them, and not floats as in a table.
    """
    axes = sweep.options["axes"]
    whole = {axis for axis in axes if all(type(point[axis]) is int for point in sweep.points.values())}
    found = []
    for row in decisions.rows(compared) if compared else ():
        of_axis = {"value": row["across"], "other": row["across"]}
        found.append(
            {
                key: int(value) if of_axis.get(key, key) in whole and value is not None else _plain(value)
                for key, value in row.items()
            }
        )
    return {ATTRIBUTE: json.dumps(found)} if found else {}


def _plain(value: Any) -> Any:
    """Return a value of a table for JSON, which has neither NaN nor infinite numbers."""
    return None if isinstance(value, float) and not isfinite(value) else value


def in_folder(sweep: Sweep) -> dict[str, str]:
    """Return the attribute of a sweep in a folder, which has run."""
    if not sweep.settings.target:
        return {}
    study = prepare(sweep.settings)
    compared = decisions.of(study.plan.laws, study.settings)
    if compared:
        compared.more(open_run(study), stopping.start(study.plan.laws, study.settings))
    return attribute(sweep, compared)
