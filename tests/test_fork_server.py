"""A server process imports modules beside this process, and the processes that are forked from it have them."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import forkserver, process

import pytest
from signals import sent

from tcdp_sim.core import fork_server, main_module

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no server on other systems")
MODULE = "wave"  # of the standard library; nothing else imports it


ABOUT = f"""
import json, os, sys
about = {MODULE!r} in sys.modules, os.environ.get("COLOUR"), os.environ.get("HOME")
open(PATH, "w").write(json.dumps(about))
"""


def answer(folder):
    """What a new process of the default kind says about its modules and its environment."""
    path = folder / "answer.json"
    with main_module.hidden():
        process = multiprocessing.get_context().Process(target=exec, args=(ABOUT, {"PATH": str(path)}))
        process.start()
    process.join(60)
    return tuple(json.loads(path.read_text()))


def test_processes_have_the_modules_and_the_environment(tmp_path):
    before = multiprocessing.get_start_method(allow_none=True)
    with fork_server.running([MODULE], {"COLOUR": "blue", "HOME": "elsewhere"}):
        assert fork_server.is_default()
        assert "COLOUR" not in os.environ
        found = answer(tmp_path)
    assert found == (True, "blue", os.environ["HOME"])
    assert multiprocessing.get_start_method(allow_none=True) == before
    assert not fork_server.is_default()


def test_the_server_outlives_a_signal_that_ends_its_processes():
    """No process loses a signal that comes right after its birth. When the server ignored it, every sixth one did."""
    with fork_server.running([], {}):
        for _ in range(60):
            process = multiprocessing.Process(target=time.sleep, args=(600,))
            process.start()
            assert sent(forkserver._forkserver._forkserver_pid, signal.SIGTERM)
            process.terminate()
            process.join(60)
            process.kill()
            assert process.exitcode == -signal.SIGTERM
        assert sent(forkserver._forkserver._forkserver_pid, 0)


def test_the_server_ends_with_the_block_even_if_a_process_hangs():
    with fork_server.running([], {}):
        server = forkserver._forkserver._forkserver_pid
        assert sent(server, 0)
        process = multiprocessing.Process(target=time.sleep, args=(600,))
        process.start()
    assert not sent(server, 0)
    process.kill()


def test_the_server_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    """Anybody may have put a file there, and Python would begin its search for modules with it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{MODULE}.py").write_text("import pathlib; pathlib.Path('imported').touch()")
    with fork_server.running([MODULE], {}):
        answer(tmp_path)
    assert not (tmp_path / "imported").exists()


def test_other_systems_have_no_server(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with fork_server.running([MODULE], {}):
        assert not fork_server.is_default()


def test_python_that_lets_others_in_has_no_server(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    with fork_server.running([MODULE], {}):
        assert not fork_server.is_default()


def test_without_room_for_its_socket_there_is_no_server(tmp_path, monkeypatch):
    """Paths of sockets have at most 107 bytes, and the folder for temporary files may have more."""
    long = tmp_path / ("d" * 110)
    long.mkdir()
    monkeypatch.setitem(process.current_process()._config, "tempdir", None)  # the one of this process is made already
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    before = multiprocessing.get_start_method(allow_none=True)
    with fork_server.running([], {"COLOUR": "blue"}):
        assert not fork_server.is_default()
        assert multiprocessing.get_start_method(allow_none=True) == before
    assert "COLOUR" not in os.environ


STUDY = ["sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=1000", "chunk=1000", "cluster.workers=2"]


@pytest.mark.parametrize("files", [20, 30, 40])
def test_too_few_open_files_are_told_in_one_line(tmp_path, files):
    """Also by the server, which ends when it is not given what it waits for."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    call = [sys.executable, "-c", f"{limit}; from tcdp_sim.cli.main import main; main()", *STUDY]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stderr
    assert "worker processes did not start" in done.stderr.splitlines()[-1]
    assert "ulimit -n" in done.stderr


def test_a_long_folder_for_temporary_files(tmp_path):
    long = tmp_path / ("d" * 110)
    long.mkdir()
    call = [sys.executable, "-m", "tcdp_sim", *STUDY]
    environment = os.environ | {"TMPDIR": str(long)}
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
