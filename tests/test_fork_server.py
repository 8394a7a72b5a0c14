"""A server process imports modules beside this process, and the processes that are forked from it have them."""

import json
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing import forkserver

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
