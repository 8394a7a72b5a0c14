"""A leading ~ means the home folder in every option that names a file or folder, and makes no folder called "~"."""

from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

import tcdp_sim
from tcdp_sim import UserError, results
from tcdp_sim.audits import answers
from tcdp_sim.engine.clusters import queues, scheduler
from tcdp_sim.results import page_file
from tcdp_sim.study import groups, study_file

TABLE = "clinic\na\nb\nb\n"


def uniform(rng, trials, n):
    return rng.random(trials)


def laplace(data, rng, trials):
    return data[0] + rng.laplace(scale=0.5, size=trials)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder, and another current folder, which has nothing called "~" at the end."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    yield home
    assert not (here / "~").exists()


def test_the_folder_of_runs(home):
    tcdp_sim.sweep(uniform, {"n": 1}, trials=100, name="x", results_dir="~/runs")
    assert (home / "runs" / "x" / "run.json").is_file()
    small = {"k": 10, "rho": 0.1, "noise": "gaussian"}
    tcdp_sim.run("histogram", sweep=small, trials=1000, chunk=1000, cluster="serial", name="h", results_dir="~/runs")
    more = tcdp_sim.run(
        "histogram", sweep=small, trials="+1000", chunk=1000, cluster="serial", name="h", results_dir="~/runs"
    )
    assert int(more.attrs["trials_per_cell"]) == 2000  # the old trials were found
    audited = {"neighbours": answers(1), "trials": 4000, "learn": False}
    tcdp_sim.audit(laplace, **audited, name="a", results_dir="~/runs")
    assert sorted(each.name for each in (home / "runs").iterdir()) == ["a", "h", "x"]


def test_places_of_runs_and_files_that_are_written(home):
    tcdp_sim.sweep(uniform, {"n": 1}, trials=100, name="x", results_dir="~/runs")
    assert tcdp_sim.open_results("~/runs/x")["n"] == 1
    assert len(tcdp_sim.table("~/runs/x")) == len(tcdp_sim.table(home / "runs" / "x"))
    assert results.export("~/runs/x", "~/x.csv") == home / "x.csv"
    assert page_file.checked(Path("~/x.html")) == home / "x.html"


def test_every_file_that_a_study_reads(home):
    """Also beside the file of a study, which makes relative paths relative to it."""
    for place in study_file.READ:
        keys: dict = {}
        section = keys
        for key in place[:-1]:
            section = section.setdefault("any" if key == "*" else key, {})
        section[place[-1]] = "~/x.csv"
        assert study_file.relative_paths(keys) == [], place
        found = [path for _, path in study_file._beside(keys, place, Path("elsewhere"))]
        assert found == [str(home / "x.csv")], place


def test_data_and_labels_are_read_from_there(home):
    (home / "visits.csv").write_text(TABLE)
    data = {"path": "~/visits.csv", "column": "clinic", "domain": {"file": "~/visits.csv", "column": "clinic"}}
    plan = tcdp_sim.plan("histogram", data={"name": "csv", **data}, sweep={"rho": 0.1, "noise": "gaussian"}, trials=100)
    assert len(plan.cells)


def test_the_file_of_a_study_and_of_a_function(home, monkeypatch):
    (home / "s.yaml").write_text("experiment: histogram\nsweep: {k: 10, rho: 0.1, noise: gaussian}\ntrials: 100\n")
    assert len(tcdp_sim.plan(study="~/s.yaml").cells) == len(tcdp_sim.plan(study=home / "s.yaml").cells)
    (home / "at_home.py").write_text("def f(rng, trials, n):\n    return rng.random(trials)\n")
    from tcdp_sim.core import user_files

    assert user_files.load("~/at_home.py:f").__name__ == "f"


def test_keys_and_logs_of_clusters(home):
    for name in ("ca", "cert", "key"):
        (home / name).write_text("")
    spec = {"address": "tls://localhost:1", "wait": 1} | {f"tls_{name}": f"~/{name}" for name in ("ca", "cert", "key")}
    scheduler.check(spec)
    assert queues.folder({"folder": "~/jobs"}) == home / "jobs"


def test_what_reads_a_path_is_tried_above():
    """Each option of conf whose name is that of a file or folder; a new one needs a line here and its test."""
    words = ("path", "file", "folder", "dir", "tls_ca", "tls_cert", "tls_key")
    found = set()
    for group in ("cluster", "data"):
        for name in groups.options(group):
            found |= {
                f"{group}.{key}" for key in groups.named(group, name) if key.split("_")[-1] in words or key in words
            }
    whole = OmegaConf.to_container(OmegaConf.create(groups.DEFAULTS.read_text("utf-8")), resolve=False)
    found |= {key for key in whole if key.split("_")[-1] in words}
    assert found - {"data.file"} == {  # the name of a sample of the package
        "results_dir", "data.path", "cluster.folder", "cluster.tls_ca", "cluster.tls_cert", "cluster.tls_key",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["~nobody-has-this-name/x", "./~"])
def test_other_names_stay_as_they_are(home, name):
    from tcdp_sim.core.paths import at_home

    assert at_home(name) == name
    with pytest.raises(UserError, match="holds no results"):
        tcdp_sim.open_results(name)


def test_arrays_are_no_paths(home):
    with pytest.raises((UserError, TypeError)):
        tcdp_sim.open_results(np.arange(3))
