"""No test depends on the tests before it: on the environment that they leave, or on the memory that they hold."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
LEAVES = """
import os
import pytest

@pytest.fixture(scope="module")
def cluster():
    os.environ["OMP_NUM_THREADS"] = "7"

def test_that_adds(cluster):
    os.environ["MALLOC_ARENA_MAX"] = "1"

def test_that_changes_and_removes():
    os.environ["PYTHONHASHSEED"] = "5"
    os.environ.pop("KEPT")

def test_that_fails():
    os.environ["MALLOC_ARENA_MAX"] = "2"
    raise ZeroDivisionError

def test_that_looks():
    found = [os.environ.get(name) for name in ("OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "PYTHONHASHSEED", "KEPT")]
    assert found == [None, None, "3", "yes"]
"""


def test_variables_that_tests_and_fixtures_leave_are_gone_for_the_next_test(tmp_path):
    (tmp_path / "test_leaves.py").write_text(LEAVES)
    (tmp_path / "pytest.ini").touch()
    words = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-rA", str(tmp_path)]
    left_out = ("OMP_NUM_THREADS", "MALLOC_ARENA_MAX")
    own = {name: value for name, value in os.environ.items() if name not in left_out and "PYTEST" not in name}
    paths = os.pathsep.join(map(str, (TESTS, TESTS / "references")))
    own |= {"PYTHONHASHSEED": "3", "KEPT": "yes", "PYTHONPATH": paths}
    done = subprocess.run(words, env=own, cwd=tmp_path, capture_output=True, text=True)
    lines = [line.split(" ")[:2] for line in done.stdout.splitlines() if "::" in line]
    ended = {test.split("::")[-1]: how for how, test in lines}
    assert ended == {
        "test_that_adds": "PASSED",
        "test_that_changes_and_removes": "PASSED",
        "test_that_fails": "FAILED",
        "test_that_looks": "PASSED",
    }, done.stdout + done.stderr


def test_tests_measure_the_memory_that_python_holds_and_not_the_resident_memory():
    """Resident memory depends on the allocator and on earlier tests: one test measures it, in its own process."""
    words = ("memory_" + "info", "ru_" + "maxrss", "Vm" + "HWM", "Vm" + "RSS", "/stat" + "m")
    found = {path.name for path in TESTS.rglob("*.py") if any(word in path.read_text("utf-8") for word in words)}
    assert found == {"test_memory_limits.py"}
