"""The private results of another user: one line and exit code 2, whatever command looks at them."""

import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path

import pytest

import tcdp_sim
from tcdp_sim import UserError

STUDY = ["sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=1000", "chunk=1000", "cluster=serial"]
SOURCE = """
def f(rng, trials, n):
    return rng.random(trials)

def g(data, rng, trials):
    return data[0] + rng.laplace(size=trials)
"""
SWEEP = ["sweep", "m.py:f", "sweep.n=1", "trials=100", "cluster=serial"]
AUDIT = ["audit", "m.py:g", "claim=PureDP(1)", "neighbours=answers(1)", "trials=4000", "name=f"]
NOBODY = 65534
NAMES = ("listing", "merge", "diff", "verify", "replay", "status", "finish", "plan")
LATER = [f"tcdp_sim.cli.{name}" for name in NAMES]
LATER += ["tcdp_sim.experiments.papers.command", "tcdp_sim.results.page", "tcdp_sim.results.explore", "tcdp_sim.api"]
ON_A_RUN = ("run", "status", "finish", "table", "report", "explore", "draw", "show", "plan", "verify", "replay")


def uniform(rng, trials, n):
    return rng.random(trials)


@pytest.fixture
def other(command, monkeypatch):
    """other(*words) -> what a command of another user gives, in a folder that both can read."""
    here = Path(tempfile.mkdtemp())
    here.chmod(0o755)
    monkeypatch.chdir(here)
    (here / "m.py").write_text(SOURCE)
    assert command(*STUDY, "name=h")[0] == 0
    assert command(*SWEEP, "name=f")[0] == 0
    for module in LATER:  # now: the other user may not be able to read the installation either
        import_module(module)

    def run(*words):
        """As nobody, if this user may be that: root reads what nobody else may."""
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            return command(*words)
        finally:
            if root:
                os.seteuid(0)

    yield run
    for folder in ("results", "results/h", "results/f"):
        (here / folder).chmod(0o755)
    shutil.rmtree(here)


@pytest.mark.parametrize("private", [["results"], ["results/h", "results/f"]])
def test_private_folders_of_others(other, private):
    calls = [
        *([command, f"results/{name}"] for command in ON_A_RUN for name in "hf"),
        *([*STUDY, f"name={name}", *more] for name in "hf" for more in ((), ("part=1/2",))),
        *([*SWEEP, f"name={name}", *more] for name in "hf" for more in ((), ("part=1/2",))),
        ["plan", *STUDY, "name=h"],
        [*STUDY, "name=h", "trials=+1000"],
        AUDIT,
        ["list"],
        ["table", "results/h", "x.csv"],
        ["verify", "results/f", "function=m.py:f"],
        ["diff", "results/h", "results/f"],
        ["merge", "results/h", "results/f"],
        ["reproduce", "folder=results/h"],
    ]
    for folder in private:
        Path(folder).chmod(0)
    for words in calls:
        code, out, err = other(*words)
        assert (code, out, err.count("\n")) == (2, "", 1), (words, out, err)
        assert err.startswith("tcdp-sim: "), words


def test_private_folders_in_python(other):
    """The same mistakes are UserError."""
    Path("results/h").chmod(0)
    calls = [tcdp_sim.open_results, tcdp_sim.table, tcdp_sim.draw]
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        for call in calls:
            with pytest.raises(UserError, match="results/h cannot be read"):
                call("results/h")
        with pytest.raises(UserError, match="results/h"):
            tcdp_sim.sweep(uniform, {"n": 1}, trials=100, name="h")
        with pytest.raises(UserError, match="results/h"):
            tcdp_sim.plan("histogram", sweep={"k": 10, "rho": 0.1}, trials=100, name="h")
    finally:
        if root:
            os.seteuid(0)
