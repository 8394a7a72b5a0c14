"""New processes of Python that import nothing from the current folder, which may be anybody's.

`python -c`, with which multiprocessing starts processes, looks for modules there first: a file named like a module of
the library would be run in its place.
"""

import os
from contextlib import AbstractContextManager

from tcdp_sim.core import environment, system

NAME, OURS = "PYTHONSAFEPATH", "tcdp_sim"  # any text switches it on, and ours tells it from one of the user's
SAFE = {NAME: OURS}


def started() -> AbstractContextManager[None]:
    """Keep processes that are started in the block from the current folder."""
    return environment.changed({NAME: os.environ.get(NAME) or OURS})


def ensure_tracker() -> None:
    """Start the process that tracks the resources of multiprocessing, if it does not run yet.

    Call it before signals are held: its start unblocks them.
    """
    with started():
        system.ensure_tracker()


def forget() -> None:
    """Take our variable away from this process, which has begun: programs that the user's functions start differ."""
    if os.environ.get(NAME) == OURS:
        del os.environ[NAME]


def begin() -> None:
    """Make a process that ours has started forget our variable, and leave Ctrl-C to ours."""
    forget()
    system.deafen()


def dask_setup(_: object) -> None:
    """Begin a worker of Dask, which calls this function of the modules that it loads first."""
    begin()
