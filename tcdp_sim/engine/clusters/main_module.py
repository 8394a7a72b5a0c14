"""New processes would run the user's script again, unless they do not learn where it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hidden() -> Iterator[None]:
    """For its time, processes that are started do not import the main module, so a script needs no main guard.

    `multiprocessing` tells each new process to import the file or the module that `__main__` is. Workers need nothing
    of it: what they run is in installed packages.
    """
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__[name] for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__dict__.update(kept)
