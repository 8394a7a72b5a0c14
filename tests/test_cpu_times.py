"""The table of `make test-times`: what is added up, what is compared, and what stays of the table before."""

from types import SimpleNamespace

import cpu_times
import pytest
from cpu_times import Measuring, Times, by_folder, compared, read, write

ROWS = {"tests/a/test_x.py": (3, 1.5), "tests/a/b/test_y.py": (2, 4.0), "tests/test_z.py": (1, 0.5)}


def test_folders_are_sums_of_their_files_and_subfolders():
    assert by_folder(ROWS) == {"tests/a": (5, 5.5), "tests": (1, 0.5)}


def test_what_is_written_is_read_again(tmp_path):
    assert read(tmp_path / "times.csv") == {}
    write(tmp_path / "times.csv", ROWS)
    assert read(tmp_path / "times.csv") == ROWS


def test_growth_is_that_of_the_files_that_ran():
    """A file that did not run this time is no saving."""
    stored = {**ROWS, "tests/a/test_x.py": (3, 0.25), "tests/c/test_w.py": (9, 90.0)}
    assert compared(ROWS, stored) == [
        "     5.5 s      5 tests  tests/a  +1.2",
        "     0.5 s      1 tests  tests",
        "     6.0 s in total, +1.2",
    ]


def test_workers_add_up_and_the_longest_collection_counts():
    both = Times()
    both.add({"collection": 7.0, "tests/a/test_x.py": 1.0}, {"tests/a/test_x.py": 2})
    both.add({"collection": 5.0, "tests/a/test_x.py": 0.5}, {"tests/a/test_x.py": 1})
    assert both.rows() == {"collection": (0, 7.0), "tests/a/test_x.py": (3, 1.5)}


def test_a_test_is_measured_with_its_fixtures_and_goes_from_the_worker_to_the_table(monkeypatch, tmp_path):
    seconds = iter([0.0, 2.0, 2.5, 4.0])
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: next(seconds))
    monkeypatch.setattr(cpu_times, "TABLE", tmp_path / "tests" / "times.csv")
    worker = Measuring()
    worker.pytest_collection_finish()
    protocol = worker.pytest_runtest_protocol(SimpleNamespace(nodeid="tests/a/test_x.py::test[1]"))
    next(protocol)
    with pytest.raises(StopIteration):
        protocol.send(True)
    config = SimpleNamespace(workeroutput={})
    worker.pytest_sessionfinish(SimpleNamespace(config=config))
    monkeypatch.setattr(cpu_times, "cpu_seconds", lambda: 0.0)
    first = Measuring()
    first.pytest_testnodedown(SimpleNamespace(workeroutput=config.workeroutput))
    said = []
    (tmp_path / "tests" / "a").mkdir(parents=True)
    (tmp_path / "tests" / "a" / "test_y.py").touch()
    write(cpu_times.TABLE, {"tests/a/test_y.py": (1, 3.0), "tests/a/test_gone.py": (1, 5.0)})
    first.pytest_terminal_summary(SimpleNamespace(section=said.append, write_line=said.append))
    assert read(cpu_times.TABLE) == {
        "collection": (0, 2.0),
        "tests/a/test_x.py": (1, 1.5),
        "tests/a/test_y.py": (1, 3.0),
    }
    assert said[1:] == [
        "     2.0 s      0 tests  collection  +2.0",
        "     1.5 s      1 tests  tests/a  +1.5",
        "     3.5 s in total, +3.5",
    ]
