"""What several test files share."""

import signal
import sys
from pathlib import Path

import pytest
from absl import logging as absl_logging  # comes with dp_accounting
from hypothesis import settings

# Its handler closes the stream it has, which is pytest's own, when Hydra sets up logging: give it one it leaves alone.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__

# Property tests draw the same examples each time, on any machine: what is red here is red everywhere, and stays so.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    """Run the command line in this process, in an empty folder: command(*words) -> (exit code, stdout, stderr)."""
    from hydra.core.global_hydra import GlobalHydra

    from tcdp_sim.cli.main import main
    from tcdp_sim.engine import interrupts

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tcdp_sim.engine.pilot.SECONDS", 0.05)
    handlers = {number: signal.getsignal(number) for number in interrupts.SIGNALS}

    def run(*words):
        GlobalHydra.instance().clear()
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


@pytest.fixture
def tiny(command):
    """A study of a few seconds: tiny(*more words) -> (exit code, stdout, stderr)."""
    words = ("cluster=serial", "trials=1000", "chunk=500", "sweep.k=[10,1e6]", "sweep.rho=0.1", "also=null")
    words += ("sweep.noise=[laplace,truncated_laplace,gaussian,sinh_normal]", "sweep.omega_sqrt_rho=[0.75,1,2]")
    return lambda *more: command(*words, *more)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where the default name puts a run of `command`."""
    return tmp_path / "results" / "histogram"
