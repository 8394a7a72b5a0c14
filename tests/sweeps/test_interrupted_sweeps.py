"""An interrupted sweep in memory: the same call in the same process goes on, with the bits of one that was not."""

import json
import os
import signal
import time
from contextlib import suppress

import pytest
import xarray as xr

import tcdp_sim
from tcdp_sim.sweeps import interrupted, memory

AXES = {"n": [1, 2, 3, 4, 5, 6]}
RUNS = {
    "small cells": {"trials": 100},
    "chunks": {"trials": 3000, "chunk": 1000},
    "workers": {"trials": 3000, "chunk": 1000, "cluster": {"name": "local", "workers": 1}},
    "decisions": {"trials": 1000, "chunk": 500, "max_trials": 2000, "target": {"value": {"threshold": 3.4}}},
    "target": {"trials": 1000, "target_mcse": {"value": {"absolute": 1e-2}}},
}


def slow(rng, trials, n):
    """Take as long as a task may, count the calls, and be interrupted at the wanted one."""
    os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
    time.sleep(float(os.environ["TASK"]))
    if os.environ["STOP"] == str(n):
        os.environ["STOP"] = ""
        with suppress(ProcessLookupError):
            os.kill(int(os.environ["DRIVER"]), signal.SIGINT)
        time.sleep(5)
    return rng.random(trials) + n


@pytest.fixture
def swept(monkeypatch):
    for key in ("CALLS", "STOP", "DRIVER"):
        monkeypatch.setenv(key, "")
    monkeypatch.setenv("TASK", "0.12")
    monkeypatch.setenv("DRIVER", str(os.getpid()))

    def run(stop="", **keys):
        os.environ.update(CALLS="0", STOP=str(stop))
        return tcdp_sim.sweep(slow, AXES, **keys)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # another test may have left a handler
    yield run
    signal.signal(signal.SIGINT, before)
    interrupted._kept.clear()


def goes_on(swept, keys):
    with pytest.raises(KeyboardInterrupt, match=r" [1-5] of 6 cells are finished .*; the same call goes on") as caught:
        swept(5, **keys)
    assert "cell n=5" in str(caught.value)
    again, rest = swept(**keys), int(os.environ["CALLS"])
    whole, every = swept(**keys), int(os.environ["CALLS"])
    xr.testing.assert_identical(again, whole)
    assert rest < every


@pytest.mark.kept
def test_small_cells_go_on(swept, monkeypatch):
    monkeypatch.setenv("TASK", "0")
    monkeypatch.setattr(memory, "QUICK", 0.0)  # each cell is a block
    goes_on(swept, RUNS["small cells"])


def test_chunks_go_on(swept):
    goes_on(swept, RUNS["chunks"])


@pytest.mark.parametrize("keys", [pytest.param(RUNS[name], id=name) for name in ("workers", "target", "decisions")])
def test_the_numbers_are_those_of_one_call(swept, keys):
    with pytest.raises(KeyboardInterrupt, match=r"of 6 cells are finished"):
        swept(4, **keys)
    again = swept(**keys)
    assert not interrupted._kept
    xr.testing.assert_identical(again, swept(**keys))


def fails(rng, n):
    if os.environ["STOP"] == str(n):
        os.environ["STOP"] = ""
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    if rng.random() < 0.05:
        raise ValueError("no root")
    return rng.random()


def test_failed_trials_of_before_are_told_too(swept):
    asked = {"trials": 200, "chunk": 100, "on_error": "count"}
    os.environ["STOP"] = "5"
    with pytest.raises(KeyboardInterrupt, match=r" [1-5] of 6 cells are finished"):
        tcdp_sim.sweep(fails, AXES, **asked)
    again, whole = (tcdp_sim.sweep(fails, AXES, **asked) for _ in range(2))
    xr.testing.assert_identical(again, whole)
    assert sum(one["count"] for one in json.loads(again.attrs["errors"])) == again["errors"].sum() > 20


@pytest.mark.parametrize(
    "other",
    [
        *({"seed": 1}, {"trials": 200}, {"on_error": "count"}),
        *({"target_mcse": {"value": {"absolute": 1.0}}}, {"target": {"value": {"threshold": 3.4}}, "max_trials": 200}),
    ],
)
def test_another_call_uses_none_of_it(swept, other):
    with pytest.raises(KeyboardInterrupt):
        swept(5, trials=100)
    found = swept(**{"trials": 100} | other)
    xr.testing.assert_identical(found, swept(**{"trials": 100} | other))
