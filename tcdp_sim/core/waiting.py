"""A message for users who have to wait."""

import threading
import time
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


@contextmanager
def repeated(tell: Tell, text: str, first: float, every: float = 15.0) -> Iterator[None]:
    """Show the text once the block has taken `first` seconds, and how long it has taken `every` so many seconds."""
    end, started = threading.Event(), time.monotonic()

    def speak() -> None:
        if end.wait(first):
            return
        tell(f"{text} ...")
        while not end.wait(every):
            tell(f"{text} ... {time.monotonic() - started:.0f} s so far")

    speaker = threading.Thread(target=speak, name="waiting", daemon=True)
    speaker.start()
    try:
        yield
    finally:
        end.set()
        speaker.join()
