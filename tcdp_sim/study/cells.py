"""Points -> cells: each with an identity that holds exactly what its law depends on, each checked before it runs.

Cells that are to meet the same random numbers (`share`) bear the name of their common stream in their law: a function
of the mechanism and of the coordinates on all other axes. So it is part of their identity, and no other run of the
same cells can be mistaken for it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.data.counts import Counts
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.study.packed_cells import Cell, Cells, Packer, show
from tcdp_sim.study.points import derived

NO_COUNTS = np.zeros(0, np.int64)
NUMBER = (int, float)  # made once: int | float is made anew whenever it is met, and cells ask all the time


@dataclass(frozen=True)
class Plan:
    """All cells in the order of the config, the occupied counts they refer to by digest, and what was left out.

    axes: those that the cells have, and noises: the names of their noises, both in order of first appearance; data: the
    data sets of which there is something to tell, by name: users' own, and those not read in full.

    Cells with other coordinates may have one law, and then one id: two data sets with the same counts, say.
    """

    cells: Cells
    counts: Mapping[str, Any]
    skipped: tuple[str, ...]
    axes: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    noises: tuple[str, ...] = ()

    @cached_property
    def laws(self) -> Cells:
        """What is simulated: of the cells with one law the first."""
        return self.cells.distinct()


def plan(
    blocks: Mapping[str, Iterable[dict[str, Any]]],
    mechanism: type[Mechanism],
    options: Mapping[str, Any],
    load: Callable[[str, Any], Any],
    noises: Mapping[str, Any],
    invalid: str = "refuse",
    share: Sequence[str] = (),
) -> Plan:
    """Points -> cells, each validated; equal cells once, in order of first appearance.

    blocks: block name -> points, which are read one by one; options: the mechanism's own settings;
    load(data name, k) -> Counts; noises: noise name -> its spec (family, calibration). invalid: "refuse"
    raises UserError at the first point outside a precondition, "skip" leaves such points out and lists them; share:
    axes along which cells have one random stream.
    """
    cells = Packer()
    counts: dict[str, Any] = {}
    described: dict[str, Any] = {}
    skipped: list[str] = []
    axes: dict[str, None] = {}
    named: dict[str, None] = {}
    asked, made = _Seen(), _Seen()
    for where, point in ((where, point) for where, points in blocks.items() for point in points):
        _check_complete(point, mechanism, where)
        full = derived(point, where)
        if full.get("noise") is not None:
            full["noise"] = noises[_known_noise(full["noise"], noises, where)]
        label = _label(point, mechanism.uses(full))
        if not asked.first(label):
            continue
        data = _loaded(load, point, where) if "data" in mechanism.axes else None
        try:
            cell = _cell(mechanism, full, options, data, dict(label), share)
        except ValueError as reason:
            message = f"{' '.join(f'{axis}={show(v)}' for axis, v in label if v is not None)}: {reason}"
            if invalid != "skip":
                raise UserError(f"{_place(where)}cell {message}; invalid=skip leaves such cells out") from None
            skipped.append(message)
            continue
        _check_law(mechanism, cell)
        if made.first(cell.coords.items(), cell.id):
            cells.add(cell)
            axes |= dict.fromkeys(cell.coords)
            named |= dict.fromkeys([cell.coords["noise"]] if cell.coords.get("noise") else [])
        counts[cell.counts] = data.counts if data else NO_COUNTS
        if data and (data.own or data.left_out):
            described.setdefault(data.name, data)
    packed = cells.cells()
    if not packed:
        raise UserError(f"the sweep has no valid cell: {skipped[0] if skipped else 'no point meets its conditions'}")
    return Plan(packed, counts, tuple(skipped), tuple(axes), described, tuple(named))


def _check_law(mechanism: type[Mechanism], cell: Cell) -> None:
    """Raise UserError for a law that does not say whose it is: no worker could build it, and no change would show."""
    name, version = cell.law.get("mechanism"), cell.law.get("version")
    if name == mechanism.name and isinstance(version, int):
        return
    said = f'its law says "mechanism": {name!r} and "version": {version!r}'
    raise UserError(f"mechanism {mechanism.name}: {said}; `law` has to return both keys, with cls.name and cls.version")


class _Seen:
    """Which labels there have been, by their digests: a set of the labels themselves takes ten times as much."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def first(self, label: Iterable[tuple[str, Any]], cell: str = "") -> bool:
        """Whether this is the first time that it comes, for a cell of this id; equal numbers are one."""
        text = repr([cell, *(one if type(one[1]) is str else _plain(*one) for one in label)])
        digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()
        known = len(self._digests)
        self._digests.add(digest)
        return len(self._digests) > known


