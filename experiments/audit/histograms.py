"""The binned outputs of a cell: hits beyond thresholds in the choosing sample and in the bounding sample."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.audits.events import Event, Thresholds
from tcdp_sim.audits.scores import Column, Score
from tcdp_sim.audits.tables import log_ratio
from tcdp_sim.mechanisms.audit import SAMPLES
from tcdp_sim.results.rows import Cell


@dataclass(frozen=True, eq=False)
class Outputs:
    """The binned outputs of a cell on both neighbours, in two samples each.

    The choosing sample chooses the event, and the bounding sample proves the bound.

    `values`: lower edges of the bins. `scores`: scores of the bins, ascending: the edges themselves, or the log ratios
    in the choosing sample. `counts`: counts of (choosing first, choosing second, bounding first, bounding second).
    `label`: the name of an output that is a label, such as "selected"; empty if outputs are losses.
    """

    values: np.ndarray
    scores: np.ndarray
    counts: np.ndarray
    label: str = ""

    @property
    def score(self) -> Score:
        """The score that thresholds are placed on, in words. The outputs are scores already."""
        return Column("value", 0, "loss")

    @property
    def choosing(self) -> Thresholds:
        """The thresholds of the sample that chooses the event."""
        return self._thresholds(self.counts[:2])

    @property
    def testing(self) -> Thresholds:
        """The thresholds of the sample that proves the bound."""
        return self._thresholds(self.counts[2:])

    @property
    def choosing_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The counts of the choosing sample between its thresholds."""
        return self.counts[0], self.counts[1]

    def _thresholds(self, counts) -> Thresholds:
        first, second = (side.sum() - np.cumsum(side)[:-1] for side in counts)
        return Thresholds(self.scores[1:], first, second, int(counts[0].sum()))

    def hits(self, event: Event) -> tuple[int, int]:
        """Return the hits of an event in the bounding sample, on the first and on the second neighbour."""
        inside = (self.scores >= event.threshold) == event.upper
        first, second = self.counts[2:, inside].sum(axis=1).tolist()
        return first, second

    def cells(self, edges) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of the bounding sample between other edges, which are some of its own thresholds."""
        cell = np.searchsorted(edges, self.scores, side="right")
        first, second = (np.bincount(cell, side, len(edges) + 1).astype(np.int64) for side in self.counts[2:])
        return first, second

    def words(self, event: Event) -> str:
        """Return an event in words: a threshold for losses, a list for labels."""
        if not self.label:
            return f"loss {'>=' if event.upper else '<'} {event.threshold:.6g}"
        inside = (self.scores >= event.threshold) == event.upper
        return f"{self.label}: {', '.join(f'{value:g}' for value in np.sort(self.values[inside]))}"


def outputs(cell: Cell, label: str = "") -> Outputs:
    """Return the outputs of a cell, which are losses, or labels of this name."""
    samples = [cell.histogram(name) for name in SAMPLES]
    values = np.unique(np.concatenate([low for low, _, _ in samples]))
    counts = np.zeros((4, len(values)), np.int64)
    for row, (low, _, inside) in zip(counts, samples):
        row[np.searchsorted(values, low)] = inside
    if not label:
        return Outputs(values, values, counts)
    ratios = log_ratio(counts[0], counts[1])
    order = np.argsort(ratios, kind="stable")
    return Outputs(values[order], ratios[order], counts[:, order], label)
