"""Functions of notebooks whose imports change: by a reload, an edit that memory does not know, or another import."""

import subprocess
import sys
from pathlib import Path

import pytest

CELL = "from h import g\ndef f(rng, trials, n):\n    return g(rng.standard_normal(trials)) + n\n"
START = f"""
import importlib, linecache, pathlib, sys
sys.path.insert(0, ".")
sys.dont_write_bytecode = True
import tcdp_sim

def cell(code, name):
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    exec(compile(code, name, "exec"), globals())

def mean(trials):
    found = tcdp_sim.sweep(f, {{"n": [1.0]}}, trials=trials, chunk=1000, name="nb", cluster="serial")
    return round(float(found["value"]))

def edit(more):
    pathlib.Path("h.py").write_text(f"def g(x):\\n    return x + {{more}}\\n")
    importlib.invalidate_caches()

cell({CELL!r}, "<ipython-input-1>")
"""


def told(tmp_path: Path, more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", START + more], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_chunks_of_the_former_imports_are_not_used(tmp_path):
    """Means of 1 + x, where x is what the module adds: the means of a mixture would lie between them."""
    (tmp_path / "h.py").write_text("def g(x):\n    return x\n")
    reloaded = f"import h\nprint(mean(2000))\nedit(10)\nimportlib.reload(h)\ncell({CELL!r}, 'two')\nprint(mean(3000))\n"
    other = "cell('g = lambda x: x + 5\\n' + " + repr(CELL.partition("\n")[2]) + ", 'three')\nprint(mean(4000))\n"
    assert told(tmp_path, reloaded + other) == ["1", "11", "6"]


@pytest.mark.slow
def test_an_edit_that_memory_does_not_know_is_noticed_by_the_next_process(tmp_path):
    """Both processes have the source of the edited file; the trials in the head of the journal tell them apart."""
    (tmp_path / "h.py").write_text("def g(x):\n    return x + 10\n")
    assert told(tmp_path, "edit(20)\nprint(mean(2000))\n") == ["11"]
    assert told(tmp_path, "print(mean(3000))\n") == ["21"]
