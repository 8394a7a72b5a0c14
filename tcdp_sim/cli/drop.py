"""The command `tcdp-sim drop`, which removes the chunks of one worker from a run."""

from pathlib import Path

from rich.console import Console

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.store import dropping, locks, run_settings

MOST = 12  # workers that a message names


def main(path: Path, console: Console, worker: str | None = None) -> None:
    """Remove the chunks of a worker, given as HOST or HOST:PID, so that the run simulates them again.

    Raises UserError if no chunk is of that worker, or if a driver is at work.
    """
    folder = run_settings.run_folder(path)
    try:
        with locks.held(folder):
            there = dropping.chunks(folder)
            is_meant = dropping.is_of(worker or "")
            if not any(map(is_meant, there)):
                asked = (
                    f"no chunk of {folder} is of the worker {worker}"
                    if worker
                    else "drop takes worker=HOST or HOST:PID"
                )
                raise UserError(f"{asked}; its workers: {_named(there)}")
            count = dropping.drop(folder, is_meant)
    except OSError as problem:
        raise UserError(f"{folder} cannot be written ({reason(problem)})") from None
    kept = sum(there.values()) - count
    say(console, f"{count} chunks of {worker} are dropped from {folder}, {kept} are kept")
    say(console, "the command of the run simulates them again and publishes the results anew")


def _named(there: "dict[str, int]") -> str:
    """Return the workers with their numbers of chunks, the most first."""
    most = sorted(there.items(), key=lambda item: -item[1])
    more = f" and {len(most) - MOST} more" if len(most) > MOST else ""
    return ", ".join(f"{name} ({count} chunks)" for name, count in most[:MOST]) + more or "none"
