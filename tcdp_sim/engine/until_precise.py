"""The loop of every run: pending chunks are simulated until each cell has those that its precision needs.

The chunks may be kept in a folder or in memory (`Chunks`). The loop asks either the same two questions.
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from tcdp_sim.core.log import Tell
from tcdp_sim.engine import stopping
from tcdp_sim.engine.decisions import Decisions, Store
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.encoding import from_bytes
from tcdp_sim.summaries.summary import Summary, merged

TOLD = 2  # times as many chunks as at the last line about a target, from which there is another one


def until_precise(
    cells: Cells,
    settings: Settings,
    store: Store,
    todo: Pending,
    wanted: Wanted,
    simulate: Callable[[Pending, Wanted], None],
    failed: Collection[str],
    tell: Tell,
    compared: Decisions | None = None,
) -> Wanted:
    """Simulate pilots and estimates, and return the chunks that the cells have in the end.

    `simulate` puts pending chunks into the store, and the ids of cells with errors into `failed`. `compared` holds the
    comparisons of a run with a target.
    """
    told = 0
    while True:
        if todo:
            simulate(todo, wanted)
        more = compared.more(store, wanted) if compared else stopping.more(store, wanted, settings)
        grown = int(np.count_nonzero(more.chunks > wanted.chunks))
        if not grown:
            return more
        todo = Pending(cells, more, store.has, failed)
        if not compared:
            tell(f"target_mcse: {grown} cells need more trials; {len(todo)} chunks to simulate")
        elif more.total >= TOLD * told:  # looks are frequent
            tell(f"target: {grown} cells need more trials; {len(todo)} chunks to simulate")
            told = more.total
        wanted = more


class Chunks:
    """The chunks of a run without a folder. A cell's chunks are merged once they are all there."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[int, bytes]] = {}
        self._whole: dict[str, Summary] = {}

    @property
    def whole(self) -> int:
        """The number of cells whose chunks are all there."""
        return len(self._whole)

    def has(self, cell: str, chunk: int) -> bool:
        """Return True if a chunk is there."""
        return cell in self._whole or chunk in self._parts.get(cell, ())

    def add(self, cell: str, chunk: int, summary: bytes, estimate: range) -> None:
        """Add a chunk of a cell whose estimate has these chunks; it has none until the pilot has ended."""
        own = self._parts.setdefault(cell, {})
        own[chunk] = summary
        if len(own) == estimate.stop > estimate.start:
            self._whole[cell] = self.summary(cell, estimate)
            del self._parts[cell]

    def summary(self, cell: str, chunks: Sequence[int]) -> Summary:
        """Return the summary of chunks of a cell."""
        own = self._parts[cell]
        return merged(from_bytes(own[chunk]) for chunk in chunks)

    def is_whole(self, cell: str, estimate: range) -> bool:
        """Return True if all chunks of a cell's estimate are there."""
        return bool(estimate) and all(self.has(cell, chunk) for chunk in estimate)

    def taken(self, cell: str, estimate: range) -> Summary:
        """Return the summary of a cell's estimate, and forget its chunks."""
        found = self._whole.pop(cell, None)
        return found if found is not None else self.summary(cell, estimate)
