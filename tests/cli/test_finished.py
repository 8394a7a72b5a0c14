"""A run with nothing left to do is recognised by digests, and only if nothing at all has changed since it ended."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_architecture import SLOW, loaded

from tcdp_sim.cli import run_argument
from tcdp_sim.core import registry
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine import run as engine
from tcdp_sim.engine import state
from tcdp_sim.engine.finish import finish
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.store import exact_records, finished, kept_plan, locks, source
from tcdp_sim.store.run_folder import Run

SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")
VARIES = {"run.log", "lock", finished.NAME}


@pytest.fixture
def again(tiny, tiny_once, monkeypatch):
    """The same command in the folder of a finished run: again(*more words) -> what it printed, and if it did work."""
    tiny_once(*SMALL)
    executed, real = [], engine.execute
    monkeypatch.setattr(engine, "execute", lambda *words: [executed.append(1), real(*words)][1])

    def run(*more):
        before = len(executed)
        code, out, err = tiny(*SMALL, *more)
        assert (code, err) == (0, "")
        return out, len(executed) > before

    return run


def contents(folder):
    """The bytes of all files but those that hold times or are the record itself."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name not in VARIES)
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def logged(folder):
    """The lines of the log without their times."""
    return [line.partition(" ")[2] for line in (folder / "run.log").read_text().splitlines()]


def test_the_command_tells_what_the_run_would_tell_and_neither_plans_nor_reads(again, folder, monkeypatch):
    before, lines = contents(folder), logged(folder)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "prepare", None)
        patch.setattr(Run, "_read", None)
        told, worked = again()
    assert not worked
    assert "nothing to simulate" in told
    short = logged(folder)[len(lines) :]
    (folder / finished.NAME).unlink()
    assert again() == (told, True)
    assert logged(folder)[len(lines) + len(short) :] == short
    assert contents(folder) == before
    assert again() == (told, False)  # the record is there again


def test_notes_of_the_plan_are_told_again(tiny, again):
    told, _ = again("trials=700")
    assert "trials = 700 are rounded up to 1,000" in told
    assert again("trials=700") == (told.replace("2 of 4 chunks to simulate", "nothing to simulate"), False)


def test_a_run_after_the_finish_of_all_parts_does_nothing(tiny, command, folder, monkeypatch):
    words = (*SMALL, "sweep.noise=[gaussian,sinh_normal_tight]")
    for part in ("part=1/2", "part=2/2"):
        assert tiny(*words, part)[0] == 0
    assert command("finish", folder)[0] == 0
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "execute", None)
        told = command("run", folder)
    assert told[0] == 0
    (folder / finished.NAME).unlink()
    assert command("run", folder) == told
    assert contents(folder) == before


def test_a_finish_of_some_parts_leaves_no_record(tiny, command, folder):
    words = (*SMALL, "sweep.k=[10,20,30,40]")
    for part in ("part=1/3", "part=2/3"):
        assert tiny(*words, part)[0] == 0
    code, out, err = command("finish", folder)
    assert (code, "chunks are missing" in err, "results:" in out) == (1, True, True)  # some cells are whole
    assert not (folder / finished.NAME).exists()
    assert (
        finish(engine.prepare(run_argument.by_folder(folder).settings), print) > 0
    )  # missing exact values would hide a fault
    assert not (folder / finished.NAME).exists()
    assert tiny(*words, "part=3/3")[0] == 0
    assert command("finish", folder)[0] == 0
    assert (folder / finished.NAME).exists()


@pytest.mark.usefixtures("again")
def test_a_finished_run_loads_neither_mechanisms_nor_engine(tmp_path, monkeypatch):
    from conftest import TINY

    monkeypatch.chdir(tmp_path)
    words = ["tcdp-sim", *TINY, *SMALL]
    found = loaded(f"sys.argv = {words!r}\nfrom tcdp_sim.cli.main import main\nmain()")
    assert "tcdp_sim.store.finished" in found
    assert not found & (SLOW | {"scipy", "tcdp_sim.mechanisms", "tcdp_sim.noise", "tcdp_sim.engine.run"})


