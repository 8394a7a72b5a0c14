"""A worker of other code than the driver's, with the same version, computes nothing that counts."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tcdp_sim
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import same_code
from tcdp_sim.store import source

START = 120  # seconds, generous: others may use the machine
STUDY = ("trials=60", "chunk=20", "sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "also=null")


def test_every_difference_is_named():
    ours = dict(source.loaded())
    assert same_code.checked(ours, (), abs, -3) == 3
    for name in ours:
        with pytest.raises(UserError, match=rf"has another state of {name} than this machine; install the same"):
            same_code.checked(ours | {name: "other"}, (), abs, -3)
    with pytest.raises(UserError, match="has another state of more than this machine"):
        same_code.checked(ours | {"more": "1"}, (), abs, -3)


@pytest.fixture
def edited(tmp_path):
    """A copy of the package in which a factor is 1.01."""
    package = Path(tcdp_sim.__file__).parent
    shutil.copytree(package, tmp_path / "other" / "tcdp_sim", ignore=shutil.ignore_patterns("__pycache__"))
    sampler = tmp_path / "other" / "tcdp_sim" / "noise" / "gaussian.py"
    text = sampler.read_text()
    assert "rng.standard_normal" in text
    sampler.write_text(text.replace("rng.standard_normal", "1.01 * rng.standard_normal"))
    return tmp_path / "other"


@pytest.fixture
def worker_of(tmp_path):
    """worker_of(folder) -> the address of a scheduler with one worker that imports the package from there."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{one.getsockname()[1]}"
    started = []

    def start(folder):
        host, _, port = address.rpartition(":")
        usual = ["--dashboard-address", "127.0.0.1:0"]
        for name, env, words in (
            ("dask_scheduler", {}, ["--host", host, "--port", port]),
            ("dask_worker", {"PYTHONPATH": str(folder)}, [address, "--nthreads", "1", "--no-nanny"]),
        ):
            command = [sys.executable, "-P", "-m", f"distributed.cli.{name}", *words, *usual]
            log = (tmp_path / name).open("w")
            started.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log, env=os.environ | env))
        return address

    yield start
    for one in reversed(started):
        one.terminate()
        one.wait(START)


def test_a_worker_with_one_changed_factor_stores_nothing(command, folder, edited, worker_of):
    address = worker_of(edited)
    words = [f"cluster.address={address}", f"cluster.wait={START}", "cluster.workers=1"]
    code, out, err = command(*STUDY, "cluster=scheduler", *words)
    assert code == 2, out + err
    assert "another state of the files of tcdp_sim" in err.splitlines()[-1]
    code, out, _ = command(*STUDY, "cluster=serial")
    assert code == 0
    assert "3 of 3 chunks to simulate" in out
