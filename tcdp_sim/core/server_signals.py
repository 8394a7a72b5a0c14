"""The signals of the server process: importing this module makes it ignore SIGTERM, and its processes hear it.

A queue sends SIGTERM to all processes of a run at once. The server has to outlive its processes, because only it learns
how they have ended.
"""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
