"""The choice of cases: a test with many runs as many of them as its seconds allow.

`tests/times.csv` (cpu_times.py) has the CPU seconds of a case. `make test` gives SECONDS to each test, and at least one
case runs unless it takes longer than LONGEST; the others are marked slow and left to `make test-rest`. Of a file whose
cases all take longer, one case of the quickest test runs, unless that takes longer than UTMOST. `pytest --seconds S`
gives S seconds to each test, slow cases included; at least one case runs unless it takes longer than PATIENCE times
that. The table is checked in, so that the choice is the same everywhere.

What a fixture does once costs each of its cases an equal part, and the only test of a file that runs all of it.

The cases that run show as many different values of every parameter as so many cases can: the next case is always one
that shows the most new values. The digest of the name decides between equal cases. A case that no other case can
replace is marked `kept` and always runs: `pytest.param(..., marks=pytest.mark.kept)`; so does a marked test, and a case
that stands in tests/kept_cases.txt, because without it a fault of mutants/faults.toml would be missed.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import inf
from pathlib import Path

import pytest
from cpu_times import file_of, fixtures_of, test_of

SECONDS = 0.3  # of a test in `make test`
LONGEST = 1.0  # seconds of a case in `make test`
UTMOST = 4.0  # seconds of the only case of a file
PATIENCE = 30  # a case that takes more than so many times the given seconds is left out
KEPT = Path(__file__).parents[1] / "kept_cases.txt"
STALE = pytest.StashKey[list[str]]()  # of the session: what `stale_names` found in all that was collected
Case = tuple[str, Mapping[str, object]]  # name, values of its parameters


def kept_cases() -> list[str]:
    """Return the names in tests/kept_cases.txt, in their order."""
    return [line for line in KEPT.read_text("utf-8").splitlines() if not line.startswith("#")]


def mark_kept(items: Iterable[pytest.Item], names: Collection[str]) -> None:
    """Mark as kept the cases with these names."""
    for item in items:
        if item.nodeid in names:
            item.add_marker(pytest.mark.kept)


def stale_names(items: Iterable[pytest.Item], names: Iterable[str]) -> list[str]:
    """Return the names of cases that are slow, or no longer there although their test is."""
    slow = {item.nodeid: item.get_closest_marker("slow") is not None for item in items}
    tests = set(map(test_of, slow))
    return [name for name in names if test_of(name) in tests and slow.get(name, True)]


def mark_slow(items: Iterable[pytest.Item], seconds: Mapping[str, float], given: float = SECONDS) -> None:
    """Mark as slow the cases for which the given seconds do not suffice; `seconds`: those of a case, by test."""
    tests = _by_test(items)
    shares, alone = _costs(tests, seconds)
    quickest: dict[str, float] = {}
    for test in tests:
        quickest[file_of(test)] = min(quickest.get(file_of(test), inf), alone[test])
    for test, cases in tests.items():
        least = shares[test] <= LONGEST or alone[test] <= min(quickest[file_of(test)], UTMOST)
        for item in _beyond(cases, shares[test], given, least):
            item.add_marker(pytest.mark.slow)


def affordable(items: list[pytest.Item], seconds: Mapping[str, float], given: float) -> list[pytest.Item]:
    """Return the cases for which the given seconds suffice, at least one unless it takes very long, in their order."""
    left_out = set()
    tests = _by_test(items)
    shares, _ = _costs(tests, seconds)
    for test, cases in tests.items():
        left_out |= {*_beyond(cases, shares[test], given, least=shares[test] <= PATIENCE * given)}
    return [item for item in items if item not in left_out]


def _costs(
    tests: Mapping[str, list[pytest.Item]], seconds: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of a case by test: with its part of shared fixtures, and with all of them."""
    used = {test: fixtures_of(cases[0]) for test, cases in tests.items()}
    users: Counter[str] = Counter()
    for test, cases in tests.items():
        users.update(dict.fromkeys(used[test], len(cases)))
    own = {test: seconds.get(test, 0.0) for test in tests}
    parts = {test: sum(seconds.get(name, 0.0) / users[name] for name in used[test]) for test in tests}
    whole = {test: sum(seconds.get(name, 0.0) for name in used[test]) for test in tests}
    return {test: own[test] + parts[test] for test in tests}, {test: own[test] + whole[test] for test in tests}


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
