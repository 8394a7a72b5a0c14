"""The outputs of a cell, binned: as hits beyond thresholds of the sample that chooses and of the one that bounds."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.scores import Column, Score
from tcdp_sim.audits.tables import log_ratio
from tcdp_sim.mechanisms.audit import SAMPLES
from tcdp_sim.results import Cell


@dataclass(frozen=True, eq=False)
class Outputs:
    """counts: in bins, of (choose first, choose second, bound first, bound second), shape (4, bins).

    values: of the bins, their lower edges; scores: what thresholds are on, ascending: the edges themselves, or the log
    ratios of the bins in the sample that chooses.
    """

    values: np.ndarray
    scores: np.ndarray
    counts: np.ndarray

    @property
    def score(self) -> Score:
        """What thresholds are on, in words: outputs are scored already."""
        return Column("value", 0, "loss")

    @property
    def choosing(self) -> Thresholds:
        """Of the sample that chooses the event."""
        return self._thresholds(self.counts[:2])

    @property
    def testing(self) -> Thresholds:
        """Of the sample that bounds."""
        return self._thresholds(self.counts[2:])

    @property
    def choosing_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts of the sample that chooses between its thresholds."""
        return self.counts[0], self.counts[1]

    def _thresholds(self, counts) -> Thresholds:
        first, second = (side.sum() - np.cumsum(side)[:-1] for side in counts)
        return Thresholds(self.scores[1:], first, second, int(counts[0].sum()))

    def hits(self, event: Event) -> tuple[int, int]:
        """How many outputs of the sample that bounds lie in an event, on the first and on the second neighbour."""
        inside = (self.scores >= event.threshold) == event.upper
        first, second = self.counts[2:, inside].sum(axis=1).tolist()
        return first, second

    def cells(self, edges) -> tuple[np.ndarray, np.ndarray]:
        """Counts of the sample that bounds between other edges, which are some of its own thresholds."""
        cell = np.searchsorted(edges, self.scores, side="right")
        first, second = (np.bincount(cell, side, len(edges) + 1).astype(np.int64) for side in self.counts[2:])
        return first, second

    def words(self, event: Event) -> str:
        """An event: of losses a threshold, of selections the candidates."""
        if np.array_equal(self.values, self.scores):
            return f"loss {'>=' if event.upper else '<'} {event.threshold:.6g}"
        inside = (self.scores >= event.threshold) == event.upper
        return f"selected: {', '.join(f'{value:g}' for value in np.sort(self.values[inside]))}"


def outputs(cell: Cell, ordered: bool) -> Outputs:
    """Return the outputs of a cell. ordered: True if larger numbers speak for one neighbour, as losses do."""
    samples = [cell.histogram(name) for name in SAMPLES]
    values = np.unique(np.concatenate([low for low, _, _ in samples]))
    counts = np.zeros((4, len(values)), np.int64)
    for row, (low, _, inside) in zip(counts, samples):
        row[np.searchsorted(values, low)] = inside
    if ordered:
        return Outputs(values, values, counts)
    ratios = log_ratio(counts[0], counts[1])
    order = np.argsort(ratios, kind="stable")
    return Outputs(values[order], ratios[order], counts[:, order])
