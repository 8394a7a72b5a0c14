"""What the last interrupted sweep in memory has simulated. The same call in the same process goes on from there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tcdp_sim.engine.until_precise import Chunks
from tcdp_sim.study.points import Point
from tcdp_sim.summaries.problems import Problem
from tcdp_sim.sweeps.arguments import Sweep

_kept: "dict[str, Started]" = {}  # one at most


@dataclass
class Started:
    """The chunks of a sweep, and its blocks of small cells by their first point: their number and columns.

    `trials` has the failed trials that chunks have noted, and `points` the points of their cells by id.
    """

    chunks: Chunks = field(default_factory=Chunks)
    blocks: dict[str, tuple[int, Any]] = field(default_factory=dict)
    trials: list[Problem] = field(default_factory=list)
    points: dict[str, Point] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """The number of cells that have all their trials."""
        return self.chunks.whole + sum(count for count, _ in self.blocks.values())


@contextmanager
def going_on(sweep: Sweep) -> Iterator[Started]:
    """Give what an earlier call of the sweep has, and keep what there is if this one is interrupted too."""
    key = _key(sweep)
    started = _kept.pop(key, None) or Started()
    _kept.clear()
    try:
        yield started
    except KeyboardInterrupt as stop:
        where = f"{stop}; " if str(stop) else ""
        if sweep.function["source"] is None:
            raise
        _kept[key] = started
        there = f"{started.cells} of {len(sweep.points)} cells are finished and kept in this process"
        raise KeyboardInterrupt(f"{where}{there}; the same call goes on from there") from stop


def _key(sweep: Sweep) -> str:
    """Return what the numbers depend on besides the points."""
    s = sweep.settings
    most = s.max_trials if s.target_mcse or s.target else None
    return json.dumps([sweep.options, s.seed, s.trials, s.chunk, s.share, s.target_mcse, s.target, most], default=str)
