"""The exact values and bounds that a sweep's folder has, for commands without its functions, which are code.

Parts that other functions gave the values of one column are an error: no clock decides which of them counts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms import Mechanism, UserFunction
from tcdp_sim.store.exact_records import ID, functions_of, records
from tcdp_sim.store.exact_values import ExactValues, of_sweep
from tcdp_sim.study.parts import labelled
from tcdp_sim.study.study import Study

SAME = 1e-9  # relative difference of the exact values of two machines, at most


@dataclass
class Column:
    """The values of a column by cell, their function, and the parts that computed them."""

    function: Mapping[str, Any]
    values: dict[str, float] = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        about = self.function
        where = f"part {' and '.join(sorted(self.parts))}" if self.parts else "the whole sweep"
        return f"{about['key']}={about['word']} ({str(about['source'])[:8]}) of {where}"


def stored(run: Path) -> dict[str, Column]:
    """Return the columns that a folder has. Raises UserError for different functions of one. Damage counts as missing.

    Values of parts come before those of a whole sweep with another function.
    """
    found: dict[str, dict[str, Column]] = {}
    own: list[Column] = []
    for path, _, head, record in records(run):
        if head and record == head:
            kind, number, count = labelled(path.name)
            own = [_of(found.setdefault(name, {}), function) for name, function in functions_of(head).items()]
            for column in own:
                column.parts |= {f"{number}/{count}"} if kind else set()
        elif head and record and len(record) == ID + 8 * len(own):
            for column, value in zip(own, np.frombuffer(record, "<f8", offset=ID).tolist()):
                column.values[record[1:ID].hex()] = value
    return {name: _only(run, list(each.values())) for name, each in found.items()}


def _of(columns: dict[str, Column], function: Mapping[str, Any]) -> Column:
    """Return the column of a function."""
    return columns.setdefault(json.dumps(function, sort_keys=True), Column(function))


def _only(run: Path, found: Sequence[Column]) -> Column:
    """Return the column of the one function that counts. Raises UserError."""
    found = [column for column in found if column.parts] or found
    if len(found) > 1:
        raise UserError(f"{run} has exact values of different functions: {'; '.join(map(str, found))}")
    return found[0]


def words(run: Path) -> list[str]:
    """Return the words of a command line that name the functions of a folder's values."""
    return sorted(f"{column.function['key']}={column.function['word']}" for column in stored(run).values())


def of_folders(study: Study, folders: Sequence[Path]) -> ExactValues:
    """Return the exact values and bounds that these folders have for the cells of a sweep; none for other studies.

    Cells without a value have NaN. Raises UserError if two folders have different values at a cell.
    """
    found: dict[str, Column] = {}
    for folder in folders if issubclass(study.mechanism, UserFunction) else ():
        for name, column in stored(folder).items():
            before = found.setdefault(name, column)
            _check_same(study, name, before, column, folders)
            before.values = column.values | before.values
    return _of_columns(study, found)


def _of_columns(study: Study, found: Mapping[str, Column]) -> ExactValues:
    """Return columns as values, with rows for the cells of a study."""
    values = of_sweep({name: (column.function, _of_no_code) for name, column in found.items()})
    own = [found[name].values for name in values.functions]
    cells = list(study.plan.laws.ids())
    rows = {cell: np.array([each.get(cell, np.nan) for each in own], "<f8").tobytes() for cell in cells}
    unknown = tuple(cell for cell in cells if any(cell not in each for each in own))
    return replace(values, rows=rows, unknown=unknown) if own else values


def _of_no_code(mechanism: Mechanism) -> float:
    """Stand for a function whose code is not here."""
    return np.nan


def _check_same(study: Study, name: str, ours: Column, theirs: Column, folders: Sequence[Path]) -> None:
    """Raise UserError if two folders differ at a cell of a study by more than machines do."""
    both = [cell for cell in study.plan.laws if cell.id in ours.values and cell.id in theirs.values]
    one, two = (np.array([column.values[cell.id] for cell in both]) for column in (ours, theirs))
    different = np.flatnonzero(~np.isclose(one, two, SAME, 0, equal_nan=True))
    if len(different):
        at = int(different[0])
        raise UserError(
            f"{' and '.join(map(str, folders))} differ in {name} at {both[at].law['point']}: {one[at]!r} and "
            f"{two[at]!r}; run one of the sweeps again with the right exact values"
        )
