"""Trials of a function of one trial that take too long (`trial_seconds`).

A second thread watches the time, and ends a trial by an exception in its thread. Python raises it between two steps of
Python code; in a main thread a signal also ends a call that waits. A call that computes in another language is ended
when it returns.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_ulong, py_object, pythonapi
from types import FrameType
from typing import Any, Self

import numpy as np

from tcdp_sim.core import system
from tcdp_sim.mechanisms.functions.noted_trials import plain_state

LOOKS = 20  # of the watch in the time of a trial


class Hung(BaseException):
    """A trial takes too long. It is no Exception, because users' functions may catch those."""


class Limit:
    """The time that each trial of a chunk may take, None for any. A context: the watch ends with its block."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._own = threading.get_ident()
        main = threading.current_thread() is threading.main_thread()
        self._by_signal = main and system.ALARM is not None  # which other threads and Windows do not have
        self._lock, self._end = threading.Lock(), threading.Event()
        self._began: float | None = None  # of the present trial, or its last exception
        self._is_late = self._is_coming = False  # the present trial is late; its exception is on its way
        self._before: Any = None  # the handler of the signal outside of the block

    def __enter__(self) -> Self:
        if self._seconds is not None:
            if self._by_signal:
                self._before = system.on_alarm(self._raise)
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._seconds is not None and self._by_signal:
            system.on_alarm(self._before)

    @contextmanager
    def of_a_trial(self) -> Iterator[None]:
        """Raise Hung in the block once it has taken too long."""
        if self._seconds is None:
            yield
            return
        with self._lock:
            self._began, self._is_late = time.monotonic(), False
        try:
            yield
        finally:
            with self._lock:
                self._began = None
            while self._is_coming:  # it must not hit what comes next
                time.sleep(0.001)
            if self._is_late:  # whatever it has made of the exception
                raise Hung(self._message)

    def _watch(self) -> None:
        assert self._seconds is not None
        while not self._end.wait(self._seconds / LOOKS):
            with self._lock:
                if self._began is not None and time.monotonic() - self._began > self._seconds:
                    self._began, self._is_late, self._is_coming = time.monotonic(), True, True
                    self._strike()

    def _strike(self) -> None:
        if self._by_signal:
            system.alarm(self._own)
        else:
            pythonapi.PyThreadState_SetAsyncExc(c_ulong(self._own), py_object(self._kind()))

    def _kind(self) -> type[Hung]:
        """Return the exception that the interpreter makes without arguments."""
        limit = self

        class Late(Hung):
            def __init__(self) -> None:
                limit._is_coming = False
                super().__init__(limit._message)

        return Late

    def _raise(self, _: int, __: FrameType | None) -> None:
        self._is_coming = False
        raise Hung(self._message)

    @property
    def _message(self) -> str:
        return f"the trial takes more than {self._seconds:g} s"


def after_hanging(before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of a generator after a trial that hangs, given that before it.

    How far the trial has come depends on the machine, so the generator goes on from a state that does not.
    """
    known = hashlib.sha256(json.dumps(plain_state(before), sort_keys=True).encode()).digest()
    kind = getattr(np.random, before["bit_generator"])
    state: Mapping[str, Any] = kind(int.from_bytes(known, "little")).state
    return state
