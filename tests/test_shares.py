"""`--share K/N`: each test is in one share, shares are about equal, and CI's scripts take each share in turn."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shares import Share

ROOT = Path(__file__).parent.parent
NAMES = [f"tests/room_{i % 7}/test_x.py::test_y[{i}]" for i in range(5000)]
VALID = "valid: K/N with 1 <= K <= N, as in 2/5"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_each_test_is_in_one_share_and_shares_are_about_equal(count):
    """Six standard deviations of the binomial law: a fair choice of shares exceeds them once in 10^8."""
    shares = [{name for name in NAMES if Share(k, count).has(name)} for k in range(1, count + 1)]
    assert sum(map(len, shares)) == len(NAMES)
    assert set.union(*shares) == set(NAMES)
    p = 1 / count
    assert all(abs(len(share) - len(NAMES) * p) <= 6 * (len(NAMES) * p * (1 - p)) ** 0.5 for share in shares)


def test_files_that_are_taken_whole_are_in_every_share():
    whole = ["tests/room_3/test_x.py"]
    own = {name for name in NAMES if name.startswith("tests/room_3/")}
    for k in (1, 2):
        found = {name for name in NAMES if Share(k, 2).has(name, whole)}
        assert found == own | {name for name in NAMES if Share(k, 2).has(name)}


@pytest.mark.parametrize("text", ["", "3", "0/5", "6/5", "a/5", "1/0", "-1/5", "1/2/3", "1.0/2"])
def test_texts_that_name_no_share_are_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"--share: {text!r} is no share; {VALID}")):
        Share.parse(text)


def collected(*words):
    """Return the exit code, the names of the tests that pytest would run, and what it said of mistakes."""
    pytest_alone = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only"]
    call = [*pytest_alone, "tests/test_fast_cases.py", *words]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if "::" in line], done.stderr


def test_pytest_runs_the_share():
    code, names, _ = collected("--share=1/2")
    assert code == 0
    assert 0 < len(names) < 10
    assert all(Share(1, 2).has(name) for name in names)


def test_pytest_refuses_a_wrong_share_in_one_line():
    code, names, said = collected("--share=3/2")
    assert (code, names) == (4, [])
    assert said.strip() == f"ERROR: --share: '3/2' is no share; {VALID}"


@pytest.fixture
def commit(tmp_path):
    """commit(*files) -> None: writes the files anew and commits them in a repository with CI's scripts and a make."""
    shutil.copytree(ROOT / ".ci", tmp_path / "here" / ".ci")
    (tmp_path / "here" / "Makefile").write_text("test-rest:\n\t@echo would run $(ARGS)\n")
    git(tmp_path / "here", "init", "--quiet")

    def run(*files):
        for file in files:
            path = tmp_path / "here" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.exists() and path.read_text()}\n")
        git(tmp_path / "here", "add", ".")
        git(tmp_path / "here", "commit", "--quiet", "--allow-empty", "--message", "x")

    return run


def git(home, *words):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=home, check=True, capture_output=True)


def script(home, name):
    """Return the lines that one of CI's scripts prints in a copy."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MAKE"))}
    done = subprocess.run([f".ci/{name}"], cwd=home, check=True, capture_output=True, text=True, env=outside)
    return done.stdout.splitlines()


def test_the_next_commit_has_the_next_turn(tmp_path, commit):
    turns = []
    for _ in range(3):
        commit()
        turns.append(int(script(tmp_path / "here", "turn")[0]))
    assert turns == [1, 2, 3]
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path}/here", "last")
    assert int(script(tmp_path / "last", "turn")[0]) >= 0


def test_ci_runs_the_slow_tests_of_files_that_changed_lately_unless_they_are_many(tmp_path, commit):
    commit("tests/a/test_old.py")
    for files in ([], [], ["tests/a/test_new.py", "tests/test_top.py", "tests/a/oracle.py", "tcdp_sim/test_none.py"]):
        commit(*files)
    said = script(tmp_path / "here", "slow")
    assert said[1] == "would run --share 5/5 --whole tests/a/test_new.py --whole tests/test_top.py"
    commit(*(f"tests/b/test_{i}.py" for i in range(10)))
    assert script(tmp_path / "here", "slow")[1] == "would run --share 1/5"
