"""Ctrl-C and SIGTERM: both end a run in order, and both can be told to wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_heard: list[int] = []  # signals that `check` has not answered yet


def listen() -> None:
    """From now on SIGTERM and Ctrl-C raise KeyboardInterrupt, and `check` does if that one was lost."""
    _heard.clear()
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background job is deaf to it
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raise KeyboardInterrupt if a signal was heard and the run goes on all the same.

    Python raises it in whatever the main thread runs, and drops it if that is a `__del__` or a callback of the garbage
    collector. A run that only loses its workers then would start them again and go on.
    """
    if _heard:
        _heard.clear()
        raise KeyboardInterrupt


def ignore() -> None:
    """From now on neither is heard: the end has begun."""
    _heard.clear()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _: object) -> None:
    """The second one comes while the first is on its way up, and would end the end; a third is meant."""
    _heard.append(number)
    if len(_heard) % 2:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """What comes during the block is heard at its end; processes started in it stay deaf to Ctrl-C.

    A terminal sends Ctrl-C to the workers too, and only the driver shall hear it. They inherit the blocked mask
    (SIGTERM is not in it: that is how they are ended). For the driver a mask is not enough, since the kernel hands
    a signal to any thread without one: the handlers take note of it instead. Without effect outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in handlers:
        signal.signal(number, lambda number, _: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])
