"""The log of a run: what is said on the terminal and what dask, its workers and libraries report, with times."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "run.log"
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LOG = logging.getLogger("tcdp_sim")


class _File(logging.FileHandler):
    """Lines that cannot be written (a full disk) are lost in silence: the journal, which matters, says so itself."""

    def handleError(self, record):
        pass


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Append to the run's log for the time of the block. Raises OSError."""
    handler = _File(folder / NAME, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORM, "%Y-%m-%dT%H:%M:%SZ"))
    handler.formatter.converter = time.gmtime
    LOG.disabled = False  # Hydra disables what was there before it
    LOG.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
