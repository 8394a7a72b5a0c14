"""The command line: one line for a mistake (exit code 2), a failed run (1), Ctrl-C and SIGTERM (130), at any moment.

Nothing heavy is imported before main() runs, and nothing while a signal could tear an import in two.
"""

import sys
from importlib import import_module

from tcdp_sim import __version__, interrupts
from tcdp_sim.errors import Failure, UserError
from tcdp_sim.texts import printable

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line; exit code 0, 1 after a failure, 2 for a user's mistake, 130 when interrupted."""
    try:
        interrupts.listen()
        _run()
    except (UserError, Failure) as mistake:
        print("tcdp-sim:", printable(" ".join(str(mistake).split())), file=sys.stderr)
        sys.exit(MISTAKE if isinstance(mistake, UserError) else FAILED)
    except KeyboardInterrupt as interrupt:
        interrupts.ignore()
        kept = str(interrupt) or "the same command goes on with what is kept"
        print(f"tcdp-sim: interrupted: {printable(kept)}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"tcdp-sim {__version__}")
        return
    if sys.argv[1:2] == ["cheat-sheet"]:
        _cheat_sheet(sys.argv[2:])
        return
    with interrupts.held():
        from tcdp_sim import compose
    asked = compose.configs()
    if not asked:
        return
    with interrupts.held():
        from tcdp_sim import config
        from tcdp_sim.terminal import Terminal
    for raw in asked:
        with interrupts.held():
            mode = import_module(f"tcdp_sim.modes.{config.settings(raw).mode}")
        mode.main(raw, Terminal(highlight=False, soft_wrap=True))


def _cheat_sheet(words) -> None:
    with interrupts.held():
        from tcdp_sim import sheet
        from tcdp_sim.terminal import Terminal
    sheet.main(words, Terminal(highlight=False))
