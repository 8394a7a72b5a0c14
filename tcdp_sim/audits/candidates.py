"""The scores that are tried on a pair of inputs, made of a pilot's outputs and of counts of its features."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.audits.sampling import Counted, Counts, Pair
from tcdp_sim.audits.scores import Additive, Atoms, Column, OfTexts, Score
from tcdp_sim.audits.tables import log_ratio, merged
from tcdp_sim.core.arrays import Floats, Ints

MOST_ATOMS = 1 << 16
COLUMNS_TRIED = 3  # of those that tell most by themselves


@dataclass(frozen=True, eq=False)
class Pilot:
    """Outputs of both inputs as they came, and as numbers of shape (trials, d)."""

    pair: Pair
    outputs: tuple[Any, Any]

    @property
    def matrices(self) -> tuple[Floats, Floats]:
        """Both as numbers."""
        first, second = self.outputs
        return features.as_matrix(first), features.as_matrix(second)

    def of_texts(self, counted: Counted) -> Counted:
        """What is counted, of texts as long as the pilot's."""
        dtype = self.outputs[0].dtype
        return replace(counted, columns=OfTexts(counted.columns, dtype.str)) if dtype.kind in "US" else counted

    def scores_of_texts(self, made: list[Score]) -> list[Score]:
        """The scores, of texts as long as the pilot's."""
        dtype = self.outputs[0].dtype
        return [OfTexts(each, dtype.str, each.words) for each in made] if dtype.kind in "US" else made


def alike(first: Any, second: Any) -> tuple[Any, Any]:
    """Outputs of both inputs; texts as long as the longest."""
    if first.dtype.kind not in "US":
        return first, second
    dtype = np.result_type(first, second)
    return first.astype(dtype), second.astype(dtype)


@dataclass(frozen=True, eq=False)
class Features:
    """What is counted of every output before any score is made: the columns of all kinds, and atoms if there are."""

    kinds: tuple[str, ...]
    edges: tuple[tuple[Floats, ...], ...]  # of each column of each kind
    atoms: tuple[Atoms, ...]

    def __call__(self, outputs: Any) -> Floats:
        x = features.as_matrix(outputs)
        columns = [features.KINDS[kind](x) for kind in self.kinds]
        return np.hstack([*columns, *(atoms.codes(outputs)[:, None].astype(np.float64) for atoms in self.atoms)])

    @property
    def counted(self) -> Counted:
        """As a worker counts it."""
        edges = [edge for group in self.edges for edge in group]
        return Counted(self, (*edges, *(np.arange(1.0, len(atoms.ratios)) for atoms in self.atoms)))


def of_pilot(pilot: Pilot, bits: bool) -> Features:
    """The features of a pilot's outputs, with cells by its quantiles; columns that may be pooled share their edges.

    bits: whether the lowest bits of numbers are among them.
    """
    both = np.concatenate(pilot.matrices)
    kinds = features.kinds_of(both, bits)
    edges = tuple(_edges(kind, features.KINDS[kind](both)) for kind in kinds)
    return Features(kinds, edges, tuple(_atoms(both, _classes(pilot.pair, both.shape[1]))))


def _edges(kind: str, columns: Floats) -> tuple[Floats, ...]:
    if kind in ("value", "lowest bit") and columns.shape[1] > 1 and _alike(columns):
        return (features.cell_edges(columns.ravel()[: 10**6]),) * columns.shape[1]
    return tuple(features.cell_edges(column) for column in columns.T)


def _alike(columns: Floats) -> bool:
    """Whether the columns have about the same range, so that one set of edges serves all."""
    low, high = np.quantile(columns, [0.05, 0.95], axis=0)
    return bool(low.max() - low.min() <= 0.25 * (high.max() - low.min()))


def _classes(pair: Pair, columns: int) -> Ints | None:
    """Which entries of the two inputs are alike, where outputs have one number for each entry."""
    data, other = np.ravel(pair.data), np.ravel(pair.other)
    if data.size != columns or other.size != columns or data.dtype.kind not in "biuf":
        return None
    _, classes = np.unique(np.stack([data, other]), axis=1, return_inverse=True)
    return np.ravel(classes)


def _atoms(both: Floats, classes: Ints | None) -> list[Atoms]:
    """Every combination of whole values, and every combination of the sums over entries that are alike."""
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
            found.append(Atoms(groups, low.astype(np.int64), width.astype(np.int64), zeros, f"log ratio of {words}"))
    return found


def plain(pilot: Pilot) -> list[Score]:
    """The first numbers of an output, and their sum: scores that need no counts."""
    columns = pilot.matrices[0].shape[1]
    kinds = [("value", column) for column in range(min(columns, features.MOST_COLUMNS))]
    kinds += [("sum", 0)] if columns > 1 else []
    return [Column(kind, column, features.named(kind, column, columns)) for kind, column in kinds]


def scores(pilot: Pilot, found: Features, counts: Counts) -> list[Score]:
    """The scores that a pair is tried with. counts: of its features."""
    made: list[Score] = []
    first, second = counts.cells
    start, columns = 0, pilot.matrices[0].shape[1]
    singles: list[tuple[float, Column]] = []
    for kind, edges in zip(found.kinds, found.edges):
        own = slice(start, start + len(edges))
        start += len(edges)
        made += _additive(kind, edges, first[own], second[own], _classes(pilot.pair, columns))
        for column, (one, other) in enumerate(zip(first[own], second[own])):
            singles.append((_told_apart(one, other), Column(kind, column, features.named(kind, column, columns))))
    singles.sort(key=lambda item: -item[0])
    for atoms, one, other in zip(found.atoms, first[start:], second[start:]):
        made.append(Atoms(atoms.classes, atoms.low, atoms.width, log_ratio(one, other), atoms.words))
    return made + [column for _, column in singles[:COLUMNS_TRIED]]


def _additive(kind: str, edges, first, second, classes: Ints | None) -> list[Score]:
    """Each column with steps of its own; pooled by entries that are alike; pooled over all."""
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
            made.append(Additive(kind, tuple(edge for edge, _ in steps), tuple(step for _, step in steps), parts))
    return made


def _steps(edges, first, second, members) -> tuple[Floats, Floats]:
    one, other = (sum(side[member] for member in members) for side in (first, second))
    fewer, counts = merged(edges[members[0]], one, other)
    return fewer, log_ratio(*counts)


def _told_apart(first: Ints, second: Ints) -> float:
    """How far the counts of a column's cells are from telling nothing: the largest ratio of tails, in its errors.

    -1 for one cell: there is no threshold.
    """
    best = 0.0 if len(first) > 1 else -1.0
    for one, other in ((first, second), (first[::-1], second[::-1])):
        a, b = np.cumsum(one)[:-1] + 0.5, np.cumsum(other)[:-1] + 0.5
        if len(a):
            best = max(best, float((np.abs(np.log(a / b)) - np.sqrt(1 / a + 1 / b)).max()))
    return best