# What is in the folder


def flipped(path):
    """Flip a bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def files_of(folder):
    """One file of each kind that a run reads or mends."""
    patterns = ("*.json", "journal/*.seg", "exact/*.seg", "results.zarr/zarr.json", "results.zarr/**/c/*")
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))[: None if pattern[0] == "*" else 1]]
    return [path for path in found if path.name != "drawn.json"]  # tests/cli/test_drawn_once.py


@pytest.mark.parametrize("damage", [flipped, Path.unlink], ids=["flipped", "lost"])
def test_a_change_of_any_file_is_noticed_and_healed(again, folder, tmp_path, damage):
    kept = shutil.copytree(folder, tmp_path / "kept", symlinks=True)
    before = contents(folder)
    files = files_of(folder)
    names = {f"{name}.json" for name in finished.FILES} - {"calibrations.json"}  # these noises need no search
    assert {path.name for path in files} >= names | {finished.NAME}
    assert len(files) == len(names) + 1 + 4
    for path in files:
        name = path.relative_to(folder)
        damage(path)
        told, worked = again()
        assert worked, name
        assert ("nothing to simulate" in told) == (name.parts[0] != "journal")
        if name.parts[0] in ("journal", "exact"):  # a new file stands beside the damaged one
            shutil.rmtree(folder)
            shutil.copytree(kept, folder, symlinks=True)
        assert contents(folder) == before, name


def other_record(folder):
    (folder / "journal" / "other.seg").write_bytes(b"garbage")


def half_file(folder):
    (folder / ".run-host-1-abc").write_text("")


def half_snapshot(folder):
    (folder / "snapshots" / ".writing-host-1-abc").mkdir()


def copied_snapshot(folder):
    """A copy of the folder that followed the link."""
    tree = (folder / "results.zarr").resolve()
    (folder / "results.zarr").unlink()
    shutil.copytree(tree, folder / "results.zarr")


def link_elsewhere(folder):
    tree = (folder / "results.zarr").resolve()
    shutil.copytree(tree, folder.parent / tree.name)
    (folder / "results.zarr").unlink()
    (folder / "results.zarr").symlink_to(f"../{tree.name}")


def problems(folder):
    (folder / "problems.csv").write_text("cell\n")


def noises(folder):
    (folder / "calibrations.json").write_text("{}\n")


CHANGES = (noises, half_file, problems, half_snapshot, other_record, copied_snapshot, link_elsewhere)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_a_run_would_see_or_remove_is_noticed(again, folder, change):
    change(folder)
    assert again()[1]


def test_a_forged_record_is_not_believed(again, folder):
    path = folder / finished.NAME
    about = json.loads(path.read_text())
    for text in ("", "[]", "5", json.dumps({**about, "lines": ["all is well"]}), path.read_text().replace("2", "3", 1)):
        path.write_text(text)
        told, worked = again()
        assert worked
        assert "all is well" not in told


@pytest.mark.usefixtures("again")
def test_figures_are_looked_at_as_after_any_run(tiny, monkeypatch):
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda *_: 3)
    monkeypatch.setattr(engine, "execute", None)
    assert tiny(*SMALL)[0] == 3


# What is not in the folder


def test_a_plug_in_that_is_installed_does_work(again, monkeypatch):
    """Other inputs of the record are changed in tests/store/test_memories.py."""
    monkeypatch.setattr(registry, "distributions", lambda: {"a-plug-in": "1.0"})
    assert again()[1]


@pytest.mark.parametrize("word", ["seed=3", "numerics=strict", "on_error=continue"])
def test_another_config_does_work(again, word):
    words = (word, "name=other") if word == "seed=3" else (word,)
    assert again(*words)[1]
    assert not again(*words)[1]


def test_the_data_files_of_the_package_have_a_digest_of_their_bytes(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.csv").write_text("1\n")
    monkeypatch.setattr(source.resources, "files", lambda _: tmp_path)
    found = source.data.__wrapped__()
    (tmp_path / "files" / "a.csv").write_text("2\n")
    assert source.data.__wrapped__() != found


def test_a_driver_at_work_is_left_alone(again, tiny, folder):
    file = os.open(folder / locks.LOCK, os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        code, _, err = tiny(*SMALL)
    finally:
        os.close(file)
    assert code == 2
    assert "is being written by another process" in err
    assert not again()[1]


def test_what_cannot_be_locked_or_logged_is_left_to_the_run(again, folder, tiny, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(locks, "_locked", lambda *_: False)  # a file system without locks
        told, worked = again()
        assert worked
        assert "without locks" in told
    (folder / "run.log").unlink()
    (folder / "run.log").mkdir()
    code, _, err = tiny(*SMALL)
    assert code == 2
    assert "run.log" in err or "failed" in err


# Runs of which nothing is kept


@pytest.mark.parametrize(
    "more", [("target_mcse={linf_error: {relative: 0.5}}",), ("target={linf_error: {threshold: 1}}",), ("part=1/1",)]
)
def test_targets_and_parts_are_looked_at_each_time(tiny, folder, more):
    assert tiny(*SMALL, *more)[0] == 0
    assert not (folder / finished.NAME).exists()


def test_warnings_are_repeated(tiny, folder, monkeypatch):
    real = Histogram.simulate

    def simulate(self, rng, trials):
        np.log(np.zeros(3))
        return real(self, rng, trials)

    monkeypatch.setattr(Histogram, "simulate", simulate)
    assert tiny(*SMALL)[0] == 0
    assert not (folder / finished.NAME).exists()


def test_errors_are_tried_again(tiny, folder, monkeypatch):
    def simulate(self, rng, trials):
        raise ArithmeticError("no luck")

    with monkeypatch.context() as patch:
        patch.setattr(Histogram, "simulate", simulate)
        assert tiny(*SMALL, "on_error=continue")[0] == 1
    assert not (folder / finished.NAME).exists()
    assert tiny(*SMALL, "on_error=continue")[0] == 0  # the journal still has the errors
    assert not (folder / finished.NAME).exists()


def test_what_has_no_digest_is_looked_at_each_time(tiny, folder, tmp_path, monkeypatch):
    """A user's data, which may change, and code of a plug-in."""
    (tmp_path / "visits.csv").write_text("site\n1\n2\n2\n")
    mine = ("data=csv", "data.path=visits.csv", "data.column=site", "data.domain=5", "sweep.k=null")
    assert tiny(*mine, "sweep.noise=gaussian", "name=mine")[0] == 0
    assert not (folder.parent / "mine" / finished.NAME).exists()
    monkeypatch.setattr(registry, "distributions", lambda: {"a-plug-in": "1.0"})
    assert tiny(*SMALL)[0] == 0
    assert not (folder / finished.NAME).exists()


def test_a_plan_that_is_too_large_to_be_kept_hinders_nothing(again, folder, monkeypatch):
    for name in ("plan.json", "status.json", finished.NAME):
        (folder / name).unlink()
    monkeypatch.setattr(kept_plan, "MOST", 1)
    assert again()[1]
    assert not (folder / "plan.json").exists()
    assert not again()[1]


def test_numbers_of_foreign_machines_are_told_each_time(again, folder, monkeypatch):
    """Chunks, and exact values that no file may keep."""
    (folder / finished.NAME).unlink()
    with monkeypatch.context() as patch:
        patch.setattr(state, "fingerprint", lambda: f"not {fingerprint()}")
        again()
    assert not (folder / finished.NAME).exists()
    with monkeypatch.context() as patch:
        patch.setattr(exact_records.ExactRecords, "lent", True)
        again()
    assert not (folder / finished.NAME).exists()
    again()
    assert (folder / finished.NAME).exists()


def test_a_damaged_journal_is_told_each_time(again, folder):
    (folder / "journal" / "other.seg").write_bytes(b"garbage")
    for _ in range(2):
        told, worked = again()
        assert worked
        assert "journal/other.seg: 1 damaged stretches" in told
