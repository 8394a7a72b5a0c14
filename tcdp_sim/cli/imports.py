"""Imports that no signal tears in two, and how often Python looks for garbage meanwhile and afterwards."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.engine import interrupts

YOUNG = 20_000  # objects after which Python looks for garbage: at its own 700 that is a fifteenth of a large plan


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals while the block imports, and collect no garbage: what is imported stays.

    Collection is not switched off by `gc.disable()`: a library that is imported meanwhile (dask) would take that for
    what is wanted ever after.
    """
    with _collecting(0), interrupts.held():
        yield


@contextmanager
def working() -> Iterator[None]:
    """Collect garbage rarely while the block works, and never in what is imported already.

    To look for garbage in the imported modules takes a tenth of the time of a large run.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    with _collecting(YOUNG):
        yield


@contextmanager
def _collecting(young: int) -> Iterator[None]:
    """Let Python look for garbage once that many objects are new, and never for 0."""
    thresholds = gc.get_threshold()
    gc.set_threshold(young, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
