"""The log of a run: what is said on the terminal and what dask, its workers and libraries report, with times."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from tcdp_sim.core.texts import printable

NAME = "run.log"
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LOG = logging.getLogger("tcdp_sim")
Tell = Callable[[str], None]  # takes a line for people


class _File(logging.FileHandler):
    """Lines that cannot be written (a full disk) are lost in silence: the journal, which matters, says so itself."""

    def _open(self) -> TextIOWrapper:
        """As always, but never through a link that somebody has planted."""
        return open(self.baseFilename, "a", encoding=self.encoding, opener=_no_link)

    def handleError(self, record: logging.LogRecord) -> None:
        pass


class _Printable(logging.Formatter):
    """Lines that a terminal may show: what is not printable is written out, but for line ends and tabs."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n\t")


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Append to the run's log for the time of the block. Raises OSError."""
    handler = _File(folder / NAME, encoding="utf-8")
    formatter = _Printable(_FORM, "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    LOG.disabled = False  # Hydra disables what was there before it
    LOG.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
