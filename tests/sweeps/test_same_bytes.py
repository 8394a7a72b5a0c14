"""The bytes of one sweep: by this process, by 1, 2 and 4 workers, and by parts of which one was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tcdp_sim.store import journal

FILE = """
import os
import time


def spread(rng, trials, n):
    if os.environ.get("SLOW"):
        time.sleep(0.02)
    first, second = rng.spawn(2)
    x = first.normal(size=(trials, n))
    return {"largest": x.max(axis=1), "above": second.random(trials) < x[:, 0]}


def probability(n):
    return 0.3


def middle(n):
    return float("nan") if n > 1 else 0.0
"""
WORDS = ("my_file.py:spread", "sweep.n=[1,2,5]", "trials=1000", "chunk=20", "exact.largest=middle")
TARGET = ("target_mcse={largest:{absolute:0.02}}", "max_trials=4000")
PUBLISHED = ("certificate.json", "contradictions.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_file.py").write_text(FILE)
    return tmp_path


def published(name):
    tree = Path("results", name, "results.zarr").resolve()
    files = {str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}
    return files | {name_of: Path("results", name, name_of).read_bytes() for name_of in PUBLISHED}


def serial(command, *more):
    assert command("sweep", *WORDS, *more, "cluster=serial", "name=serial")[0] == 0
    return published("serial")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("more", [(), TARGET, ("share=n",)], ids=["trials", "target", "shared"])
def test_workers_give_the_bytes_of_this_process(command, folder, workers, more):
    expected = serial(command, *more)
    assert command("sweep", *WORDS, *more, f"cluster.workers={workers}", "name=there")[0] == 0
    assert published("there") == expected


def test_a_part_killed_midway_is_computed_again_with_the_bytes_of_a_serial_run(command, folder):
    expected = serial(command)
    words = ("sweep", *WORDS, "cluster=serial", "name=parts")
    assert command(*words, "part=2/3")[0] == 0
    before = sum(journal.segments(folder / "results/parts/journal").values())
    process = subprocess.Popen(
        [sys.executable, "-m", "tcdp_sim", *words, "part=1/3"],
        env=os.environ | {"SLOW": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while sum(journal.segments(folder / "results/parts/journal").values()) < before + 8000:  # a head and some chunks
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert command(*words, "part=3/3")[0] == 0
    code, out, _ = command("finish", "results/parts")
    assert (code, "missing parts: 1 (1 of 3)" in out) == (1, True), out
    code, out, _ = command(*words, "part=1/3")
    todo, whole = (int(text) for text in out.split(" chunks to simulate")[0].split(": ")[-1].split(" of its "))
    assert (code, 0 < todo < whole) == (0, True), out
    assert command("finish", "results/parts")[0] == 0
    assert published("parts") == expected
