"""The choice of cases: a test with many runs as many of them as its seconds allow.

`tests/times.csv` (cpu_times.py) has the CPU seconds of a case. `make test` gives SECONDS to each test, and at least one
case runs unless it takes longer than LONGEST; the others are marked slow and left to `make test-rest`. Of a file whose
cases all take longer, one case of the quickest test runs, unless that takes longer than UTMOST. `pytest --seconds S`
gives S seconds to each test, slow cases included; at least one case runs unless it takes longer than PATIENCE times
that. The table is checked in, so that the choice is the same everywhere.

The cases that run show as many different values of every parameter as so many cases can: the next case is always one
that shows the most new values. The digest of the name decides between equal cases. A case that no other case can
replace is marked `kept` and always runs: `pytest.param(..., marks=pytest.mark.kept)`; so does a marked test.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from math import inf

import pytest
from cpu_times import test_of

SECONDS = 0.3  # of a test in `make test`
LONGEST = 1.0  # seconds of a case in `make test`
UTMOST = 4.0  # seconds of the only case of a file
PATIENCE = 30  # a case that takes more than so many times the given seconds is left out
Case = tuple[str, Mapping[str, object]]  # name, values of its parameters


def mark_slow(items: Iterable[pytest.Item], seconds: Mapping[str, float], given: float = SECONDS) -> None:
    """Mark as slow the cases for which the given seconds do not suffice; `seconds`: those of a case, by test."""
    tests = _by_test(items)
    quickest: dict[str, float] = {}
    for test in tests:
        file = test.split("::")[0]
        quickest[file] = min(quickest.get(file, inf), seconds.get(test, 0.0))
    for test, cases in tests.items():
        each = seconds.get(test, 0.0)
        least = each <= max(LONGEST, min(quickest[test.split("::")[0]], UTMOST))
        for item in _beyond(cases, each, given, least):
            item.add_marker(pytest.mark.slow)


def affordable(items: list[pytest.Item], seconds: Mapping[str, float], given: float) -> list[pytest.Item]:
    """Return the cases for which the given seconds suffice, at least one unless it takes very long, in their order."""
    left_out = set()
    for test, cases in _by_test(items).items():
        each = seconds.get(test, 0.0)
        left_out |= {*_beyond(cases, each, given, least=each <= PATIENCE * given)}
    return [item for item in items if item not in left_out]


def _by_test(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(test_of(item.nodeid), []).append(item)
    return tests


def _beyond(cases: list[pytest.Item], seconds: float, given: float, least: int) -> list[pytest.Item]:
    """Return the cases of one test that do not run."""
    always = {item.nodeid for item in cases if item.get_closest_marker("kept")}
    count = max(int(given / seconds + 1e-9) if seconds else len(cases), len(always), least)
    if count >= len(cases):
        return []
    chosen = picked([(item.nodeid, _parameters(item)) for item in cases], count, always)
    return [item for item in cases if item.nodeid not in chosen]


def _parameters(item: pytest.Item) -> Mapping[str, object]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def picked(cases: list[Case], count: int, always: Collection[str] = ()) -> set[str]:
    """Return the names of `count` cases, or of all if there are no more; those of `always` come first."""
    left = {name: _values(parameters) for name, parameters in sorted(cases, key=_digest)}
    seen: set[tuple[str, str]] = set()
    chosen: set[str] = set()
    while left and len(chosen) < count:
        name = max(left, key=lambda name: (name in always, len(left[name] - seen)))
        chosen.add(name)
        seen |= left.pop(name)
    return chosen


def _values(parameters: Mapping[str, object]) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in parameters.items()}


def _digest(case: Case) -> bytes:
    return hashlib.blake2b(case[0].encode()).digest()
