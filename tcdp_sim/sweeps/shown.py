"""Trials of a sweep that the driver draws for others to repeat: of points that show each value of each axis."""

import time
from collections.abc import Iterable, Iterator

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.streams import generators
from tcdp_sim.engine.shown import Shown
from tcdp_sim.engine.user_function_task import Carried
from tcdp_sim.study.points import Point
from tcdp_sim.sweeps import pilot
from tcdp_sim.sweeps.arguments import Sweep

SECONDS = 0.1  # of drawing; at least one point is shown
MOST, ENOUGH = 1000, 300  # points


def carried(sweep: Sweep) -> Carried:
    """Return a sweep's function for any process, with the trials that whoever computes for it must repeat."""
    return Carried(sweep.options, sweep.call, tuple(_drawn(sweep)))


def _drawn(sweep: Sweep) -> Iterator[Shown]:
    end, seed, points = time.monotonic() + SECONDS, sweep.settings.seed, _first(sweep.points.values())
    for point, rng in zip(points, generators(seed, [pilot.STREAM] * len(points), 0)):
        try:
            yield Shown(point, seed, pilot.STREAM, pilot.drawn(sweep, point, rng))
        except (UserError, Failure):  # the simulation itself tells of it
            continue
        if time.monotonic() > end:
            return


def _first(points: Iterable[Point]) -> list[Point]:
    """Return points that show each value of each axis, MOST at most, then others while there are fewer than ENOUGH."""
    seen: set[tuple[str, str]] = set()
    new: list[Point] = []
    others: list[Point] = []
    for point in points:
        values = {(axis, repr(value)) for axis, value in point.items()}
        (others if values <= seen and new else new).append(point)
        seen |= values
        if len(new) == MOST:
            break
    return new + others[: max(0, ENOUGH - len(new))]
