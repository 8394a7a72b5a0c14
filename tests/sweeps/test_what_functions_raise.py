"""What a user's function raises names its cell and is printable, in memory and in a folder, here and on workers."""

import os
import pickle
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim import Failure, UserError
from tcdp_sim.audits import answers
from tcdp_sim.engine.schedule import SerialExecutor
from tcdp_sim.sweeps import memory

CODES = "a\x1b[31mred\x07 \u202e end"
WRITTEN = r"a\x1b[31mred\x07 \u202e end"
LOCAL = {"name": "local", "workers": 1}


def interrupts(rng, trials, n):
    if n == 2:
        raise KeyboardInterrupt("own")
    return rng.random(trials)


def colours(rng, trials, n):
    if n == 2:
        raise ValueError(CODES)
    return rng.random(trials)


def first_interrupts(rng, n):
    raise KeyboardInterrupt


def interrupts_workers(rng, trials, n):
    if n == 2 and str(os.getpid()) != os.environ["DRIVER"]:
        raise KeyboardInterrupt
    return rng.random(trials)


@pytest.mark.parametrize("name", [None, "x"])
def test_an_interrupt_names_its_cell(tmp_path, name):
    """Also one of the pilot. It stays an interrupt, because Ctrl-C in the function looks the same."""
    for function, cell in ((interrupts, "cell n=2: interrupts"), (first_interrupts, "cell n=1: first_interrupts")):
        with pytest.raises(KeyboardInterrupt, match=f"^{cell} was interrupted"):
            tcdp_sim.sweep(function, {"n": [1, 2]}, trials=100, name=name and f"{name}{cell[7]}", results_dir=tmp_path)


@pytest.mark.parametrize("name", [None, "x"])
def test_on_a_worker_nobody_can_have_interrupted_it(tmp_path, monkeypatch, name):
    monkeypatch.setenv("DRIVER", str(os.getpid()))
    with pytest.raises(Failure, match=r"^cell n=2: Exits: interrupts_workers raises KeyboardInterrupt"):
        tcdp_sim.sweep(interrupts_workers, {"n": [2]}, trials=100, cluster=LOCAL, name=name, results_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "cluster"), [(None, "serial"), ("x", "serial"), pytest.param("x", LOCAL, marks=pytest.mark.slow)]
)
def test_messages_are_printable(tmp_path, name, cluster):
    with pytest.raises(Failure) as caught:
        tcdp_sim.sweep(colours, {"n": [2, 1]}, trials=100, cluster=cluster, name=name, results_dir=tmp_path)
    assert f"cell n=2: ValueError: {WRITTEN}" in str(caught.value)
    assert str(caught.value).isprintable()
    go = {"trials": 100, "name": name and f"{name}y", "results_dir": tmp_path, "on_error": "continue"}
    with pytest.warns(UserWarning, match="without numbers") as warned:
        tcdp_sim.sweep(colours, {"n": [1, 2]}, cluster=cluster, **go)
    assert all(str(each.message).isprintable() for each in warned)


def test_errors_of_audits_are_printable():
    def failing(data, rng, trials):
        raise ValueError(CODES)

    def leaving(data, rng, trials):
        raise SystemExit(0)

    audited = {"neighbours": answers(1), "trials": 4000, "learn": False, "errors": "raise"}
    with pytest.raises(UserError) as caught:
        tcdp_sim.audit(failing, **audited)
    assert WRITTEN in str(caught.value)
    with pytest.raises(UserError, match=r"Exits: the mechanism calls sys\.exit"):
        tcdp_sim.audit(leaving, **audited)


@pytest.mark.parametrize("kind", [UserError, Failure])
def test_every_error_of_ours_is_printable(kind):
    """Whatever it quotes; and it is the same after its way from a worker."""
    error = pickle.loads(pickle.dumps(kind(f"x = {CODES}\nis not valid")))
    assert str(error) == f"x = {WRITTEN}\nis not valid"


