"""The signals of the server process: importing this module makes it deaf to SIGTERM, and its processes hear it.

A queue sends SIGTERM to all processes of a run at once. The server has to outlive its processes, because only it learns
how they have ended. The signal is blocked and not ignored, because a process that gets it right after its birth would
otherwise lose it.
"""

import os
import signal

_DEAF_TO = {signal.SIGTERM}

signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)
os.register_at_fork(after_in_child=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, _DEAF_TO))
