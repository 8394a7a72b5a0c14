"""Functions that print lines on the terminal and write them into the run's log, if there is one."""

from collections.abc import Iterable

from tcdp_sim.core.log import LOG


def say(console, text: str) -> None:
    """Print a line, and write it into the run's log, if there is one."""
    console.print(text, markup=False)  # brackets in a path are no markup
    LOG.info(text)


def say_all(console, lines: Iterable[str]) -> None:
    """Print several lines, and write them into the run's log, if there is one."""
    for line in lines:
        say(console, line)
