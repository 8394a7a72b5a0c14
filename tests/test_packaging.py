"""What is shipped: sdist to wheel, its names one by one, installed in a fresh environment, run from an empty folder."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {"tcdp_sim": ROOT / "tcdp_sim", "tcdp_sim/conf": ROOT / "conf", "tcdp_sim/experiments": ROOT / "experiments"}
SHIPPED = (".py", ".yaml", ".csv", ".md", ".typed", ".html", ".css", ".js", ".json", ".sh")


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with sdist and wheel, built from a copy of what would be committed."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    for name in listed:
        if (ROOT / name).exists() and not name.startswith(("tests/", "results/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), cwd=source)
    return out


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


def shipped():
    """Every file of the three folders, by the name it has when installed."""
    for name, folder in FOLDERS.items():
        for path in folder.rglob("*"):
            if path.suffix in SHIPPED and "__pycache__" not in path.parts:
                yield f"{name}/{path.relative_to(folder).as_posix()}"


def test_the_wheel_has_every_file_and_no_other(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == set(shipped())


def test_the_source_distribution_has_what_the_wheel_is_built_from(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(shipped()) | {"pyproject.toml", "README.md", "LICENSE"} <= names


@pytest.mark.slow
def test_the_wheel_runs_from_an_empty_folder(wheel, tmp_path):
    """In an environment of its own: the libraries are this one's, tcdp_sim is what the wheel brings."""
    home, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    run(sys.executable, "-m", "venv", str(home), cwd=tmp_path)
    python = home / "bin" / "python"
    site = Path(run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    (site / "libraries.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel), cwd=empty)
    where = run(str(python), "-c", "import tcdp_sim.experiments as e; print(e.__file__)", cwd=empty, PYTHONPATH="")
    assert str(site) in where
    small = ("cluster=serial", "trials=1000", "chunk=1000", "sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian")
    out = run(str(home / "bin" / "tcdp-sim"), *small, cwd=empty, PYTHONPATH="")
    assert "1 cells x 1,000 trials" in out
    assert (empty / "results" / "histogram" / "results.zarr" / "zarr.json").is_file()


def test_the_three_folders_are_found_by_their_import_names():
    for name, folder in FOLDERS.items():
        assert Path(str(resources.files(name.replace("/", ".")))).resolve() == folder.resolve()
