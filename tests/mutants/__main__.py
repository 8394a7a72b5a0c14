"""`make mutants` puts the faults one by one into a copy of the tree and runs the tests that should notice them.

With --all, a fault that `make test` does not notice is also tried with the slow tests. The exit code is 1 if a fault
survives.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .faults import ROOT, Fault, faults

LONGEST = 1800  # seconds that the tests may take with a fault in the code; some faults make them hang
PASSED, FAILED, BROKEN, NOTHING_TO_RUN, HANGS = 0, 1, 2, 5, -1  # exit codes of pytest, and one of ours
QUIET = (PASSED, NOTHING_TO_RUN)


def main() -> int:
    """Print for each fault if it was caught, by which test and in how many CPU seconds."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="parts of the names of the faults to try")
    parser.add_argument("--all", action="store_true", help="try the slow tests on what survives the others")
    parser.add_argument("--skip-check", action="store_true", help="do not first run all these tests without a fault")
    options = parser.parse_args()
    chosen = [fault for fault in faults() if not options.only or any(part in fault.name for part in options.only)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        home = copied(Path(folder))
        if not options.skip_check:
            need_all_to_pass(home, chosen)
        survived = [fault for fault in chosen if not is_caught(home, fault, options.all)]
    print(f"{len(chosen) - len(survived)} of {len(chosen)} faults caught by the tests of make test")
    return len(survived) > 0


def copied(home: Path) -> Path:
    """Copy the files of the tree as they are now into a folder, and return it."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for name in listed:
        if (ROOT / name).exists():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, home / name, follow_symlinks=False)
    subprocess.run(["git", "init", "--quiet"], cwd=home, check=True)  # tests ask git which files there are
    return home


def need_all_to_pass(home: Path, chosen: list[Fault]) -> None:
    """Exit if a test fails without a fault, because its later failures would prove nothing."""
    tests = sorted({test for fault in chosen for test in fault.tests})
    code, said, seconds = run(home, tests, "not slow")
    print(f"without a fault: {'passed' if code == PASSED else 'FAILED'} ({seconds:.0f} CPU s)", flush=True)
    if code != PASSED:
        sys.exit(said)


def is_caught(home: Path, fault: Fault, also_slow: bool) -> bool:
    """Print the verdict on a fault, and return True if the tests of `make test` notice it."""
    fault.put_into(home)
    try:
        code, said, seconds = run(home, fault.tests, "not slow")
        verdict = noticed(code, said)
        if code in QUIET and also_slow:
            verdict += f"; with the slow tests: {noticed(*run(home, fault.tests, 'slow')[:2])}"
    finally:
        shutil.copy2(ROOT / fault.file, home / fault.file)
    print(f"{fault.name}: {verdict} ({seconds:.0f} CPU s)", flush=True)
    return code not in QUIET


def noticed(code: int, said: str) -> str:
    """Return the verdict in words, with the first failed test. Raises RuntimeError if pytest itself failed."""
    if code in QUIET:
        return "SURVIVED"
    if code == FAILED:
        return "caught by " + next(line for line in said.splitlines() if line.startswith("FAILED")).split()[1]
    if code in (BROKEN, HANGS):
        return f"caught: {said.strip().splitlines()[-1]}"
    raise RuntimeError(said)


def run(home: Path, tests, marks: str) -> tuple[int, str, float]:
    """Run pytest in the copy up to the first failure, and return (exit code, output, CPU seconds)."""
    # No bytecode: Python would not notice a file that changes twice within a second.
    environment = os.environ | {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider", "-m", marks, *tests]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, timeout=LONGEST)
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, said = HANGS, f"not over after {LONGEST} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
