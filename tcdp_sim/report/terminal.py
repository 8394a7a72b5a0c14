"""The terminal: all output passes through here, so that no text from others can command it."""

from typing import Any

from rich.console import Console
from rich.table import Column, Table

from tcdp_sim.core.texts import printable

NARROWEST = 10  # characters to which a column of words may be folded


class Terminal(Console):
    """A console that prints no control characters, ANSI codes, marks of direction, or emoji by name.

    Line ends and tabs of a text stay. The colours and tables of Rich itself are not changed. A table that does not fit
    is printed wider than the terminal, where Rich would cut numbers off or leave columns out.
    """

    def __init__(self, **how):
        super().__init__(**{"emoji": False, **how})

    def render_str(self, text, **how):
        """Return a text as Rich renders it; every text passes here on its way to the terminal, even in tables."""
        return super().render_str(printable(text, keep="\n\t"), **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as Rich does, but show every column of a table in full, and in a pipe or file every word."""
        if not self.is_terminal:
            for table in (each for each in objects if isinstance(each, Table)):
                self._keep_words(table)
        needed = max((self._least_width(each) for each in objects if isinstance(each, Table)), default=0)
        if needed <= self.width:
            super().print(*objects, **how)
            return
        before, self._width = self._width, needed
        try:
            super().print(*objects, **{**how, "crop": False})
        finally:
            self._width = before

    def _keep_words(self, table: Table) -> None:
        """Give every column of a table the width of its longest word: programs look for names in a pipe or file."""
        for column in table.columns:
            word = table._measure_column(self, self.options.update(width=10_000), column).minimum
            column.min_width = max(column.min_width or 0, word)

    def _least_width(self, table: Table) -> int:
        """Return the least width in characters at which no column of a table is cut."""
        return sum(self._least_column(table, column) for column in table.columns) + table._extra_width

    def _least_column(self, table: Table, column: Column) -> int:
        """Return the full width of a column of numbers, or the width to which a column of words can be folded."""
        full = table._measure_column(self, self.options.update(width=10_000), column).maximum
        return full if column.no_wrap else max(min(full, NARROWEST), column.min_width or 0)
