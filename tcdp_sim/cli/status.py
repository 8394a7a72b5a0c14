"""The command `tcdp-sim status`, which prints the progress of a run, also while it is running."""

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tcdp_sim.cli.run_argument import Given
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.store import kept_plan, kept_status, locks


def main(given: Given, console: Console) -> None:
    """Print the progress of a run, damaged files, the worst relative MCSE, and the time since the journal last grew.

    A run that has finished left these lines in its folder. Otherwise its journal is read.
    """
    folder, (progress, *more), notes = _state(given)
    say(console, f"{folder}: {progress}")
    say_all(console, more)
    last = max((path.stat().st_mtime for path in (folder / "journal").glob("*.seg")), default=None)
    if last:
        who = "a driver is" if locks.busy(folder) else "nobody is"
        say(console, f"last written {time.time() - last:.0f} s ago; {who} at work")
    say_all(console, notes)


def _state(given: Given) -> tuple[Path, Sequence[str], Sequence[str]]:
    """Return the folder of a run, the lines of its progress and the notes of its plan."""
    key = kept_plan.key(given.config)
    known = kept_status.read(given.folder, key)
    if known is not None:
        return given.folder, known.lines, known.notes
    from tcdp_sim.engine import state  # slow to import
    from tcdp_sim.store.run_folder import existing_run

    planned = kept_plan.read(given.settings, key) or _planned(given)
    return planned.folder, state.lines(planned, existing_run(planned)), planned.notes


def _planned(given: Given):
    from tcdp_sim.engine.run import prepare

    return prepare(given.settings).planned
