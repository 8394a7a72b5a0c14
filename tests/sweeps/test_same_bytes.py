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
import warnings


def spread(rng, trials, n):
    if os.environ.get("SLOW"):
        time.sleep(0.02)
    first, second = rng.spawn(2)
    x = first.normal(size=(trials, n))
    return {"largest": x.max(axis=1), "above": second.random(trials) < x[:, 0]}


def failing(rng, n):
    if os.environ.get("SLOW"):
        time.sleep(0.005)
    x = rng.normal()
    if x > 1.5:
        raise ArithmeticError(f"no root at {x}")
    if x < -3.2:  # a few of 3,000 trials
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
    if x < -2:
        warnings.warn("far off")
    return x


def probability(n):
    return 0.3


def middle(n):
    return float("nan") if n > 1 else 0.0
"""
WORDS = ("my_file.py:spread", "sweep.n=[1,2,5]", "trials=1000", "chunk=20", "exact.largest=middle")
TARGET = ("target_mcse={largest:{absolute:0.02}}", "max_trials=4000")
DECIDED = ("target={largest:{across:n,within:0.3},above:{threshold:0.35}}", "max_trials=6000")
COUNTED = ("target={above:{events:300}}", "max_trials=1500")
PUBLISHED = ("certificate.json", "contradictions.csv")
COMPARED = "comparisons.csv"
FAILING = ("my_file.py:failing", "sweep.n=[1,2,5]", "trials=1000", "chunk=50")
REDRAWN = ("on_error=count", "redraw=2", "trial_seconds=.5")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_file.py").write_text(FILE)
    return tmp_path


def published(name):
    tree = Path("results", name, "results.zarr").resolve()
    files = {str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}
    others = [*PUBLISHED, *([COMPARED] if Path("results", name, COMPARED).exists() else [])]
    return files | {name_of: Path("results", name, name_of).read_bytes() for name_of in others}


def serial(command, *more):
    assert command("sweep", *WORDS, *more, "cluster=serial", "name=serial")[0] == 0
    return published("serial")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize(
    "more",
    [(), TARGET, ("share=n",), DECIDED, (*DECIDED, "share=n"), COUNTED],
    ids=["trials", "target", "shared", "decided", "shared decisions", "counted"],
)
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


def killed(folder, words, name, size):
    """Run a slow sweep in a process of its own, and kill it once its journal has so many bytes more than before."""
    place = folder / "results" / name / "journal"
    before = sum(journal.segments(place).values()) if place.exists() else 0
    process = subprocess.Popen(
        [sys.executable, "-m", "tcdp_sim", *words],
        env=os.environ | {"SLOW": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while not place.exists() or sum(journal.segments(place).values()) < before + size:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_a_run_killed_between_its_decisions_goes_on_to_the_same_bytes(command, folder):
    """The process is killed after the first look, before the last one."""
    expected = serial(command, *DECIDED)
    assert COMPARED in expected
    words = ("sweep", *WORDS, *DECIDED, "cluster=serial", "name=killed")
    whole = sum(journal.segments(folder / "results/serial/journal").values())
    killed(folder, words, "killed", whole * 2 // 3)
    code, out, _ = command(*words)
    assert (code, "nothing to simulate" in out, "cells need more trials" in out) == (0, True, True)
    assert published("killed") == expected


@pytest.mark.slow
def test_failed_trials_are_the_same_after_a_kill_and_with_workers(command, folder):
    """Errors, draws that are repeated, warnings, and trials that hang; also what errors.csv has of them."""
    assert command("sweep", *FAILING, *REDRAWN, "cluster=serial", "name=serial")[0] == 0
    expected, told = published("serial"), Path("results/serial/errors.csv").read_bytes()
    for kind in (b"no root at", b"the trial takes more than 0.5 s", b"far off"):
        assert kind in told
    words = ("sweep", *FAILING, *REDRAWN, "cluster=serial", "name=killed")
    killed(folder, words, "killed", sum(journal.segments(folder / "results/serial/journal").values()) // 2)
    code, out, _ = command(*words)
    assert (code, "nothing to simulate" in out) == (0, False)
    assert command("sweep", *FAILING, *REDRAWN, "cluster.workers=2", "name=there")[0] == 0
    for name in ("killed", "there"):
        assert published(name) == expected
        assert Path("results", name, "errors.csv").read_bytes() == told


@pytest.mark.parametrize("before", [("trials=200",), ("trials=3000",), COUNTED], ids=["fewer", "more", "counted"])
def test_decisions_do_not_depend_on_the_chunks_that_were_there(command, folder, before):
    expected = serial(command, *DECIDED)
    words = ("sweep", *WORDS, "cluster=serial", "name=mine")
    assert command(*words, *before)[0] == 0
    assert (Path("results/mine") / COMPARED).exists() == ("trials=" not in before[0] and before is not COUNTED)
    assert command(*words, *DECIDED)[0] == 0
    assert published("mine") == expected
    assert command(*words, "trials=200")[0] == 0
    assert not (Path("results/mine") / COMPARED).exists()


def test_finish_and_status_tell_what_is_decided(command, folder):
    words = ("sweep", *WORDS, *DECIDED, "cluster=serial", "name=mine")
    code, out, _ = command(*words)
    (line,) = (line for line in out.splitlines() if "comparisons decided" in line)
    expected = published("mine")
    (Path("results/mine") / COMPARED).unlink()
    assert line in command("status", "results/mine")[1]
    code, out, err = command("finish", "results/mine")
    assert (code, line in out) == (0, True), err
    assert published("mine") == expected
    code, out, _ = command("verify", "results/mine", "function=my_file.py:spread")
    assert code == 0, out
