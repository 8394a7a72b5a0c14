"""Too little memory: one line that says what to do, whichever thread notices, and nothing is lost."""

import os
import platform
import resource
import subprocess
import sys
import threading
from math import inf
from pathlib import Path

import pytest
from progress_lines import without_progress

from tcdp_sim.cli import memory
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.clusters import local

PATIENCE = 300  # seconds, for what a busy machine may take
GIGABYTE = 2**30
LIMITED = [
    MemoryError(),
    ImportError("x.so: failed to map segment from shared object"),
    RuntimeError("can't start new thread"),
    OSError(12, "Cannot allocate memory"),
]


@pytest.fixture
def fails(monkeypatch):
    """fails(problem): what the command line runs raises it."""

    def arrange(problem):
        def raising(*_):
            raise problem

        monkeypatch.setattr("tcdp_sim.cli.main.commands.main", raising)

    return arrange


@pytest.mark.parametrize("problem", LIMITED)
def test_memory_that_does_not_suffice_is_one_line(command, fails, problem):
    fails(problem)
    code, _, err = command("list")
    assert (code, err) == (1, f"tcdp-sim: {memory.ADVICE}\n")


@pytest.mark.parametrize("problem", [ImportError("no module"), RuntimeError("a bug"), OSError(2, "No such file")])
def test_other_problems_are_not_taken_for_it(command, fails, problem):
    fails(problem)
    with pytest.raises(type(problem)):
        command("list")


@pytest.mark.parametrize("problem", LIMITED)
def test_a_thread_that_lacks_memory_ends_the_run_without_a_traceback(command, monkeypatch, problem):
    """The main thread waits for what that thread would have done, and would for ever."""

    def ends(*_):
        raise problem

    def waits(*_):
        threading.Thread(target=ends).start()
        threading.Event().wait(PATIENCE)

    monkeypatch.setattr("tcdp_sim.cli.main.commands.main", waits)
    code, _, err = command("list")
    assert (code, err) == (1, f"tcdp-sim: {memory.ADVICE}\n")


SCRIPT = """
import sys, threading
from tcdp_sim.cli import main

class Lost:
    def __init__(self, problem):
        self.problem = problem
    def __del__(self):
        raise self.problem

def fails():
    raise ZeroDivisionError("other")

def run(words):
    {}

main.commands.main = run
sys.argv = ["tcdp-sim", "list"]
main.main()
"""


def scripted(body):
    """(exit code, what is said) of a command line that does this."""
    words = [sys.executable, "-c", SCRIPT.replace("{}", body)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stderr


def test_an_object_that_cannot_be_taken_apart_for_lack_of_memory_is_not_told():
    assert scripted("Lost(MemoryError())") == (0, "")
    assert "ZeroDivisionError: other" in scripted("Lost(ZeroDivisionError('other'))")[1]


def test_a_thread_with_another_problem_shows_its_traceback_and_the_run_goes_on():
    code, said = scripted("thread = threading.Thread(target=fails); thread.start(); thread.join()")
    assert code == 0
    assert "Exception in thread" in said
    assert "ZeroDivisionError: other" in said


def test_nothing_is_printed_after_the_one_line():
    """As the process ends, what is left of it lacks memory too, and fails in whichever way."""
    assert scripted("main.kept = Lost(ZeroDivisionError()); raise MemoryError") == (1, f"tcdp-sim: {memory.ADVICE}\n")


@pytest.mark.parametrize("limit", [0.6, 1.2])
def test_a_limit_in_which_no_workers_can_be_had_is_refused_before_any_is_started(limit):
    with pytest.raises(UserError, match=rf"have {limit} GB .* needs 1\.25 GB or more; raise the limit"):
        local._check_space(int(limit * 1e9))
    local._check_space(int(1.3e9))
    local._check_space(inf)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
@pytest.mark.parametrize("limit", [0.6, 0.8, 1.0])
def test_a_run_that_is_short_of_memory_ends_in_one_line(tmp_path, limit):
    """With real workers; what is limited is the address space of each process, as by ulimit -v."""
    size = int(limit * GIGABYTE)
    words = ("trials=1000", "chunk=500", "sweep.k=[10,1e6]", "also=null", "cluster=local", "cluster.workers=2")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("tcdp-sim")), *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )
    assert done.returncode in (1, 2)
    said = without_progress(done.stderr)
    assert said.count("\n") == 1
    assert said.startswith("tcdp-sim: ")


def test_freed_memory_is_given_back_between_the_run_and_its_figures(command, tiny, monkeypatch):
    done = []
    monkeypatch.setattr("tcdp_sim.cli.run._executed", lambda *_: [done.append("run"), (0, 0)][1])
    monkeypatch.setattr(memory, "give_back_now", lambda: done.append("given back"))
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda *_: [done.append("figures"), 0][1])
    assert tiny("sweep.k=10")[0] == 0
    assert done == ["run", "given back", "figures"]


GIVES_BACK = """
import psutil
from tcdp_sim.cli import memory

resident = lambda: psutil.Process().memory_info().rss

memory.give_back()
found = resident()
blocks = [i.to_bytes(1, "big") * 60_000 for i in range(200) for _ in range(5)]  # below the size that glibc maps
full = resident()
del blocks[::2], blocks[::2], blocks[::2]  # what stays lies between what goes, and at the end
held = resident()
memory.give_back_now()
print(full - found, held - found, resident() - found, sum(map(len, blocks)))
"""
ALLOCATOR = ("MALLOC_", "GLIBC_TUNABLES", "PYTHONMALLOC")  # variables of the user that change what an allocator does


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such function")
def test_memory_between_objects_that_stay_is_given_back():
    """In a process of its own: 60 MB are allocated, seven eighths freed, and held until they are given back.

    All blocks have one size and are written to, so neither free places of the heap nor untouched pages matter.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ALLOCATOR)}
    words = [sys.executable, "-c", GIVES_BACK]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=plain)
    full, held, left, kept = map(int, done.stdout.split())
    assert held > 0.9 * full
    assert left < 2 * kept < 0.3 * full


def no_memory(*_, **__):
    raise MemoryError


def test_too_little_memory_to_draw_says_that_the_numbers_are_published(tiny, command, monkeypatch, folder):
    """And how to leave figures out."""
    monkeypatch.setattr("tcdp_sim.cli.draw._figures", no_memory)
    code, _, err = tiny()
    assert code == 1
    assert err.splitlines()[-1] == "tcdp-sim: " + memory.PUBLISHED.format("results/histogram")
    assert "figures=NAME" in err
    assert command("table", folder, "x.csv")[0] == 0


def test_before_that_the_message_is_another_one(tiny, monkeypatch):
    monkeypatch.setattr("tcdp_sim.cli.run._executed", no_memory)
    code, _, err = tiny()
    assert (code, err) == (1, f"tcdp-sim: {memory.ADVICE}\n")
