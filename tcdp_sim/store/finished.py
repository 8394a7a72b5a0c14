"""The record of a run that has nothing left to do, so that the same command need neither plan the study nor read it.

    finished.json    the lines that the run would print, and the digest of the files in its folder

If its inputs and these files are still the same, the command would simulate nothing and publish the same bytes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_sim.store import digests, kept_plan, locks, memories, snapshot
from tcdp_sim.store.memories import FINISHED
from tcdp_sim.store.run_folder import HALF

if TYPE_CHECKING:
    from tcdp_sim.study.settings import Settings

NAME = FINISHED.file
FILES = ("run", "provenance", "calibrations", "plan", "certificate", "published", "status")  # with the ending .json
OTHERS = ("problems.csv", "journal", "exact", snapshot.LINK)


def key(settings: "Settings") -> str | None:
    """Return the digest of everything that a run depends on besides the files in its folder.

    It is None with a plug-in and for a sweep over a user's function, whose code has no digest here.
    """
    config = {name: value for name, value in settings.config.items() if name != "results_dir"}
    plan = kept_plan.key(config)
    if plan is None or "function" in settings.mechanism:
        return None
    return FINISHED.key(plan=plan, config=memories.text(config))


def write(settings: "Settings", lines: Sequence[str]) -> None:
    """Write the record of a run, once all its other files are there, unless its inputs have no digest.

    Raises OSError.
    """
    if of := key(settings):
        FINISHED.write(settings.folder, of, {"files": _state(settings.folder), "lines": list(lines)})


def read(settings: "Settings") -> Sequence[str] | None:
    """Return the lines of a run with nothing left to do. Return None if there is no record, or if anything has changed.

    The folder is locked while it is compared. Raises UserError if another driver is at work in it.
    """
    if not (settings.folder / NAME).is_file():
        return None
    known = FINISHED.read(settings.folder, key(settings))
    if not known:
        return None
    try:
        with locks.held(settings.folder) as warning:
            state = None if warning else _state(settings.folder)
    except OSError:  # the run itself says what is wrong
        return None
    return known["lines"] if state is not None and state == known["files"] else None


def _state(folder: Path) -> str | None:
    """Return the digest of all files that a run reads or mends; None if there are files that it would remove."""
    if any(HALF.fullmatch(path.name) for path in [*folder.iterdir(), *(folder / digests.SNAPSHOTS).iterdir()]):
        return None
    names = [*(f"{name}.json" for name in FILES), *OTHERS]
    return digests.of_plain([snapshot.published(folder), *(text for name in names for text in _texts(folder, name))])


def _texts(folder: Path, name: str) -> Iterator[str]:
    """Yield the name and the digest of a file, or of each file in a folder; nothing if there is none."""
    path = folder / name
    for file in digests.files_in(path) if path.is_dir() else [path] if path.is_file() else ():
        yield f"{file.relative_to(folder).as_posix()} {digests.of_file(file)}"
