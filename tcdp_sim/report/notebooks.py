"""The notebook that this process is the kernel of, and a bar of progress below its cells.

IPython is never imported: what is not loaded does not run.
"""

import html
import sys
from typing import Any

from tcdp_sim.core.texts import printable


def shell() -> Any:
    """Return the running shell of IPython, None if there is none."""
    loaded = sys.modules.get("IPython")
    return loaded.get_ipython() if loaded and hasattr(loaded, "get_ipython") else None


def is_notebook() -> bool:
    """Return True in a kernel, which shows HTML; False in a terminal."""
    return hasattr(shell(), "kernel")


class Bar:
    """A bar of progress with a line below the cell of a notebook. Each call of `show` replaces it."""

    def __init__(self) -> None:
        self._handle: Any = None

    @property
    def is_shown(self) -> bool:
        """True once something has been shown."""
        return self._handle is not None

    def show(self, share: float, line: str) -> None:
        """Show the share of the work that is done, from 0 to 1, and a line about it."""
        bar = f'<progress value="{min(share, 1.0):.3f}" max="1"></progress>'
        spaced = html.escape(printable(line)).replace("  ", "&nbsp; ")
        data = {"text/html": f"{bar} {spaced}", "text/plain": printable(line)}
        if self._handle is None:
            self._handle = sys.modules["IPython"].display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
