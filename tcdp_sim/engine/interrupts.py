"""Ctrl-C and SIGTERM: both end a run in order, and both can be told to wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen() -> None:
    """From now on SIGTERM raises KeyboardInterrupt, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def ignore() -> None:
    """From now on neither is heard: the end has begun."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


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
