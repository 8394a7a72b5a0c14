"""Variables of this process's environment that are set for a time, for the processes that it starts meanwhile."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def changed(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables during the block."""
    with kept(variables):
        os.environ.update(variables)
        yield


@contextmanager
def kept(names: Iterable[str]) -> Iterator[None]:
    """Give these variables the values of before after the block, whatever sets them; others belong to other threads."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
