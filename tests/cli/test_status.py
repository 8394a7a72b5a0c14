"""The progress of a run is told from the files in its folder, and is always that of its journal."""

import json
import re

import numpy as np
import pytest
from test_architecture import loaded

from tcdp_sim.core import registry
from tcdp_sim.engine import run as engine
from tcdp_sim.engine import state
from tcdp_sim.store import journal, kept_status, run_settings, source
from tcdp_sim.store.run_folder import CHUNK, Run

SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")
PARTS = ("sweep.k=10", "trials=500")
FILE = ("data=csv", "data.path=visits.csv", "data.column=site", "data.domain=5", "sweep.k=null")


@pytest.fixture
def status(command, folder):
    """What `status` prints of the folder, without the seconds."""

    def told():
        code, out, _ = command("status", folder)
        assert code == 0
        return re.sub(r"written \d+ s ago", "written", out)

    return told


@pytest.fixture
def unplanned(monkeypatch):
    """No study can be planned any more."""

    def planned(_):
        raise AssertionError("the study is planned")

    monkeypatch.setattr(engine, "prepare", planned)


@pytest.fixture
def unread(monkeypatch):
    """No journal can be read any more."""

    def read(_):
        raise AssertionError("the journal is read")

    monkeypatch.setattr(Run, "_read", read)


def last_chunk(folder):
    """The file of the last chunk's record, and its place in it."""
    return [(path, at) for path, at, payload in journal.read(folder / "journal") if payload[:1] == CHUNK][-1]


def without_kept_files(folder):
    for name in ("plan.json", "status.json"):
        (folder / name).unlink()


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("target_mcse={linf_error: {relative: 0.01}}", "max_trials=20000"),
        ("target={linf_error: {across: k}}", "max_trials=2000"),
    ],
)
def test_what_is_kept_is_what_the_journal_says(tiny, folder, status, more):
    assert tiny(*SMALL, *more)[0] == 0
    kept = status()
    without_kept_files(folder)
    assert status() == kept
    assert not (folder / "status.json").exists()  # who looks writes nothing


@pytest.mark.usefixtures("unplanned", "unread")
@pytest.mark.usefixtures("finished")
def test_a_finished_run_is_neither_planned_nor_read(status):
    assert "4 of 4 chunks, 2 of 2 cells done" in status()


@pytest.fixture
def finished(tiny_once):
    """A finished run. This fixture comes before those that forbid planning and reading."""
    tiny_once(*SMALL)


def test_a_run_at_work_is_read_but_not_planned(tiny_once, folder, status, monkeypatch):
    """The process was killed in the middle of its last record; its plan is there, and the kept progress is stale."""
    tiny_once(*SMALL)
    path, at = last_chunk(folder)
    path.write_bytes(path.read_bytes()[: at + 10])
    without_plan = status()
    assert "3 of 4 chunks, 1 of 2 cells done" in without_plan
    assert "1 damaged stretches" in without_plan
    monkeypatch.setattr(engine, "prepare", None)
    assert status() == without_plan


def test_a_flipped_bit_of_the_journal_is_noticed(tiny_once, folder, status):
    """Neither its size nor its name has changed."""
    tiny_once(*SMALL)
    path, at = last_chunk(folder)
    data = bytearray(path.read_bytes())
    data[at + 10] ^= 1
    path.write_bytes(data)
    assert "3 of 4 chunks, 1 of 2 cells done" in status()


