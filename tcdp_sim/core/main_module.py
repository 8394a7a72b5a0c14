"""The main module of a program, hidden from the processes that are started."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hidden() -> Iterator[None]:
    """Hide the main module from processes started in the block, so that a script needs no main guard.

    `multiprocessing` makes each new process import the file or module of `__main__`. Our processes need nothing from
    it, because all their code is in installed packages.
    """
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__[name] for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__dict__.update(kept)
