"""Paths as people write them."""

import os
from os import PathLike
from typing import Any


def at_home(path: str | PathLike[Any]) -> str:
    """Return a path in which a leading ~ stands for the home folder, as in a shell.

    A shell leaves the ~ of KEY=~/x as it is, and nobody expands it in a file or a notebook. ./~ is a file of that name.
    """
    return os.path.expanduser(os.fspath(path))
