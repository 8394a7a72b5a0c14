"""The table of `make test-times`: what is added up, what is compared, and what stays of the table before."""

from types import SimpleNamespace

import cpu_times
import pytest
from cpu_times import COLLECTION, Measuring, Row, Times, by_folder, compared, expected, read, table_of, too_long, write


@pytest.fixture(autouse=True)
def there(monkeypatch, tmp_path):
    """A folder with the test files of these tables."""
    monkeypatch.setattr(cpu_times, "TABLE", tmp_path / "tests" / "times.csv")
    for name in ("f.py", "g.py", "h.py", "x.py", "tests/a/x.py", "tests/b/y.py", "tests/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()


def times(seconds, ran=None, cases=None):
    found = Times()
    found.add(seconds, ran or dict.fromkeys(seconds.keys() - {COLLECTION}, 1), cases or ran or seconds)
    return found


def test_folders_are_sums_of_their_files_and_subfolders():
    seconds = {"tests/a/x.py::f": 1.5, "tests/a/b/y.py::g": 4.0, "tests/z.py::h": 0.5, COLLECTION: 7}
    assert by_folder(seconds) == {"tests/a": 5.5, "tests": 0.5, COLLECTION: 7}


def test_what_is_written_is_read_again(tmp_path):
    rows = {"tests/a/x.py::f": Row(3, 0.5), COLLECTION: Row(1, 20.25)}
    assert read(tmp_path / "times.csv") == {}
    write(tmp_path / "times.csv", rows)
    assert read(tmp_path / "times.csv") == rows


def test_dear_tests_have_rows_the_others_of_a_file_one_and_what_did_not_run_stays():
    """Two of ten cases ran: each took half a second."""
    seconds = {"f.py::dear": 1.0, "f.py::cheap": 0.01, "f.py::cheaper": 0.03, COLLECTION: 9.0}
    ran = {"f.py::dear": 2, "f.py::cheap": 1, "f.py::cheaper": 3}
    cases = ran | {"f.py::dear": 10, "g.py::slow": 4}
    stored = {"f.py::dear": Row(7, 3.0), "g.py::slow": Row(4, 2.5), "g.py::gone": Row(1, 8.0), "f.py": Row(1, 0.9)}
    assert table_of(times(seconds, ran, cases), stored) == {
        "f.py::dear": Row(10, 0.5),
        "g.py::slow": Row(4, 2.5),
        "f.py": Row(4, pytest.approx(0.01)),
        COLLECTION: Row(1, 9.0),
    }


def test_a_run_of_some_files_leaves_the_rows_of_the_others():
    """The collection of one file says nothing of the machine. Rows of files that are gone go, others of a file stay."""
    stored = {"f.py::f": Row(1, 3.0), "h.py::dear": Row(2, 4.0), "h.py": Row(9, 0.01), COLLECTION: Row(1, 20.0)}
    now = times({"f.py::f": 1.0, COLLECTION: 2.0})
    assert table_of(now, stored | {"gone.py::g": Row(1, 5.0)}) == stored | {"f.py::f": Row(1, 1.0)}
    assert compared(now, stored) == [
        "     2.0 s      0 cases  collection",
        "     1.0 s      1 cases  f.py  -2.0",
        "     3.0 s in total, -2.0",
    ]
    slow = times({"h.py::dear": 6.0, COLLECTION: 2.0}, {"h.py::dear": 1}, {"h.py::dear": 2})
    assert table_of(slow, stored) == stored | {"h.py::dear": Row(2, 6.0)}


def test_growth_is_that_of_the_cases_that_ran_and_no_slower_machine():
    now = times(
        {"tests/a/x.py::f": 3.0, "tests/b/y.py::g": 6.0, COLLECTION: 20.0}, {"tests/a/x.py::f": 2, "tests/b/y.py::g": 5}
    )
    stored = {"tests/a/x.py::f": Row(9, 0.5), "tests/b/y.py": Row(5, 0.6), COLLECTION: Row(1, 10.0)}
    assert expected(now, stored) == {"tests/a/x.py::f": 1.0, "tests/b/y.py::g": 3.0, COLLECTION: 10.0}
    assert compared(now, stored) == [
        "this machine is 2.00 times as slow as that of the table",
        "    20.0 s      0 cases  collection",
        "     6.0 s      5 cases  tests/b",
        "     3.0 s      2 cases  tests/a  +1.0",
        "    29.0 s in total, +1.0",
    ]


def test_too_long_is_no_matter_of_the_machine():
    assert not too_long(times({"x.py::f": 290.0, COLLECTION: 10.0}))
    assert not too_long(times({"x.py::f": 580.0, COLLECTION: 20.0}))
    said = "301 CPU s are more than 30 times those of the collection, 10.0"
    assert too_long(times({"x.py::f": 291.0, COLLECTION: 10.0})) == said


def test_workers_add_up_and_the_longest_collection_counts():
    both = Times()
    both.add({COLLECTION: 7.0, "x.py::f": 1.0}, {"x.py::f": 2}, {"x.py::f": 4})
    both.add({COLLECTION: 5.0, "x.py::f": 0.5}, {"x.py::f": 1}, {"x.py::f": 4})
    assert (both.seconds, both.ran, both.cases) == ({COLLECTION: 7.0, "x.py::f": 1.5}, {"x.py::f": 3}, {"x.py::f": 4})


def made(measuring, scope, name, *inner):
    """Make a fixture, and others while it is made."""
    one = measuring.pytest_fixture_setup(SimpleNamespace(scope=scope, baseid="tests/x.py", argname=name))
    next(one)
    for each in inner:
        made(measuring, *each)
    with pytest.raises(StopIteration):
        one.send(True)


def measured(measuring, test, *fixtures):
    """Run a test after its fixtures."""
    measuring.pytest_itemcollected(SimpleNamespace(nodeid=f"tests/x.py::{test}"))
    protocol = measuring.pytest_runtest_protocol(SimpleNamespace(nodeid=f"tests/x.py::{test}"))
    next(protocol)
    for each in fixtures:
        made(measuring, *each)
    with pytest.raises(StopIteration):
        protocol.send(True)


def test_what_a_fixture_does_once_is_measured_by_itself(monkeypatch):
    """One of a module asks for one of the session while it is made."""
    seconds = iter([0.0, 10.0, 11.0, 14.0, 19.0, 20.0, 26.0])
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: next(seconds))
    measuring = Measuring(False)
    measured(measuring, "test[1]", ("module", "data", ("session", "home")))
    measuring.divide()
    rows = {"tests/x.py::other()": Row(1, 7.0)}
    assert table_of(measuring.own, rows) == rows | {
        "tests/x.py::test": Row(1, 7.0),
        "tests/x.py::home()": Row(1, 5.0),
        "tests/x.py::data()": Row(1, 4.0),
        COLLECTION: Row(1, 0),
    }


