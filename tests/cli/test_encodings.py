"""A terminal or a pipe that lacks a character gets "?" for it, and a right run ends with exit code 0."""

import io
import os
import subprocess
import sys

import pytest

from tcdp_sim.cli.commands import COMMANDS

SOURCE = """
def f(rng, trials, n):
    return rng.random(trials)

def g(data, rng, trials):
    return data[0] + rng.laplace(size=trials)
"""
BUDGET = "releases:\n  - {largest_error: 10, k: 100, noise: gaussian}\nbudget: {rho: 1}\n"
SCORES = "score,in\n" + "1.5,1\n0.5,0\n2.5,0\n" * 10
RUN = "results/histogram"
WORDS = {  # what each command is tried with, after a tiny study has been run under a name that no old encoding has
    "run": [RUN],
    "sweep": ["m.py:f", "sweep.n=1", "trials=100", "cluster=serial"],
    "audit": ["m.py:g", "claim=PureDP(1)", "neighbours=answers(1)", "trials=4000"],
    "audit-scores": ["s.csv", "claim=PureDP(1)"],
    "check": ["laplace"],
    "plan": [RUN],
    "script": ["slurm", "sweep.k=10", "parts=2", "name=jobs"],
    "finish": ["results/parts"],
    "show": [RUN],
    "status": [RUN],
    "draw": [RUN],
    "verify": [RUN, "sample=1"],
    "replay": [RUN],
    "diff": [RUN, RUN],
    "merge": [RUN, RUN],
    "drop": [RUN],
    "table": [RUN],
    "distribution": [RUN, "linf_error"],
    "report": [RUN],
    "explore": [RUN],
    "list": [],
    "describe": ["histogram"],
    "new": ["histogram"],
    "schema": [],
    "cheat-sheet": [],
    "budget": ["b.yaml"],
    "account": ["b.yaml"],
    "reproduce": ["plan=true"],
    "completion": [],
}
REFUSED = {"merge", "finish", "replay", "drop"}  # a run with itself, a part that is missing, no cell, no worker


@pytest.fixture
def pipe(monkeypatch):
    """pipe(encoding) -> the bytes that are written to an output of this encoding, which refuses other characters."""

    def new(encoding):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors="strict"))
        return written

    return new


def test_every_command_is_tried():
    assert set(WORDS) == set(COMMANDS)


def test_every_command_writes_to_every_output(command, tiny_once, tiny, pipe, tmp_path):
    """A command ends as it does where all characters can be written."""
    tiny_once()
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "b.yaml").write_text(BUDGET)
    (tmp_path / "s.csv").write_text(SCORES)
    tiny("part=1/2", "name=parts")
    usual = {name: command(name, *words)[::2] for name, words in WORDS.items()}
    assert {name: each for name, each in usual.items() if each[0]}.keys() <= REFUSED
    for name, words in WORDS.items():
        for encoding in ("latin-1", "ascii"):
            written = pipe(encoding)
            assert command(name, *words)[0] == usual[name][0], (name, encoding)
            sys.stdout.flush()
            assert written.getvalue().decode(encoding) or usual[name][0], name
            pipe("utf-8")


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_a_process_in_such_a_locale(tmp_path, variables):
    study = ["sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=1000", "chunk=1000", "cluster=serial"]
    call = [sys.executable, "-m", "tcdp_sim", *study]
    done = subprocess.run(call, cwd=tmp_path, env=os.environ | variables, capture_output=True, timeout=120, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"?" in done.stdout  # of the Greek letters
