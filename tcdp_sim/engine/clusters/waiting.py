"""A line for people once something lets them wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.core.log import Tell

PATIENCE = 3.0  # seconds for which nobody wonders


@contextmanager
def announced(tell: Tell, text: str) -> Iterator[None]:
    """Tell people the text if the block takes longer than PATIENCE."""
    timer = threading.Timer(PATIENCE, tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
