"""The first failed trial of each kind in a chunk, and the number of its kind, noted while the chunk is drawn."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.texts import kind_of

ERROR, WARNING = "error", "warning"
KINDS = 8  # kinds of a chunk that are told apart; the rest is one more
OTHERS = "of other kinds"
_NOTED: "ContextVar[dict[tuple[str, str], Noted] | None]" = ContextVar("noted", default=None)


@dataclass
class Noted:
    """The first trial of a kind: its message, its place in the chunk, the state before it, and the number of draws."""

    what: str
    message: str
    trial: int
    state: Any
    count: int

    @property
    def where(self) -> str:
        """All but the message, as JSON."""
        return json.dumps({"trial": self.trial, "count": self.count, "state": self.state})


@contextmanager
def noted() -> "Iterator[dict[tuple[str, str], Noted]]":
    """Collect the first failed trial of each kind during the block."""
    found: dict[tuple[str, str], Noted] = {}
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def note(what: str, message: str, trial: int, before: Mapping[str, Any], count: int = 1) -> None:
    """Note failed draws of a kind; `trial` is the first of them, and `before` the state of the generator before it."""
    found = _NOTED.get()
    if found is None:
        return
    key = what, kind_of(message)
    if key not in found and sum(other == what for other, _ in found) >= KINDS:
        key, message = (what, OTHERS), f"{what}s {OTHERS}, such as {message}"
    if key in found:
        found[key].count += count
    else:
        found[key] = Noted(what, message, trial, plain_state(before), count)


def plain_state(state: Any) -> Any:
    """Return the state of a bit generator as plain data."""
    if isinstance(state, Mapping):
        return {key: plain_state(value) for key, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray | np.generic) else state
