"""The progress of a finished run, kept in its folder, so that `tcdp-sim status` need not read every record again.

    status.json    the lines of the progress, with what they depend on: the plan, run.json and the bytes of the journal

A journal of other bytes, such as that of a run at work, makes the file stale. The lines are then computed anew.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tcdp_sim.store import digests, journal

NAME = "status.json"
RUN, JOURNAL = "run.json", "journal"


class Progress(NamedTuple):
    """The lines about a run's journal, and the notes of its plan."""

    lines: Sequence[str]
    notes: Sequence[str]


def write(folder: Path, of: str, progress: Progress) -> None:
    """Write the progress of a finished run; `of` is the key of its plan. Raises OSError."""
    files = journal.segments(folder / JOURNAL)
    about = {"of": of, "sizes": files, "bytes": _digest(folder, files), **progress._asdict()}
    digests.write_sealed(folder / NAME, about)


def read(folder: Path, of: str | None) -> Progress | None:
    """Return the progress of a run with this key, or None if there is none, or if it is stale or damaged."""
    known = digests.read_sealed(folder / NAME) if of else {}
    try:
        files = journal.segments(folder / JOURNAL)
        if known.get("of") != of or known.get("sizes") != files or known.get("bytes") != _digest(folder, files):
            return None
    except OSError:
        return None
    return Progress(known["lines"], known["notes"])


def _digest(folder: Path, files: Mapping[str, int]) -> str:
    """Return the digest of run.json and of all files of the journal."""
    digest = hashlib.blake2b(digest_size=16)
    for path in (folder / RUN, *(folder / JOURNAL / name for name in sorted(files))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()
