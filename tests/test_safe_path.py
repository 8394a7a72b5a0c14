"""No process that we start runs a file of the current folder that is named like a module of the standard library."""

import csv
import os
import subprocess
import sys
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from tcdp_sim.core import safe_path

EVIL = "import sys\nopen({ran!r}, 'a').write({name!r} + ' ' + ' '.join(sys.orig_argv) + '\\n')\nraise ImportError\n"
FUNCTION = """
import multiprocessing
import os
import json  # of the library

def f(rng, trials, n):
    if n == 2 and multiprocessing.parent_process() and not os.path.exists("lost"):
        open("lost", "w").close()
        os.kill(os.getpid(), 9)  # its worker, which is replaced
    return {"value": rng.random(trials), "safe": [float("PYTHONSAFEPATH" in os.environ)] * trials}
"""
MAIN = """
import sys
from tcdp_sim.cli import draw, main
draw.ROWS = 0  # also a small table is drawn in two processes
main.main()
"""
STUDY = ["sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=1000", "chunk=1000", "cluster.workers=1"]
SWEEP = ["sweep", "m.py:f", "sweep.n=[1,2]", "trials=100", "cluster.workers=1"]


def program(folder, words, **variables):
    """The command line as the console script starts it, without the current folder among the places of modules."""
    script = folder.parent / "bin" / "tcdp-sim"
    script.parent.mkdir(exist_ok=True)
    script.write_text(MAIN)
    call = [sys.executable, str(script), *words]  # -P would be passed on, and guard the processes by itself
    environment = {name: value for name, value in os.environ.items() if name != safe_path.NAME} | variables
    return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize("words", [pytest.param(STUDY, marks=pytest.mark.slow), SWEEP], ids=["run", "sweep"])
def test_files_named_like_the_library_are_not_run(tmp_path, words):
    """By the server, the tracker of resources, workers, the ones that replace them, and the second process of figures.

    No setting is left in the environment of workers, so that programs that they start find their modules as ever.
    """
    ran = tmp_path / "ran"
    here = tmp_path / "here"
    here.mkdir()
    for name in sys.stdlib_module_names:
        (here / f"{name}.py").write_text(EVIL.format(ran=str(ran), name=name))
    (here / "m.py").write_text(FUNCTION)
    done = program(here, words)
    assert (ran.read_text() if ran.exists() else "") == ""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if words is SWEEP:
        assert (here / "lost").exists()
        rows = list(csv.DictReader(program(here, ["table", "results/f"]).stdout.splitlines()))
        assert {float(row["value"]) for row in rows if row["quantity"] == "safe"} == {0.0}


def test_the_tracker_starts_apart_from_the_current_folder(monkeypatch):
    """And the environment is afterwards as it was; one's own setting stays."""
    seen = []
    monkeypatch.setattr(resource_tracker, "ensure_running", lambda: seen.append(os.environ.get(safe_path.NAME)))
    for own, expected in ((None, safe_path.OURS), ("1", "1")):
        monkeypatch.delenv(safe_path.NAME, raising=False)
        if own:
            monkeypatch.setenv(safe_path.NAME, own)
        safe_path.ensure_tracker()
        assert (seen.pop(), os.environ.get(safe_path.NAME)) == (expected, own)


def test_only_our_own_setting_is_taken_away(monkeypatch):
    for value, left in ((safe_path.OURS, None), ("1", "1")):
        monkeypatch.setenv(safe_path.NAME, value)
        safe_path.forget()
        assert os.environ.get(safe_path.NAME) == left
    monkeypatch.delenv(safe_path.NAME)
    safe_path.forget()


def test_nothing_else_starts_the_tracker_or_processes():
    """A start of processes that is added needs this guard: `safe_path.started` or `ensure_tracker`."""
    import tcdp_sim

    root = Path(tcdp_sim.__file__).parent
    words = ("resource_tracker.ensure_running", "forkserver.ensure_running", "ProcessPoolExecutor(", "get_context(")
    words = (*words, "system.ensure_tracker(")
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.py")}
    found = {name for name, text in texts.items() if any(word in text for word in words)}
    assert found == {"core/safe_path.py", "core/system.py", "core/fork_server.py", "report/saving.py"}
