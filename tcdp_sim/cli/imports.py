"""Context managers for imports and long work: signals are held, and garbage is collected rarely."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from tcdp_sim.core.collector import collecting_seldom
from tcdp_sim.engine import interrupts


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals and suspend garbage collection while the block imports.

    The block does not call `gc.disable()`, because a library that is imported meanwhile (dask) would keep that setting.
    """
    with _collecting_never(), interrupts.held():
        yield


@contextmanager
def working() -> Iterator[None]:
    """Collect garbage rarely while the block works, and never among the objects that are imported already.

    Searching the imported modules for garbage takes a tenth of the time of a large run.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    with collecting_seldom():
        yield


@contextmanager
def _collecting_never() -> Iterator[None]:
    thresholds = gc.get_threshold()
    gc.set_threshold(0, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
