"""Ctrl-C and SIGTERM: both end a run in order, and both can be deferred."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.core import system

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_heard: list[int] = []  # signals that `check` has not answered yet


def listen() -> None:
    """Let SIGTERM and Ctrl-C raise KeyboardInterrupt, which `check` raises again if it was lost."""
    _heard.clear()
    signal.signal(signal.SIGTERM, _interrupt)
    # a shell's background job ignores Ctrl-C, and goes on ignoring it
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raise KeyboardInterrupt if a signal was heard but its exception was lost.

    Python raises the exception in whatever code the main thread runs, and drops it in a `__del__` or in a callback of
    the garbage collector. A run that only lost its workers would then start them again and go on.
    """
    if _heard:
        _heard.clear()
        raise KeyboardInterrupt


def ignore() -> None:
    """Ignore both signals from now on, because the process is about to end."""
    _heard.clear()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _: object) -> None:
    """Note a signal, and raise KeyboardInterrupt for every other one.

    A second signal often arrives while the first exception is still on its way, and would interrupt the orderly end. A
    third one is deliberate.
    """
    _heard.append(number)
    if len(_heard) % 2:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Defer signals to the end of the block; processes started in it stay deaf to Ctrl-C.

    A terminal sends Ctrl-C to the workers too, but only the driver must react. Workers inherit the blocked mask, which
    does not contain SIGTERM, because SIGTERM is used to end them. For the driver a mask is not enough, since the kernel
    delivers a signal to any thread without one, so the handlers only take note. Outside the main thread nothing
    happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in handlers:
        signal.signal(number, lambda number, _: heard.append(number))
    try:
        with system.blocked(signal.SIGINT):
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])
