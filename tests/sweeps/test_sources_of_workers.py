"""Workers run the sources that the driver has read, whatever their disk holds. Modules beside the file are found."""

import os
import pickle
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tcdp_sim.core import user_files
from tcdp_sim.core.sources import sources_of
from tcdp_sim.core.streams import generator
from tcdp_sim.engine.user_function_task import Carried, Shown
from tcdp_sim.mechanisms.functions.calls import calling
from tcdp_sim.results import open_cells

FILE = """
import time
from beside import centre
import package.deep


def slow(rng, trials, n):
    import late
    time.sleep(0.05)
    return rng.standard_normal(trials) + centre() + package.deep.offset() + late.LATE
"""
FILES = {
    "mine.py": FILE,
    "beside.py": "from another import SHIFT\n\n\ndef centre():\n    return SHIFT\n",
    "another.py": "SHIFT = 0.0\n",
    "late.py": "LATE = 0.0\n",
    "package/__init__.py": "",
    "package/deep.py": "from .below import OFFSET\n\n\ndef offset():\n    return OFFSET\n",
    "package/below.py": "OFFSET = 0.0\n",
}
EDITS = {
    "mine.py": FILE.replace("standard_normal(trials)", "standard_normal(trials) + 10"),
    "beside.py": FILES["beside.py"].replace("return SHIFT", "return SHIFT + 10"),
    "another.py": "SHIFT = 10.0\n",
    "late.py": "LATE = 10.0\n",
    "package/deep.py": FILES["package/deep.py"].replace("return OFFSET", "return OFFSET + 10"),
    "package/below.py": "OFFSET = 10.0\n",
}
WORDS = ("mine.py:slow", "sweep.n=[1,2]", "trials=2000", "chunk=100", "name=x")


@pytest.fixture
def project(tmp_path):
    """A folder of a user's modules."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def begun(folder: Path, *words: str) -> subprocess.Popen:
    """Start a sweep as the command line does: the present folder is not on Python's path."""
    start = [sys.executable, "-P", "-c", "from tcdp_sim.cli.main import main; raise SystemExit(main())"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([*start, "sweep", *words], cwd=folder, **pipes)


def means(folder: Path) -> list[float]:
    return [float(mean) for mean in open_cells(folder / "results" / "x")["value_mean"].values]


def test_an_edit_after_the_start_is_not_what_workers_run(project):
    """Each file is edited as soon as the run has begun, before any worker has loaded it."""
    running = begun(project, *WORDS, "cluster.workers=1")
    while not (project / "results" / "x" / "run.json").exists():
        assert running.poll() is None, running.stdout.read()
        time.sleep(0.01)
    for name, text in EDITS.items():
        (project / name).write_text(text)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert max(map(abs, means(project))) < 0.5  # 22 standard errors


ELSEWHERE = """
import pickle, sys
from tcdp_sim.core.streams import generator
from tcdp_sim.engine.user_function_task import Carried, Shown
for call in pickle.load(sys.stdin.buffer):
    print(float(pickle.loads(call)(generator(0, "0" * 64, 0), 1, {"n": 2})["value"][0]))
"""


@pytest.mark.parametrize("name", EDITS)
def test_a_worker_runs_each_source_that_it_is_sent(project, monkeypatch, name):
    """A worker of an older source gets a newer one, and then the older one again."""
    calls = []
    for text in (FILES[name], EDITS[name], FILES[name]):
        (project / name).write_text(text)
        forgotten(monkeypatch)
        calls.append(pickle.dumps(calling(user_files.load(f"{project}/mine.py:slow"), ["n"])))
    for path in FILES:
        (project / path).write_text("raise ImportError('the disk of the worker')\n")
    alone = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=pickle.dumps(calls), capture_output=True, check=True, cwd="/"
    )
    first, second, third = map(float, alone.stdout.split())
    assert first == third == float(generator(0, "0" * 64, 0).standard_normal(1)[0])
    assert second == first + 10
    forgotten(monkeypatch)


def forgotten(monkeypatch) -> None:
    """Let this process forget the modules of the project, as a new driver would not know them."""
    user_files._LOADED.clear()
    for name in ("mine", "mine_py", "beside", "another", "late", "package", "package.deep", "package.below"):
        sys.modules.pop(name, None)


