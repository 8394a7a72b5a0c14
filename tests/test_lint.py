"""`make lint` sees all of our code: an error put into an experiment or a claim, under its installed name, is found."""

import shutil
import subprocess
import sys

import pytest
from words_of_code import ROOT, files

PLANTED = '\n\ndef _planted() -> int:\n    return "no number"\n'
TYPED = ("experiments/plain.py", "experiments/papers/zcdp/histograms.py", "tcdp_sim/core/texts.py")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of what mypy and ruff read."""
    home = tmp_path_factory.mktemp("copy")
    for name in files():
        if name.startswith(("tcdp_sim", "conf", "experiments", "pyproject.toml")):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, home / name, follow_symlinks=False)
    return home


def said(tool, home, *words):
    done = subprocess.run([sys.executable, "-m", tool, *words], cwd=home, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout


@pytest.mark.slow
def test_mypy_finds_type_errors_wherever_they_are(copy):
    for name in TYPED:
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write(PLANTED)
    code, text = said("mypy", copy)
    assert code == 1
    found = [line for line in text.splitlines() if "[return-value]" in line]
    installed = [name if name.startswith("tcdp_sim/") else f"tcdp_sim/{name}" for name in TYPED]
    assert sorted(line.split(":")[0] for line in found) == sorted(installed)


def test_ruff_takes_our_own_packages_for_ours(copy):
    """A name of `tcdp_sim.experiments` stands among our own imports, not among those of libraries."""
    (copy / "experiments" / "planted.py").write_text(
        '"""Imports in the wrong order."""\n\n'
        "from tcdp_sim.experiments.plain import report\n"
        "import numpy as np\n\n__all__ = ['np', 'report']\n"
    )
    code, text = said("ruff", copy, "check", "experiments/planted.py", "--select", "I", "--diff", "--no-cache")
    assert code == 1
    ordered = [line[1:] for line in text.splitlines() if line[:1] in "+ " and "import" in line]
    assert ordered == ["import numpy as np", "from tcdp_sim.experiments.plain import report"]
    (copy / "experiments" / "planted.py").unlink()


def test_nothing_of_ours_is_left_out():
    import tomllib

    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert tools["mypy"]["files"] == ["tcdp_sim"]
    without = [section for section in tools["mypy"]["overrides"] if section.get("ignore_missing_imports")]
    assert not [name for section in without for name in section["module"] if name.startswith("tcdp_sim")]
    assert not {"exclude", "extend-exclude"} & {*tools["mypy"], *tools["ruff"]}
