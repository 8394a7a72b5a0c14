"""CPU seconds of the tests, and their table tests/times.csv: `make test-times`, `pytest --times=write` or `limit`.

The seconds are those of the process and of the children that it waited for. Unlike seconds of the clock they hardly
depend on what else the machine does. What a fixture does once for several tests, such as the run of
a study, counts for none of them. The table has

- a row `collection`: what one process needs to import and collect all test files, which every worker does;
- a row for each test whose cases take more than LEAST together: its cases, and the seconds of a case;
- a row for each fixture that does as much once, named like a function that is called: `file::name()`;
- a row for the other tests of each file.

The choice of cases (chosen_cases.py) reads it. On another machine all seconds are longer or shorter; the row
`collection` tells by how much.
"""

import csv
import resource
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

TABLE = Path(__file__).parents[1] / "times.csv"
COLLECTION = "collection"
LEAST = 0.2  # seconds
SHARED = ("class", "module", "package", "session")  # scopes of fixtures that several tests share
GROWN = 0.5  # seconds: rounding, and what two runs of one folder differ by
LIMIT = 30  # times the collection, above which `--times=limit` fails; today 15 times with compiling it, 25 without


class Row(NamedTuple):
    """The number of cases, and the seconds of one."""

    cases: int
    each: float


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def fixtures_of(item: pytest.Item) -> list[str]:
    """Return the names in the table of the fixtures of a test."""
    known = getattr(item, "_fixtureinfo", None)
    found = (known.name2fixturedefs.get(name, ()) for name in known.names_closure) if known else ()
    return [named(defs[-1]) for defs in found if defs]


def named(fixture) -> str:
    """Return the name of a fixture in the table."""
    return f"{fixture.baseid or 'tests'}::{fixture.argname}()"


def is_fixture(name: str) -> bool:
    """Return True for the name of a fixture."""
    return name.endswith("()")


def test_of(nodeid: str) -> str:
    """Return the name of a test without its case."""
    return nodeid.split("[")[0]


test_of.__test__ = False  # pytest finds it in files that import it


class Times:
    """What was measured: seconds and numbers of cases that ran, by test; and the numbers of all cases."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.ran: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()

    def add(self, seconds: Mapping[str, float], ran: Mapping[str, int], cases: Mapping[str, int]) -> None:
        """Add what one process measured. Every process collects all cases; of the collections the longest counts."""
        longest = max(self.seconds[COLLECTION], seconds.get(COLLECTION, 0))
        self.seconds.update(seconds)
        self.ran.update(ran)
        self.seconds[COLLECTION] = longest
        self.cases |= Counter(cases)


def table_of(times: Times, stored: Mapping[str, Row]) -> dict[str, Row]:
    """Return the new table: what was measured, and the stored rows of tests that did not run and are still there."""
    measured = {test: Row(times.cases[test], times.seconds[test] / n) for test, n in times.ran.items()}
    seen = files_of(times.cases)
    known = times.cases.keys() | seen
    left = {test: row for test, row in stored.items() if test in known or file_of(test) not in seen or is_fixture(test)}
    kept = {test: row for test, row in left.items() if test not in measured and test != COLLECTION and _is_there(test)}
    rows = {test: row for test, row in (kept | measured).items() if row.cases * row.each > LEAST or test in kept}
    others: dict[str, list[Row]] = {}
    for test, row in measured.items():
        if test not in rows and not is_fixture(test):
            others.setdefault(file_of(test), []).append(row)
    for file, few in others.items():
        cases = sum(row.cases for row in few)
        rows[file] = Row(cases, sum(row.cases * row.each for row in few) / cases)
    whole = is_whole(times, stored) or COLLECTION not in stored
    return rows | {COLLECTION: Row(1, times.seconds[COLLECTION]) if whole else stored[COLLECTION]}


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.split("::")[0]


def files_of(tests: Iterable[str]) -> set[str]:
    """Return the files of tests."""
    return {file_of(test) for test in tests} - {COLLECTION}


def _is_there(test: str) -> bool:
    return (TABLE.parents[1] / file_of(test)).exists()


def is_whole(times: Times, stored: Mapping[str, Row]) -> bool:
    """Return True if all files of the table that are still there were collected, so that collections compare."""
    return {file for file in files_of(stored) if _is_there(file)} <= files_of(times.cases)


def by_folder(seconds: Mapping[str, float]) -> Counter[str]:
    """Return the sums by the first folder below tests."""
    sums: Counter[str] = Counter()
    for test, spent in seconds.items():
        parts = file_of(test).split("/")
        sums["/".join(parts[:2]) if len(parts) > 2 else parts[0]] += spent
    return sums


def expected(times: Times, stored: Mapping[str, Row]) -> dict[str, float]:
    """Return the seconds that the tests which ran would take by the stored table."""
    rows = {test: stored.get(test, stored.get(file_of(test))) for test in times.ran}
    found = {test: times.ran[test] * row.each for test, row in rows.items() if row}
    if COLLECTION not in stored:
        return found
    return found | {COLLECTION: stored[COLLECTION].each if is_whole(times, stored) else times.seconds[COLLECTION]}


def compared(times: Times, stored: Mapping[str, Row]) -> list[str]:
    """Return a line for each folder, the dearest first: cases, seconds, and the growth over the table.

    The table's seconds are multiplied by the ratio of the collections, so that a slower machine is no growth.
    """
    slower = slowness(times, stored)
    now, before = by_folder(times.seconds), by_folder(expected(times, stored))
    ran = by_folder(times.ran)
    lines = (
        [f"this machine is {slower:.2f} times as slow as that of the table"]
        if stored and is_whole(times, stored)
        else []
    )
    for folder, seconds in now.most_common():
        growth = seconds - slower * before[folder]
        said = f"  {growth:+.1f}" if abs(growth) > GROWN else ""
        lines.append(f"{seconds:8.1f} s {ran[folder]:6} cases  {folder}{said}")
    total = sum(now.values())
    return [*lines, f"{total:8.1f} s in total, {total - slower * sum(before.values()):+.1f}"]


def slowness(times: Times, stored: Mapping[str, Row]) -> float:
    """Return the ratio of the collections of now and of the table; 1 if they are not of the same files."""
    comparable = COLLECTION in stored and is_whole(times, stored)
    return times.seconds[COLLECTION] / stored[COLLECTION].each if comparable else 1.0


def too_long(times: Times) -> str:
    """Return why the tests take too long; "" if they do not. Both sides are longer on a slower machine."""
    collection, seconds = times.seconds[COLLECTION], sum(times.seconds.values())
    said = f"{seconds:.0f} CPU s are more than {LIMIT} times those of the collection, {collection:.1f}"
    return said if seconds > LIMIT * collection else ""


def read(path: Path = TABLE) -> dict[str, Row]:
    """Return the stored table; an empty one if there is none."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["test"]: Row(int(row["cases"]), float(row["seconds_each"])) for row in csv.DictReader(file)}