SCRIPT = """
from mechanisms import Base
from levels import level


class Mine(Base):
    def level(self):
        return level()


mechanism = Mine().run
"""


def test_modules_that_a_script_names_in_a_class_of_its_own_are_sent(tmp_path, monkeypatch):
    """A worker needs what the methods beside an inherited one call. The class itself is sent as it is."""
    (tmp_path / "mechanisms.py").write_text("class Base:\n    def run(self, rng):\n        return self.level()\n")
    (tmp_path / "levels.py").write_text("def level():\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    script = {"__name__": "__main__"}
    exec(compile(SCRIPT, "script.py", "exec"), script)
    assert [each.name for each in sources_of(script["mechanism"]).modules] == ["levels", "mechanisms"]
    for name in ("levels", "mechanisms"):
        sys.modules.pop(name)


def test_modules_beside_the_file_hide_nothing_that_is_installed(project, monkeypatch):
    (project / "numpy.py").write_text("raise ImportError('not this one')\n")
    (project / "json.py").write_text("raise ImportError('not this one')\n")
    (project / "mine.py").write_text(
        "import json\nimport numpy\n\n\ndef f(rng, trials):\n    return numpy.ones(trials)\n"
    )
    forgotten(monkeypatch)
    assert user_files.load(f"{project}/mine.py:f")(None, 2).tolist() == [1.0, 1.0]
    forgotten(monkeypatch)


BY_FILE = """
from pathlib import Path


def shifted(rng, trials, n):
    return rng.standard_normal(trials) + float(Path("shift.txt").read_text()) * (n == 2)
"""


def test_a_worker_with_another_data_file_is_refused_before_it_counts(project, monkeypatch):
    """The file differs at one of two cells, and only for the worker: it starts in another folder."""
    (project / "reads.py").write_text(BY_FILE)
    (project / "shift.txt").write_text("0")
    call = calling(user_files.load(f"{project}/reads.py:shifted"), ["n"])
    options = {"function": {"module": "reads", "name": "shifted", "source": "0"}, "axes": ["n"]}
    options |= {"observables": {"value": "1"}, "events": []}
    points = [{"n": 1}, {"n": 2}]
    monkeypatch.chdir(project)
    shown = [Shown(point, 0, "0" * 64, call(generator(0, "0" * 64, 0), 20, point)) for point in points]
    assert Carried(options, call).driver == (socket.gethostname(), os.getpid())
    # a worker in another container may have the driver's process number
    packed = pickle.dumps(Carried(options, call, tuple(shown), ("another node", os.getpid())))
    code = (
        f"import os\nos.getpid = lambda: {os.getpid()}\n"
        + """
import pickle, sys
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.simulate import Task
try:
    print(len(pickle.load(sys.stdin.buffer)(Task(0, 20, ())).records))
except UserError as problem:
    print(problem)
"""
    )
    for text, said in (("0", "0"), ("10", " draws other numbers at n=2 than this machine: a file, the environment or")):
        (project / "shift.txt").write_text(text)
        alone = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=True, cwd=project)
        assert said in alone.stdout.decode()


METHODS = """
from pathlib import Path


def value_of(rng, trials, method):
    shift = float(Path("shift.txt").read_text()) if method == "trimmed" else 0.0
    return rng.standard_normal(trials) + shift
"""


def test_a_resume_draws_trials_of_each_value_of_an_axis_again(command, tmp_path):
    """Of 44 kinds of change in what a function reads, those that the first cell does not show were mixed in silence."""
    (tmp_path / "reads.py").write_text(METHODS)
    (tmp_path / "shift.txt").write_text("0")
    words = (
        "sweep",
        "reads.py:value_of",
        "sweep.method=[mean,median,trimmed]",
        "chunk=500",
        "name=x",
        "cluster=serial",
    )
    assert command(*words, "trials=500")[0] == 0
    (tmp_path / "shift.txt").write_text("10")
    code, out, _ = command(*words, "trials=1000")
    assert code == 0
    assert "its stored chunks are discarded" in out
    assert [round(mean) for mean in means(tmp_path)] == [0, 0, 10]
