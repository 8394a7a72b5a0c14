"""What several test files share."""

import gc
import os
import shutil
import signal
import sys
import threading
from math import inf
from pathlib import Path

import chosen_cases
import cpu_times
import pytest
from hypothesis import settings

# Property tests draw the same examples each time, on any machine: what is red here is red everywhere, and stays so.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


THRESHOLDS = gc.get_threshold()


def pytest_sessionstart():
    gc.set_threshold(0)  # what is collected stays, and is much: to look for garbage in it took a tenth of the time


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def pytest_addoption(parser):
    parser.addoption("--seconds", type=float, metavar="S", help="of each test, as many cases as S CPU seconds allow")
    parser.addoption("--times", choices=["write", "limit"], help="CPU seconds by folder; write them, or fail if many")


def pytest_configure(config):
    if config.option.times:
        config.pluginmanager.register(cpu_times.Measuring(config.option.times == "limit"), "cpu_times")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is slow
def pytest_collection_modifyitems(config, items):
    seconds = {test: row.each for test, row in cpu_times.read().items()}
    names = chosen_cases.kept_cases()
    config.stash[chosen_cases.STALE] = chosen_cases.stale_names(items, names)
    chosen_cases.mark_kept(items, {*names})
    if config.option.seconds:
        kept = chosen_cases.affordable(items, seconds, config.option.seconds)
        config.hook.pytest_deselected(items=[*{*items} - {*kept}])
        items[:] = kept
    chosen_cases.mark_slow(items, seconds)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Give back the environment that the test and its fixtures, also those of its module, found.

    Dask's nannies leave variables of the allocator and of thread pools in the process that starts them, and every later
    child would inherit them.
    """
    found = dict(os.environ)
    leave_streams_open()
    try:
        return (yield)
    finally:
        for name in os.environ.keys() - found.keys():
            del os.environ[name]
        os.environ.update(found)


def leave_streams_open():
    """Give absl's handler, which comes with dp_accounting, a stream that it leaves alone.

    It closes the stream that it has, which is pytest's own, when Hydra sets up logging.
    """
    if absl := sys.modules.get("absl.logging"):
        absl.get_absl_handler().python_handler.stream = sys.__stderr__


@pytest.fixture
def figures():
    """For tests that look at figures: the command line draws them, which takes nine tenths of a small run's time."""


@pytest.fixture
def command(monkeypatch, tmp_path, capsys, request):
    """Run the command line in this process, in an empty folder: command(*words) -> (exit code, stdout, stderr).

    Without figures, unless the test asks for the fixture `figures`.
    """
    import composed_once

    from tcdp_sim.cli.main import main
    from tcdp_sim.engine import interrupts

    composed_once.install()
    leave_streams_open()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tcdp_sim.engine.pilot.SECONDS", 0.05)
    monkeypatch.setattr("tcdp_sim.engine.progress.FIRST_SECONDS", inf)  # what is printed does not depend on the speed
    monkeypatch.setattr("tcdp_sim.cli.waiting.SECONDS", 86_400)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # the command line sets its own
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(sys, "__stderr__", sys.__stderr__)
    handlers = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    if "figures" not in request.fixturenames:
        monkeypatch.setattr("tcdp_sim.report.saving.save_all", lambda *_: [])
        monkeypatch.setattr("tcdp_sim.cli.draw.ROWS", inf)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tcdp-sim", *map(str, words)])
        try:
            code = main() or 0
        except SystemExit as stop:
            code = stop.code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture(scope="session")
def runs_that_are_kept(tmp_path_factory):
    """A folder, and words -> (what they printed, a copy of what they left in `results`): see `ran_once`."""
    return tmp_path_factory.mktemp("kept"), {}


@pytest.fixture
def ran_once(command, tmp_path, runs_that_are_kept, request):
    """A study that many tests begin with: run for the first of them, copied for the others.

    ran_once(*words) -> what it printed. Its folder is where `command` would have put it.
    """
    home, known = runs_that_are_kept

    def run(*words):
        key = *words, "figures" in request.fixturenames
        if key not in known:
            assert not (tmp_path / "results").exists()
            code, out, err = command(*words)
            assert (code, err) == (0, "")
            known[key] = out, shutil.copytree(tmp_path / "results", home / str(len(known)), symlinks=True)
        else:
            shutil.copytree(known[key][1], tmp_path / "results", symlinks=True)
        return known[key][0]

    return run


TINY = ("cluster=serial", "trials=1000", "chunk=500", "sweep.k=[10,1e6]", "sweep.rho=0.1", "also=null")
TINY += ("sweep.noise=[laplace,truncated_laplace,gaussian,sinh_normal]", "sweep.omega_sqrt_rho=[0.75,1,2]")


@pytest.fixture
def tiny(command):
    """A study of a few seconds: tiny(*more words) -> (exit code, stdout, stderr).

    A command may stand anywhere among the words, as in tiny("sweep.k=10", "status"): it goes before the study's own.
    """
    from tcdp_sim.cli.commands import COMMANDS

    def run(*more):
        name = [word for word in more if word in COMMANDS]
        return command(*name, *TINY, *(word for word in more if word not in name))

    return run


@pytest.fixture
def tiny_once(ran_once):
    """The same for many tests: tiny_once(*more words) -> what it printed; see `ran_once`."""
    return lambda *more: ran_once(*TINY, *more)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where the default name puts a run of `command`."""
    return tmp_path / "results" / "histogram"
