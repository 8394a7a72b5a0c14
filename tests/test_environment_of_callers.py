"""No call leaves variables in the environment of its caller: later processes would have one thread, or a fixed seed."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tcdp_sim.core import environment

CALLS = """
import os, sys, tcdp_sim
from tcdp_sim.audits import answers

def uniform(rng, trials, n):
    return rng.random(trials)

def laplace(data, rng, trials):
    return data[0] + rng.laplace(scale=0.5, size=trials)

cluster = {"name": sys.argv[1]} | ({"workers": 1} if sys.argv[1] == "local" else {})
os.environ["OMP_NUM_THREADS"] = "7"  # the user's own stays
before = dict(os.environ)
small = {"k": 10, "rho": 0.1, "noise": "gaussian"}
tcdp_sim.sweep(uniform, {"n": [1, 2]}, trials=100, cluster=cluster)
swept = dict(os.environ)
tcdp_sim.sweep(uniform, {"n": [1, 2]}, trials=100, cluster=cluster, name="x")
tcdp_sim.run("histogram", sweep=small, trials=1000, chunk=1000, cluster=cluster, name="h")
ran = dict(os.environ)
tcdp_sim.audit(laplace, neighbours=answers(1), trials=4000, learn=False, cluster=cluster)
for after in (swept, ran, dict(os.environ)):
    print({name for name in {*before, *after} if before.get(name) != after.get(name)} or "nothing")
"""


@pytest.mark.parametrize("cluster", ["serial", "local"])
def test_calls_leave_the_environment_as_it_was(tmp_path, cluster):
    """In a process of its own, because the first worker of a process changes the most."""
    call = [sys.executable, "-c", CALLS, cluster]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["nothing"] * 3


def test_variables_are_changed_for_a_time(monkeypatch):
    """What another thread sets meanwhile stays."""
    monkeypatch.setenv("HERE", "1")
    monkeypatch.delenv("AWAY", raising=False)
    monkeypatch.delenv("OTHER", raising=False)
    with environment.changed({"HERE": "2", "AWAY": "3"}):
        assert (os.environ["HERE"], os.environ["AWAY"]) == ("2", "3")
        os.environ["OTHER"] = "4"
    assert (os.environ["HERE"], os.environ.get("AWAY"), os.environ["OTHER"]) == ("1", None, "4")
    with suppress(ZeroDivisionError), environment.changed({"HERE": "2"}):
        raise ZeroDivisionError
    assert os.environ["HERE"] == "1"
    del os.environ["OTHER"]
