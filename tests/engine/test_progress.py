"""The progress line, and what it adds up."""

import logging
import sys
import time
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from tcdp_sim.engine import progress
from tcdp_sim.engine.simulate import Done, Record
from tcdp_sim.summaries.problems import WARNING, Problem


class Todo:
    """Cell a of work 10, of which two of three chunks are to come, and b of work 30, of which one is."""

    cells, work = 2, 50.0

    @staticmethod
    def of_cell(cell):
        return {"a": (2, 3), "b": (1, 1)}[cell]

    def of_cells(self, cells):
        return map(self.of_cell, cells)


WORK = {"a": 10.0, "b": 30.0}


def record(cell, chunk, summary=b"", relative=0.1, problems=()):
    return Record(cell, chunk, summary, problems, relative)


def done(*records, trials=500):
    return Done(records, "", 1.0, sum(WORK[one.cell] for one in records) * trials)


def test_what_has_arrived_adds_up():
    tally = progress.Tally(Todo(), 500)
    assert str(tally) == "0/2 cells, 0 trials"
    tally.add(done(record("a", 1), record("b", 0, None)))
    assert str(tally) == "0/2 cells, 1e+03 trials, worst standard error 0.071 of its mean, 1 errors"
    warned = (Problem("a", 2, WARNING, "", ""),)
    tally.add(done(record("a", 2, relative=0.3, problems=warned)))
    assert str(tally).startswith("1/2 cells, 1.5e+03 trials, worst standard error 0.17 of its mean")
    assert str(tally).endswith("1 errors, 1 warnings")
    assert (tally.work, tally.total) == (25_000, 25_000)


def test_a_log_gets_a_line_within_a_second_and_then_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 15.0, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    line = progress.ProgressLine(progress.Tally(Todo(), 500))
    for cell, chunk in (("a", 1), ("a", 2), ("b", 0)):
        line.advance(done(record(cell, chunk)))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "20%  0/2 cells, 500 trials, worst standard error 0.071 of its mean  ETA 4 s"
    assert second == "100%  2/2 cells, 1.5e+03 trials, worst standard error 0.1 of its mean  ETA 0 s"


