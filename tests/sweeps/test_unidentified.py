"""Sweeps of functions that cannot be told apart: nothing joins, resumes or repeats the numbers of two of them."""

import linecache
import subprocess
import sys

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.identity import identity
from tcdp_sim.store.digests import tree_digest

GENERATOR = np.random.default_rng(3)


class Opaque:
    """An object whose state no digest can stand for."""

    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale


def scaled(by):
    opaque = Opaque(by)

    def inner(rng, trials, n):
        return n * opaque.scale * rng.random(trials)

    return inner


def elsewhere(rng, trials, n):
    return n * GENERATOR.random(trials)


def executed(text, **names):
    exec(text, names)
    return names["f"]


FUNCTIONS = {
    "exec": [executed(f"def f(rng, n):\n    return {by} * n * rng.random()\n") for by in (1, 100)],
    "exec in a module": [
        executed(f"def f(rng, n):\n    return {by} * n * rng.random()\n", __name__=__name__) for by in (1, 100)
    ],
    "lambda": (lambda rng, n: n * rng.random(), lambda rng, n: 100 + n * rng.random()),
    "closure": (scaled(1.0), scaled(100.0)),
    "another generator": (elsewhere, elsewhere),
}


def test_code_of_exec_has_no_identity_although_a_text_has_its_file_name(monkeypatch):
    lines = ["def f(rng, n):\n", "    return n\n"]
    monkeypatch.setitem(linecache.cache, "<string>", (sum(map(len, lines)), None, lines, "<string>"))
    for kind in ("exec", "exec in a module"):
        assert identity(FUNCTIONS[kind][0]) is None


@pytest.mark.filterwarnings("ignore:elsewhere does not draw all")
@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("cells", [([1, 2], [2, 3]), ([1], [2]), ([1, 2], [1, 2])], ids=["some", "other", "the same"])
def test_their_folders_are_not_merged(command, tmp_path, capsys, kind, cells):
    for name, function, axis in zip("ab", FUNCTIONS[kind], cells):
        tcdp_sim.sweep(function, {"n": axis}, trials=20, name=name, results_dir=tmp_path)
    before = [tree_digest(tmp_path / name) for name in "ab"]
    capsys.readouterr()
    for ours, theirs in ("ab", "ba"):
        code, _, err = command("merge", tmp_path / ours, tmp_path / theirs)
        assert (code, err.count("\n")) == (2, 1), err
        assert f"{tmp_path / ours} cannot be merged" in err
    assert [tree_digest(tmp_path / name) for name in "ab"] == before


def known(rng, trials, n):
    return n * rng.random(trials)


def test_a_folder_with_identity_takes_no_cells_of_one_without(command, tmp_path, capsys):
    tcdp_sim.sweep(known, {"n": [1, 2]}, trials=20, name="known", results_dir=tmp_path)
    tcdp_sim.sweep(FUNCTIONS["lambda"][0], {"n": [2, 3]}, trials=20, name="other", results_dir=tmp_path)
    capsys.readouterr()
    for ours, theirs in (("known", "other"), ("other", "known")):
        code, _, err = command("merge", tmp_path / ours, tmp_path / theirs)
        assert (code, err.count("\n")) == (2, 1), err


@pytest.mark.filterwarnings("ignore:elsewhere does not draw all")
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_their_numbers_are_not_computed_again(command, tmp_path, capsys, kind):
    (tmp_path / "my_file.py").write_text("def f(rng, n):\n    return n * rng.random()\n")
    tcdp_sim.sweep(FUNCTIONS[kind][0], {"n": [1, 2]}, trials=20, name="a", results_dir=tmp_path)
    capsys.readouterr()
    code, _, err = command("verify", tmp_path / "a", "function=my_file.py:f")
    assert (code, err.count("\n"), "cannot be computed again" in err) == (2, 1, True), err


@pytest.mark.slow
def test_a_function_of_another_generator_is_neither_resumed_nor_a_part(tmp_path):
    code = "import numpy as np\n\n\ndef f(rng, trials, n):\n    return np.random.random(trials)\n"
    (tmp_path / "my_file.py").write_text(code)

    def told(*words):
        words = ["sweep", "my_file.py:f", "sweep.n=[1,2]", "trials=100", "cluster=serial", *words]
        call = f"import sys; sys.argv[1:] = {words!r}; from tcdp_sim.cli.main import main; sys.exit(main())"
        done = subprocess.run([sys.executable, "-c", call], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    for _ in range(2):
        code, out = told()
        assert code == 0, out
        assert "from its generator" in out
        assert "2 of 2 chunks to simulate" in out
    assert tcdp_sim.open_results(tmp_path / "results" / "f")["value"].notnull().all()
    assert told("part=1/2")[0] == 2
