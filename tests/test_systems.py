"""Windows lacks names that POSIX has: one module knows of them, and everything in one process works without them."""

import ast
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import lacking_on_windows
import like_windows_home
import pytest

FOLDERS = [Path(str(resources.files(name))) for name in ("tcdp_sim", "tcdp_sim.conf", "tcdp_sim.experiments")]
ONE_PLACE = Path("core") / "system.py"
TINY = ("mechanism=histogram", "sweep.k=[10,100]", "sweep.rho=0.1", "sweep.noise=[laplace]", "sweep.data=[one_bin]")
TINY = (*TINY, "trials=200", "chunk=100", "name=small")
FUNCTION = "def f(rng, n):\n    return rng.normal(size=n).mean()\n"
AUDITED = "def m(data, rng, trials):\n    return sum(data) + rng.laplace(size=trials)\n"


def posix_only(source: str) -> list[str]:
    """Return the names in a source that Windows lacks, as MODULE.NAME."""
    lacking, tree, modules, found = lacking_on_windows.lacking(), ast.parse(source), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
            found += [alias.name for alias in node.names if lacking.get(alias.name, ()) is None]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            missing = lacking.get(node.module, ())
            found += [f"{node.module}.{one.name}" for one in node.names if missing is None or one.name in missing]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                pass
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[ast.Name(id=owner), ast.Constant(name), *_]):
                pass
            case _:
                continue
        if name in (lacking.get(modules.get(owner, ""), ()) or ()):
            found.append(f"{modules[owner]}.{name}")
    return found


def test_the_reader_sees_every_form():
    source = (
        "import os, signal as s\nfrom os import fork\nimport fcntl\nos.pread\ns.SIGKILL\nhasattr(os, 'O_DIRECTORY')\n"
    )
    assert sorted(posix_only(source)) == ["fcntl", "os.O_DIRECTORY", "os.fork", "os.pread", "signal.SIGKILL"]
    assert not posix_only("import os, signal\nos.open\nsignal.SIGTERM\nhasattr(os, 'O_BINARY')\nos.cpu_count()")


def test_one_module_names_what_windows_lacks():
    found = {}
    for folder in FOLDERS:
        for path in folder.rglob("*.py"):
            names = posix_only(path.read_text("utf-8"))
            if names and path.relative_to(folder) != ONE_PLACE:
                found[str(path)] = names
    assert found == {}
    assert posix_only((FOLDERS[0] / ONE_PLACE).read_text("utf-8"))


@pytest.fixture(scope="module", params=["locks", "bare"])
def windows(request, tmp_path_factory):
    """windows(*command) runs Python as on Windows, with locks or without any: -> what it printed."""
    home = tmp_path_factory.mktemp("site")
    like_windows_home.make(home, locks=request.param == "locks")
    place = tmp_path_factory.mktemp("place")
    (place / "f.py").write_text(FUNCTION, "utf-8")
    (place / "m.py").write_text(AUDITED, "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home), str(FOLDERS[0].parent)])}
    environment["PYTHONWARNINGS"] = "error::EncodingWarning:tcdp_sim"

    def run(*command, code=0, given=""):
        pipes = {"input": given, "capture_output": True, "text": True}
        done = subprocess.run([sys.executable, *command], cwd=place, env=environment, **pipes)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    run.place, run.bare = place, request.param == "bare"
    return run


def command(windows, *words, **more):
    return windows("-m", "tcdp_sim", *words, **more)


SEVERAL = """
import sys
from tcdp_sim.cli.main import main
for line in sys.stdin.read().splitlines():
    print("===", flush=True)
    sys.argv = ["tcdp-sim", *line.split("\\t")]
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    assert not code, (line, code)
"""


def commands(windows, *lines):
    """Run several commands in one process -> what each printed."""
    return windows("-c", SEVERAL, given="\n".join(map("\t".join, lines))).split("===\n")[1:]


def test_a_study_and_its_commands(windows):
    command(windows, "run", *TINY, "cluster=serial")
    words = (["status"], ["table", "x.csv"], ["report"], ["explore"], ["verify", "sample=2"], ["draw"], ["finish"])
    again, status, *_, more = commands(
        windows,
        ("run", *TINY, "cluster=serial"),
        *((name, "results/small", *rest) for name, *rest in words),
        ("run", *TINY, "trials=400", "cluster=serial"),
    )
    assert "nothing to simulate" in again
    assert "damaged" not in again
    for file in (windows.place / "results" / "small").glob("*.json"):
        assert b"\r" not in file.read_bytes()  # the bytes are those of other systems
    assert "2 of 2 cells done" in status
    assert "2 of 4 chunks" in more or "4 of 8 chunks" in more
    opened = "import tcdp_sim; print(tcdp_sim.open_results('results/small').attrs['seed'])"
    assert windows("-c", opened).strip()


def test_sweeps_on_disk_and_in_memory(windows):
    words = ("sweep", "f.py:f", "sweep.n=[1,2]", "trials=400", "chunk=200", "name=s")
    command(windows, *words, "cluster=serial")
    assert "nothing to simulate" in command(windows, *words, "cluster=serial")
    memory = "import f, tcdp_sim; print(tcdp_sim.sweep(f.f, {'n': [1, 2]}, trials=200).sizes['n'])"
    assert windows("-c", memory).strip().endswith("2")


def test_workers_are_spawned_or_refused_in_one_line(windows):
    words = ("sweep", "f.py:f", "sweep.n=[1,2]", "trials=400", "chunk=200")
    command(windows, *words, "name=here", "cluster=serial")
    workers = (*words, "name=local", "cluster=local", "cluster.workers=1")
    if windows.bare:
        *_, said = command(windows, *workers, code=2).splitlines()
        assert "cluster=local does not work" in said
        assert said.endswith("(on Windows: WSL)")
        return
    command(windows, *workers)
    equal = "import tcdp_sim as t; assert t.open_results('results/local').equals(t.open_results('results/here'))"
    windows("-c", equal)


def test_audits_the_ledger_and_calibration(windows):
    words = (
        "audit",
        "m.py:m",
        "claim=PureDP(1)",
        "neighbours=records([1, 1], domain=[0, 1])",
        "trials=2000",
        "cluster=serial",
    )
    assert "epsilon" in command(windows, *words)
    assert "rho" in command(windows, "cheat-sheet", "rho=0.1")
    calibrated = """
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.calibration import calibrate
from tcdp_sim.privacy import ApproxDP
noise = calibrate("gaussian", ApproxDP(1.0, 1e-6)).noise
bounds = Ledger([Additive(noise)]).epsilon(delta=1e-6)
assert bounds.lower <= 1.001 and bounds.upper >= 0.999, bounds
"""
    windows("-c", calibrated)


def test_one_driver_at_a_time(windows):
    script = """
import subprocess, sys
from pathlib import Path
from tcdp_sim.store import locks
folder = Path("held"); folder.mkdir(exist_ok=True)
with locks.held(folder):
    other = "from pathlib import Path; from tcdp_sim.store import locks; print(locks.busy(Path('held')));" \\
        "locks.held(Path('held')).__enter__()"
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done
    assert "another process (process" in done.stderr, done
with locks.held(folder):
    pass
assert not locks.busy(folder)
"""
    windows("-c", script)
