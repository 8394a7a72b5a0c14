"""A sign of life while a step runs that prints nothing, such as the planning of a large study."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rich.progress import Progress, TextColumn, TimeElapsedColumn

from tcdp_sim.core.waiting import repeated
from tcdp_sim.report.terminal import Terminal

SECONDS = 3.0  # after which a step is named in a log; most refusals come earlier and stay one line


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Name the step that the block takes, on stderr.

    A terminal shows the step at once, with the time that it has taken, and erases it at the end. A log has a line once
    the step has taken SECONDS, and another one every 15 s.
    """
    console = Terminal(stderr=True)
    if console.is_terminal:
        with Progress(TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True) as shown:
            shown.add_task(what)
            yield
        return
    with repeated(partial(console.print, highlight=False, soft_wrap=True), what, SECONDS):
        yield
