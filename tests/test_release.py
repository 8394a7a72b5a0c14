"""What `make release` refuses, and the files of a public repository."""

import importlib.util
import re
import subprocess
from datetime import date
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
TODAY = date(2026, 11, 24)
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-24\n\n### Added\n\n- A thing.\n"


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ready(tmp_path):
    """A tree that may be released."""
    files = {
        "tcdp_sim/core/version.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": CHANGELOG,
        "pyproject.toml": 'Source = "https://example.org/tcdp_sim"\n',
        "CITATION.cff": "",
        "SECURITY.md": "",
        "CODE_OF_CONDUCT.md": "",
        ".github/x.yml": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    commit(tmp_path, "init", "--quiet")
    commit(tmp_path, "add", ".")
    commit(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def commit(folder, *words):
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], cwd=folder, check=True)


def found(release, folder):
    return release.problems(folder, release.version_of(folder), TODAY)


def test_a_tree_that_is_ready_has_no_problem(release, ready):
    assert found(release, ready) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tcdp_sim/core/version.py", '__version__ = "1.2"\n', "is no version"),
        ("tcdp_sim/core/version.py", '__version__ = "1.2.4"\n', "no section [1.2.4]"),
        ("CHANGELOG.md", CHANGELOG.replace("2026-11-24", "2026-11-25"), "a day that has come"),
        ("CHANGELOG.md", CHANGELOG.replace(" - 2026-11-24", ""), "a day that has come"),
        ("CHANGELOG.md", CHANGELOG.replace("- A thing.", ""), "has no entries"),
        (".github/x.yml", "\nsee https://docs.invalid/x\n", ".github/x.yml:2: an address is still a placeholder"),
        ("new.py", "", "not committed"),
    ],
)
def test_what_is_not_ready_is_named(release, ready, name, text, said):
    (ready / name).write_text(text)
    if name != "new.py":
        commit(ready, "commit", "--quiet", "--all", "--message", "one change")
    assert any(said in line for line in found(release, ready))


def test_a_tag_is_set_once(release, ready):
    commit(ready, "tag", "v1.2.3")
    assert found(release, ready) == ["the tag v1.2.3 exists; raise the version in tcdp_sim/core/version.py"]


def test_an_unknown_word_is_one_line(release, capsys):
    assert release.main(["--upload"]) == 2
    assert capsys.readouterr().err == "valid words: --tag (set the tag), --wheels (only build and install)\n"


def test_the_version_stands_in_one_file(release):
    version = re.escape(release.version_of(ROOT))
    for name in ("pyproject.toml", "CITATION.cff"):
        assert not re.search(rf"^version\b.*{version}", (ROOT / name).read_text("utf-8"), re.M)


def test_the_files_for_the_repositorys_pages_are_yaml_and_ask_for_what_make_has():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    paths = [ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml", *(ROOT / ".github").rglob("*.yml")]
    assert len(paths) >= 7
    for path in paths:
        assert yaml.safe_load(path.read_text("utf-8")), path
        assert set(re.findall(r"run: make ([a-z-]+)", path.read_text("utf-8"))) <= targets, path


def test_python_versions_of_the_workflow_begin_with_the_oldest_that_is_allowed():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    pythons = workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]
    oldest = re.findall(r'requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text("utf-8"))[0]
    assert pythons[0] == oldest
