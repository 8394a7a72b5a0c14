"""The terminal: everything that is printed goes through here, so nothing that others chose can command it."""

from rich.console import Console

from tcdp_sim.texts import printable


class Terminal(Console):
    """A console whose texts are printable: no control characters, ANSI codes, marks of direction; no emoji by name.

    Line ends and tabs of a text stay. The colours and tables of Rich itself are not touched.
    """

    def __init__(self, **how):
        super().__init__(**{"emoji": False, **how})

    def render_str(self, text, **how):
        """The one way of every text onto the terminal, in tables too."""
        return super().render_str(printable(text, keep="\n\t"), **how)
