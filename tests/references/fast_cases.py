"""The choice of tests that `make test` leaves to `make test-rest`: the marked `slow`, and all but n of `few(n)`.

A test with many combinations of parameters says `@pytest.mark.few(n)`. Its n cases show as many different values of
every parameter as n cases can: the next case is always one that shows the most new values. The digest of the name
decides between equal cases, so that the choice is the same everywhere.

A case that no other case can replace is marked `kept`, and is taken first: `pytest.param(..., marks=pytest.mark.kept)`.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping

import pytest

Case = tuple[str, Mapping[str, object]]  # name, values of its parameters


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that `few` leaves out as slow."""
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

    Raises ValueError if `always` has more than `count` names.
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
