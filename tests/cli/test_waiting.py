"""Steps that print nothing are named: at once on a terminal, and in a line of a log."""

import threading
import time
from io import StringIO

import pytest
from rich.console import Console

from tcdp_sim.cli import planning, waiting


def until(happens):
    """Wait until something is true, a minute at most."""
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def stderr(monkeypatch):
    """stderr(**how) -> the text that a console in the place of stderr receives."""

    def made(**how):
        text = StringIO()
        monkeypatch.setattr(waiting, "Terminal", lambda stderr: Console(file=text, width=60, **how))
        return text

    return made


def test_a_log_has_a_whole_line(monkeypatch, stderr):
    monkeypatch.setattr(waiting, "SECONDS", 0.0)
    text = stderr()
    with waiting.waiting("mine: planning"):
        until(text.getvalue)
    assert text.getvalue() == "mine: planning ...\n"


def test_a_fast_step_is_not_named_in_a_log(stderr):
    text, before = stderr(), threading.active_count()
    with pytest.raises(ValueError, match="wrong"), waiting.waiting("mine: planning"):
        raise ValueError("wrong")
    until(lambda: threading.active_count() == before)  # nothing is left that would print later
    assert text.getvalue() == ""


def test_a_terminal_shows_the_step_at_once_and_erases_it(stderr):
    text = stderr(force_terminal=True, color_system=None)
    with waiting.waiting("mine: planning"):
        assert "mine: planning 0:00:00" in text.getvalue()
    assert text.getvalue().endswith("\x1b[2K")  # the line is erased


def test_a_study_is_planned_under_the_name_of_its_run(monkeypatch, command):
    named = []
    monkeypatch.setattr(planning, "waiting", lambda what: named.append(what) or waiting.waiting(what))
    words = ("name=mine", "trials=100", "chunk=100", "sweep.k=10", "sweep.noise=gaussian", "sweep.rho=0.1", "also=null")
    for name in ("run", "plan", "verify"):
        assert command(name, *words, "cluster=serial")[0] == 0
    assert named == 3 * ["mine: planning"]
