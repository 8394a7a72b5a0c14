"""What the accounting of lists of releases says, tried out by simulation."""

from types import MappingProxyType
from typing import Any

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.base import Law, Mechanism, Options, Point
from tcdp_sim.mechanisms.ledger.composed import ComposedLoss

MODES: dict[str, type[Mechanism]] = {"list": ComposedLoss}  # the axis that tells what a point simulates


class Ledger(Mechanism):
    """The privacy loss of a list of releases.

    A point with `list` simulates the composed loss of a list that is fixed in advance (`ComposedLoss`).

    Examples
    --------
    >>> sorted(MODES)
    ['list']
    """

    name = "ledger"
    version = 1
    axes = declared(*(axis for mode in MODES.values() for axis in mode.axes.values()))
    required = ()
    options = ("lists",)
    neighbours = ComposedLoss.neighbours
    observables = MappingProxyType({name: about for mode in MODES.values() for name, about in mode.observables.items()})
    events = MappingProxyType({})

    @classmethod
    def uses(cls, point: Point) -> tuple[str, ...]:
        return _mode(point).uses(point)

    @classmethod
    def law(cls, point: Point, options: Options, counts: Any) -> dict[str, Any]:
        return _mode(point).law(point, options, counts)

    @classmethod
    def build(cls, law: Law, counts: Any) -> Mechanism:  # type: ignore[override]  # the result has the mode's class
        return MODES["list"].build(law, counts)


def _mode(point: Point) -> type[Mechanism]:
    """Return what a sweep point simulates. Raises UserError unless it is one thing."""
    given = [axis for axis in MODES if point.get(axis) is not None]
    if len(given) != 1:
        raise UserError(f"a point gives {' and '.join(given) or 'nothing'}; valid: one of {', '.join(MODES)}")
    return MODES[given[0]]
