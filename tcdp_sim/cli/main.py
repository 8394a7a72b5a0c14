"""The command line: one line for a mistake (exit code 2), a failed run (1), Ctrl-C and SIGTERM (130), at any moment.

A run whose simulated numbers contradict exact ones is published all the same, and ends with exit code 3.

Nothing heavy is imported before main() runs, and nothing while a signal could tear an import in two.
"""

import sys

from tcdp_sim.cli import commands, memory
from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.texts import printable, shortened
from tcdp_sim.engine import interrupts

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line; exit code 0, 1 (failure), 2 (a user's mistake), 3 (contradiction), 130 (interrupted)."""
    try:
        interrupts.listen()
        memory.listen()
        if code := commands.main(sys.argv[1:]):
            sys.exit(code)
    except (UserError, Failure) as mistake:
        print("tcdp-sim:", shortened(printable(" ".join(str(mistake).split()))), file=sys.stderr)
        sys.exit(MISTAKE if isinstance(mistake, UserError) else FAILED)
    except (MemoryError, ImportError, RuntimeError, OSError) as problem:
        if not memory.is_short(problem):
            raise
        memory.tell()
        sys.exit(FAILED)
    except KeyboardInterrupt as interrupt:
        interrupts.ignore()
        if memory.is_short(interrupt):
            memory.tell()
            sys.exit(FAILED)
        kept = str(interrupt) or "the same command goes on with what is kept"
        print(f"tcdp-sim: interrupted: {printable(kept)}", file=sys.stderr)
        sys.exit(INTERRUPTED)
