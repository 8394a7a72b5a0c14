"""Make a release: check that everything is ready, build, install what was built in empty environments, and tag.

`make release` checks and builds. `make release ARGS=--tag` also sets the tag. A person pushes it and uploads dist/.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = ".invalid"  # a top-level domain that never exists (RFC 2606)
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
SMALL = ("trials=1000", "chunk=1000", "sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "cluster=serial")
EPSILON = """
from tcdp_sim.accounting import Additive, Ledger
from tcdp_sim.noise import Gaussian

assert 4 < Ledger([Additive(Gaussian(1.0))]).epsilon(1e-6).upper < 5
"""


def main(words: list[str]) -> int:
    """Run all steps and return the exit code: 0, or 2 with a line for everything that is not ready."""
    if set(words) - {"--tag", "--wheels"}:
        return _fail(["valid words: --tag (set the tag), --wheels (only build and install)"])
    version = version_of(ROOT)
    if "--wheels" not in words:
        found = problems(ROOT, version, date.today())
        if found:
            return _fail(found)
    build(ROOT, ROOT / "dist")
    for path in sorted((ROOT / "dist").iterdir()):
        installed(path)
        print(f"{path.relative_to(ROOT)} works in an empty environment")
    if "--tag" in words:
        run("git", "tag", "--annotate", f"v{version}", "--message", f"tcdp_sim {version}", cwd=ROOT)
        print(f"tagged v{version}; now push the tag and upload dist/")
    return 0


def version_of(root: Path) -> str:
    """Return the version, which stands in one file."""
    text = (root / "tcdp_sim" / "core" / "version.py").read_text("utf-8")
    return re.findall(r'__version__ = "(.*)"', text)[0]


def problems(root: Path, version: str, today: date) -> list[str]:
    """Return a line for everything that keeps this tree from being released."""
    found = [f"{path}:{line}: an address is still a placeholder" for path, line in placeholders(root)]
    if not VERSION.fullmatch(version):
        found.append(f"tcdp_sim/core/version.py: {version!r} is no version; valid: 1.2.3, 1.2.3rc1")
    found += changelog_problems((root / "CHANGELOG.md").read_text("utf-8"), version, today)
    if run("git", "status", "--porcelain", cwd=root):
        found.append("the work tree has changes that are not committed")
    if f"v{version}" in run("git", "tag", cwd=root).split():
        found.append(f"the tag v{version} exists; raise the version in tcdp_sim/core/version.py")
    return found


def placeholders(root: Path) -> list[tuple[str, int]]:
    """Return file and line of each address that was never filled in."""
    names = ("pyproject.toml", "CITATION.cff", "SECURITY.md", "CODE_OF_CONDUCT.md")
    paths = [root / name for name in names] + sorted((root / ".github").rglob("*.*"))
    lines = ((path, n, line) for path in paths for n, line in enumerate(path.read_text("utf-8").splitlines(), 1))
    return [(path.relative_to(root).as_posix(), n) for path, n, line in lines if PLACEHOLDER in line]


def changelog_problems(text: str, version: str, today: date) -> list[str]:
    """Return what is wrong with the section of this version: missing, empty, without a date, or dated in the future."""
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    heads = [section.partition("\n")[0] for section in sections]
    mine = [i for i, head in enumerate(heads) if head.startswith(f"[{version}]")]
    if not mine:
        return [f"CHANGELOG.md: no section [{version}]; rename [Unreleased] to [{version}] - {today}"]
    dated = re.fullmatch(r"\[.*\] - (\d{4}-\d{2}-\d{2})", heads[mine[0]])
    if not dated or date.fromisoformat(dated[1]) > today:
        return [f"CHANGELOG.md: the heading of {version} is not [{version}] - YYYY-MM-DD with a day that has come"]
    if "\n- " not in sections[mine[0]]:
        return [f"CHANGELOG.md: the section of {version} has no entries"]
    return []


def build(root: Path, out: Path) -> None:
    """Build sdist and wheel from what is committed, and from nothing else."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        run("git", "clone", "--quiet", "--depth", "1", f"file://{root}", str(source), cwd=root)
        run(sys.executable, "-m", "build", "--outdir", str(out), cwd=source)


def installed(path: Path) -> None:
    """Install a distribution with its dependencies in an empty environment, and use it from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        home, empty = Path(folder) / "environment", Path(folder) / "empty"
        empty.mkdir()
        venv.create(home, with_pip=True)
        python = str(home / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(path), cwd=empty)
        run(python, "-c", EPSILON, cwd=empty)
        run(str(home / "bin" / "tcdp-sim"), *SMALL, cwd=empty)
        if not (empty / "results" / "histogram" / "results.zarr" / "zarr.json").is_file():
            raise RuntimeError(f"{path.name}: the study of one cell published nothing")


def run(*command: str, cwd: Path) -> str:
    """Return what a command prints. Raises RuntimeError with its output if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _fail(lines: list[str]) -> int:
    print(*lines, sep="\n", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
