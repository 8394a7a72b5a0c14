"""The points of a sweep over a user's function: its blocks, the identities of its cells, and its plan.

A cell's id digests the function, so stored chunks belong to the function that made them. The random stream of a cell
is a function of its point alone. So a function gives the same numbers under any name, in any file, and in a notebook.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from json.encoder import encode_basestring_ascii
from typing import Any

from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.functions import NAME, UserFunction, law_of, point_text
from tcdp_sim.mechanisms.functions.failed_trials import Counting, counting
from tcdp_sim.study.cells import NO_COUNTS, Plan, canonical, cell_id
from tcdp_sim.study.packed_cells import Cell, Cells, Packer
from tcdp_sim.study.points import KEYWORDS, LOG10, Point, points
from tcdp_sim.study.settings import Settings

CELLS = "cells"  # attribute of a table whose points are listed one by one
_HERE = "@"  # stands for the text of a point or of a stream in the template of an id
_STREAM = {"mechanism": NAME, "version": UserFunction.version, "point": _HERE}  # the template of a stream


def blocks(sweep: Mapping[str, Any], also: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the blocks of a sweep by name; the blocks of `also` replace axes of the first one."""
    given = {name: block for name, block in also.items() if block is not None}
    first = {} if given and not sweep else {"sweep": sweep}
    return {**first, **{f"also.{name}": _over(sweep, block) for name, block in given.items()}}


def _over(base: Mapping[str, Any], own: Any) -> dict[str, Any]:
    if not isinstance(own, Mapping):
        raise UserError(f"also: {own!r} is not a block; valid: axes and their values, such as {{'n': 10}}")
    given = {key.removeprefix(LOG10) for key in own}
    return {key: value for key, value in base.items() if key.removeprefix(LOG10) not in given} | dict(own)


def axes_of(named: Iterable[Mapping[str, Any]], known: Sequence[str] | None = None) -> list[str]:
    """Return the axes that blocks give, in order of first appearance. `known` are those that the function takes."""
    keys: dict[str, None] = {}
    for block in named:
        keys |= dict.fromkeys(key for key in block if key not in KEYWORDS)
        cells = block.get("cells")
        listed = cells if isinstance(cells, list | tuple) else [cells]
        keys |= dict.fromkeys(key for cell in listed if isinstance(cell, Mapping) for key in cell)
    for key in keys:
        if not isinstance(key, str):
            raise UserError(f"{key!r} is not an axis; valid: the name of a parameter, such as 'n'")
    return list(dict.fromkeys(_axis(key, known) for key in keys))


def _axis(key: str, known: Sequence[str] | None) -> str:
    short = key.removeprefix(LOG10)
    return short if key != short and known is not None and key not in known and short in known else key


def points_of(
    named: Mapping[str, Mapping[str, Any]], axes: Sequence[str], defaults: Mapping[str, Any]
) -> Iterator[Point]:
    """Yield the points of blocks, each with all axes in order. Raises UserError if one lacks an axis.

    `defaults` has the values of axes where a block does not give them.
    """
    valid = {axis: Axis(axis, "axis of the function", kind="plain") for axis in axes}
    made = {where: points(block, valid, where) for where, block in named.items()}
    for where, of_block in made.items():
        for point in of_block:
            if len(point) < len(axes):
                point = {**defaults, **point}
            yield {axis: _given(point, axis, where) for axis in axes}


def _given(point: Point, axis: str, where: str) -> Any:
    try:
        return point[axis]
    except KeyError:
        raise UserError(f"{where}.{axis} is missing; give a value, a list or a range") from None


def distinct(every: Iterable[Point]) -> dict[str, Point]:
    """Return points by their texts, each once. Raises UserError if there is none."""
    first: dict[str, Point] = {}
    for point in every:
        first.setdefault(point_text(point), point)
    if not first:
        raise UserError("the sweep has no cell: no point meets its conditions")
    return first


def identities(
    function: Mapping[str, Any], every: Mapping[str, Point], share: Sequence[str]
) -> tuple[list[str], list[str | None]]:
    """Return the ids of the cells of points by text, and the names of their common streams (None without `share`).

    The ids are the same as by `study.cells.cell_id`, made from a template, because a sweep may have many cheap cells.
    """
    if not share:
        return list(_hashed(law_of(function, {}) | {"point": _HERE}, every)), [None] * len(every)
    fixed = [{axis: value for axis, value in point.items() if axis not in share} for point in every.values()]
    streams = list(_hashed({"share": sorted(share)} | _STREAM, map(point_text, fixed)))
    laws = (law_of(function, point) | {"stream": stream} for point, stream in zip(every.values(), streams))
    return [cell_id(law) for law in laws], [*streams]


def streams(texts: Iterable[str]) -> Iterator[str]:
    """Yield the names of the random streams of points, given by their texts."""
    return _hashed(_STREAM, texts)


