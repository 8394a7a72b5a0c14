"""Exceptions by which a user's function ends its process: they must neither end a worker nor hide a Ctrl-C."""

import threading

from tcdp_sim.core.texts import printable


class Exits(Exception):
    """A user's function that calls sys.exit, or raises KeyboardInterrupt where no Ctrl-C can have raised it."""


def ended(stop: BaseException, name: str, where: str = "") -> BaseException:
    """Return the error to raise for a SystemExit or KeyboardInterrupt of the user's function of this name.

    Either would end a worker without a word. A Ctrl-C can only have interrupted the main thread, where it stays one,
    and says where it was.
    """
    if isinstance(stop, SystemExit):
        return Exits(f"{name} calls sys.exit")
    if threading.current_thread() is not threading.main_thread():
        return Exits(f"{name} raises KeyboardInterrupt")
    return KeyboardInterrupt(printable(f"{where}{name} was interrupted"))
