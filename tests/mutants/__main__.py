"""`make mutants` puts faults one by one into copies of the tree and runs the tests that should notice them.

First come the faults of faults.toml, then a sample of faults made by machine (machine.py) in the packages that changed
since a commit. With --all, a fault that `make test` does not notice is also tried with the slow tests. The exit code is
1 if a fault of faults.toml survives. Survivors made by machine are for a reader: some are no faults, because no input
tells the changed code from the old.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from .faults import ROOT, Fault, faults
from .machine import MadeFault, changed_files, sample

LONGEST = 1800  # seconds that the tests may take with a fault in the code; some faults make them hang
PATIENCE = 300  # seconds with a fault made by machine; what is not over then is left to the reader
PASSED, WRONG_CALL, NOTHING_TO_RUN, HANGS = 0, 4, 5, -1  # exit codes of pytest, and one of ours
QUIET = (PASSED, NOTHING_TO_RUN)
MADE = 60  # faults of a sample
JOBS = os.cpu_count() or 1


def main() -> int:
    """Print for each fault if it was caught, by which test and in how many seconds."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="parts of the names of the faults to try")
    parser.add_argument("--all", action="store_true", help="try the slow tests on what survives the others")
    parser.add_argument("--skip-check", action="store_true", help="do not first run all these tests without a fault")
    parser.add_argument("--made", type=int, help="only this number of faults made by machine, none of faults.toml")
    parser.add_argument("--since", default="HEAD~10", help="the commit since which the packages changed (HEAD~10)")
    parser.add_argument("--files", nargs="+", default=[], help="make faults in these files instead")
    parser.add_argument("--seed", help="of the sample (the digest of the commit)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fault after so many minutes")
    options = parser.parse_args()
    made = drawn(options) if not options.only else []
    chosen = [fault for fault in faults() if not options.only or any(part in fault.name for part in options.only)]
    ends = time.monotonic() + 60 * options.minutes
    listed = [] if options.made is not None else tried(chosen, ends, options)
    told("of faults.toml", listed)
    told("made by machine", tried(made, ends, options))
    return not all(listed)


def drawn(options: argparse.Namespace) -> list[MadeFault]:
    """Return the sample of faults made by machine, and say how to draw it again."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    seed = options.seed or head[:12]
    files = options.files or changed_files(options.since)
    found = sample(files, MADE if options.made is None else options.made, seed)
    print(f"{len(found)} faults made by machine in {len(files)} files; again: --since {options.since} --seed {seed}")
    return found


def tried(chosen: list, ends: float, options: argparse.Namespace) -> list[bool]:
    """Return for each fault, until the time is over, if it was caught. Each job has a copy of the tree."""
    if not chosen:
        return []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        homes: SimpleQueue[Path] = SimpleQueue()
        for number in range(JOBS):
            homes.put(copied(Path(folder) / str(number)))
        if not options.skip_check and options.made is None:
            need_all_to_pass(Path(folder) / "0", chosen)

        def tried_one(fault) -> list[bool]:
            if time.monotonic() > ends:
                return []
            home = homes.get()
            try:
                return [is_caught(home, fault, options.all)]
            finally:
                homes.put(home)

        with ThreadPoolExecutor(JOBS) as pool:
            return [caught for found in pool.map(tried_one, chosen) for caught in found]


def told(which: str, caught: list[bool]) -> None:
    """Print how many were caught."""
    if caught:
        print(f"{sum(caught)} of {len(caught)} faults {which} caught by the tests of make test", flush=True)


def copied(home: Path) -> Path:
    """Copy the files of the tree as they are now into a folder, and return it."""
    home.mkdir(exist_ok=True)
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
    print(f"without a fault: {'passed' if code == PASSED else 'FAILED'} ({seconds:.0f} s)", flush=True)
    if code != PASSED:
        sys.exit(said)


def is_caught(home: Path, fault: Fault | MadeFault, also_slow: bool) -> bool:
    """Print the verdict on a fault, and return True if the tests of `make test` notice it."""
    is_made = isinstance(fault, MadeFault)
    limit = PATIENCE if is_made else LONGEST
    fault.put_into(home)
    try:
        code, said, seconds = run(home, fault.tests, "not slow", limit)
        verdict = "NOT OVER" if is_made and code == HANGS else noticed(code, said)
        if code in QUIET and also_slow:
            verdict += f"; with the slow tests: {noticed(*run(home, fault.tests, 'slow', limit)[:2])}"
    finally:
        shutil.copy2(ROOT / fault.file, home / fault.file)
    print(f"{fault.name}: {verdict} ({seconds:.0f} s)", flush=True)
    return verdict != "NOT OVER" and code not in QUIET


def noticed(code: int, said: str) -> str:
    """Return the verdict in words, with the first failed test. Raises RuntimeError if pytest was called wrongly."""
    if code in QUIET:
        return "SURVIVED"
    if code == WRONG_CALL and "ERROR: " in said:
        raise RuntimeError(said)
    lines = said.strip().splitlines()  # pytest itself may fail: its plugins import the code
    failed = next((line.split()[1] for line in lines if line.startswith("FAILED")), "")
    return f"caught by {failed}" if failed else f"caught: {lines[-1] if lines else 'no output'}"


def run(home: Path, tests, marks: str, limit: float = LONGEST) -> tuple[int, str, float]:
    """Run pytest in the copy up to the first failure, and return (exit code, output, seconds)."""
    # No bytecode: Python would not notice a file that changes twice within a second.
    environment = os.environ | {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider", "-m", marks, *tests]
    begun = time.monotonic()
    try:
        done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, timeout=limit)
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, said = HANGS, f"not over after {limit} s"
    return code, said, time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