def test_the_time_left_does_not_grow_while_a_task_is_slow(monkeypatch, capsys):
    """A fifth after 2 s: 8 s are left. Nothing comes for 70 s, and the line says so; then all comes."""
    clock = iter([0.0, 2.0, 5.0, 20.0, 72.0, 80.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    line = progress.ProgressLine(progress.Tally(Todo(), 500))
    line.advance(done(record("a", 1)))
    for _ in range(3):
        line._show(progress.time.monotonic())
    line.advance(done(record("a", 2), record("b", 0)))
    assert [text.split("  ETA ")[1] for text in capsys.readouterr().err.splitlines()] == [
        "8 s",
        "5 s",
        "unknown, the present task has taken 18 s so far",
        "unknown, the present task has taken 70 s so far",
        "0 s",
    ]


def test_it_is_silent_when_there_is_little_to_say(capsys):
    with progress.ProgressLine(progress.Tally(Todo(), 1)) as line:
        line.advance(done(record("b", 0), trials=1))
    assert capsys.readouterr() == ("", "")


def test_the_line_goes_on_and_names_who_is_silent_while_nothing_arrives(monkeypatch, capsys, caplog):
    caplog.set_level(logging.INFO, "tcdp_sim")
    monkeypatch.setattr(progress.LOG, "disabled", False)  # as Hydra may have left it
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    silent = ("tls://a:1", "tls://b:2", "tls://c:3", "tls://d:4")
    with progress.ProgressLine(progress.Tally(Todo(), 1), lambda: silent) as line:
        until(lambda: caplog.records)
        line.advance(done(record("b", 0), trials=1))
    said = "0%  0/2 cells, 0 trials, silent: tls://a:1, tls://b:2, tls://c:3 and 1 more  ETA unknown"
    waited = ": the first task has taken 0 s so far"
    assert capsys.readouterr().err.startswith("0%  0/2 cells, 0 trials, silent: tls://a:1")
    assert caplog.messages[0] == said + waited


def test_on_a_terminal_the_line_names_who_is_silent_and_forgets_who_speaks_again(monkeypatch):
    monkeypatch.setattr(progress, "LIVE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.01)
    shown = StringIO()
    monkeypatch.setattr(progress, "Terminal", lambda stderr: Console(file=shown, force_terminal=True, width=200))
    silent = ["tls://a:1"]
    with progress.ProgressLine(progress.Tally(Todo(), 1), lambda: tuple(silent)):
        until(lambda: "0/2 cells, 0 trials, silent: tls://a:1" in shown.getvalue())
        silent.clear()
        before = len(shown.getvalue())
        until(lambda: "0/2 cells, 0 trials \x1b" in shown.getvalue()[before:])


def until(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("relative", [float("nan"), 0.0])
def test_a_cell_without_a_standard_error_does_not_count(relative):
    tally = progress.Tally(Todo(), 1)
    tally.add(done(record("b", 0, relative=relative), trials=1))
    assert ("standard error" in str(tally)) == (relative == 0)


def test_short_work_shows_nothing_and_long_work_all(monkeypatch, capsys):
    """With a patience of 5 s nothing is shown after 4 s, not even a first line, and a line after 6 s."""
    clock = iter([0.0, 4.0, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    line = progress.ProgressLine(progress.Tally(Todo(), 500), patience=5.0)
    line.advance(done(record("a", 1)))
    assert capsys.readouterr().err == ""
    line.advance(done(record("a", 2)))
    assert capsys.readouterr().err.startswith("40%")


def test_a_live_line_of_short_work_is_never_begun(monkeypatch):
    out = StringIO()
    monkeypatch.setattr(progress, "Terminal", lambda stderr: Console(file=out, force_terminal=True))
    with progress.ProgressLine(progress.Tally(Todo(), 500), patience=1e9):
        pass
    assert out.getvalue() == ""
    with progress.ProgressLine(progress.Tally(Todo(), 500)):
        pass
    assert "simulating" in out.getvalue()


class Kernel:
    """A kernel that keeps each output by what it shows at the moment, and a line for each update."""

    def __init__(self):
        self.outputs, self.shown = [], []
        self.display = self

    def get_ipython(self):
        return self

    @property
    def kernel(self):
        return self

    def show(self, data, raw, display_id):
        assert raw
        assert display_id
        self.outputs.append(data)
        self.shown.append(data["text/plain"])
        return self

    def update(self, data, raw):
        assert raw
        self.outputs[-1] = data
        self.shown.append(data["text/plain"])


@pytest.fixture
def kernel(monkeypatch):
    found = Kernel()
    found.display = SimpleNamespace(display=found.show)
    monkeypatch.setitem(sys.modules, "IPython", found)
    return found


def test_a_notebook_has_one_bar_and_no_lines(kernel, monkeypatch, capsys):
    """It begins after a second, is updated four times a second at most, and says at the end how long it took."""
    clock = iter([0.0, 0.5, 1.0, 1.1, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "LOOK_SECONDS", 1e3)
    with progress.ProgressLine(progress.Tally(Todo(), 500), lambda: ["<b>"]) as line:
        for cell, chunk in (("a", 1), ("a", 2), ("b", 0)):
            line.advance(done(record(cell, chunk)))
    assert kernel.shown == [
        "40%  1/2 cells, 1e+03 trials, worst standard error 0.058 of its mean, silent: <b>  ETA 2 s",
        "100%  2/2 cells, 1.5e+03 trials, worst standard error 0.1 of its mean  done after 3 s",
    ]
    assert len(kernel.outputs) == 1
    assert '<progress value="1.000" max="1">' in kernel.outputs[0]["text/html"]
    assert capsys.readouterr() == ("", "")


def test_an_interrupted_bar_stays_where_it_was(kernel, monkeypatch):
    clock = iter([0.0, 2.0, 2.5])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "LOOK_SECONDS", 1e3)
    line = progress.ProgressLine(progress.Tally(Todo(), 500), lambda: ["<b>"])
    line.__enter__()
    line.advance(done(record("a", 1)))
    assert "&lt;b&gt;&nbsp; ETA 8 s" in kernel.outputs[0]["text/html"]
    line.__exit__(KeyboardInterrupt, None, None)
    assert kernel.shown[-1].startswith("20%  0/2 cells")
    assert kernel.shown[-1].endswith("  stopped after 2.5 s")
    assert '<progress value="0.200" max="1">' in kernel.outputs[0]["text/html"]


def test_ipython_in_a_terminal_has_lines(kernel, monkeypatch, capsys):
    monkeypatch.setattr(kernel, "get_ipython", object)
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    progress.ProgressLine(progress.Tally(Todo(), 500)).advance(done(record("a", 1)))
    assert not kernel.shown
    assert capsys.readouterr().err.startswith("20%  0/2 cells")


@pytest.mark.parametrize(("now", "left"), [(1.0, "unknown so soon"), (3.0, "300 s")])
def test_the_first_small_tasks_forecast_nothing(monkeypatch, capsys, now, left):
    """Less than a hundredth of the work has arrived: after a second it says nothing, after three seconds it does."""
    clock = iter([0.0, now])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    tally = SimpleNamespace(total=1010.0, work=0.0, add=lambda done: setattr(tally, "work", 10.0))
    progress.ProgressLine(tally).advance(None)
    assert capsys.readouterr().err.rstrip().endswith(f"  ETA {left}")