def warns(rng, trials, n):
    if n > 1:
        warnings.warn(f"odd {n // 2}", RuntimeWarning, stacklevel=2)
    return rng.random(trials)


@pytest.mark.parametrize("trials", [100, 30_000], ids=["one small chunk", "several chunks"])
def test_a_warning_is_told_once_with_its_first_cell(capsys, trials):
    """Of the cells n = 2 to 5, two have one message and two another; the numbers are those of a quiet function."""
    with warnings.catch_warnings(action="error"):
        found = tcdp_sim.sweep(warns, {"n": [1, 2, 3, 4, 5]}, trials=trials)
    said = capsys.readouterr().err
    assert said.count("warning: ") == 2
    assert "warning: cell n=2: RuntimeWarning: odd 1" in said
    assert "warning: cell n=4: RuntimeWarning: odd 2" in said
    quiet = tcdp_sim.sweep(lambda rng, trials, n: rng.random(trials), {"n": [1, 2, 3, 4, 5]}, trials=trials)
    assert (found["value"] == quiet["value"]).all()


def falls_back(rng, trials, n):
    """A function that treats its own warnings as messages only: as an error, one would change its numbers."""
    try:
        warnings.warn("own", RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        return np.zeros(trials)
    return rng.random(trials)


def test_no_warning_becomes_an_error_inside_of_a_function():
    assert tcdp_sim.sweep(falls_back, {"n": [1]}, trials=100)["value"] > 0


@pytest.mark.parametrize("trials", [100, 30_000], ids=["one small chunk", "several chunks"])
def test_an_error_keeps_the_traceback_of_the_function(trials, capsys):
    with pytest.raises(Failure, match="cell n=2: ValueError") as caught:
        tcdp_sim.sweep(colours, {"n": [2, 1]}, trials=trials)
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.__cause__.__traceback__.tb_next is not None
    with pytest.warns(UserWarning, match="cell n=2: ValueError"):
        tcdp_sim.sweep(colours, {"n": [1, 2]}, trials=trials)
    assert "in colours\n    raise ValueError(CODES)\n" in capsys.readouterr().err


class Elsewhere:
    """An executor that runs tasks in this process, as if it were another one."""

    workers, dashboard, silent = 1, "", staticmethod(tuple)

    def results(self, tasks, work, uses=()):
        return map(work, tasks)


@pytest.mark.parametrize(("executor", "soon"), [(SerialExecutor(), -1.0), (Elsewhere(), 60.0)], ids=["long", "worker"])
def test_a_long_chunk_or_one_of_a_worker_is_not_drawn_again(monkeypatch, capsys, executor, soon):
    """Its traceback is printed, and printable."""
    monkeypatch.setattr(memory, "SOON", soon)
    monkeypatch.setattr(memory.clusters, "connect", lambda *_: nullcontext(executor))
    drawn = []
    monkeypatch.setattr(memory, "_cause", lambda *_: drawn.append(1))
    with pytest.warns(UserWarning, match="cell n=2: ValueError"):
        tcdp_sim.sweep(colours, {"n": [1, 2]}, trials=30_000)
    assert not drawn
    said = capsys.readouterr().err
    assert "in colours\n    raise ValueError(CODES)\n" in said
    assert f"ValueError: {WRITTEN}" in said


def fails_once(rng, trials, n):
    if n == 2 and not os.environ.get("FAILED"):
        os.environ["FAILED"] = "yes"
        raise ValueError("once")
    return rng.random(trials)


def test_an_error_that_does_not_come_again_has_its_traceback_too(monkeypatch, capsys):
    monkeypatch.setenv("FAILED", "")
    with pytest.warns(UserWarning, match="cell n=2: ValueError: once"):
        tcdp_sim.sweep(fails_once, {"n": [1, 2]}, trials=30_000)
    assert "in fails_once" in capsys.readouterr().err
