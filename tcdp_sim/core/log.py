"""The log of a run, with times: the lines on the terminal, and reports of dask, its workers and libraries."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from tcdp_sim.core import system
from tcdp_sim.core.texts import printable

NAME = "run.log"
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LOG = logging.getLogger("tcdp_sim")
Tell = Callable[[str], None]  # a function that shows a line to the user


class _File(logging.FileHandler):
    """A log file that drops lines it cannot write (a full disk); the journal, which matters, reports that itself."""

    def _open(self) -> TextIOWrapper:
        """Open the file, but never through a link that somebody has planted."""
        return open(self.baseFilename, "a", encoding=self.encoding, opener=_no_link)

    def handleError(self, record: logging.LogRecord) -> None:
        pass


class _Printable(logging.Formatter):
    """A formatter that writes out all characters that are not printable, except line ends and tabs."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n\t")


def _no_link(path: str, flags: int) -> int:
    """Open a file without following a link."""
    return os.open(path, flags | system.NO_LINK, 0o666)


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Append to the run's log during the block. Raises OSError."""
    handler = _File(folder / NAME, encoding="utf-8")
    formatter = _Printable(_FORM, "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    LOG.disabled = False  # Hydra disables loggers that existed before it
    LOG.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
