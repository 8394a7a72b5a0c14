"""Cells from points: each cell is checked, and its identity holds exactly what its law depends on.

Cells that share random numbers (`share`) have the name of their common stream in their law. The name is a function of
the mechanism and of the coordinates on all other axes. So it is part of their identity, and cells of a run without
`share` have other ids.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_sim.core import own_noises, registry
from tcdp_sim.core.errors import UserError, of_user, suggestion
from tcdp_sim.core.texts import show
from tcdp_sim.data.counts import Counts
from tcdp_sim.mechanisms import Mechanism, noise_axes
from tcdp_sim.mechanisms.axes import RHO, SIZES
from tcdp_sim.study.packed_cells import Cell, Cells, Packer
from tcdp_sim.study.points import derived

NO_COUNTS = np.zeros(0, np.int64)
NUMBER = (int, float)  # evaluating int | float for every cell would take longer


@dataclass(frozen=True)
class Plan:
    """The cells of a study and their data.

    Cells with different coordinates may have the same law, and then they have the same id: for example two data sets
    with equal counts.

    - cells: all cells in the order of the config.
    - counts: the occupied counts of the data sets by digest.
    - skipped: a line for each cell that was left out.
    - axes, noises: the axes of the cells and the names of the noises, in order of first appearance.
    - data: the data sets, by name, that the user supplied or that were not read in full.
    - unused: the axes that a point gives and no cell uses.
    - without_losses: a line for each reason why cells have no privacy loss, although the study asks for it.
    """

    cells: Cells
    counts: Mapping[str, Any]
    skipped: tuple[str, ...]
    axes: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    noises: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    without_losses: tuple[str, ...] = ()

    @cached_property
    def laws(self) -> Cells:
        """The cells to simulate: the first cell of each law."""
        return self.cells.distinct()


def plan(
    blocks: Mapping[str, Iterable[dict[str, Any]]],
    mechanism: type[Mechanism],
    options: Mapping[str, Any],
    load: Callable[[str, Any], Any],
    noises: Mapping[str, Any],
    invalid: str = "refuse",
    share: Sequence[str] = (),
    losses: bool = False,
) -> Plan:
    """Return the cells of all points, each checked. Equal cells are listed once, in order of first appearance.

    - blocks: the points of each block by the block's name, read one by one.
    - options: the mechanism's own settings.
    - load: a function (data name, k) that returns Counts.
    - noises: the spec (family, calibration) of each noise by name.
    - invalid: "refuse" raises UserError at the first point that violates a precondition; "skip" leaves it out and lists
      it.
    - share: the axes along which cells share one random stream.
    - losses: True if a run also draws privacy losses where they are known. The laws of these cells say so.
    """
    cells = Packer()
    counts: dict[str, Any] = {}
    described: dict[str, Any] = {}
    skipped: list[str] = []
    axes: dict[str, None] = {}
    named: dict[str, None] = {}
    without: dict[str, int] = {}
    given, read = dict[str, None](), set[str]()
    asked, made = _Seen(), _Seen()
    for where, point in ((where, point) for where, points in blocks.items() for point in points):
        _check_complete(point, mechanism, where)
        full = derived(point, where)
        if full.get("noise") is not None:
            full["noise"] = noises[_known_noise(full["noise"], noises, where)]
        used = _used(mechanism, full, where)
        given.update((axis, None) for axis, value in point.items() if value is not None)
        read.update(used)
        label = _label(point, used)
        if not asked.first(label):
            continue
        data = _loaded(load, point, where) if "data" in mechanism.axes else None
        try:
            cell, unknown = _cell(mechanism, full, options, data, dict(label), share, losses)
        except ValueError as reason:
            message = f"{' '.join(f'{axis}={show(v)}' for axis, v in label if v is not None)}: {reason}"
            if invalid != "skip":
                raise UserError(f"{_place(where)}cell {message}; invalid=skip leaves such cells out") from None
            skipped.append(message)
            continue
        _check_law(mechanism, cell)
        if made.first(cell.coords.items(), cell.id):
            cells.add(cell)
            if unknown:
                without[unknown] = without.get(unknown, 0) + 1
            follows = {RHO.name} if _follows(cell, dict(label)) else set()
            axes |= dict.fromkeys(axis for axis in cell.coords if axis not in follows)
            named |= dict.fromkeys([cell.coords["noise"]] if cell.coords.get("noise") else [])
        counts[cell.counts] = data.counts if data else NO_COUNTS
        if data and (data.own or data.left_out):
            described.setdefault(data.name, data)
    packed = cells.cells()
    if not packed:
        raise UserError(f"the sweep has no valid cell: {skipped[0] if skipped else 'no point meets its conditions'}")
    unused = tuple(axis for axis in given if axis not in read)
    lines = tuple(f"{number:,} of {len(packed):,} cells: {why}" for why, number in without.items())
    return Plan(packed, counts, tuple(skipped), tuple(axes), described, tuple(named), unused, lines)


def _follows(cell: Cell, label: Mapping[str, Any]) -> bool:
    """Return True if rho is no axis of a cell, because it follows from the parameter of the noise."""
    return label.get(RHO.name) is None and cell.coords.get(RHO.name) is not None


def _check_law(mechanism: type[Mechanism], cell: Cell) -> None:
    """Raise UserError if a law has another mechanism's name or no version. A worker needs both to build it."""
    name, version = cell.law.get("mechanism"), cell.law.get("version")
    if name == mechanism.name and isinstance(version, int):
        return
    said = f'its law says "mechanism": {name!r} and "version": {version!r}'
    raise UserError(
        f"mechanism {mechanism.name}: {said}; leave both keys out, or return cls.name and cls.version", "mechanism"
    )


