"""The accounting of lists of releases, tried out by simulation."""

from types import MappingProxyType
from typing import Any

from tcdp_sim.core.axes import declared
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.base import EVERY, Law, Mechanism, Options, Point
from tcdp_sim.mechanisms.ledger.analyst import AdaptiveAnalyst
from tcdp_sim.mechanisms.ledger.composed import ComposedLoss

MODES: dict[str, type[Mechanism]] = {
    "list": ComposedLoss,
    "analyst": AdaptiveAnalyst,
}  # the axis that tells what a point simulates


class Ledger(Mechanism):
    """The privacy loss of a list of releases, or an adaptive analyst under a filter.

    A point with `list` simulates the composed loss of a list that is fixed in advance (`ComposedLoss`). One with
    `analyst` simulates an analyst who chooses releases by earlier answers (`AdaptiveAnalyst`), whatever its list.
    """

    name = "ledger"
    unknown_losses = MappingProxyType(
        {EVERY: "The trials are functions of the composed privacy loss already, which the mechanism simulates."}
    )
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
        return MODES["analyst" if "analyst" in law else "list"].build(law, counts)


def _mode(point: Point) -> type[Mechanism]:
    """Return the mode of a sweep point: an analyst if it gives one, else a list. Raises UserError for neither."""
    for axis in ("analyst", "list"):
        if point.get(axis) is not None:
            return MODES[axis]
    raise UserError("a point gives neither a list nor an analyst; valid: sweep.list=... or sweep.analyst=...")
