"""The terminal: everything that is printed goes through here, so nothing that others chose can command it."""

from typing import Any

from rich.console import Console
from rich.table import Column, Table

from tcdp_sim.core.texts import printable

NARROWEST = 10  # characters to which a column of words may be folded


class Terminal(Console):
    """A console whose texts are printable: no control characters, ANSI codes, marks of direction; no emoji by name.

    Line ends and tabs of a text stay. The colours and tables of Rich itself are not touched. A table that does not fit
    is printed wider than the terminal, where Rich would cut numbers off or leave columns out.
    """

    def __init__(self, **how):
        super().__init__(**{"emoji": False, **how})

    def render_str(self, text, **how):
        """The one way of every text onto the terminal, in tables too."""
        return super().render_str(printable(text, keep="\n\t"), **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as Rich does, and every column of a table with all that it says."""
        needed = max((self._least_width(each) for each in objects if isinstance(each, Table)), default=0)
        if needed <= self.width:
            super().print(*objects, **how)
            return
        before, self._width = self._width, needed
        try:
            super().print(*objects, **{**how, "crop": False})
        finally:
            self._width = before

    def _least_width(self, table: Table) -> int:
        """Return the least width in characters at which no column of a table is cut."""
        return sum(self._least_column(table, column) for column in table.columns) + table._extra_width

    def _least_column(self, table: Table, column: Column) -> int:
        """Return the full width of a column of numbers, and what a column of words can be folded to."""
        full = table._measure_column(self, self.options.update(width=10_000), column).maximum
        return full if column.no_wrap else min(full, NARROWEST)
