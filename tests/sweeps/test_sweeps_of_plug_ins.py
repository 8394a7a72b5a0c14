"""Sweeps of an installed plug-in's functions: every command takes a plug-in's name where FILE.py:FUNCTION may stand."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tcdp_sim.results import open_cells

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "maxima"
version = "1.2"

[project.entry-points."tcdp_sim.sweep"]
largest_of = "maxima_pkg.laws:largest"
twice = "maxima_pkg.objects:TWICE"

[tool.setuptools]
packages = ["maxima_pkg"]
"""
LAWS = """
def largest(rng, trials, n):
    return {"top": rng.random((trials, n)).max(axis=1), "half": rng.random(trials) < 0.5}


def mean_of_largest(n):
    return n / (n + 1)
"""
OBJECTS = """
class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def simulate(self, rng, trials, n):
        return rng.random(trials) * self.scale * n


TWICE = Scaled(2.0)
"""
WORDS = ("sweep.n=[1,4]", "trials=600", "chunk=200", "cluster=serial")
EXACT = ("exact.top=mean_of_largest", "exact.half=0.5")
# several commands of one process, since each start costs a second
COMMANDS = """
import sys
from tcdp_sim.cli.main import main
import tcdp_sim.report.saving as saving
saving.save_all = lambda *_: []
for words in sys.stdin.read().splitlines():
    sys.argv = ["tcdp-sim", *words.split()]
    try:
        code = main() or 0
    except SystemExit as stop:
        code = stop.code
    print(f"=== {code}", flush=True)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of packages into which pip has installed the plug-in."""
    home = tmp_path_factory.mktemp("plug_in")
    package = home / "source" / "maxima_pkg"
    package.mkdir(parents=True)
    (home / "source" / "pyproject.toml").write_text(PROJECT)
    for name, text in (("__init__", ""), ("laws", LAWS), ("objects", OBJECTS)):
        (package / f"{name}.py").write_text(text)
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target")
    subprocess.run([*pip, str(home / "site"), str(home / "source")], check=True, capture_output=True, timeout=120)
    return home / "site"


@pytest.fixture
def commands(site, tmp_path):
    """commands(words, ...) -> (exit code, all that was printed) of each, in an empty folder."""

    def run(*lines):
        given = os.environ | {"PYTHONPATH": str(site)}
        words = "\n".join(" ".join(line) for line in lines)
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS],
            input=words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
            env=given,
            timeout=300,
        )
        found = re.split(r"^=== (.*)\n", done.stdout, flags=re.MULTILINE)
        assert len(found) == 2 * len(lines) + 1, done.stdout
        return [(int(code), text) for text, code in zip(found[::2], found[1::2])]

    return run


def files(folder):
    tree = folder.resolve()
    return {path.relative_to(tree): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def test_every_command_takes_the_name_of_a_plug_in(commands, tmp_path):
    """The folder, `show` and the missing part name the plug-in, and `finish` needs no code."""
    sweep = ("sweep", "largest_of", *WORDS, *EXACT)
    ran, shown, refused, verified, one, lacking, two, finished, job = commands(
        sweep,
        ("show", "results/largest_of"),
        ("verify", "results/largest_of"),
        ("verify", "results/largest_of", "function=largest_of"),
        (*sweep, "name=parts", "part=1/2"),
        ("finish", "results/parts"),
        (*sweep, "name=parts", "part=2/2"),
        ("finish", "results/parts"),
        ("script", "slurm", *sweep, "parts=4"),
    )
    assert (ran[0], "4 simulated numbers have an exact one beside them" in ran[1]) == (0, True), ran
    assert "tcdp-sim sweep largest_of 'sweep.n=[1,4]' trials=600 chunk=200 seed=0 name=largest_of" in shown[1]
    assert (refused[0], "give function=largest_of" in refused[1]) == (2, True), refused
    assert (verified[0], "6 of 6 chunks are the stored bits" in verified[1]) == (0, True), verified
    assert (one[0], lacking[0], two[0]) == (0, 1, 0), (one, lacking, two)
    assert re.search(r"`tcdp-sim sweep largest_of .* exact\.top=mean_of_largest .*part=2/2` computes", lacking[1])
    assert (finished[0], "4 simulated numbers have an exact one beside them" in finished[1]) == (0, True), finished
    assert files(tmp_path / "results/parts/results.zarr") == files(tmp_path / "results/largest_of/results.zarr")
    assert (job[0], " sweep largest_of 'sweep.n=[1,4]' " in job[1]) == (0, True), job
    again = shlex.split(shown[1].splitlines()[-1])[1:]
    cell = str(open_cells(tmp_path / "results/largest_of")["id"].values[0])
    replay = ("replay", "results/largest_of", f"cell={cell[:12]}", "index=1", "function=largest_of")
    repeated, chunk = commands([*again, "cluster=serial"], replay)
    assert (chunk[0], "the same bits as stored" in chunk[1]) == (0, True), chunk
    assert (repeated[0], "nothing to simulate" in repeated[1]) == (0, True), repeated


@pytest.mark.slow
def test_an_object_of_a_plug_in_and_a_chunk_of_it(commands, tmp_path):
    ran, shown, table = commands(
        ("sweep", "twice", *WORDS, "exact.value=n"), ("show", "results/twice"), ("table", "results/twice", "out.csv")
    )
    assert ran[0] == 2
    assert "no function 'n'" in ran[1]
    assert (shown[0], table[0]) == (2, 2)
    ran, shown, parts, workers = commands(
        ("sweep", "twice", *WORDS),
        ("show", "results/twice"),
        ("sweep", "twice", *WORDS, "name=parts", "part=1/1"),
        ("sweep", "twice", *WORDS[:-1], "cluster.workers=1", "name=workers"),
    )
    assert (ran[0], parts[0], workers[0]) == (0, 0, 0), (ran, parts, workers)
    assert "tcdp-sim sweep twice 'sweep.n=[1,4]'" in shown[1]
    assert files(tmp_path / "results/workers/results.zarr") == files(tmp_path / "results/twice/results.zarr")


def test_mistakes_name_what_plug_ins_bring(commands):
    near, other, exact = commands(
        ("sweep", "largest_off", "sweep.n=1"),
        ("sweep", "largest_of", *WORDS, "exact.top=mean_of_larges"),
        ("sweep", "largest_of", *WORDS, "exact.top=maxima_pkg.laws:mean_of_largest"),
    )
    assert near[0] == other[0] == exact[0] == 2
    assert "'largest_off' names no function" in near[1]
    assert "did you mean largest_of?" in near[1]
    assert "no function 'mean_of_larges'" in other[1]
    assert "maxima_pkg.laws" in exact[1]
