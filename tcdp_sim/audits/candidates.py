"""The scores to try on a pair of inputs, built from a pilot's outputs and from counts of their features."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcdp_sim.audits import features, joint, outputs
from tcdp_sim.audits.joint import Joint
from tcdp_sim.audits.sampling import Counted, Counts, Pair
from tcdp_sim.audits.scores import Additive, Atoms, Column, Score
from tcdp_sim.audits.tables import log_ratio, merged
from tcdp_sim.core.arrays import Floats, Ints

MOST_ATOMS = 1 << 16
COLUMNS_TRIED = 3  # the most informative columns are also tried as scores by themselves


@dataclass(frozen=True, eq=False)
class Pilot:
    """A small sample of outputs of both inputs.

    `names` has the words and the opposite of each column, for outputs that a reader has turned into columns.
    """

    pair: Pair
    outputs: tuple[Any, Any]
    names: tuple[tuple[str, str], ...] | None = None

    @property
    def matrices(self) -> tuple[Floats, Floats]:
        """The outputs of both inputs as floats of shape (trials, d)."""
        first, second = self.outputs
        return features.as_matrix(first), features.as_matrix(second)


@dataclass(frozen=True, eq=False)
class Features:
    """The columns to count before any score exists.

    These are all kinds of features, atoms where outputs are discrete, and joint cells of several numbers.
    """

    kinds: tuple[str, ...]
    edges: tuple[tuple[Floats, ...], ...]  # for each column of each kind
    atoms: tuple[Atoms, ...]
    joint: tuple[Joint, ...]

    def __call__(self, outputs: Any) -> Floats:
        x = features.as_matrix(outputs)
        columns = [features.KINDS[kind](x) for kind in self.kinds]
        return np.hstack([*columns, *(each.codes(outputs)[:, None].astype(np.float64) for each in self.coded)])

    @property
    def coded(self) -> tuple[Atoms | Joint, ...]:
        """The scores whose codes are counted: atoms, then joint cells."""
        return (*self.atoms, *self.joint)

    @property
    def counted(self) -> Counted:
        """The columns and edges that a worker counts."""
        edges = [edge for group in self.edges for edge in group]
        return Counted(self, (*edges, *(np.arange(1.0, each.ratios.size) for each in self.coded)))


def of_pilot(pilot: Pilot, bits: bool, rare: bool = False) -> Features:
    """Return the features of a pilot's outputs, with cells at its quantiles.

    Columns that may be pooled share their edges. `bits` adds the lowest bits of numbers. `rare` adds joint cells of
    several numbers, unless all outputs are counted one by one.
    """
    both = np.concatenate(pilot.matrices)
    kinds = ("value",) if pilot.names else features.kinds_of(both, bits)
    edges = tuple(_edges(kind, features.KINDS[kind](both)) for kind in kinds)
    atoms = tuple(_atoms(both, _classes(pilot, both.shape[1]), pilot))
    names = tuple(_named(pilot, "value", column)[0] for column in range(both.shape[1]))
    together = (joint.of_pilot(pilot.matrices, names),) if rare and len(names) > 1 and not atoms else ()
    return Features(kinds, edges, atoms, together)


def _edges(kind: str, columns: Floats) -> tuple[Floats, ...]:
    """Return the edges of each column, shared if the columns can be pooled."""
    if kind in ("value", "lowest bit") and columns.shape[1] > 1 and _alike(columns):
        return (features.cell_edges(columns.ravel()[: 10**6]),) * columns.shape[1]
    return tuple(features.cell_edges(column) for column in columns.T)


def _alike(columns: Floats) -> bool:
    """Return True if the columns have similar ranges, so that one set of edges serves all."""
    low, high = np.quantile(columns, [0.05, 0.95], axis=0, method="lower")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return False
    return bool(low.max() - low.min() <= 0.25 * (high.max() - low.min()))


def _classes(pilot: Pilot, columns: int) -> Ints | None:
    """Return the class of each entry; entries with equal values in both inputs share one.

    The result is None unless outputs have one number for each entry.
    """
    data, other = (_numbers(side) for side in (pilot.pair.data, pilot.pair.other))
    if pilot.names or data.size != columns or other.size != columns:
        return None
    _, classes = np.unique(np.stack([data, other]), axis=1, return_inverse=True)
    return np.ravel(classes)


def _numbers(data: Any) -> Floats:
    """Return the numbers of an input in one row, none if it is no array, list or tuple of numbers."""
    regular = isinstance(data, np.ndarray) or outputs.regular([data])
    row = np.ravel(np.asarray(data)) if regular else np.zeros(0)
    return row.astype(np.float64) if row.dtype.kind in "biuf" else np.zeros(0)


def _atoms(both: Floats, classes: Ints | None, pilot: Pilot) -> list[Atoms]:
    """Return atoms for all combinations of whole values, and for combinations of sums within classes."""
    if not np.isfinite(both).all() or (both != np.floor(both)).any():
        return []
    own = np.arange(both.shape[1])
    choices = [("output", own)]
    if classes is not None and len(np.unique(classes)) < len(own):
        choices.append(("sums of the outputs of entries that are alike", classes))
    found = []
    for words, groups in choices:
        sums = np.stack([both[:, groups == group].sum(axis=1) for group in np.unique(groups)])
        low, width = sums.min(axis=1), np.ptp(sums, axis=1) + 1
        if np.prod(width) <= MOST_ATOMS and np.abs(low).max() < 2**52:
            zeros = np.zeros(int(np.prod(width)))
            names = tuple(_named(pilot, "value", column) for column in own.tolist()) if groups is own else ()
            found.append(
                Atoms(groups, low.astype(np.int64), width.astype(np.int64), zeros, f"log ratio of {words}", names)
            )
    return found


def plain(pilot: Pilot) -> list[Score]:
    """Return scores that need no counts: the first numbers of an output, and their sum."""
    columns = pilot.matrices[0].shape[1]
    kinds = [("value", column) for column in range(min(columns, features.MOST_COLUMNS))]
    kinds += [("sum", 0)] if columns > 1 else []
    return [_column(pilot, kind, column) for kind, column in kinds if kind == "value" or not pilot.names]


def scores(pilot: Pilot, found: Features, counts: Counts) -> list[Score]:
    """Return the scores to try on a pair, given the counts of its features."""
    made: list[Score] = []
    first, second = counts.cells
    start, columns = 0, pilot.matrices[0].shape[1]
    singles: list[tuple[float, Column]] = []
    for kind, edges in zip(found.kinds, found.edges):
        own = slice(start, start + len(edges))
        start += len(edges)
        names = tuple(_named(pilot, kind, column) for column in range(len(edges)))
        made += _additive(kind, edges, first[own], second[own], _classes(pilot, columns), names)
        for column, (one, other) in enumerate(zip(first[own], second[own])):
            singles.append((_largest_log_ratio(one, other), _column(pilot, kind, column)))
    singles.sort(key=lambda item: -item[0])
    for atoms, one, other in zip(found.atoms, first[start:], second[start:]):
        made.append(Atoms(atoms.classes, atoms.low, atoms.width, log_ratio(one, other), atoms.words, atoms.names))
    start += len(found.atoms)
    for each, one, other in zip(found.joint, first[start:], second[start:]):
        cells = [np.reshape(side, each.ratios.shape) for side in (one, other)]
        made.append(replace(each, ratios=joint.fitted(*cells)))
    return made + [column for _, column in singles[:COLUMNS_TRIED]]


def _column(pilot: Pilot, kind: str, column: int) -> Column:
    """Return one column of a kind of features as a score."""
    return Column(kind, column, *_named(pilot, kind, column), clear=pilot.names is not None)


def _named(pilot: Pilot, kind: str, column: int) -> tuple[str, str]:
    """Return a column in words, with its opposite if it is a yes or no, else an empty text."""
    if pilot.names:
        return pilot.names[column]
    return features.named(kind, column, pilot.matrices[0].shape[1]), ""


def _additive(kind: str, edges, first, second, classes: Ints | None, names) -> list[Score]:
    """Return additive scores: separate steps for each column, steps shared within classes, steps shared by all."""
    columns = np.arange(len(edges))
    groupings = [("", columns)]
    poolable = len(edges) > 1 and all(edge is edges[0] for edge in edges)
    if poolable and classes is not None and 1 < len(np.unique(classes)) < len(edges):
        groupings.append((", alike for entries that are alike", classes))
    if poolable:
        groupings.append((", alike for all", np.zeros_like(columns)))
    made: list[Score] = []
    for words, groups in groupings:
        of_group = {g: _steps(edges, first, second, np.flatnonzero(groups == g)) for g in np.unique(groups).tolist()}
        steps = [of_group[group] for group in groups.tolist()]
        parts = f"sum of steps of each {kind}{words}" if len(edges) > 1 else f"step function of the {kind}"
        if any(len(edge) for edge, _ in steps):
            made.append(
                Additive(kind, tuple(edge for edge, _ in steps), tuple(step for _, step in steps), parts, names)
            )
    return made


def _steps(edges, first, second, members) -> tuple[Floats, Floats]:
    """Return the merged edges and the log ratios of the pooled columns `members`."""
    one, other = (sum(side[member] for member in members) for side in (first, second))
    fewer, counts = merged(edges[members[0]], one, other)
    return fewer, log_ratio(*counts)


def _largest_log_ratio(first: Ints, second: Ints) -> float:
    """Return the largest log ratio of tails, minus its error, over the thresholds of a column's cells.

    A column with a single cell has no threshold and gets -1.
    """
    best = 0.0 if len(first) > 1 else -1.0
    for one, other in ((first, second), (first[::-1], second[::-1])):
        a, b = np.cumsum(one)[:-1] + 0.5, np.cumsum(other)[:-1] + 0.5
        if len(a):
            best = max(best, float((np.abs(np.log(a / b)) - np.sqrt(1 / a + 1 / b)).max()))
    return best
