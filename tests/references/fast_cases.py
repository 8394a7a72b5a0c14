"""Which tests `make test` leaves to `make test-rest`: those marked `slow`, and of `few(n)` all but n cases.

A test with many combinations of parameters says `@pytest.mark.few(n)`. Its n cases show as many different values of
every parameter as n cases can: the next one taken is always one that shows the most values not seen yet. Which of
several equal ones is settled by the digest of its name, so that the choice is the same everywhere and always.

A case that sees what no other does is marked `kept`, and is taken first: `pytest.param(..., marks=pytest.mark.kept)`.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping

import pytest

Case = tuple[str, Mapping[str, object]]  # name, values of its parameters


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what `few` leaves out."""
    tests: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if item.get_closest_marker("few"):
            tests.setdefault((item.parent.nodeid, item.originalname), []).append(item)
    for cases in tests.values():
        (count,) = cases[0].get_closest_marker("few").args
        always = {item.nodeid for item in cases if item.get_closest_marker("kept")}
        kept = picked([(item.nodeid, item.callspec.params) for item in cases], count, always)
        for item in cases:
            if item.nodeid not in kept:
                item.add_marker(pytest.mark.slow)


def picked(cases: list[Case], count: int, always: Collection[str] = ()) -> set[str]:
    """Return the names of `count` cases, or of all if there are no more; those of `always` are among them.

    Raises ValueError if there are more in `always` than are to be taken.
    """
    if len(always) > count:
        raise ValueError(f"{len(always)} cases are marked kept: {sorted(always)[0]}, ...; valid: at most few({count})")
    left = {name: _values(parameters) for name, parameters in sorted(cases, key=_digest)}
    seen: set[tuple[str, str]] = set()
    kept: set[str] = set()
    while left and len(kept) < count:
        name = max(left, key=lambda name: (name in always, len(left[name] - seen)))
        kept.add(name)
        seen |= left.pop(name)
    return kept


def _values(parameters: Mapping[str, object]) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in parameters.items()}


def _digest(case: Case) -> bytes:
    return hashlib.blake2b(case[0].encode()).digest()
