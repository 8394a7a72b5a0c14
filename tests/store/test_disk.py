"""Disks that fill up, that may only be read, that go away; a second driver: one line, and nothing is lost.

A file system of its own (tmpfs) needs root; those tests are skipped without. What they cannot reach without root is
tried in tests/test_study.py with writes that fail.
"""

import shutil
import subprocess
import sys

import pytest
from progress_lines import without_progress

from tcdp_sim.results import open_cells
from tcdp_sim.store import journal
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.run_folder import CHUNK

WORDS = ("cluster=serial", "trials=2000", "chunk=100", "sweep.k=10", "sweep.rho=0.1", "also=null")
WORDS += ("sweep.noise=[gaussian,sinh_normal]", "sweep.omega_sqrt_rho=1")
CHUNKS = 40


def mount(folder, *options):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)], capture_output=True)


@pytest.fixture
def disk(tmp_path):
    """A disk of its own with hardly any room; disk(options) changes it, such as to disk("size=1m")."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if mount(folder, "size=16k").returncode:
        pytest.skip("no file system may be mounted here")
    try:
        yield lambda *options: mount(folder, "remount", *options).check_returncode() or folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def recorded(folder):
    return sum(payload is not None and payload[:1] == CHUNK for _, _, payload in journal.read(folder / "journal"))


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


@pytest.fixture
def clean(command):
    """The digest of what an undisturbed run publishes."""

    def published(tmp_path):
        assert command(*WORDS, "name=clean")[0] == 0
        return snapshot(tmp_path / "results" / "clean")

    return published


@pytest.mark.slow
@pytest.mark.usefixtures("figures")
def test_a_full_disk_is_one_line_at_whichever_byte_it_fills_up(command, disk, clean, tmp_path, monkeypatch):
    """Ever more room: in the journal, in the snapshot and in the figures the disk is full, until it is not."""
    monkeypatch.setattr("tcdp_sim.engine.schedule.TASK_SECONDS", 1e-9)
    kept, said, code, room = 0, [], 2, 16
    while code:
        folder = disk(f"size={room}k") / "histogram"
        code, _, err = command(*WORDS, f"results_dir={tmp_path / 'disk'}")
        if code:
            assert (code, err.count("\n")) == (2, 1), err
            assert "No space left on device" in err
            said.append(err)
        assert recorded(folder) >= kept
        kept = recorded(folder)
        room = room * 8 // 5
    assert kept == CHUNKS
    assert any("finished chunks are kept: once there is room" in err for err in said)
    assert len(said) > 3
    assert snapshot(folder) == clean(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("figures")
def test_a_disk_that_may_only_be_read_can_be_read(command, disk, tmp_path):
    folder = disk("size=20m") / "histogram"
    words = (*WORDS, f"results_dir={tmp_path / 'disk'}")
    assert command(*words)[0] == 0
    before = snapshot(folder)
    disk("ro")
    code, out, err = command("status", *words)
    assert (code, err) == (0, "")
    assert f"{CHUNKS} of {CHUNKS} chunks" in out
    assert open_cells(folder).sizes["cell"] == 2
    code, _, err = command(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "Read-only file system" in err
    code, _, err = command(*words, "name=new")
    assert (code, err.count("\n")) == (2, 1)
    assert "Read-only file system" in err
    disk("rw")
    assert command(*words)[0] == 0
    assert snapshot(folder) == before


@pytest.mark.parametrize("how", ["renamed", "removed"])
def test_a_folder_that_vanishes_ends_the_run_at_once_in_one_line(command, folder, clean, tmp_path, monkeypatch, how):
    """What is there again is gone on with; what somebody has removed is computed again."""
    monkeypatch.setattr("tcdp_sim.engine.schedule.TASK_SECONDS", 1e-9)
    monkeypatch.setattr(journal, "SYNC_SECONDS", 0.0)
    real, calls = journal.Writer.extend, []

    def extend(self, payloads):
        calls.append(1)
        if len(calls) == 10:
            folder.rename(tmp_path / "elsewhere") if how == "renamed" else shutil.rmtree(folder)
        return real(self, payloads)

    with monkeypatch.context() as patch:
        patch.setattr(journal.Writer, "extend", extend)
        code, _, err = command(*WORDS)
    assert (code, err.count("\n")) == (2, 1)
    assert "No such file or directory" in err
    assert len(calls) == 10
    kept = 0
    if how == "renamed":
        (tmp_path / "elsewhere").rename(folder)
        kept = recorded(folder)
        assert kept == 9  # the first record is the head
    code, out, _ = command(*WORDS)
    assert code == 0
    assert f"{CHUNKS - kept} of {CHUNKS} chunks to simulate" in out
    assert snapshot(folder) == clean(tmp_path)


@pytest.mark.slow
def test_of_two_drivers_that_start_together_one_is_refused_or_finds_all_done(tmp_path, clean):
    words = [sys.executable, "-m", "tcdp_sim", *WORDS]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    drivers = [subprocess.Popen(words, cwd=tmp_path, **pipes) for _ in range(3)]
    ended = [(driver.communicate(timeout=300), driver.returncode) for driver in drivers]
    folder = tmp_path / "results" / "histogram"
    assert 0 in {code for _, code in ended}
    for (out, err), code in ended:
        if code:
            assert (code, without_progress(err).count("\n")) == (2, 1)
            assert "is being written by another process" in err
        assert "Traceback" not in out + err
    assert recorded(folder) == CHUNKS
    assert snapshot(folder) == clean(tmp_path)