def test_of_a_fixture_of_each_test_that_the_first_pays_for_the_others_pay_what_it_always_takes(monkeypatch):
    """It takes 9 seconds, and 1 when all is there; the test itself takes 2."""
    seconds = iter([0.0, *(0.0, 0.0, 9.0, 11.0), *(20.0, 20.0, 21.0, 23.0), *(30.0, 30.0, 31.0, 33.0)])
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: next(seconds))
    measuring = Measuring(False)
    for test in ("a", "b", "c"):
        measured(measuring, test, ("function", "table"))
    measuring.divide()
    each = {f"tests/x.py::{test}": 3.0 for test in ("a", "b", "c")}
    assert measuring.own.seconds == each | {"tests/x.py::table()": 8.0}


@pytest.mark.parametrize("fails", [False, True])
def test_a_test_is_measured_with_its_fixtures_and_goes_from_the_worker_to_the_table(monkeypatch, tmp_path, fails):
    seconds = iter([0.0, 2.0, 2.5, 1004.0])
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: next(seconds))
    worker = Measuring(fails)
    worker.pytest_itemcollected(SimpleNamespace(nodeid="tests/x.py::test[1]"))
    worker.pytest_collection_finish()
    protocol = worker.pytest_runtest_protocol(SimpleNamespace(nodeid="tests/x.py::test[1]"))
    next(protocol)
    with pytest.raises(StopIteration):
        protocol.send(True)
    config = SimpleNamespace(workeroutput={})
    worker.pytest_sessionfinish(SimpleNamespace(config=config))
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: 0.0)
    first, session = Measuring(fails), SimpleNamespace(config=SimpleNamespace(), exitstatus=0)
    first.pytest_testnodedown(SimpleNamespace(workeroutput=config.workeroutput))
    first.pytest_sessionfinish(session)
    said = []
    first.pytest_terminal_summary(SimpleNamespace(section=said.append, write_line=said.append))
    assert said[-2 - fails] == "     2.0 s      0 cases  collection  +2.0"
    assert session.exitstatus == (1 if fails else 0)
    assert read(cpu_times.TABLE) == ({} if fails else {"tests/x.py::test": Row(1, 1001.5), COLLECTION: Row(1, 2.0)})
    assert ("1004 CPU s are more than 30 times those of the collection, 2.0" in said) == fails
