"""A message for users who have to wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.core.log import Tell

PATIENCE = 3.0  # seconds of waiting without a message


@contextmanager
def announced(tell: Tell, text: str) -> Iterator[None]:
    """Show the text to the user if the block takes longer than PATIENCE."""
    timer = threading.Timer(PATIENCE, tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