def stream(law: Mapping[str, Any], cell: str) -> str:
    """Return the name of the random stream of a cell, given its law and its id.

    It is the name that the law states (`share`), or the name of the point of a user's function, or the cell's id. A
    cell with privacy losses has the stream of the cell without, so that its errors have the same bits.
    """
    if "stream" in law:
        return str(law["stream"])
    if law.get("draws_losses"):
        return cell_id({key: value for key, value in law.items() if key != "draws_losses"})
    return next(streams([law["point"]])) if law.get("mechanism") == NAME else cell


def _hashed(template: Mapping[str, Any], texts: Iterable[str]) -> Iterator[str]:
    """Yield `cell_id` of the template with each text as its point."""
    before, after = canonical(template).split(f'"{_HERE}"')
    start = hashlib.sha256(before.encode())
    ending = after.encode()
    for text in texts:
        found = start.copy()
        found.update(encode_basestring_ascii(text).encode())
        found.update(ending)
        yield found.hexdigest()


def points_of_settings(settings: Settings) -> list[Point]:
    """Return the points of a sweep's settings, each once. Raises UserError."""
    options, named = settings.options, blocks(settings.sweep, settings.also)
    return list(distinct(points_of(named, options["axes"], options["defaults"])).values())


def plan(settings: Settings) -> Plan:
    """Return the cells of a sweep's settings. No code is needed for that. Raises UserError."""
    options = settings.options
    named, axes, function = blocks(settings.sweep, settings.also), options["axes"], options["function"]
    every = distinct(points_of(named, axes, options["defaults"]))
    return Plan(cells(function, every, settings.share, coordinates(every, axes)), {"": NO_COUNTS}, (), tuple(axes))


def coordinates(every: Mapping[str, Point], axes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the coordinates that a table has for each point."""
    columns = [labels([point[axis] for point in every.values()]) for axis in axes]
    return (dict(zip(axes, each)) for each in zip(*columns)) if axes else repeat({})


def cells(
    function: Mapping[str, Any], every: Mapping[str, Point], share: Sequence[str], coords: Iterable[dict[str, Any]]
) -> Cells:
    """Return the cells of points, given by text, with the coordinates that a table has for them."""
    found = Packer()
    for point, cell, stream, own in zip(every.values(), *identities(function, every, share), coords):
        law = law_of(function, point) | ({"stream": stream} if stream else {})
        found.add(Cell(cell, law, own, "", "", "", 1.0))
    return found.cells()


def attributes(settings: Settings) -> dict[str, str]:
    """Return the snapshot attributes that describe the function of a sweep, and how failed trials are counted."""
    function = settings.options.get("function") if settings.mechanism["name"] == NAME else None
    if not function:
        return _counted(Counting(settings.redraw)) if settings.on_error == "count" else {}
    about = {key: settings.options[key] for key in ("ranges", "draws") if key in settings.options}
    texts = {key: json.dumps(value, sort_keys=True) for key, value in about.items()}
    listed = {CELLS: "true"} if lists_cells(blocks(settings.sweep, settings.also).values()) else {}
    how = counting(function)
    name = {"function": f"{function['module']}:{function['name']}"}
    return name | texts | listed | (_counted(how) if how else {})


def _counted(how: Counting) -> dict[str, str]:
    """Return the attributes that say that failed trials are counted, and how."""
    return {"on_error": "count"} | {key: str(value) for key, value in how.plain.items()}


def lists_cells(named: Iterable[Mapping[str, Any]]) -> bool:
    """Return True if a block lists its points one by one (`cells`)."""
    return any(block.get("cells") is not None for block in named)


def labels(values: Sequence[Any]) -> list[float | str]:
    """Return the values of an axis as a published table has them: numbers if all are numbers, else texts.

    Raises UserError if two different values have one label.
    """
    numeric = all(type(value) in (int, float) and float(value) == value for value in values)
    return [float(value) for value in values] if numeric else [label(value) for value in values]


def label(value: Any) -> str:
    """Return a value as text."""
    return value if isinstance(value, str) else repr(value)


def check_labels(axis: str, values: Sequence[Any]) -> None:
    """Raise UserError if two different values of an axis read the same, or are equal as 1 and True are."""
    numbers, flags = ({value for value in values if type(value) in kinds} for kinds in ((int, float), (bool,)))
    if both := numbers & flags:
        value = both.pop()
        raise UserError(
            f"axis {axis} has {int(value)} and {bool(value)}, which Python takes for equal; drop one of them"
        )
    seen: dict[str, Any] = {}
    kinds = set(map(type, values))
    for value in () if len(kinds) == 1 or kinds <= {int, float} else values:
        if json.dumps(seen.setdefault(label(value), value)) != json.dumps(value):
            raise UserError(f"axis {axis}: {value!r} and {seen[label(value)]!r} would have the same label")