class _Seen:
    """The labels seen so far, by their digests. A set of the labels themselves takes ten times the memory."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def first(self, label: Iterable[tuple[str, Any]], cell: str = "") -> bool:
        """Return True if a label comes for the first time with this cell's id. Equal numbers count as one."""
        text = repr([cell, *(one if type(one[1]) is str else _plain(*one) for one in label)])
        digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()
        known = len(self._digests)
        self._digests.add(digest)
        return len(self._digests) > known


def _plain(axis: str, value: Any) -> tuple[str, Any]:
    return axis, float(value) + 0.0 if isinstance(value, NUMBER) else value  # -0.0 + 0.0 is 0.0


def _place(where: str) -> str:
    """Return the start of a message about a further block; "" for the sweep."""
    return f"{where}: " if where.startswith("also.") else ""


def _loaded(load: Callable[[str, Any], Any], point: Mapping[str, Any], where: str) -> Counts:
    try:
        return load(point["data"], point["k"])
    except UserError as mistake:
        raise of_user(mistake, _place(where)) from None


def _known_noise(name: str, noises: Mapping[str, Any], where: str) -> str:
    if name not in noises:
        near = suggestion(name, noises)
        raise UserError(
            f"{where}.noise = {show(name)} is not known; valid: {', '.join(noises)}{near}", f"{where}.noise"
        )
    return name


