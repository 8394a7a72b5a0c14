"""A run's folder is copied file by file while it is written: copy and original end with the bytes of any other run."""

import shutil
import subprocess
import time

import pytest
from torture.sweep import Sweep, differences

PATIENCE = 600  # seconds, for what a busy machine may take
CHUNKS = 30  # of each cell


def copied(source, target):
    """As people do it; a file that goes while it is copied is no error (rsync: 24; cp says so and goes on)."""
    if shutil.which("rsync"):
        done = subprocess.run(["rsync", "-a", f"{source}/", str(target)], timeout=PATIENCE)
        assert done.returncode in (0, 24)
    else:
        subprocess.run(["cp", "-a", f"{source}/.", str(target)], timeout=PATIENCE)


def told(sweep, *words):
    """(exit code, what is said) of a command about the sweep's folder."""
    command = [*sweep.command()[:3], *words, str(sweep.folder)]
    done = subprocess.run(command, cwd=sweep.home, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_copy_of_a_running_folder_goes_on_to_the_same_bytes(tmp_path):
    """It is copied twice into the same place, as by a nightly rsync: what is there is older than what comes."""
    original, copy = Sweep(tmp_path / "original", CHUNKS), Sweep(tmp_path / "copy", CHUNKS)
    copy.folder.mkdir(parents=True)
    original.home.mkdir()
    with subprocess.Popen(original.command("cluster=serial"), cwd=original.home, stdout=subprocess.DEVNULL) as run:
        for records in (original.total // 4, original.total // 2):
            deadline = time.monotonic() + PATIENCE
            while len(original.recorded()) < records:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            copied(original.folder, copy.folder)
        assert run.wait(PATIENCE) == 0
    assert original.total // 2 <= len(copy.recorded()) < original.total
    code, said = told(copy, "status")
    assert code == 0
    assert f" of {original.total} chunks" in said
    copy.undisturbed()
    for one in (original, copy):
        code, said = told(one, "verify")
        assert (code, "Traceback" in said) == (0, False)
    assert differences(original, copy) == []
