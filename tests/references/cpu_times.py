"""A pytest plugin: CPU seconds of the tests by file, compared with the table that is checked in (`make test-times`).

The seconds are those of the process and of the children that it waited for. Unlike seconds of the clock they hardly
depend on what else the machine does. A fixture counts for the test that needed it first. The row `collection` is what
one process needs to import and collect all test files, which every worker does.
"""

import csv
import resource
from collections import Counter
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "times.csv"
COLLECTION = "collection"
GROWN = 0.5  # seconds: rounding, and what two runs of one folder differ by


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Times:
    """Seconds and numbers of tests by file, over all processes."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def add(self, seconds: dict[str, float], tests: dict[str, int]) -> None:
        """Add what one process measured. Of the collections the longest counts."""
        longest = max(self.seconds[COLLECTION], seconds.get(COLLECTION, 0))
        self.seconds.update(seconds)
        self.tests.update(tests)
        self.seconds[COLLECTION] = longest

    def rows(self) -> dict[str, tuple[int, float]]:
        """Return (number of tests, rounded seconds) by file."""
        return {name: (self.tests[name], round(self.seconds[name], 1)) for name in self.seconds}


def by_folder(rows: dict[str, tuple[int, float]]) -> dict[str, tuple[int, float]]:
    """Return the sums of the rows by the first folder below tests."""
    sums: dict[str, tuple[int, float]] = {}
    for name, (tests, seconds) in rows.items():
        parts = name.split("/")
        folder = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        before = sums.get(folder, (0, 0.0))
        sums[folder] = before[0] + tests, before[1] + seconds
    return sums


def read(path: Path) -> dict[str, tuple[int, float]]:
    """Return the stored table; an empty one if there is none."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["file"]: (int(row["tests"]), float(row["seconds"])) for row in csv.DictReader(file)}


def write(path: Path, rows: dict[str, tuple[int, float]]) -> None:
    """Store a table, the files in alphabetical order."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("file", "tests", "seconds"))
        table.writerows((name, tests, f"{seconds:.1f}") for name, (tests, seconds) in sorted(rows.items()))


def compared(now: dict[str, tuple[int, float]], stored: dict[str, tuple[int, float]]) -> list[str]:
    """Return a line for each folder, the dearest first: tests, seconds, and the growth over the same files before."""
    before = by_folder({name: row for name, row in stored.items() if name in now})
    lines = []
    for folder, (tests, seconds) in sorted(by_folder(now).items(), key=lambda item: -item[1][1]):
        growth = seconds - before.get(folder, (0, 0.0))[1]
        said = f"  {growth:+.1f}" if abs(growth) > GROWN else ""
        lines.append(f"{seconds:8.1f} s {tests:6} tests  {folder}{said}")
    total = sum(seconds for _, seconds in now.values())
    return [*lines, f"{total:8.1f} s in total, {total - sum(s for _, s in before.values()):+.1f}"]


class Measuring:
    """The plugin of one process. The process that starts workers collects what they measured."""

    def __init__(self) -> None:
        self.own = Times()
        self.all = Times()
        self.started = cpu_seconds()

    def pytest_collection_finish(self) -> None:
        self.own.seconds[COLLECTION] = cpu_seconds() - self.started

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            name = item.nodeid.split("::")[0]
            self.own.seconds[name] += cpu_seconds() - before
            self.own.tests[name] += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        measured = getattr(node, "workeroutput", {}).get("cpu_times")
        if measured:
            self.all.add(*measured)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["cpu_times"] = dict(self.own.seconds), dict(self.own.tests)

    def pytest_terminal_summary(self, terminalreporter):
        self.all.add(self.own.seconds, self.own.tests)
        now, stored = self.all.rows(), read(TABLE)
        terminalreporter.section("CPU seconds by folder, and growth")
        for line in compared(now, stored):
            terminalreporter.write_line(line)
        here = {name: row for name, row in stored.items() if (TABLE.parents[1] / name).exists()}
        write(TABLE, here | now)


def pytest_configure(config):
    config.pluginmanager.register(Measuring(), "cpu_times_measuring")
