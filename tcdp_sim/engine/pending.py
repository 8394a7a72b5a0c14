"""The chunks that a run needs, and those it still has to simulate, in a few bytes for each cell."""

from collections.abc import Callable, Container, ItemsView, Iterator, Mapping, Sequence

import numpy as np

from tcdp_sim.core.arrays import Ints
from tcdp_sim.study.packed_cells import Cell, Cells

Has = Callable[[str, int], bool]  # (cell id, chunk) -> True if the chunk is done


class Wanted(Mapping[str, int]):
    """The number of chunks each cell needs, by cell id, for the cells of a plan with distinct laws.

    The first `pilots` chunks of a cell are in no estimate. They are all of its chunks until the pilot has ended.
    """

    def __init__(self, cells: Cells, chunks: int | Ints, pilots: int | Ints = 0) -> None:
        self._cells = cells
        self.chunks: Ints = np.broadcast_to(np.asarray(chunks, dtype=np.int64), len(cells))
        self.pilots: Ints = np.broadcast_to(np.asarray(pilots, dtype=np.int64), len(cells))

    def __getitem__(self, cell: str) -> int:
        place = self._cells.place(cell)
        if place is None:
            raise KeyError(cell)
        return int(self.chunks[place])

    def estimates(self, cells: Sequence[str]) -> list[range]:
        """Return the chunks of the estimates of cells of the plan, by one look-up for all."""
        places = self._cells.places(cells)
        return list(map(range, self.pilots[places].tolist(), self.chunks[places].tolist()))

    def __iter__(self) -> Iterator[str]:
        return self._cells.ids()

    def __len__(self) -> int:
        return len(self._cells)

    def items(self) -> ItemsView[str, int]:
        """Return the cell ids and numbers of chunks, in the order of the plan."""
        return _Items(self)

    def each(self) -> Iterator[tuple[str, int]]:
        """Yield the cell ids and numbers of chunks in the order of the plan, without any look-up."""
        return zip(self._cells.ids(), self.chunks.tolist())

    def by_id(self) -> Iterator[tuple[str, int]]:
        """Yield the cell ids and numbers of chunks by ascending id. A sorted list would take 200 bytes a cell."""
        return ((cell, int(self.chunks[place])) for place, cell in self._cells.by_id())

    @property
    def total(self) -> int:
        """The number of chunks of all cells together."""
        return int(self.chunks.sum())

    def with_chunks(self, chunks: Ints, pilots: int | Ints = 0) -> "Wanted":
        """Return the same cells with other numbers of chunks."""
        return Wanted(self._cells, chunks, pilots)


class _Items(ItemsView[str, int]):
    def __iter__(self) -> Iterator[tuple[str, int]]:
        return self._mapping.each()  # type: ignore[attr-defined]


class Pending:
    """The chunks still to simulate, the longest cells first, read as the workers come to them.

    Short chunks come last, so that workers finish together. Cells whose work differs by less than a factor of two keep
    the order of the plan. `without` holds the ids of cells to leave out.
    """

    def __init__(self, cells: Cells, wanted: Wanted, has: Has, without: Container[str] = ()) -> None:
        self._cells, self._wanted, self._has = cells, wanted, has
        missing = (
            0 if cell in without else sum(not has(cell, chunk) for chunk in range(chunks))
            for cell, chunks in wanted.each()
        )
        self._missing: Ints = np.fromiter(missing, np.int64, len(cells))

    def __len__(self) -> int:
        return int(self._missing.sum())

    def __iter__(self) -> Iterator[tuple[Cell, int]]:
        for place, cell in zip(order := self._order(), self._cells.taken(order)):
            for chunk in range(int(self._wanted.chunks[place])):
                if not self._has(cell.id, chunk):
                    yield cell, chunk

    @property
    def cells(self) -> int:
        """The number of cells that lack a chunk."""
        return int(np.count_nonzero(self._missing))

    @property
    def work(self) -> float:
        """The approximate count of random numbers for one trial of every chunk."""
        return float(self._missing @ self._cells.work)

    def of_cells(self, cells: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield `of_cell` of each cell of the plan, by one look-up for all."""
        places = self._cells.places(cells)
        return zip(self._missing[places].tolist(), self._wanted.chunks[places].tolist())

    def of_cell(self, cell: str) -> tuple[int, int]:
        """Return how many chunks a cell lacked at the start, and how many it needs."""
        place = self._cells.place(cell)
        return (0, 0) if place is None else (int(self._missing[place]), int(self._wanted.chunks[place]))

    def _order(self) -> Ints:
        """Return the places of the cells that lack chunks, by descending power of two of their work."""
        places = np.flatnonzero(self._missing)
        octaves = np.frexp(np.maximum(self._cells.work[places], 0.0))[1]
        return places[np.argsort(-octaves, kind="stable")]
