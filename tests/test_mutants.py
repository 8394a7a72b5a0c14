"""The faults of `make mutants`: each still fits the code, so that the list cannot rot."""

import os
import shutil
import subprocess
import sys

import pytest
from mutants import __main__ as mutants
from mutants import machine
from mutants.__main__ import copied, noticed
from mutants.faults import ROOT, Fault, faults
from mutants.nearest import nearest_tests

FAULTS = faults()
ROOMS = {"noise", "privacy", "samplers", "exact", "bounds", "calibration", "selection", "ordered"}
ROOMS |= {"mechanisms", "summaries", "study", "store", "statistics", "engine", "cli"}


def test_there_are_forty_over_all_rooms():
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.file.split("/")[1] for fault in FAULTS if fault.file.startswith("tcdp_sim/")} >= ROOMS


@pytest.mark.kept  # any edit of the code can break it
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
        (1, "Traceback\nNameError: no plugin", "caught: NameError: no plugin"),
        (4, "ImportError while loading conftest", "caught: ImportError while loading conftest"),
    ],
)
def test_what_pytest_says_is_a_verdict(code, said, verdict):
    assert noticed(code, said) == verdict


def test_a_run_that_was_no_run_is_no_verdict():
    with pytest.raises(RuntimeError, match="no such file"):
        noticed(4, "ERROR: no such file")


CODE = '''"""A text of 3 words: not changed."""
LIMIT = 2


def value(x: "int | None", y=0.5):
    """Not changed: 1 + 1."""
    if x < 1 and not y:
        raise ValueError(f"{x + 1} is out of range" + "!")
    print(max(x, y))
    return "text " + str(x) if x is None else -abs(x) * (y + 1)
'''
MADE = {  # line -> what stands there with each fault
    2: ["LIMIT = 3"],
    5: ['def value(x: "int | None", y=1.0):'],
    7: ["if x <= 1 and not y:", "if x < 1 or not y:", "if x < 2 and not y:", "if x < 1 and (y):"],
    9: ["pass", "print(max(y, x))", "(max(x, y))"],
    10: [
        'return "text " + str(x) if x is not None else -abs(x) * (y + 1)',
        'return "text " + str(x) if (not (x is None)) else -abs(x) * (y + 1)',
        'return "text " + str(x) if x is None else (abs(x)) * (y + 1)',
        'return "text " + str(x) if x is None else -(x) * (y + 1)',
        'return "text " + str(x) if x is None else -abs(x) / (y + 1)',
        'return "text " + str(x) if x is None else -abs(x) * (y - 1)',
        'return "text " + str(x) if x is None else -abs(x) * (y + 2)',
    ],
}


def test_faults_made_by_machine(tmp_path, monkeypatch):
    """All of them, written down by hand; texts, types and messages stay."""
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    (tmp_path / "x.py").write_text(CODE)
    found = {}
    for fault in machine.faults_of("x.py"):
        fault.put_into(tmp_path)
        lines = (tmp_path / "x.py").read_text().splitlines()
        (changed,) = [n for n, (one, other) in enumerate(zip(CODE.splitlines(), lines), 1) if one != other]
        found.setdefault(changed, set()).add(lines[changed - 1].strip())
        assert fault.name.startswith(f"x.py:{changed}: ")
        (tmp_path / "x.py").write_text(CODE)
    turned = found[7] & {"if (not (x < 1 and not y)):"}
    assert {line: texts - turned for line, texts in found.items()} == {line: set(texts) for line, texts in MADE.items()}
    assert turned


def test_samples_repeat_and_know_their_tests():
    files = ["tcdp_sim/exact/extreme_means.py", "experiments/papers/judge/verdict.py"]
    found = machine.sample(files, 9, "seed")
    assert found == machine.sample(files, 9, "seed") != machine.sample(files, 9, "other seed")
    assert len(set(found)) == 9
    assert nearest_tests(files[0])[0] == "tests/exact/test_extreme_means.py"
    assert all((ROOT / test).exists() for file in files for test in nearest_tests(file))


def test_a_fault_of_a_changed_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    (tmp_path / "x.py").write_text(CODE)
    fault = machine.faults_of("x.py")[0]
    (tmp_path / "x.py").write_text("\n" + CODE)
    with pytest.raises(ValueError, match="the file has changed"):
        fault.put_into(tmp_path)


def test_in_a_clone_without_the_commit_all_packages_count_as_changed():
    found = machine.changed_files("0" * 40)
    assert {"tcdp_sim/api.py", "tcdp_sim/exact/extremes.py", "experiments/papers/judge/verdict.py"} <= set(found)
    assert set(machine.changed_files("HEAD")) < set(found)


def test_of_a_fault_made_by_machine_the_reader_decides_if_its_tests_do_not_end(tmp_path, monkeypatch, capsys):
    """One that hangs is no survivor, one with long tests may be."""
    monkeypatch.setattr(mutants, "run", lambda *given: (mutants.HANGS, f"not over after {given[-1]} s", 300.0))
    fault = machine.faults_of("tcdp_sim/exact/extreme_means.py")[0]
    (tmp_path / fault.file).parent.mkdir(parents=True)
    shutil.copy(ROOT / fault.file, tmp_path / fault.file)
    assert not mutants.is_caught(tmp_path, fault, False)
    assert capsys.readouterr().out == f"{fault.name}: NOT OVER (300 s)\n"
    written = FAULTS[0]
    (tmp_path / written.file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / written.file, tmp_path / written.file)
    assert mutants.is_caught(tmp_path, written, False)
    assert "caught: not over after 1800 s" in capsys.readouterr().out
