"""Signals to processes that may have ended a moment ago."""

import os
import signal


def sent(pid: int, number: int = signal.SIGKILL) -> bool:
    """Send a signal to a process, and return False if it has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def sent_to_group(pid: int, number: int = signal.SIGKILL) -> bool:
    """Send a signal to a group of processes, and return False if all have ended."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return False
    return True
