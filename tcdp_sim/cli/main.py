"""The command line: one line for a mistake (exit code 2), a failed run (1), Ctrl-C and SIGTERM (130), at any moment.

A run whose simulated numbers contradict exact ones is published all the same, and ends with exit code 3.

Nothing heavy is imported before main() runs, and nothing while a signal could tear an import in two.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from tcdp_sim.cli import commands, memory
from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.texts import printable, shortened
from tcdp_sim.core.version import __version__
from tcdp_sim.engine import interrupts

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130
YOUNG = 20_000  # objects after which Python looks for garbage: at its own 700 that is a fifteenth of a large plan


def main() -> None:
    """Run the command line; exit code 0, 1 (failure), 2 (a user's mistake), 3 (contradiction), 130 (interrupted)."""
    try:
        interrupts.listen()
        memory.listen()
        if code := _run():
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


def _run() -> int:
    """What is asked for, one after the other; the largest exit code of those that have one."""
    if sys.argv[1:] == ["--version"]:
        print(f"tcdp-sim {__version__}")
        return 0
    if sys.argv[1:2] == ["cheat-sheet"]:
        _cheat_sheet(sys.argv[2:])
        return 0
    if sys.argv[1:2] == ["reproduce"]:
        return _reproduce(sys.argv[2:])
    if sys.argv[1:] and commands.is_command(sys.argv[1]):
        return _command(sys.argv[1:])
    with _importing():
        from tcdp_sim.cli import overrides
    configs = overrides.configs()
    if not configs:
        return 0
    with _importing():
        from tcdp_sim.report.terminal import Terminal
        from tcdp_sim.study.more_trials import with_trials
        from tcdp_sim.study.settings import settings
    codes = [0]
    for raw in configs:
        with _importing():
            checked = settings(with_trials(raw))
            mode = import_module(f"tcdp_sim.cli.modes.{checked.mode}")
        if not gc.get_freeze_count():
            gc.freeze()  # what is imported stays: to look for garbage in it is a tenth of a large run
        with _collecting(YOUNG):
            codes.append(mode.main(checked, Terminal(highlight=False, soft_wrap=True)) or 0)
    return max(codes)


@contextmanager
def _importing() -> Iterator[None]:
    """For imports: no signal tears one in two, and no time goes into looking for garbage in what stays.

    Not by gc.disable(): a library that is imported meanwhile (dask) would take that for what is wanted ever after.
    """
    with _collecting(0), interrupts.held():
        yield


@contextmanager
def _collecting(young: int) -> Iterator[None]:
    """Python looks for garbage once that many objects are new, and never for 0."""
    thresholds = gc.get_threshold()
    gc.set_threshold(young, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _command(words) -> int:
    with _importing():
        from tcdp_sim.report.terminal import Terminal
    return commands.main(words, Terminal(highlight=False, soft_wrap=True))


def _reproduce(words) -> int:
    with _importing():
        from tcdp_sim.cli import reproduce
        from tcdp_sim.report.terminal import Terminal
    return reproduce.main(words, Terminal(highlight=False, soft_wrap=True))


def _cheat_sheet(words) -> None:
    with _importing():
        from tcdp_sim.cli import cheat_sheet
        from tcdp_sim.report.terminal import Terminal
    cheat_sheet.main(words, Terminal(highlight=False))
