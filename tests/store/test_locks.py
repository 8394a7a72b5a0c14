"""One driver at a time, with the kernel's locks and without."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import locks
from tcdp_sim.store.digests import tree_digest

WORDS = ("cluster=serial", "trials=2000", "chunk=100", "sweep.k=10", "sweep.rho=0.1", "also=null")
WORDS += ("sweep.noise=[gaussian,sinh_normal]", "sweep.omega_sqrt_rho=1")
WITHOUT = """
import errno, fcntl
def flock(*_):
    raise OSError(errno.ENOSYS, "Function not implemented")
fcntl.flock = flock
from tcdp_sim.cli.main import main
main()
"""


@pytest.fixture(params=[errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def no_locks(request, monkeypatch):
    def flock(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", flock)


def refused(folder):
    with pytest.raises(UserError, match="is being written by another process") as caught, locks.held(folder):
        pass
    return str(caught.value)


def test_the_kernels_lock_keeps_others_out_until_it_is_freed(tmp_path):
    for _ in range(2):
        with locks.held(tmp_path) as warning:
            assert warning == ""
            assert locks.busy(tmp_path)
            assert f"(process {os.getpid()} on " in refused(tmp_path)
            assert locks.busy(tmp_path)
        assert not locks.busy(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


@pytest.mark.parametrize("start", [locks.held, lambda folder: nullcontext(locks.busy(folder))], ids=["held", "busy"])
def test_who_only_asks_keeps_nobody_out(tmp_path, monkeypatch, start):
    """A look at the lock takes a moment; a driver that starts just then waits for it, and so does another look."""
    asked = []
    with (tmp_path / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        monkeypatch.setattr("time.sleep", lambda _: asked.append(1) or fcntl.flock(other, fcntl.LOCK_UN))
        with start(tmp_path) as told:
            assert not told
            assert asked == [1]


def test_a_look_writes_nothing(tmp_path):
    (tmp_path / "lock").write_text("what the last driver left")
    before = (tmp_path / "lock").stat()
    assert not locks.busy(tmp_path)
    assert (tmp_path / "lock").stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


@pytest.mark.parametrize("left", ["", "  process 3 on h"])
def test_where_a_file_that_may_only_be_read_has_no_lock_the_name_in_it_counts(tmp_path, monkeypatch, left):
    """So on NFS for other users: there a lock that keeps others out needs a file that is open for writing."""

    def flock(*_):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    (tmp_path / "lock").write_text(left)
    monkeypatch.setattr(fcntl, "flock", flock)
    assert locks.busy(tmp_path) == bool(left)


def test_who_has_ended_leaves_no_name(tmp_path):
    with locks.held(tmp_path):
        assert f"process {os.getpid()} on" in (tmp_path / "lock").read_text()
    assert (tmp_path / "lock").read_text() == ""
    with pytest.raises(ZeroDivisionError), locks.held(tmp_path):
        1 / 0  # noqa: B018
    assert (tmp_path / "lock").read_text() == ""


def test_a_planted_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").symlink_to("../victim")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)), locks.held(tmp_path / "run"):
        pass
    assert (tmp_path / "victim").read_text() == "mine"


def test_without_the_kernels_locks_a_file_keeps_others_out(tmp_path, no_locks):
    for _ in range(2):
        with locks.held(tmp_path) as warning:
            assert "file system without locks: lock.held in it keeps other drivers out" in warning
            assert locks.busy(tmp_path)
            said = refused(tmp_path)
            assert f"(process {os.getpid()} on " in said
            assert f"or if it has ended, remove {tmp_path / 'lock.held'}" in said
            assert locks.busy(tmp_path)
        assert not locks.busy(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def ended_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_file_of_a_killed_process_of_this_host_is_taken_away(tmp_path, no_locks):
    with locks.held(tmp_path):
        mine = json.loads((tmp_path / "lock.held").read_text())
    (tmp_path / "lock.held").write_text(json.dumps(mine | {"process": ended_process()}))
    assert not locks.busy(tmp_path)
    with locks.held(tmp_path):
        assert json.loads((tmp_path / "lock.held").read_text())["process"] == os.getpid()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


OTHERS = [{"host": "elsewhere"}, {"system": "another start"}, {"process": 1}, {"process": "x"}]


@pytest.mark.parametrize("change", OTHERS)
def test_the_file_of_anybody_else_stays(tmp_path, no_locks, change):
    with locks.held(tmp_path):
        mine = json.loads((tmp_path / "lock.held").read_text())
    text = json.dumps({**mine, "process": ended_process(), **change})
    (tmp_path / "lock.held").write_text(text)
    assert locks.busy(tmp_path)
    assert "remove" in refused(tmp_path)
    assert (tmp_path / "lock.held").read_text() == text


@pytest.mark.parametrize("text", ["", "{", "[]", "\0\0"])
def test_a_file_that_cannot_be_read_stays(tmp_path, no_locks, text):
    (tmp_path / "lock.held").write_text(text)
    assert "process unknown on an unknown host" in refused(tmp_path)


def test_the_file_counts_also_where_the_kernel_has_locks(tmp_path):
    """A host on which the file system is mounted without them may have written it."""
    (tmp_path / "lock.held").write_text('{"host": "elsewhere", "process": 3}')
    assert locks.busy(tmp_path)
    assert "(process 3 on elsewhere)" in refused(tmp_path)


def test_a_file_that_another_took_over_meanwhile_is_put_back(tmp_path, no_locks, monkeypatch):
    """Two drivers find the file of a killed one: between reading and removing it the other puts its own there."""
    with locks.held(tmp_path):
        mine = json.loads((tmp_path / "lock.held").read_text())
    (tmp_path / "lock.held").write_text(json.dumps(mine | {"process": ended_process()}))
    real = locks._over

    def slow(owner):
        over = real(owner)
        (tmp_path / "lock.held").write_text(json.dumps(mine))
        return over

    monkeypatch.setattr(locks, "_over", slow)
    assert "another driver that has just begun" in refused(tmp_path)
    assert json.loads((tmp_path / "lock.held").read_text()) == mine


@pytest.mark.slow
def test_of_two_drivers_without_the_kernels_locks_one_runs_and_one_is_refused(tmp_path, command):
    """Both start at once; what is published in the end is what one of them publishes with locks."""
    assert command(*WORDS, "name=clean")[0] == 0
    words = [sys.executable, "-c", WITHOUT, *WORDS, "name=shared"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    drivers = [subprocess.Popen(words, cwd=tmp_path, **pipes) for _ in range(2)]
    ended = [(*driver.communicate(timeout=300), driver.returncode) for driver in drivers]
    assert 0 in {code for *_, code in ended}
    for out, err, code in ended:
        assert code == 0 or (err.count("\n") == 1 and "is being written by another process" in err)
        assert code or "file system without locks" in " ".join(out.split())
    folder = tmp_path / "results" / "shared"
    digests = [tree_digest((one / "results.zarr").resolve()) for one in (folder, folder.parent / "clean")]
    assert digests[0] == digests[1]
    assert len(list((folder / "snapshots").iterdir())) == 1
    assert not (folder / "lock.held").exists()
