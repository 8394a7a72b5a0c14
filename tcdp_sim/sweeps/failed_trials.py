"""The first failed trials of a sweep that counts them, as an attribute of its results."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tcdp_sim.study.points import Point
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.pilot import in_a_line

ATTRIBUTE = "errors"
MOST = 20  # trials in the attribute; errors.csv has all


def attribute(sweep: Sweep, trials: Iterable[Mapping[str, Any]], points: Mapping[str, Point]) -> dict[str, str]:
    """Return the attribute with the first trial of each kind as JSON; nothing for a sweep that does not count.

    `trials`: those of `first_failed_trials`. `points`: the points of their cells by id.
    """
    first: dict[str, dict[str, Any]] = {}
    for one in trials:
        where = {"cell": dict(points[one["cell"]]), "chunk": one["chunk"], "trial": one["trial"], "state": one["state"]}
        first.setdefault(one["error"], {"error": in_a_line(one["error"])} | where)
    return {ATTRIBUTE: json.dumps(list(first.values())[:MOST])} if sweep.call.counts else {}
