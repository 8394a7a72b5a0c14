"""The faults of `make mutants`: each still fits the code, so that the list cannot rot."""

import shutil

import pytest
from mutants.faults import ROOT, Fault, faults

FAULTS = faults()
ROOMS = {"noise", "privacy", "samplers", "exact", "bounds", "calibration", "optimal", "selection", "interior"}
ROOMS |= {"thresholds", "mechanisms", "summaries", "study", "store", "statistics", "engine", "reproduction", "cli"}


def test_there_are_forty_over_all_rooms():
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.file.split("/")[1] for fault in FAULTS if fault.file.startswith("tcdp_sim/")} >= ROOMS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_fits_the_code(tmp_path, fault):
    text = (ROOT / fault.file).read_text("utf-8")
    assert text.count(fault.old) == 1
    assert fault.old != fault.new
    assert fault.tests
    assert all((ROOT / test).exists() for test in fault.tests)
    (tmp_path / fault.file).parent.mkdir(parents=True)
    shutil.copy(ROOT / fault.file, tmp_path / fault.file)
    fault.put_into(tmp_path)
    changed = (tmp_path / fault.file).read_text("utf-8")
    compile(changed, fault.file, "exec")
    assert changed == text.replace(fault.old, fault.new)


@pytest.mark.parametrize("old", ["absent", "a"])
def test_an_old_text_that_is_not_there_once_is_refused(tmp_path, old):
    (tmp_path / "file").write_text("a a")
    with pytest.raises(ValueError, match=r"^x: the old text stands in file [02] times; valid: once$"):
        Fault("x", "file", old, "b", ("tests",)).put_into(tmp_path)
