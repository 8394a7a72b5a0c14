"""The exact values and bounds of a kept sweep: computed by its functions, or read from what it has published."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.mechanisms import UserFunction
from tcdp_sim.results import open_cells
from tcdp_sim.results import sweeps as results
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.study.study import Study
from tcdp_sim.sweeps import exact
from tcdp_sim.sweeps.arguments import Sweep

SAME = 1e-9  # relative difference of the exact values of two machines, at most
Values = dict[str, dict[str, float]]  # column -> text of a point -> value


@dataclass(frozen=True)
class OfPoints(ExactValues):
    """Exact values of a sweep, computed before the run and looked up by the point of a mechanism."""

    digest: str = ""

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


def of_sweep(sweep: Sweep) -> ExactValues:
    """Return the exact values and bounds that the functions of a sweep give."""
    found = exact.columns_of(sweep, list(sweep.points.values()))
    return _of_columns({name: dict(zip(sweep.points, values.tolist())) for name, (_, values, _) in found.items()})


def of_folders(study: Study, folders: Sequence[Path], tell: Tell) -> ExactValues:
    """Return the exact values and bounds that these folders have published for the cells of a study.

    There are none for studies of other mechanisms than a user's function. Raises UserError if two folders have
    different values at a cell.
    """
    if not issubclass(study.mechanism, UserFunction):
        return NO_EXACT_VALUES
    found: Values = {}
    for folder in folders:
        for column, values in _published(study, folder, tell).items():
            known = found.setdefault(column, {})
            _check_same(column, known, values, folders)
            found[column] = values | known
    texts = [str(cell.law["point"]) for cell in study.plan.laws]
    return _of_columns({name: {text: values.get(text, np.nan) for text in texts} for name, values in found.items()})


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
    for text in ours.keys() & theirs.keys():
        if not np.isclose(ours[text], theirs[text], rtol=SAME, atol=0):
            raise UserError(
                f"{' and '.join(map(str, folders))} differ in {column} at {text}: {ours[text]!r} and {theirs[text]!r}; "
                "run one of the sweeps again with the right exact values"
            )


def _of_columns(found: Values) -> ExactValues:
    """Return the values of columns, ordered by name, so that their digest does not depend on where they come from."""
    kinds: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    digest = hashlib.blake2b(digest_size=16)
    for column, values in sorted(found.items()):
        quantity, kind = exact.kind_of(column)
        kinds[kind][quantity] = _Known(values)
        digest.update(f"{column}\0".encode() + np.array(list(values.values()), "<f8").tobytes())
    return OfPoints(*kinds, digest=digest.hexdigest() if found else "")
