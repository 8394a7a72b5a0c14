"""Trials of a sweep that the driver draws for workers to repeat: of points that show each value of each axis."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.engine.carried import Carried, Shown
from tcdp_sim.sweeps import pilot
from tcdp_sim.sweeps.arguments import Sweep

T = TypeVar("T")
SECONDS = 0.1  # of drawing; at least one point is shown
MOST = 1000  # points


def carried(sweep: Sweep) -> Carried:
    """Return a sweep's function for any process, with the trials that a worker must repeat."""
    alone = sweep.cluster.get("name") == "serial"
    return Carried(sweep.options, sweep.call, () if alone else tuple(_drawn(sweep)))


def _drawn(sweep: Sweep) -> Iterator[Shown]:
    end = time.monotonic() + SECONDS
    for point in covering(sweep.points.values(), dict):
        try:
            yield Shown(point, sweep.seed, pilot.STREAM, pilot.drawn(sweep, point))
        except (UserError, Failure):  # the simulation itself tells of it
            continue
        if time.monotonic() > end:
            return


def covering(things: Iterable[T], point_of: Callable[[T], Mapping[str, Any]]) -> Iterator[T]:
    """Yield at most MOST things, each at a point with a value of an axis that none before it has."""
    seen: set[tuple[str, str]] = set()
    count = 0
    for thing in things:
        values = {(axis, repr(value)) for axis, value in point_of(thing).items()}
        if not (values <= seen and count) and count < MOST:
            seen |= values
            count += 1
            yield thing