def write(path: Path, rows: Mapping[str, Row]) -> None:
    """Store a table, the tests in alphabetical order."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("test", "cases", "seconds_each"))
        table.writerows((test, row.cases, f"{row.each:.4f}") for test, row in sorted(rows.items()))


class Measuring:
    """The plugin of one process. The process that starts workers collects what they measured."""

    def __init__(self, fails: bool) -> None:
        self.own = Times()
        self.all = Times()
        self.started = cpu_seconds()
        self.test, self.of_fixtures = "", 0.0  # the present test, and the seconds of the fixtures that it has made
        self.setups: dict[tuple[str, bool], list[tuple[str, float]]] = {}  # name, once -> tests and seconds
        self.fails = fails
        self.problem = ""

    def pytest_itemcollected(self, item):
        self.own.cases[test_of(item.nodeid)] += 1

    def pytest_collection_finish(self) -> None:
        self.own.seconds[COLLECTION] = cpu_seconds() - self.started

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        before, self.of_fixtures = cpu_seconds(), 0.0
        self.test = test_of(item.nodeid)
        try:
            return (yield)
        finally:
            self.own.seconds[self.test] += cpu_seconds() - before - self.of_fixtures
            self.own.ran[self.test] += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Measure a fixture. Others that it asks for while it is made are measured by themselves."""
        before, inner = cpu_seconds(), self.of_fixtures
        try:
            return (yield)
        finally:
            own = cpu_seconds() - before - (self.of_fixtures - inner)
            self.of_fixtures += own
            once = fixturedef.scope in SHARED
            self.setups.setdefault((named(fixturedef), once), []).append((self.test, own))

    def divide(self) -> None:
        """Divide the seconds of the fixtures: what one of a single test always takes is its test's, the rest once."""
        for (name, once), setups in self.setups.items():
            always = 0.0 if once else min(seconds for _, seconds in setups)
            rest = sum(seconds for _, seconds in setups) - always * len(setups)
            is_rest = once or rest > LEAST
            for test, seconds in setups:
                self.own.seconds[test] += always if is_rest else seconds
            if is_rest:
                self.own.seconds[name] += rest
                self.own.ran[name], self.own.cases[name] = 1, 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        if measured := getattr(node, "workeroutput", {}).get("cpu_times"):
            self.all.add(*measured)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        own = self.own
        self.divide()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["cpu_times"] = dict(own.seconds), dict(own.ran), dict(own.cases)
            return
        self.all.add(own.seconds, own.ran, own.cases)
        self.problem = too_long(self.all) if self.fails else ""
        if self.problem:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        stored = read(TABLE)
        terminalreporter.section("CPU seconds by folder, and growth")
        for line in [*compared(self.all, stored), *filter(None, [self.problem])]:
            terminalreporter.write_line(line)
        if not self.fails:
            write(TABLE, table_of(self.all, stored))
