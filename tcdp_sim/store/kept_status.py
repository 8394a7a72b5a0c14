"""The progress of a finished run, kept in its folder, so that `tcdp-sim status` need not read every record again.

    status.json    the lines of the progress, and the notes of the plan

A journal of other bytes, such as that of a run at work, makes the file stale. The lines are then computed anew.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tcdp_sim.store import digests, journal
from tcdp_sim.store.memories import STATUS

NAME = STATUS.file
RUN, JOURNAL = "run.json", "journal"


class Progress(NamedTuple):
    """The lines about a run's journal, and the notes of its plan."""

    lines: Sequence[str]
    notes: Sequence[str]


def write(folder: Path, of: str, progress: Progress) -> None:
    """Write the progress of a finished run; `of` is the key of its plan. Raises OSError."""
    about = {"sizes": journal.segments(folder / JOURNAL), **progress._asdict()}
    STATUS.write(folder, _key(folder, of), about)


def read(folder: Path, of: str | None) -> Progress | None:
    """Return the progress of a run with this key, or None if there is none, or if it is stale or damaged."""
    if of is None:
        return None
    try:
        if digests.read_sealed(folder / NAME).get("sizes") != journal.segments(folder / JOURNAL):
            return None  # of a run at work, whose journal need not be read
        known = STATUS.read(folder, _key(folder, of))
    except OSError:
        return None
    return Progress(known["lines"], known["notes"]) if known else None


def _key(folder: Path, of: str) -> str:
    """Return the key of the progress as run.json and all files of the journal are now. Raises OSError."""
    names = [RUN, *(f"{JOURNAL}/{name}" for name in sorted(journal.segments(folder / JOURNAL)))]
    return STATUS.key(plan=of, journal=[[name, digests.of_file(folder / name)] for name in names])
