"""The command `tcdp-sim check`, which looks for mistakes in a noise or a mechanism."""

from collections.abc import Sequence
from typing import Any

from tcdp_sim import checks
from tcdp_sim.cli.say import say
from tcdp_sim.core import user_files
from tcdp_sim.core.errors import UserError

VALID = "valid: tcdp-sim check NAME|FILE.py:CLASS [PARAMETER=VALUE ...]"
WRONG = 1  # the exit code if anything is wrong


def main(console: Any, words: Sequence[str]) -> int:
    """Check NAME, or the class or object FILE.py:CLASS, and print its mistakes. Returns the exit code."""
    places, given = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    if len(places) != 1:
        raise UserError(f"check takes one name, not {' '.join(places) or 'nothing'}; {VALID}")
    place = places[0]
    thing: Any = user_files.load(place) if ".py:" in place else place
    lines = checks.check(_made(place, thing, dict(map(_read, given))) if given else thing)
    for line in lines:
        say(console, f"WRONG: {line}")
    if not lines:
        say(console, f"{place}: nothing wrong was found")
    return WRONG if lines else 0


def _read(word: str) -> tuple[str, float]:
    name, _, value = word.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise UserError(f"check: {word!r} is not PARAMETER=NUMBER; {VALID}") from None


def _made(place: str, thing: Any, parameters: dict[str, float]) -> Any:
    """Return the object of a class with these parameters."""
    kind = checks.named(thing) if isinstance(thing, str) else thing
    if not isinstance(kind, type):
        raise UserError(f"{place} is no class, so it takes no parameters; {VALID}")
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as problem:
        raise UserError(f"{place}: {' '.join(str(problem).split())}") from None
