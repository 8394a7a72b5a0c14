"""The settings of .ci/processors name what numpy knows, and numpy's warning about others does not fail the suite."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = (ROOT / ".ci" / "processors").read_text("utf-8")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the settings are those of x86")
def test_the_features_can_be_disabled():
    """A name that numpy does not know would change nothing, without a word."""
    code = "import sys, numpy\nfrom numpy._core._multiarray_umath import __cpu_dispatch__\nprint(*__cpu_dispatch__)"
    known = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    named = [name for names in re.findall(r'"NPY_DISABLE_CPU_FEATURES=([^"]*)"', SCRIPT) for name in names.split()]
    assert named
    assert set(named) <= set(known)


def test_the_rooms_are_there():
    rooms = re.search(r"rooms=\((.*)\)", SCRIPT)[1].split()
    assert len(rooms) > 10
    assert all(any((ROOT / "tests" / room).glob("test_*.py")) for room in rooms)


def test_a_feature_that_the_machine_lacks_does_not_fail_the_suite():
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "tests/test_numerics.py"]
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": "NO_SUCH_FEATURE"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def said(tmp_path):
    """said(turn, *words) -> what .ci/processors says that it runs, with a python that does nothing."""
    python = tmp_path / ".venv" / "bin" / "python"
    for folder in (tmp_path / ".ci", python.parent):
        folder.mkdir(parents=True)
    (tmp_path / ".ci" / "processors").write_text(SCRIPT)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)

    def run(turn, *words):
        (tmp_path / ".ci" / "turn").write_text(f"#!/bin/sh\necho {turn}\n")
        (tmp_path / ".ci" / "turn").chmod(0o755)
        words = ["bash", ".ci/processors", *words]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()

    return run


def test_all_settings_run_all_tests(said):
    found = said(7)
    assert len(set(found)) == 5
    assert all(line.startswith("numerical tests, share 1/1, with ") for line in found)


def test_a_turn_runs_a_third_under_one_setting_and_fifteen_turns_run_everything(said):
    found = [said(turn, "one") for turn in range(100, 115)]
    assert {len(lines) for lines in found} == {1}
    said_of = r"numerical tests, share (./3), with (.*)"
    shares, settings = zip(*(re.fullmatch(said_of, line).groups() for [line] in found))
    assert len(set(zip(shares, settings))) == 15
    assert (len(set(shares)), len(set(settings))) == (3, 5)
