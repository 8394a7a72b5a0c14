"""The faults of `make mutants`: each still fits the code, so that the list cannot rot."""

import os
import shutil
import subprocess
import sys

import pytest
from mutants.__main__ import copied, noticed
from mutants.faults import ROOT, Fault, faults

FAULTS = faults()
ROOMS = {"noise", "privacy", "samplers", "exact", "bounds", "calibration", "optimal", "selection", "interior"}
ROOMS |= {"thresholds", "mechanisms", "summaries", "study", "store", "statistics", "engine", "cli"}


def test_there_are_forty_over_all_rooms():
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.file.split("/")[1] for fault in FAULTS if fault.file.startswith("tcdp_sim/")} >= ROOMS


def test_each_fault_fits_the_code(tmp_path):
    for fault in FAULTS:
        text = (ROOT / fault.file).read_text("utf-8")
        assert text.count(fault.old) == 1, fault.name
        assert fault.old != fault.new, fault.name
        assert fault.tests, fault.name
        assert all((ROOT / test).exists() for test in fault.tests), fault.name
        (tmp_path / fault.file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / fault.file, tmp_path / fault.file)
        fault.put_into(tmp_path)
        changed = (tmp_path / fault.file).read_text("utf-8")
        compile(changed, fault.name, "exec")
        assert changed == text.replace(fault.old, fault.new), fault.name


@pytest.mark.parametrize("old", ["absent", "a"])
def test_an_old_text_that_is_not_there_once_is_refused(tmp_path, old):
    (tmp_path / "file").write_text("a a")
    with pytest.raises(ValueError, match=r"^x: the old text stands in file [02] times; valid: once$"):
        Fault("x", "file", old, "b", ("tests",)).put_into(tmp_path)


def test_the_copy_is_what_is_imported_from_it(tmp_path):
    """Or no fault would ever be noticed."""
    home = copied(tmp_path)
    code = "import tcdp_sim.conf, tcdp_sim.experiments.crossover as e; print(tcdp_sim.__file__, e.__file__)"
    env = os.environ | {"PYTHONPATH": str(home)}
    done = subprocess.run([sys.executable, "-c", code], cwd=home, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{home}/tcdp_sim/{name}" for name in ("__init__.py", "experiments/crossover.py")]


@pytest.mark.parametrize(
    ("code", "said", "verdict"),
    [
        (0, "3 passed", "SURVIVED"),
        (5, "no tests ran", "SURVIVED"),
        (1, "x\nFAILED tests/a.py::test_b - assert 0\n1 failed", "caught by tests/a.py::test_b"),
        (2, "ERROR tests/a.py\n1 error", "caught: 1 error"),
        (-1, "not over after 1800 s", "caught: not over after 1800 s"),
    ],
)
def test_what_pytest_says_is_a_verdict(code, said, verdict):
    assert noticed(code, said) == verdict


def test_a_run_that_was_no_run_is_no_verdict():
    with pytest.raises(RuntimeError, match="no such file"):
        noticed(4, "ERROR: no such file")
