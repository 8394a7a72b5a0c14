"""Lines for people: on the terminal, and in the run's log where one is kept."""

from collections.abc import Iterable

from tcdp_sim.core.log import LOG


def say(console, text: str) -> None:
    """A line for people, and for the run's log where one is kept."""
    console.print(text, markup=False)  # brackets in a path are no markup
    LOG.info(text)


def say_all(console, lines: Iterable[str]) -> None:
    """Several lines for people."""
    for line in lines:
        say(console, line)