def _plain(axis: str, value: Any) -> tuple[str, Any]:
    return axis, float(value) + 0.0 if isinstance(value, NUMBER) else value  # -0.0 + 0.0 is 0.0


def _place(where: str) -> str:
    """The start of a message about a further block; the sweep itself needs no mention."""
    return f"{where}: " if where.startswith("also.") else ""


def _loaded(load: Callable[[str, Any], Any], point: Mapping[str, Any], where: str) -> Counts:
    try:
        return load(point["data"], point["k"])
    except UserError as mistake:
        raise UserError(f"{_place(where)}{mistake}") from None


def _known_noise(name: str, noises: Mapping[str, Any], where: str) -> str:
    if name not in noises:
        near = suggestion(name, noises)
        raise UserError(f"{where}.noise = {show(name)} is not known; valid: {', '.join(noises)}{near}")
    return name


def _label(point: Mapping[str, Any], used: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    return tuple((axis, value if axis in used else None) for axis, value in point.items())


def _cell(
    mechanism: type[Mechanism],
    point: dict[str, Any],
    options: Mapping[str, Any],
    data: Counts | None,
    label: dict[str, Any],
    share: Sequence[str],
) -> Cell:
    size = {"k": data.bins} if data else {}
    _refuse_lattices(mechanism, point, label)
    law = mechanism.law(point | size, options, data)
    if foreign := _plug_ins(mechanism, point, label):
        law["plug_ins"] = foreign
    law = json.loads(json.dumps(law))  # as workers get it: what JSON changes, it changes here too
    built = mechanism.build(law, data.counts if data else NO_COUNTS)
    if share:
        law["stream"] = _stream(mechanism, label | size, share)
    named = {"data": data.name} if data and data.own and label.get("data") is not None else {}
    coords = label | named | size | {"omega": law.get("target", {}).get("omega")}
    texts = (data.digest if data else "", str(built.guarantee), repr(getattr(built, "noise", None)))
    return Cell(cell_id(law), law, coords, *texts, float(built.work))


def _refuse_lattices(mechanism: type[Mechanism], point: Mapping[str, Any], label: Mapping[str, Any]) -> None:
    """ValueError where noise that hides whole numbers alone is asked for and something else is to be hidden."""
    lattice = label.get("noise") is not None and registry.noise(point["noise"]["family"]).is_discrete
    if lattice and not mechanism.blurs_counts(point):
        raise ValueError(
            f"sweep.noise = {label['noise']} is not valid for {mechanism.name}: it hides whole numbers alone, and what "
            "this mechanism blurs moves by fractions; valid: a noise with a density, such as sinh_normal_tight"
        )


def _plug_ins(mechanism: type[Mechanism], point: Mapping[str, Any], label: Mapping[str, Any]) -> dict[str, str]:
    """Distribution -> version of what the law uses that is not of this package: part of the cell's identity."""
    noise = [("noise", point["noise"]["family"])] if label.get("noise") is not None else []
    return registry.origins(("mechanism", mechanism.name), *noise)


def _stream(mechanism: type[Mechanism], label: Mapping[str, float | str], share: Sequence[str]) -> str:
    """The name of the random stream that cells have in common which differ on the shared axes only."""
    fixed = {axis: value for axis, value in label.items() if axis not in share and value is not None}
    return cell_id({"share": sorted(share), "mechanism": mechanism.name, "version": mechanism.version, "point": fixed})


def cell_id(law: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON: sorted keys, whole floats as integers, floats to 12 significant digits."""
    return hashlib.sha256(_encoded(_canonical(law)).encode()).hexdigest()


_encoded = json.JSONEncoder(sort_keys=True).encode  # made once: json.dumps makes it anew for every law


def _canonical(value: Any) -> Any:
    kind = type(value)
    if kind is str:  # the frequent kinds first: each cell has a dozen values
        return value
    if kind is float:
        return f"{value:.12g}"
    if kind is dict or isinstance(value, Mapping):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, NUMBER):
        return value
    return f"{value:.12g}"


def _check_complete(point: Mapping[str, Any], mechanism: type[Mechanism], where: str) -> None:
    if point.get("omega") is not None and point.get("omega_sqrt_rho") is not None:
        raise UserError(f"{_place(where)}give omega or omega_sqrt_rho, not both; set the other to null")
    for axis in mechanism.required:
        if point.get(axis) is None:
            raise UserError(f"{where}.{axis} is missing; give a value, a list or a range")
