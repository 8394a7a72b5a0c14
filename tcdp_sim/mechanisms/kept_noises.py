"""Calibrated noises that a run keeps, so that the same study need not search for them again.

A noise is known by a text, which names everything that it depends on besides the code.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

MOST = 10_000  # noises that are kept: the file of a larger sweep would be slow to read
Parameters = Mapping[str, Any]  # the parameters of a noise by name


class _Kept:
    """The noises that are known from before, and the noises that were asked for."""

    def __init__(self, known: Mapping[str, Parameters]) -> None:
        self.known = known
        self.used: dict[str, Parameters] = {}


_KEPT: ContextVar[_Kept | None] = ContextVar("kept calibrations", default=None)


@contextmanager
def keeping(known: Mapping[str, Parameters]) -> Iterator[dict[str, Parameters]]:
    """Use known parameters in the block, and yield the dict that receives all parameters that the block asks for."""
    kept = _Kept(known)
    before = _KEPT.set(kept)
    try:
        yield kept.used
    finally:
        _KEPT.reset(before)


def kept(name: str, build: Callable[..., Parameters], search: Callable[[], Parameters]) -> Parameters:
    """Return the result of `build` for the known parameters of a noise, else for the parameters that `search` returns.

    `build` raises TypeError or ValueError for parameters that the noise cannot have.
    """
    keeper = _KEPT.get()
    if keeper is None:
        return search()
    if name not in keeper.used:
        found = _built(build, keeper.known.get(name)) or search()
        if len(keeper.used) >= MOST:
            return found
        keeper.used[name] = found
    return keeper.used[name]


def _built(build: Callable[..., Parameters], known: Parameters | None) -> Parameters | None:
    """Return the result of `build` for parameters; None if there are none or the noise cannot have them."""
    try:
        return None if known is None else build(**known)
    except (TypeError, ValueError):
        return None