def test_a_larger_run_that_was_killed_is_not_the_finished_one(tiny, tiny_once, folder, status, monkeypatch):
    tiny_once(*SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "until_precise", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tiny(*SMALL, "trials=2000")
    assert "4 of 4 chunks" in status()  # nothing was recorded, and the config of the last record counts
    assert "4 of 8 chunks, 0 of 2 cells done" in tiny(*SMALL, "trials=2000", "status")[1]
    tiny(*SMALL, "trials=2000")
    assert "8 of 8 chunks, 2 of 2 cells done" in status()


@pytest.mark.parametrize("name", ["plan.json", "status.json"])
def test_a_damaged_or_forged_file_is_not_believed(tiny_once, folder, status, name):
    tiny_once(*SMALL)
    kept, path = status(), folder / name
    about = json.loads(path.read_text())
    for text in ("", "[]", path.read_text().replace("2", "3", 1), json.dumps({**about, "lines": ["all is well"]})):
        path.write_text(text)
        assert status() == kept


@pytest.mark.parametrize(("module", "name"), [(source, "own"), (source, "data")])
def test_other_code_or_data_files_plan_anew(tiny_once, status, monkeypatch, module, name):
    tiny_once(*SMALL)
    kept = status()
    monkeypatch.setattr(module, name, lambda: "another version")
    assert status() == kept
    monkeypatch.setattr(engine, "prepare", None)
    with pytest.raises(TypeError):
        status()


def test_nothing_is_kept_of_what_has_no_digest(tiny, command, folder, tmp_path, monkeypatch):
    """A user's data, which may change, and code of a plug-in."""
    (tmp_path / "visits.csv").write_text("site\n1\n2\n2\n")
    assert tiny(*FILE, "sweep.noise=gaussian", "name=mine")[0] == 0
    assert not (folder.parent / "mine" / "plan.json").exists()
    assert "cells done" in command("status", folder.parent / "mine")[1]
    assert "data visits.site: 3 records" in command("status", folder.parent / "mine")[1]
    monkeypatch.setattr(registry, "distributions", lambda: {"a-plug-in": "1.0"})
    assert tiny(*SMALL)[0] == 0
    assert not (folder / "plan.json").exists()
    assert not (folder / "status.json").exists()


def test_parts_keep_nothing_and_their_end_does(command, tiny, folder, status):
    assert tiny(*PARTS, "part=1/2")[0] == 0
    assert not (folder / "plan.json").exists()
    assert "missing parts: 2 (1 of 2)" in status()
    assert command("finish", folder)[0] == 1  # some cells are published, and the others are missing
    assert not (folder / "status.json").exists()
    assert "missing parts: 2 (1 of 2)" in status()
    assert tiny(*PARTS, "part=2/2")[0] == 0
    read = status()
    assert "missing" not in read
    assert command("finish", folder)[0] == 0
    kept = kept_status.read(folder, json.loads((folder / "plan.json").read_text())["of"])
    assert kept is not None
    assert status().splitlines()[:2] == read.splitlines()[:2]


@pytest.mark.parametrize("chunks", [1, 2])
def test_the_worst_mean_of_the_table_is_that_of_the_records(tiny, folder, chunks):
    tiny(*SMALL, f"trials={500 * chunks}")
    study = engine.prepare(run_settings.settings_of(folder))
    told = json.loads((folder / "status.json").read_text())["lines"]
    assert state.lines(study.planned, Run(folder, study.identity)) == told


def test_the_worst_mean_is_the_largest_one_that_is_a_number():
    import xarray as xr

    means, errors = np.array([1.0, 0.0, -2.0, np.nan, 5.0]), np.array([0.1, 1.0, 0.6, 1.0, np.nan])
    columns = {"x_mean": ("cell", means), "x_mean_mcse": ("cell", errors)}
    block = xr.Dataset(columns, {"id": ("cell", np.array(list("abcde"), dtype=object))})
    worst = state.WorstOfTable(["x", "not there"])
    assert len(list(worst.watched([block, block.isel(cell=[3, 4])]))) == 2
    assert worst.found == (pytest.approx(0.3), "x", "c")


@pytest.mark.usefixtures("finished")
def test_the_status_of_a_finished_run_loads_no_mechanism(folder):
    command = f"sys.argv = ['tcdp-sim', 'status', {str(folder)!r}]\nfrom tcdp_sim.cli.main import main\nmain()"
    found = loaded(command)
    assert "tcdp_sim.store.kept_status" in found
    slow = {"scipy", "hydra", "omegaconf", "pydantic", "tcdp_sim.mechanisms", "tcdp_sim.noise", "xarray", "dask"}
    assert not found & slow
