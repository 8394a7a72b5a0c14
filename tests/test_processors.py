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


@pytest.mark.parametrize(("words", "count"), [([], 5), (["3"], 3)])
def test_each_setting_runs_all_rooms(tmp_path, words, count):
    """With a python that prints its words and does nothing else."""
    python = tmp_path / ".venv" / "bin" / "python"
    for folder in (tmp_path / ".ci", python.parent):
        folder.mkdir(parents=True)
    (tmp_path / ".ci" / "processors").write_text(SCRIPT)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    call = ["bash", ".ci/processors", *words]
    said = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(set(said[::2])) == len(said[::2]) == count
    assert all(line.startswith("numerical tests with ") for line in said[::2])
    assert all(" tests/exact tests/accounting " in line for line in said[1::2])
