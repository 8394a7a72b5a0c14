"""Which runs let a server process import what their workers need; their results are those of any other start."""

import sys
from contextlib import nullcontext

import pytest

from tcdp_sim.cli import study_words
from tcdp_sim.core import fork_server, registry
from tcdp_sim.engine import preload
from tcdp_sim.engine.clusters import local
from tcdp_sim.store.digests import tree_digest

SMALL = ("sweep.k=[10,100]", "sweep.rho=[0.1,0.5]", "sweep.noise=gaussian", "also=null", "trials=2000", "chunk=1000")
LOCAL = ("cluster=local", "cluster.workers=2", "cluster.dashboard=false")


@pytest.fixture
def begun(monkeypatch):
    """The modules of each server that was asked for; none is started."""
    found = []
    monkeypatch.setattr(fork_server, "running", lambda modules, environment: nullcontext(found.append(modules)))
    return found


def given(home, *words):
    return study_words.runs([*SMALL, f"results_dir={home}", *words])[0].settings


def test_new_runs_on_this_machine_begin_early(tmp_path, begun):
    with preload.imports(given(tmp_path, *LOCAL)):
        assert begun == [preload.MODULES]


@pytest.mark.parametrize("case", ["serial", "published", "function", "plug-in"])
def test_other_runs_do_not(tmp_path, begun, monkeypatch, case):
    run = given(tmp_path, *(["cluster=serial"] if case == "serial" else LOCAL))
    if case == "published":
        (run.folder / "results.zarr").mkdir(parents=True)
    if case == "function":
        run = run.model_copy(update={"mechanism": {**run.mechanism, "function": {}}})
    if case == "plug-in":
        monkeypatch.setattr(registry, "distributions", lambda: {"theirs": "1.0"})
    with preload.imports(run):
        assert begun == []


@pytest.mark.skipif(sys.platform != "linux", reason="there is no server on other systems")
def test_results_of_forked_workers_are_those_of_any_other(command, tmp_path, monkeypatch):
    methods = []
    check = local._check_space
    monkeypatch.setattr(local, "_check_space", lambda limit: methods.append(fork_server.is_default()) or check(limit))
    assert command(*SMALL, *LOCAL, f"results_dir={tmp_path / 'forked'}")[0] == 0
    monkeypatch.setattr(fork_server, "running", lambda *_: nullcontext())
    assert command(*SMALL, *LOCAL, f"results_dir={tmp_path / 'spawned'}")[0] == 0
    first, second = (tree_digest(tmp_path / name / "histogram/results.zarr") for name in ("forked", "spawned"))
    assert methods == [True, False]
    assert first == second
