"""Parts of a sweep: computed alone, in any order, and published without code, with the bytes of a serial run."""

from pathlib import Path

import pytest

FILE = """
import numpy as np


def largest(rng, trials, n):
    return rng.random((trials, n)).max(axis=1)


def mean_of_largest(n):
    return n / (n + 1)


def other(rng, trials, n):
    return np.random.default_rng().random(trials)
"""
WORDS = ("my_file.py:largest", "sweep.n=[1,4,9]", "trials=3e3", "chunk=500", "cluster=serial")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_file.py").write_text(FILE)
    return tmp_path


def files(run):
    return {path.relative_to(run): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def snapshot(name):
    return files(Path("results", name, "results.zarr").resolve())


def test_parts_in_any_order_and_repeated_have_the_bytes_of_a_serial_sweep(command, folder):
    for part in ("3/3", "1/3", "3/3"):
        assert command("sweep", *WORDS, "name=mine", f"part={part}")[0] == 0
    code, out, _ = command("finish", "results/mine")
    assert code == 1
    assert "missing parts: 2 (1 of 3)" in out
    (line,) = (line for line in out.splitlines() if "computes the first of them" in line)
    assert line.startswith("`tcdp-sim sweep my_file.py:largest 'sweep.n=[1,4,9]' ")
    assert command("sweep", *WORDS, "name=mine", "part=2/3")[0] == 0
    code, out, _ = command("finish", "results/mine")
    assert code == 0
    assert "exact values and bounds are code" in out
    assert not Path("results/alone").exists()
    assert command("sweep", *WORDS, "name=alone")[0] == 0
    assert snapshot("mine") == snapshot("alone")


def test_the_command_without_part_publishes_exact_values_too(command, folder):
    for part in ("1/2", "2/2"):
        assert command("sweep", *WORDS, "exact.value=mean_of_largest", f"part={part}")[0] == 0
    code, out, _ = command("sweep", *WORDS, "exact.value=mean_of_largest")
    assert code == 0
    assert "3 cells x 3,000 trials; nothing to simulate" in out
    assert "3 simulated numbers have an exact one beside them" in out


def test_trials_may_be_added(command, folder):
    assert command("sweep", *WORDS)[0] == 0
    code, out, _ = command("sweep", *WORDS[:2], "trials=+1000", "chunk=500", "cluster=serial")
    assert code == 0
    assert "3 cells x 4,000 trials; 6 of 24 chunks to simulate" in out


def test_a_job_file_of_a_sweep_names_its_function_and_finishes_without_it(command, folder):
    code, out, _ = command("script", "slurm", "sweep", *WORDS, "parts=4")
    assert code == 0
    assert " sweep my_file.py:largest " in out
    assert '"part=$SLURM_ARRAY_TASK_ID/4"' in out
    assert " finish results/largest\n" in out
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*WORDS, "part=4/3"), "part = '4/3' is not valid"),
        ((*WORDS, "part=x"), "part = 'x' is not valid"),
        ((*WORDS[:2], "trials=+500", "part=1/2"), "is not valid with part"),
        (("my_file.py:other", *WORDS[1:], "part=1/2"), "do not follow from its generator"),
    ],
)
@pytest.mark.filterwarnings("ignore:other does not draw all")
def test_mistakes_are_one_line(command, folder, words, said):
    code, _, err = command("sweep", *words)
    assert code == 2
    assert said in err
    assert not Path("results").exists()
