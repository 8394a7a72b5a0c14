"""A run's folder as one of its parts uses it, side by side with other parts, on file systems without locks.

A part shares no file with another one. It takes no lock and writes nothing but journal files and files of exact values
with names of its own. Two attempts at one part compute some chunks twice, and the equal records do no harm. Only
run.json belongs to all parts. The first of them creates it, and the others find their own study in it or refuse.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tcdp_sim.store import durable
from tcdp_sim.store.run_folder import Run, begun, readable, unusable, written
from tcdp_sim.study.parts import Part
from tcdp_sim.study.study import Study


class PartRun(Run):
    """The folder of a run, open for one of its parts, to which the chunks of the other parts count as done.

    Files that hold other parts are not read: a thousand parts would read each other's chunks a million times.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], part: Part) -> None:
        self.part, self.label = part, part.label
        durable.make_folder(folder)
        file = folder / "run.json"
        if not file.exists() and begun(file):
            with suppress(FileExistsError, FileNotFoundError):  # another part, or a run that sweeps the folder
                durable.create(file, written(identity))
        self._all = readable(file) is None  # without it, the heads of all files say whose folder this is
        super().__init__(folder, identity)

    def again(self) -> "PartRun":
        """Return the same folder, read again."""
        return PartRun(self.folder, self.identity, self.part)

    def _reads(self, file: str) -> bool:
        return self._all or self.part.may_be_in(file)

    def has(self, cell: str, chunk: int) -> bool:
        """Return True if the chunk is done or belongs to another part."""
        return not self.part.has(cell, chunk) or super().has(cell, chunk)

    def size(self, cell: str, chunks: int) -> int:
        """Return how many of the first `chunks` chunks of a cell belong to the part."""
        return self.part.size(cell, chunks)

    def stored(self, cell: str, chunk: int) -> bool:
        """Return True if the chunk is in a file that the part has read."""
        return super().has(cell, chunk)

    def forget(self) -> None:
        """Remove the journal files of the part, and those alone. Raises OSError."""
        for path in (self.folder / "journal").glob(f"*{self.label}.seg"):
            path.unlink(missing_ok=True)


def open_part(study: Study, part: Part) -> PartRun:
    """Return the folder of a study's run for one of its parts. Raises UserError if it cannot be used."""
    try:
        return PartRun(study.folder, study.identity, part)
    except OSError as problem:
        raise unusable(study, problem) from None
