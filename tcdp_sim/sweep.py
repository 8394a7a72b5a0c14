"""Points -> cells: each with an identity that holds exactly what its law depends on, each checked before it runs."""

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_sim.axes import derived
from tcdp_sim.errors import UserError
from tcdp_sim.mechanisms import Mechanism


@dataclass(frozen=True)
class Cell:
    """One point of the sweep.

    id: sha256 of the canonical law; law: the plain description from which a worker builds the mechanism;
    coords: axis -> label, None where the law does not depend on the axis; counts: digest of its data; guarantee:
    the promise of its noise; work: rough random numbers a trial.
    """

    id: str
    law: Mapping[str, Any]
    coords: Mapping[str, Any]
    counts: str
    guarantee: str
    noise: str
    work: float


@dataclass(frozen=True)
class Plan:
    """All cells in the order of the config, the occupied counts they refer to by digest, and what was left out."""

    cells: tuple[Cell, ...]
    counts: Mapping[str, Any]
    skipped: tuple[str, ...]


def plan(
    blocks: Mapping[str, list[dict[str, Any]]],
    mechanism: type[Mechanism],
    options: Mapping[str, Any],
    load: Callable[[str, Any], Any],
    noises: Mapping[str, Any],
    invalid: str = "refuse",
) -> Plan:
    """Points -> cells, each validated; equal laws once, in order of first appearance.

    blocks: block name -> points; options: the mechanism's own settings; load(data name, k) -> Counts; noises:
    noise name -> its spec (family, calibration). invalid: "refuse" raises UserError at the first point outside a
    precondition, "skip" leaves such points out and lists them.
    """
    cells: dict[str, Cell] = {}
    counts: dict[str, Any] = {}
    skipped: list[str] = []
    seen = set()
    for point in itertools.chain.from_iterable(blocks.values()):
        _check_complete(point, mechanism)
        full = derived(point) | {"noise": noises[_known_noise(point["noise"], noises)]}
        label = _label(point, mechanism.uses(full))
        if label in seen:
            continue
        seen.add(label)
        data = load(point["data"], point["k"])
        try:
            cell = _cell(mechanism, full | {"k": data.bins}, options, data, dict(label))
        except ValueError as reason:
            message = f"{' '.join(f'{axis}={_show(v)}' for axis, v in label if v is not None)}: {reason}"
            if invalid != "skip":
                raise UserError(f"cell {message}; invalid=skip leaves such cells out") from None
            skipped.append(message)
            continue
        cells.setdefault(cell.id, cell)
        counts[data.digest] = data.counts
    if not cells:
        raise UserError(f"the sweep has no valid cell: {skipped[0] if skipped else 'no point meets its conditions'}")
    return Plan(tuple(cells.values()), counts, tuple(skipped))


def _known_noise(name, noises) -> str:
    if name not in noises:
        raise UserError(f"sweep.noise = {_show(name)} is not known; valid: {', '.join(noises)}")
    return name


def _label(point, used) -> tuple[tuple[str, Any], ...]:
    return tuple((axis, value if axis in used else None) for axis, value in point.items())


def _cell(mechanism, point, options, data, label) -> Cell:
    law = mechanism.law(point, options, data)
    built = mechanism.build(law, data.counts)
    coords = label | {"k": data.bins, "omega": law["target"].get("omega")}
    return Cell(cell_id(law), law, coords, data.digest, str(built.guarantee), repr(built.noise), built.work)


def cell_id(law: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON: sorted keys, whole floats as integers, floats to 12 significant digits."""
    return hashlib.sha256(json.dumps(_canonical(law), sort_keys=True).encode()).hexdigest()


def _canonical(value):
    if isinstance(value, Mapping):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value:.12g}"


def _check_complete(point, mechanism):
    if point.get("omega") is not None and point.get("omega_sqrt_rho") is not None:
        raise UserError("give omega or omega_sqrt_rho, not both; set the other to null")
    for axis in mechanism.required:
        if point.get(axis) is None:
            raise UserError(f"sweep.{axis} is missing; give a value, a list or a range")


def _show(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
