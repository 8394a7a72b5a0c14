"""Bad input to `tcdp-sim sweep FILE.py:FUNCTION`: exit code 2, one line on stderr, no traceback, and no folder."""

import os
from pathlib import Path

import pytest

from tcdp_sim.core import user_files

FILE = """
import sys
import numpy as np


def right(rng, trials, n, s=1.0):
    return rng.random(trials) * n * s


def event(rng, trials, n):
    return rng.random(trials) < 0.5


def exits(rng, trials, n):
    sys.exit(3)


def leaves_later(rng, trials, n):
    return rng.random(trials) if n == 1 else quit()


def masked(rng, trials, n):
    return np.ma.masked_array(rng.random(trials), False)


def changing(rng, trials, n, calls=[]):
    calls.append(n)
    return rng.random(trials)


def by_level(rng, trials, level):
    return rng.random(trials)


def likely(n):
    return 1.2


def leaving(n):
    sys.exit()


class Method:
    def of_an_object(self, rng, trials, n):
        return rng.random(trials)


text = "right"
number = 3
"""
BROKEN = {
    "syntax": "def f(:\n",
    "tabs": "def f():\n\tx = 1\n        y = 2\n",
    "lacking": "import no_such_package\n",
    "wrong_name": "from numpy import no_such_function\n",
    "relative": "from . import f\n",
    "leaves": "import sys\nsys.exit(0)\n",
    "quits": "quit()\n",
    "recurs": "def f():\n    f()\n\n\nf()\n",
    "null": "x = 1\0\n",
    "unspeakable": "class E(Exception):\n    def __str__(self):\n        raise RuntimeError\n\n\nraise E\n",
    "several": "raise ValueError('a\\nb')\n",
    "getter": "def __getattr__(name):\n    raise RuntimeError(name)\n",
    "empty": "",
}
FILES = [
    ("syntax", "syntax.py cannot be imported (line 1: SyntaxError: invalid syntax"),
    ("tabs", "tabs.py cannot be imported (line 3: TabError"),
    ("lacking", "lacking.py cannot be imported (line 1: ModuleNotFoundError: No module named 'no_such_package')"),
    ("wrong_name", "wrong_name.py cannot be imported (line 1: ImportError: cannot import name 'no_such_function'"),
    ("relative", "relative.py cannot be imported (line 1: ImportError: attempted relative import"),
    ("leaves", "leaves.py cannot be imported (line 2: SystemExit: 0)"),
    ("quits", "quits.py cannot be imported (line 1: SystemExit: None)"),
    ("recurs", "recurs.py cannot be imported (line 2: RecursionError"),
    ("null", "null.py cannot be imported (SyntaxError: source code string cannot contain null bytes)"),
    ("unspeakable", "unspeakable.py cannot be imported (line 6: E: (its message cannot be shown))"),
    ("several", "several.py cannot be imported (line 1: ValueError: a b)"),
    ("getter", "getter.py has no function 'f'; its functions: none"),
    ("empty", "empty.py has no function 'f'; its functions: none"),
    ("bytes", "bytes.py cannot be imported (line 1: SyntaxError: "),
    ("loop", "loop.py is not a file"),
    ("folder", "folder.py is not a file"),
    ("\0", r"\x00.py is not a file"),
    ("x" * 5000, "characters) ... "),
]
WORDS = [
    (("my_file.py:text", "sweep.n=1"), "my_file.py:text is no function but a text"),
    (("my_file.py:number", "sweep.n=1"), "3 is not a function; valid: f(rng, trials"),
    (("my_file.py:np", "sweep.n=1"), "is not a function; valid: f(rng, trials"),
    (("my_file.py:right:x", "sweep.n=1"), "names no function"),
    (("my_file.py:right.__call__", "sweep.n=1"), "cell n=1: TypeError: right() missing 1 required"),
    (("my_file.py:Method.of_an_object", "sweep.n=1"), "of_an_object takes 'rng' in another place"),
    (("my_file.py:right", "sweep=3"), "sweep = 3 is not valid; valid: sweep.AXIS=VALUES"),
    (("my_file.py:right", "n=1"), "sweep: 'n' is not a key; did you mean sweep.n?"),
    (("my_file.py:right", "sweep.nn=1"), "right takes no 'nn'; its axes: n, s; did you mean n?"),
    (("my_file.py:right", "sweep.n=[]"), "axis n is empty"),
    (("my_file.py:right", "sweep.n=[1,true]"), "axis n has 1 and True, which Python takes for equal"),
    (("my_file.py:right", "sweep.n={from:1}"), "sweep.n: a range needs numbers from, to"),
    (("my_file.py:right", "sweep.n=1", "sweep.rng=1"), "axis rng: this name is kept"),
    (("my_file.py:right", "sweep.n=1", "sweep.trials=1"), "axis trials: this name is kept"),
    (("my_file.py:by_level", "sweep.level=[1,2]"), "axis level: the tables of a folder have this name"),
    (("my_file.py:right", "sweep.s=2"), "right needs 'n'; give it as an axis"),
    (("my_file.py:right", "sweep.n=1", "exact=max"), "exact = 'max' is not valid; valid: exact.NAME=FUNCTION"),
    (("my_file.py:right", "sweep.n=1", "exact.value=true"), "exact['value'] = True is not valid"),
    (("my_file.py:right", "sweep.n=1", "exact.value=other.py:f"), "exact.value = other.py:f is not valid; valid: the"),
    (("my_file.py:right", "sweep.n=1", "exact.value=leaving"), "cell n=1: exact value of value: SystemExit"),
    (("my_file.py:event", "sweep.n=1", "exact.value=likely"), "cell n=1: exact value of value: 1.2 is not valid for a"),
    (("my_file.py:right", "sweep.n=1", "units.value=3"), "units['value'] = 3 is not valid"),
    (("my_file.py:right", "sweep.n=1", "share=3"), "share = 3 is not valid"),
    (
        ("my_file.py:right", "sweep.n=1", "name=null"),
        "name = null is not valid: the shell keeps each sweep in a folder",
    ),
    (("my_file.py:right", "sweep.n=1", "results_dir=null"), "results_dir = None is not valid"),
    (("my_file.py:right", "sweep.n=1", "part="), "part = '' is not valid"),
    (("my_file.py:right", "sweep.n=1", "cluster.worker=2"), "cluster: 'worker' is not a key"),
    (("my_file.py:exits", "sweep.n=1"), "cell n=1: Exits: exits calls sys.exit"),
    (("my_file.py:masked", "sweep.n=1"), "cell n=1: value is a masked array"),
    (("my_file.py:changing", "sweep.n=1"), "changing changes a default of its own parameters"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    user_files._LOADED.clear()
    Path("my_file.py").write_text(FILE)
    return tmp_path


@pytest.mark.parametrize(("file", "told"), FILES, ids=[file[:9] for file, _ in FILES])
def test_a_file_that_brings_no_function(command, folder, file, told):
    for name, text in BROKEN.items():
        Path(f"{name}.py").write_text(text)
    Path("bytes.py").write_bytes(b"x = '\xff'\n")
    os.symlink("loop.py", "loop.py")
    Path("folder.py").mkdir()
    code, out, err = command("sweep", f"{file}.py:f", "sweep.n=1", "trials=50", "cluster=serial")
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert told in err
    assert len(err) < 1000
    assert not Path("results").exists()


@pytest.mark.parametrize(("words", "told"), WORDS)
def test_bad_words(command, folder, words, told):
    cluster = () if any(word.startswith("cluster") for word in words) else ("cluster=serial",)
    code, out, err = command("sweep", *words, "trials=50", *cluster)
    fails = any(word in told for word in ("TypeError", "SystemExit", "Exits"))  # the function's own end
    assert (code, out, err.count("\n")) == (1 if fails else 2, "", 1), err
    assert told in err
    assert not Path("results").exists()


def test_sys_exit_in_a_later_cell_keeps_the_chunks_before(command, folder):
    words = ("my_file.py:leaves_later", "sweep.n=[1,2]", "trials=50", "cluster=serial")
    code, _, err = command("sweep", *words)
    assert (code, err.count("\n")) == (1, 1), err
    assert "cell n=2: Exits: leaves_later calls sys.exit; finished chunks are kept in results/leaves_later" in err
    code, out, err = command("sweep", *words, "on_error=continue")
    assert (code, "1 of 2 chunks to simulate" in out) == (1, True), out
    assert "errors left 1 of 2 cells without numbers" in err
