"""The parts of a run that is computed without a network: each process computes one part, alone.

The part of a chunk follows from its cell's id, its index and the number of parts. So parts may be lost, repeated or run
in any order, and no process has to ask another one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tcdp_sim.core.errors import UserError

PART, MOST_PARTS = r"([0-9]{1,7})/([0-9]{1,7})", 10**6
KINDS = {False: "part", True: "cells"}  # by `whole_cells`: parts of another kind have other chunks
_LABEL = re.compile(r"\.(part|cells)-(\d+)-of-(\d+)\.seg")


@dataclass(frozen=True)
class Part:
    """A part of a run, numbered from 1 to `count`. With `whole_cells` it has every chunk of its cells.

    A target_mcse needs whole cells, because the number of a cell's chunks follows from its first chunks.
    """

    number: int
    count: int
    whole_cells: bool = False

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def label(self) -> str:
        """The end of the names of this part's files, without the suffix."""
        return f".{KINDS[self.whole_cells]}-{self.number}-of-{self.count}"

    def has(self, cell: str, chunk: int) -> bool:
        """Return True if a chunk belongs to the part. Exact values belong to the part of chunk 0."""
        return owner(cell, 0 if self.whole_cells else chunk, self.count) == self.number

    def size(self, cell: str, chunks: int) -> int:
        """Return how many of the first `chunks` chunks of a cell belong to the part."""
        if self.whole_cells:
            return chunks if self.has(cell, 0) else 0
        return len(range((self.number - owner(cell, 0, self.count)) % self.count, chunks, self.count))

    def may_be_in(self, file: str) -> bool:
        """Return True unless the name of a file shows that it holds another part of the same division."""
        kind, number, count = labelled(file)
        return (kind, count) != (KINDS[self.whole_cells], self.count) or number == self.number


def owner(cell: str, chunk: int, count: int) -> int:
    """Return the number of the part that has a chunk: a hash of the cell plus the index, modulo the number of parts.

    The chunks of a cell go round all parts, so that parts are alike. A cell's id is a SHA-256, so its digits are the
    hash.
    """
    return (int(cell[:16], 16) + chunk) % count + 1


def labelled(file: str) -> tuple[str, int, int]:
    """Return the kind, the number and the count of the part that a file is of, ("", 0, 0) for none."""
    found = _LABEL.search(file)
    return (found[1], int(found[2]), int(found[3])) if found else ("", 0, 0)


def parsed(text: str, whole_cells: bool) -> Part:
    """Return the part that a text such as 17/1000 names. Raises UserError for another text."""
    if not (found := re.fullmatch(PART, text)):
        raise UserError(f"part = {text!r} is not valid; valid: I/N, such as 17/1000")
    return Part(int(found[1]), int(found[2]), whole_cells)


def in_ranges(numbers: Iterable[int]) -> str:
    """Return numbers in the form that job arrays take, such as 1-3,7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
