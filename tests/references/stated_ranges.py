"""The ranges of numbers that docstrings state: "at least 0", "in (0, 1]", "from 1 to 10^7", "1 <= order < inf", ..."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

_NUMBER = r"-?(?:\d+\^\d+|\d*\.?\d+(?:e-?\d+)?|inf)"
_PATTERNS = (  # pattern, then whether its first and second number belong to the range; None: the brackets tell
    (rf"([\[(])({_NUMBER}), ({_NUMBER})([\])])", None),
    (rf"\bfrom ({_NUMBER}) to below ({_NUMBER})", (True, False)),
    (rf"\bfrom ({_NUMBER}) to ({_NUMBER})", (True, True)),
    (rf"\bbetween ({_NUMBER}) and ({_NUMBER})", (True, True)),
    (rf"({_NUMBER}) <= \w+ <= ({_NUMBER})", (True, True)),
    (rf"({_NUMBER}) <= \w+ < ({_NUMBER})", (True, False)),
    (rf"({_NUMBER}) < \w+ < ({_NUMBER})", (False, False)),
)
_LOWER = ((rf"(?:\bat least|>=|\bfrom) ({_NUMBER})", True), (rf"(?:\babove|(?<!-)>) ({_NUMBER})", False))
_UPPER = ((rf"(?:\bat most|<=) ({_NUMBER})", True), (rf"(?:\bbelow|<) ({_NUMBER})", False))
_ANY = re.compile(r"either sign|any sign|\bfinite\b|at least|above|in \(|<=")  # the last ones: of other arguments
_SECTION = re.compile(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^(\w[^\n]*?) : ([^\n]*)\n((?:    [^\n]*\n?)*)", re.MULTILINE)


@dataclass(frozen=True)
class Range:
    """A range with its ends, and whether each belongs to it."""

    low: float = -inf
    high: float = inf
    closed: tuple[bool, bool] = (False, False)

    def ends(self) -> list[float]:
        """Return the finite ends that belong to the range."""
        return [end for end, closed in zip((self.low, self.high), self.closed) if closed and abs(end) < inf]

    def inside(self) -> float:
        """Return a number within the range."""
        if self.high < inf:
            return 0.5 * (max(self.low, self.high - 1) + self.high)
        return self.low + 1 if self.low > -inf else 1.0

    def outside(self) -> list[float]:
        """Return numbers that do not belong to the range, beside its ends."""
        found = [end for end, closed in zip((self.low, self.high), self.closed) if not closed and abs(end) < inf]
        found += [self.low - 1] if self.low > -inf else []
        return found + ([self.high * 1.5 + 1] if self.high < inf else [])


def number(text: str) -> float:
    base, _, power = text.partition("^")
    return float(base) ** int(power) if power else float(text)


def stated(text: str) -> Range | None:
    """Return the range that a description states, or None."""
    for pattern, closed in _PATTERNS:
        if found := re.search(pattern, text):
            parts = found.groups()
            if closed is None:
                return Range(number(parts[1]), number(parts[2]), (parts[0] == "[", parts[3] == "]"))
            return Range(number(parts[0]), number(parts[1]), closed)
    low, low_closed = _first(_LOWER, text, -inf)
    high, high_closed = _first(_UPPER, text, inf)
    known = low > -inf or high < inf or _ANY.search(text)
    return Range(low, high, (low_closed, high_closed)) if known else None


def _first(patterns: Any, text: str, otherwise: float) -> tuple[float, bool]:
    found = [(match.start(), number(match[1]), closed) for p, closed in patterns if (match := re.search(p, text))]
    return min(found)[1:] if found else (otherwise, False)


def parameters(thing: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (name, type, description) of the parameters in a docstring."""
    section = _SECTION.search(inspect.getdoc(thing) or "")
    for names, kind, body in _ENTRY.findall(section[1] + "\n" if section else ""):
        for name in names.split(", "):
            yield name, kind, " ".join(body.split())


def numeric_parameters(thing: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (name, type, description) of the parameters that a docstring calls a float or an int."""
    return (found for found in parameters(thing) if re.match(r"(float|int)\b", found[1]))


def typed_parameters(thing: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, type) of the parameters that a docstring calls something else."""
    return ((name, kind) for name, kind, _ in parameters(thing) if not re.match(r"(float|int)\b", kind))
