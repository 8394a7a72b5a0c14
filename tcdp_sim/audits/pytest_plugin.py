"""The plug-in for pytest: the fixture `assert_private`, its time, and what it has found. It imports nothing heavy.

Each audit is a line of the summary, and properties of its test in the file of --junit-xml. Both come from the test's
report, which also the processes of pytest-xdist send.
"""

import json
import math
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

FIXTURE = "assert_private"
PROPERTY, WEAK = "privacy_audit", "privacy_audit_is_weak"
LEVEL = 0.999
SHORTEST = 0.05  # seconds of an audit, if no time is left


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("tcdp_sim", "audits of privacy claims")
    group.addoption(
        "--audit-seconds", type=float, metavar="SECONDS", help="the time of all audits together, shared by their tests"
    )
    group.addoption(
        "--audit-badge", type=Path, metavar="FILE", help="write the verdict as JSON for a badge (shields.io)"
    )


class Budget:
    """The time that is left for the audits of this process, and the tests that may still need some of it."""

    def __init__(self, seconds: float, tests: int) -> None:
        self._seconds, self._tests = seconds, tests
        self._begun: set[str] = set()

    def share(self, test: str) -> float:
        """Return the time of the next audit of a test: an equal share of what is left."""
        self._begun.add(test)
        return max(self._seconds / max(self._tests - len(self._begun) + 1, 1), SHORTEST)

    def spend(self, seconds: float) -> None:
        """Take away what an audit has taken."""
        self._seconds -= seconds


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Share the time out, once the tests are chosen."""
    seconds = session.config.getoption("audit_seconds")
    if seconds is None:
        return
    if not 0 < seconds < math.inf:
        raise pytest.UsageError(f"--audit-seconds {seconds:g} is not valid; valid: a positive number of seconds")
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    tests = sum(FIXTURE in getattr(item, "fixturenames", ()) for item in session.items)
    session.config.stash[_BUDGET] = Budget(seconds, -(-tests // processes))


_BUDGET = pytest.StashKey[Budget]()


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that fails the test if two independent audits refute a privacy claim.

    Call it as assert_private(mechanism, claim, *, neighbours, seconds=20, level=0.999). The seed follows from the name
    of the test. With the option --audit-seconds its share takes the place of `seconds`. See
    `tcdp_sim.audits.assert_private`.
    """  # noqa: D401 (a fixture is named for what it yields)
    from tcdp_sim.audits import assertion

    test = request.node.nodeid
    name = int(sha256(test.encode()).hexdigest()[:16], 16)
    budget = request.config.stash.get(_BUDGET, None)

    def called(
        mechanism: Callable[..., Any], claim: Any, *, neighbours: Any, seconds: float = 20.0, level: float = LEVEL,
        seed: int = name,
    ) -> Any:  # fmt: skip
        __tracebackhide__ = True
        share, began = budget.share(test) if budget else seconds, monotonic()
        reports = assertion.audited(mechanism, claim, neighbours, share, level, seed, lambda _: None)
        if budget:
            budget.spend(monotonic() - began)
        request.node.user_properties += _properties(reports[-1])
        return assertion.passed(mechanism, reports, stacklevel=3)

    return called


def _properties(report: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a test's report tells of an audit, by name."""
    found = report.violation
    more = f", and {found:.3g} would have been found" if not report.refuted and math.isfinite(found) else ""
    verdict = "refuted" if report.refuted else "not refuted"
    yield PROPERTY, f"{report.claimed} is {verdict}: {report.measure} >= {report.bound:.3g}{more}"
    if report.weaknesses:
        yield WEAK, "; ".join(report.weaknesses)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print a line for each audit, and write the badge."""
    found = [(report.nodeid, *each) for report in _reports(terminalreporter) for each in report.user_properties]
    audits = [(test, line) for test, name, line in found if name == PROPERTY]
    if audits:
        terminalreporter.section("privacy audits")
        for test, line in audits:
            terminalreporter.write_line(f"{test}: {line}")
    if (path := config.getoption("audit_badge")) is not None:
        weak = sum(name == WEAK for _, name, _ in found)
        path.write_text(json.dumps(_badge([line for _, line in audits], weak)) + "\n", "utf-8")


def _reports(terminalreporter: Any) -> Iterator[Any]:
    """Yield the reports of the calls of all tests."""
    for reports in terminalreporter.stats.values():
        yield from (report for report in reports if getattr(report, "when", "") == "call")


def _badge(lines: list[str], weak: int) -> dict[str, Any]:
    """Return the verdict on all audits in the form that shields.io takes for a badge."""
    refuted = sum(" is refuted: " in line for line in lines)
    message = f"{refuted} of {len(lines)} refuted" if refuted else f"{len(lines)} not refuted"
    message += f", {weak} weak" if weak else ""
    colour = "red" if refuted else "lightgrey" if not lines else "yellow" if weak else "brightgreen"
    return {"schemaVersion": 1, "label": "privacy audits", "message": message, "color": colour}
