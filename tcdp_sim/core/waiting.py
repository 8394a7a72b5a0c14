"""A message for users who have to wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.core.log import Tell


@contextmanager
def announced(tell: Tell, text: str, seconds: float = 3.0) -> Iterator[None]:
    """Show the text to the user if the block takes longer than so many seconds."""
    timer = threading.Timer(seconds, tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
