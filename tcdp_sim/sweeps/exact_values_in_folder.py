"""The exact values and bounds of a kept sweep: computed by its functions, or read from its folder."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.mechanisms import UserFunction
from tcdp_sim.results import open_cells
from tcdp_sim.results import sweeps as results
from tcdp_sim.store import columns, part_values
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.study import Study
from tcdp_sim.sweeps import exact, exact_values_of_parts
from tcdp_sim.sweeps.arguments import Sweep

SAME = 1e-9  # relative difference of the exact values of two machines, at most
Values = dict[str, dict[str, float]]  # column -> text of a point -> value


@dataclass(frozen=True)
class OfPoints(ExactValues):
    """Exact values of a sweep, computed before the run and looked up by the point of a mechanism.

    `unknown` has the ids of the cells whose values no part has stored; they are NaN.
    """

    digest: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """A digest of the values themselves, since their functions may have no identity."""
        return self.digest

    @property
    def modules(self) -> list[str]:
        """No module defines the values."""
        return []


@dataclass(frozen=True, eq=False)
class _Known:
    """The values of one quantity by the text of the point."""

    values: Mapping[str, float]

    def __call__(self, mechanism: Any) -> float:
        return self.values.get(exact.point_text(mechanism.point), np.nan)


@dataclass(frozen=True, eq=False)
class _Called:
    """A function of the axes as a function of a mechanism."""

    known: exact.Known

    def __call__(self, mechanism: Any) -> float:
        return exact.value(self.known, mechanism.point)


def of_sweep(sweep: Sweep, study: Study) -> ExactValues:
    """Return the exact values and bounds that the functions of a sweep give."""
    return _of_columns(exact_values_of_parts.of_whole(sweep, study))


def of_functions(sweep: Sweep) -> ExactValues:
    """Return the exact values and bounds of a sweep as functions, of which a forecast calls a few."""
    kinds: dict[str, dict[str, Any]] = {"exact": {}, "bound": {}}
    for one in exact.functions(sweep):
        kinds[one.key][exact.quantity(sweep, one.name)] = _Called(one)
    return OfPoints(kinds["exact"], kinds["bound"], digest="called")


def of_folders(study: Study, folders: Sequence[Path], tell: Tell) -> OfPoints:
    """Return the exact values and bounds that these folders have for the cells of a study: published, or from parts.

    There are none for studies of other mechanisms than a user's function. Raises UserError if two folders have
    different values at a cell.
    """
    if not issubclass(study.mechanism, UserFunction):
        return OfPoints()
    cells = {str(cell.law["point"]): cell.id for cell in study.plan.laws}
    found: Values = {}
    asked: set[str] = set()
    for folder in folders:
        stored = part_values.stored(folder)
        asked |= set(stored.columns if stored else ())
        for column, values in _of_folder(study, folder, stored, cells, tell).items():
            known = found.setdefault(column, {})
            _check_same(column, known, values, folders)
            found[column] = values | known
    unknown = tuple(cell for text, cell in cells.items() if any(text not in found[column] for column in asked))
    whole = {name: {text: values.get(text, np.nan) for text in cells} for name, values in found.items()}
    return replace(_of_columns(whole), unknown=unknown)


def _of_folder(
    study: Study, folder: Path, stored: part_values.Values | None, cells: Mapping[str, str], tell: Tell
) -> Values:
    """Return the values that the newest functions computed in a folder, completed by published values."""
    found = _published(study, folder, tell)
    rows = stored.rows if stored else {}
    for at, column in enumerate(stored.columns if stored else ()):
        own = {text: float(rows[cell][at]) for text, cell in cells.items() if cell in rows}
        before = found.get(column, {})
        if _differing(own, before):
            tell(f"{column}: the published values in {folder} are of another function than those of the parts")
            before = {}
        found[column] = before | own
    return found


def _published(study: Study, folder: Path, tell: Tell) -> Values:
    """Return the published exact values and bounds of the cells of a study."""
    if not (folder / "results.zarr").exists():
        return {}
    try:
        flat = open_cells(folder, compute_later=False)
        flat = flat.drop_vars([name for name in flat.data_vars if not _is_known(study, str(name))]).load()
    except UserError as problem:
        tell(f"the exact values in {folder} are left out: {problem}")
        return {}
    rows = [row for row, cell in enumerate(flat["id"].values) if study.plan.laws.place(str(cell)) is not None]
    points = results.points_of(flat.isel(cell=rows))
    texts = [exact.point_text(point) for point in points]
    known = {str(name): dict(zip(texts, flat[name].values[rows].tolist())) for name in flat.data_vars}
    return {name: {text: value for text, value in each.items() if value == value} for name, each in known.items()}


def _is_known(study: Study, column: str) -> bool:
    """Return True if a column has exact values or bounds of what the function yields."""
    names = [columns.mean(name) for name in study.mechanism.observables] + list(study.mechanism.events)
    return column.endswith((columns.EXACT, columns.BOUND)) and exact.kind_of(column)[0] in names


def _check_same(column: str, ours: Mapping[str, float], theirs: Mapping[str, float], folders: Sequence[Path]) -> None:
    if text := _differing(ours, theirs):
        raise UserError(
            f"{' and '.join(map(str, folders))} differ in {column} at {text}: {ours[text]!r} and {theirs[text]!r}; "
            "run one of the sweeps again with the right exact values"
        )


def _differing(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    """Return the first point at which two columns differ by more than machines do, "" without any."""
    both = sorted(ours.keys() & theirs.keys())
    same = np.isclose([ours[text] for text in both], [theirs[text] for text in both], SAME, 0, equal_nan=True)
    return next((text for text, alike in zip(both, same) if not alike), "")


def _of_columns(found: Mapping[str, Mapping[str, float]]) -> OfPoints:
    """Return the values of columns, ordered by name and point, so that their digest shows no other origin."""
    kinds: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    digest = hashlib.blake2b(digest_size=16)
    for column, values in sorted(found.items()):
        quantity, kind = exact.kind_of(column)
        kinds[kind][quantity] = _Known(values)
        digest.update(f"{column}\0".encode() + np.array([values[text] for text in sorted(values)], "<f8").tobytes())
    return OfPoints(*kinds, digest=digest.hexdigest() if found else "")
