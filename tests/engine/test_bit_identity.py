"""However a run came about, what it publishes and certifies are the same bytes."""

import random

import pytest

from tcdp_sim.engine import schedule
from tcdp_sim.engine.pending import Pending
from tcdp_sim.store.digests import tree_digest

WORDS = ("trials=1500", "chunk=500", "sweep.k=[10,1e9]", "sweep.rho=[0.1,0.2]", "also=null", "data=zipf", "data.n=100")
WORDS += ("sweep.noise=[gaussian,laplace,sinh_normal]", "sweep.omega_sqrt_rho=1")
SERIAL = "cluster=serial"
WAYS = {  # what is run, one after the other, before and with the last words
    "serial": [(SERIAL,)],
    **{f"{n} workers": [("cluster=local", f"cluster.workers={n}")] for n in (1, 2, 4)},
    **{f"tasks of {seconds:g} s": [(SERIAL,)] for seconds in (1e-9, 1e-2, 1e9)},
    "tasks of 1e-09 s on 2 workers": [("cluster=local", "cluster.workers=2")],
    "shuffled": [(SERIAL,)],
    "interrupted and resumed": [(SERIAL,), ("cluster=local", "cluster.workers=2")],
    "added trials": [(SERIAL, "trials=500"), ("cluster=local", "cluster.workers=2")],
    "added cells": [(SERIAL, "sweep.k=1e9", "sweep.noise=[sinh_normal,gaussian]"), (SERIAL,)],
    "more than is asked for": [(SERIAL, "trials=3000", "sweep.k=[1e9,1e3,10]"), (SERIAL,)],
    "all of that": [
        ("cluster=local", "cluster.workers=2", "trials=1000", "sweep.rho=0.2"),
        (SERIAL, "trials=500", "sweep.k=[1e9,1e3,10]"),
        (SERIAL,),
        ("cluster=local", "cluster.workers=4"),
    ],
}

REFERENCE: list = []  # what one process gives, once it is known


@pytest.fixture
def published(command, folder, monkeypatch):
    """published(name, words of each start) -> (snapshot, certificate) after the last."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda *_: None)

    def run(name, starts):
        for words in starts:
            code = command(*WORDS, f"name={name}", *words)[0]
            assert code == 0 or words is not starts[-1]
        made = folder.parent / name
        return tree_digest((made / "results.zarr").resolve()), (made / "certificate.json").read_bytes()

    return run


def interrupted(monkeypatch, after):
    """The first start ends by a failing executor after so many tasks."""
    real, left = schedule.SerialExecutor.results, [after]

    def results(self, *tasks):
        for done in real(self, *tasks):
            if left[0] == 0:
                left[0] = -1
                raise OSError(5, "Input/output error")
            left[0] -= left[0] > 0
            yield done

    monkeypatch.setattr(schedule.SerialExecutor, "results", results)
    return left


@pytest.mark.parametrize("way", WAYS)
def test_the_published_bytes_are_the_same(published, monkeypatch, way):
    if not REFERENCE:
        REFERENCE.append(published("reference", WAYS["serial"]))
    left = None
    if way.startswith("tasks of"):
        monkeypatch.setattr(schedule, "TASK_SECONDS", float(way.split()[2]))
    if way in ("interrupted and resumed", "all of that"):
        monkeypatch.setattr(schedule, "TASK_SECONDS", 1e-9)
        left = interrupted(monkeypatch, 7)
    if way in ("shuffled", "all of that"):
        rng, real = random.Random(4), Pending.__iter__
        monkeypatch.setattr(Pending, "__iter__", lambda todo: iter(rng.sample(found := list(real(todo)), len(found))))
    assert published("other", WAYS[way]) == REFERENCE[0]
    assert left in (None, [-1]), "it was not interrupted"
