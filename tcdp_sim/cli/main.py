"""The entry point of the command line. It turns errors and signals into one line and an exit code at any moment.

The exit code is 2 for a user's mistake, 1 for a failed run and 130 for Ctrl-C and SIGTERM. A run whose simulated
numbers contradict exact ones is published nevertheless and ends with exit code 3.

No slow module is imported before main() runs, and no import can be interrupted by a signal.
"""

import atexit
import gc
import sys
from io import TextIOWrapper

from tcdp_sim.cli import commands, memory
from tcdp_sim.core.errors import Failure, UserError, reason
from tcdp_sim.core.texts import printable, shortened
from tcdp_sim.engine import interrupts

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line. Exit with 0, 1 (failure), 2 (a user's mistake), 3 (contradiction) or 130 (interrupted)."""
    try:
        interrupts.listen()
        memory.listen()
        memory.give_back()
        _write_everywhere()
        atexit.register(gc.freeze)  # else Python searches all objects for garbage once more, which takes .3 s
        if code := commands.main(sys.argv[1:]):
            sys.exit(code)
    except (UserError, Failure) as mistake:
        print("tcdp-sim:", shortened(printable(" ".join(str(mistake).split()))), file=sys.stderr)
        sys.exit(MISTAKE if isinstance(mistake, UserError) else FAILED)
    except (MemoryError, ImportError, RuntimeError, OSError) as problem:
        if isinstance(problem, PermissionError):  # a file or folder of another user, whatever is done with it
            print(f"tcdp-sim: {printable(reason(problem))}; choose another folder", file=sys.stderr)
            sys.exit(MISTAKE)
        if not memory.is_short(problem):
            raise
        memory.tell()
        sys.exit(FAILED)
    except KeyboardInterrupt as interrupt:
        interrupts.ignore()
        if memory.is_short(interrupt):
            memory.tell()
            sys.exit(FAILED)
        kept = str(interrupt) or "the same command goes on from the finished chunks"
        print(f"tcdp-sim: interrupted: {printable(kept)}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _write_everywhere() -> None:
    """Let the output hold "?" where its encoding lacks a character: the results are published, and the run is right."""
    if isinstance(sys.stdout, TextIOWrapper):  # it may be closed, or a notebook's own
        sys.stdout.reconfigure(errors="replace")
