"""The key `target`: the decisions about means that end the simulation of a cell, and the comparisons that need them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import inf
from typing import Any

from tcdp_sim.core.errors import UserError, of_user, scalar, suggestion, whole
from tcdp_sim.study.packed_cells import Cell

FAILURE = 0.05  # the probability that any decision about a number is wrong
MOST_EVENTS = 10**9
EXAMPLES = "{across: method}, {across: method, within: 0.01}, {threshold: 0.5} or {events: 100}"
KEYS = {"across": ("across", "within", "failure"), "threshold": ("threshold", "failure"), "events": ("events",)}


@dataclass(frozen=True)
class Target:
    """What is to be decided about a number.

    - across: the axis whose values are compared in pairs, "" for none.
    - within: the difference that counts as none, 0 if every difference counts.
    - threshold: the number that means are compared with, None for none.
    - events: the number of times that an event has to happen, 0 for none.
    - failure: the probability that any of the decisions about the number is wrong.
    """

    number: str
    across: str = ""
    within: float = 0.0
    threshold: float | None = None
    events: int = 0
    failure: float = FAILURE


@dataclass(frozen=True)
class Comparison:
    """A comparison of two cells, or of one with a threshold or a number of events.

    - cells: the ids of the cells.
    - where: the coordinates that both have.
    - values: the values of the axis that the cells differ in.
    - shared: True if the cells have the same random numbers.
    - failure: the probability that the decision is wrong.
    """

    target: Target
    cells: tuple[str, ...]
    where: Mapping[str, Any]
    values: tuple[Any, ...] = ()
    shared: bool = False
    failure: float = FAILURE


def targets(given: Mapping[Any, Any] | None) -> tuple[Target, ...]:
    """Return the targets of a key. Raises UserError."""
    return tuple(_target(str(name), one) for name, one in (given or {}).items())


def _target(name: str, given: Any) -> Target:
    where = f"target.{name}"
    kinds = [kind for kind in KEYS if isinstance(given, Mapping) and kind in given]
    if len(kinds) != 1 or not set(given) <= set(KEYS[kinds[0]]):
        raise UserError(f"{where} = {given!r} is not valid; valid: {EXAMPLES}", where)
    try:
        if "events" in given:
            return Target(name, events=whole(f"{where}.events", given["events"], 1, MOST_EVENTS))
        failure = scalar(f"{where}.failure", given.get("failure", FAILURE), 0, 1)
        if "threshold" in given:
            return Target(name, threshold=scalar(f"{where}.threshold", given["threshold"], -inf), failure=failure)
        within = given.get("within")
        within = 0.0 if within is None else scalar(f"{where}.within", within, 0)
    except ValueError as mistake:
        raise of_user(mistake) from None
    if not isinstance(given["across"], str):
        raise UserError(f"{where}.across = {given['across']!r} is not valid; valid: the name of an axis", where)
    return Target(name, across=given["across"], within=within, failure=failure)


def check(every: Iterable[Target], axes: Sequence[str], events: Sequence[str]) -> None:
    """Raise UserError for an axis that is none, or for a number of events of a number that is no event."""
    for one in every:
        where = f"target.{one.number}"
        if one.across and one.across not in axes:
            valid = f"valid: {', '.join(axes)}{suggestion(one.across, axes)}"
            raise UserError(f"{where}.across = {one.across!r} is not an axis; {valid}", where)
        if one.events and one.number not in events:
            valid = f"valid: {', '.join(events)}" if events else "no trial has an event"
            raise UserError(f"{where}.events: {one.number} is not an event; {valid}", where)


def comparisons(cells: Iterable[Cell], every: Sequence[Target]) -> list[Comparison]:
    """Return all comparisons of a sweep, target by target. Raises UserError for a target without any."""
    listed = list(cells)
    found: list[Comparison] = []
    for target in every:
        if target.across:
            own = list(_pairs(listed, target))
        else:
            own = [Comparison(target, (cell.id,), _coordinates(cell)) for cell in listed]
        if not own:
            where = f"target.{target.number}"
            raise UserError(f"{where}: no two cells differ in {target.across} alone; give it several values", where)
        found += [replace(one, failure=target.failure / len(own)) for one in own]
    return found


def _pairs(cells: Sequence[Cell], target: Target) -> Iterator[Comparison]:
    """Yield the pairs of cells that differ in an axis, and agree in all others that both use."""
    axis = target.across
    own = [_coordinates(cell) for cell in cells]
    using: dict[tuple[str, ...], list[int]] = {}  # the places of the cells that use the same axes
    for place, coordinates in enumerate(own):
        if axis in coordinates:
            using.setdefault(tuple(coordinates), []).append(place)
    found: list[tuple[int, int]] = []
    for axes, others in combinations_with_replacement(using, 2):
        common = [one for one in axes if one in others and one != axis]
        at_point: dict[tuple[Any, ...], list[int]] = {}
        for place in using[others]:
            at_point.setdefault(tuple(own[place][one] for one in common), []).append(place)
        for place in using[axes]:
            partners = at_point.get(tuple(own[place][one] for one in common), ())
            found += [(min(pair), max(pair)) for pair in ((place, one) for one in partners)]
    order: dict[tuple[Any, ...], int] = {}  # of the points, so that the pairs of a point are listed together
    points = [order.setdefault(tuple(value for name, value in one.items() if name != axis), len(order)) for one in own]
    for i, j in sorted(set(found), key=lambda pair: (max(points[pair[0]], points[pair[1]]), pair)):
        values = own[i][axis], own[j][axis]
        if values[0] != values[1]:
            where = {name: value for name, value in (own[j] | own[i]).items() if name != axis}
            stream = cells[i].law.get("stream")
            shared = stream is not None and stream == cells[j].law.get("stream")
            yield Comparison(target, (cells[i].id, cells[j].id), where, values, shared)


def _coordinates(cell: Cell) -> dict[str, Any]:
    """Return the coordinates of a cell that follow from no others."""
    from tcdp_sim.mechanisms.axes import OMEGA, OMEGA_SQRT_RHO  # slow to import, and settings need it not

    follows = {OMEGA.name} if cell.coords.get(OMEGA_SQRT_RHO.name) is not None else set()
    return {axis: value for axis, value in cell.coords.items() if value is not None and axis not in follows}