def _used(mechanism: type[Mechanism], point: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the axes that the law of a point depends on. Raises UserError if it names a method that is not known."""
    try:
        return mechanism.uses(point)
    except ValueError as reason:
        raise of_user(reason, _place(where)) from None


def _label(point: Mapping[str, Any], used: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    return tuple((axis, value if axis in used else None) for axis, value in point.items())


def _cell(
    mechanism: type[Mechanism],
    point: dict[str, Any],
    options: Mapping[str, Any],
    data: Counts | None,
    label: dict[str, Any],
    share: Sequence[str],
    losses: bool,
) -> tuple[Cell, str]:
    """Return the cell of a point, and why it has no privacy loss; "" if it has one or need not have one."""
    size = {"k": data.k} if data else {}
    _refuse_lattices(mechanism, point, label)
    law = {"mechanism": mechanism.name, "version": mechanism.version} | mechanism.law(point | size, options, data)
    if foreign := _plug_ins(mechanism, point, label):
        law["plug_ins"] = foreign
    if losses:
        law["draws_losses"] = True
    own = _own_noise(point, label)
    if own:
        law[own_noises.LAW] = {own.family: own.source}
    law = json.loads(json.dumps(law))  # workers get the law through JSON, so the cell is checked with the same law
    built = mechanism.build(law, data.counts if data else NO_COUNTS)
    unknown = _unknown_loss(built) if losses else ""
    if unknown:
        del law["draws_losses"]
    if own:
        law |= json.loads(json.dumps(noise_axes.kept_for_readers(law, built.thresholds)))
    if share:
        law["stream"] = _stream(mechanism, label | size, share)
    named = {"data": data.name} if data and data.own and label.get("data") is not None else {}
    target = law.get("target", {})
    given = {RHO.name: target["rho"]} if target and noise_axes.is_given(law.get("noise")) else {}
    coords = label | named | size | {"omega": target.get("omega")} | given
    texts = (data.digest if data else "", str(built.guarantee), repr(getattr(built, "noise", None)))
    return Cell(cell_id(law), law, coords, *texts, float(built.work)), unknown


def _unknown_loss(mechanism: Mechanism) -> str:
    """Return the case and the reason if a mechanism draws no privacy loss, else ""."""
    case = mechanism.unknown_loss
    return f"{case}: {mechanism.reasons_without_losses()[case]}" if case else ""


def _refuse_lattices(mechanism: type[Mechanism], point: Mapping[str, Any], label: Mapping[str, Any]) -> None:
    """Raise ValueError if a discrete noise is chosen for a mechanism that must hide fractions."""
    lattice = label.get("noise") is not None and registry.noise(point["noise"]["family"]).is_discrete
    if lattice and not mechanism.blurs_counts(point):
        raise ValueError(
            f"sweep.noise = {label['noise']} is not valid for {mechanism.name}: it hides whole numbers alone, and what "
            "this mechanism blurs moves by fractions; valid: a noise with a density, such as sinh_normal_tight"
        )


def _plug_ins(mechanism: type[Mechanism], point: Mapping[str, Any], label: Mapping[str, Any]) -> dict[str, str]:
    """Return the version of each plug-in's distribution that the law uses. It is part of the cell's identity."""
    noise = [("noise", point["noise"]["family"])] if label.get("noise") is not None else []
    return registry.origins(("mechanism", mechanism.name), *noise)


def _own_noise(point: Mapping[str, Any], label: Mapping[str, Any]) -> own_noises.Own | None:
    """Return the user's own class that the law uses, None without one. Its source is part of the cell's identity."""
    return own_noises.find(point["noise"]["family"]) if label.get("noise") is not None else None


def _stream(mechanism: type[Mechanism], label: Mapping[str, float | str], share: Sequence[str]) -> str:
    """Return the name of the random stream that is common to cells which differ on the shared axes only."""
    fixed = {axis: value for axis, value in label.items() if axis not in share and value is not None}
    return cell_id({"share": sorted(share), "mechanism": mechanism.name, "version": mechanism.version, "point": fixed})


def cell_id(law: Mapping[str, Any]) -> str:
    """Return the sha256 of the canonical JSON of a law.

    The canonical JSON has sorted keys, whole floats as integers and other floats rounded to 12 significant digits.
    """
    return hashlib.sha256(canonical(law).encode()).hexdigest()


def canonical(law: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a law."""
    return _encoded(_canonical(law))


_encoded = json.JSONEncoder(sort_keys=True).encode  # json.dumps would make a new encoder for every law


def _canonical(value: Any) -> Any:
    kind = type(value)
    if kind is str:  # the most frequent types come first, for speed
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
        raise UserError(f"{where}: give omega or omega_sqrt_rho, not both; set the other to null", where)
    for axis in mechanism.required:
        if point.get(axis) is None and not (axis == RHO.name and any(point.get(s.name) is not None for s in SIZES)):
            raise UserError(f"{where}.{axis} is missing; give a value, a list or a range", f"{where}.{axis}")
