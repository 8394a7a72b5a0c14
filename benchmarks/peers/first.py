"""One small question, answered by a new process and measured from outside.

The command is `python -m benchmarks.peers.first NAME FUNCTION`.
"""

import importlib
import sys
import warnings

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    getattr(importlib.import_module(f"benchmarks.peers.contestants.{sys.argv[1]}"), sys.argv[2])()
