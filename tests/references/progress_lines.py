"""What a command says on stderr besides its progress, which depends on the speed of the machine."""

import re

PROGRESS = re.compile(r"\S+: (planning|reading the table|drawing) \.\.\.( \d+ s so far)?|\d+%  .*  ETA .*")


def without_progress(err: str) -> str:
    """Return what is said besides lines of progress."""
    return "".join(line for line in err.splitlines(keepends=True) if not PROGRESS.fullmatch(line.rstrip("\n")))
