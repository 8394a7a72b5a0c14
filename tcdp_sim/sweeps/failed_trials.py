"""The first failed trials of a sweep that counts them, as an attribute of its results."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tcdp_sim.core.texts import kind_of
from tcdp_sim.study.points import Point
from tcdp_sim.summaries.problems import WHAT
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.pilot import in_a_line

MOST = 20  # trials in an attribute; errors.csv has all


def attribute(sweep: Sweep, trials: Iterable[Mapping[str, Any]], points: Mapping[str, Point]) -> dict[str, str]:
    """Return the attributes with the first trial of each kind as JSON; nothing for a sweep that does not count.

    `trials`: those of `first_failed_trials`. `points`: the points of their cells by id.
    """
    if not sweep.call.counts:
        return {}
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for one in trials:
        where = {"cell": dict(points[one["cell"]]), "chunk": one["chunk"], "trial": one["trial"], "state": one["state"]}
        own = {one["kind"]: in_a_line(one["message"]), "count": 0} | where
        first.setdefault((one["kind"], kind_of(one["message"])), own)["count"] += one["count"]
    found = {f"{what}s": [own for (kind, _), own in first.items() if kind == what][:MOST] for what in WHAT.values()}
    return {name: json.dumps(every) for name, every in found.items()}
