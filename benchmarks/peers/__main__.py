"""Build the peers' environments, ask all tools all questions, print the tables, write docs/reference/benchmarks.md."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.peers import compare, environments, page
from benchmarks.peers.questions import QUESTIONS

ROOT = Path(__file__).parents[2]
CONTESTANTS = {  # module in `contestants` -> (name, installed package, environment or None for the product's)
    "ours": (compare.OURS, "tcdp_sim", None),
    "dp_accounting": ("dp-accounting", "dp-accounting", "common"),
    "prv_accountant": ("prv-accountant", "prv-accountant", "common"),
    "opake_accounting": ("opake-accounting", "opake-accounting", "common"),
    "pld_accounting": ("PLD_accounting", "PLD_accounting", "common"),
    "autodp": ("autodp", "autodp", "common"),
    "riskcal": ("riskcal", "riskcal", "common"),
    "opendp": ("opendp", "opendp", "common"),
    "diffprivlib": ("diffprivlib", "diffprivlib", "common"),
    "tmlt_core": ("tmlt.core", "tmlt.core", "tumult"),
    "numpy": ("numpy", "numpy", None),
    "xyzpy": ("xyzpy", "xyzpy", "common"),
    "joblib": ("joblib", "joblib", "common"),
    "dask": ("dask", "dask", None),
}
STARTS = [(module, "first_result", "") for module in CONTESTANTS] + [("ours", "first_study", ", a published study")]
LONGEST = 900  # seconds allowed to one contestant for all its questions
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON", "POLARS")}
SETTING = {**os.environ, **THREADS, "PYTHONPATH": str(ROOT)}


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    words.add_argument("--repeats", type=int, default=3, help="an odd number")
    words.add_argument("--page", type=Path, default=ROOT / "docs" / "reference" / "benchmarks.md")
    words.add_argument("--only", nargs="*", default=[], help="questions, by name; then the page stays as it is")
    words.add_argument("--environments", type=Path, default=ROOT / ".venv-peers")
    given = words.parse_args()
    names = [question.name for question in QUESTIONS]
    if given.repeats < 1 or given.repeats % 2 == 0:
        words.error(f"--repeats {given.repeats} is not valid; valid: 1, 3, 5, ...")
    if unknown := set(given.only) - set(names):
        words.error(f"no question {min(unknown)!r}; valid: {', '.join(names)}")
    console = Console()
    pythons, missing = _environments(given.environments, console)
    present = {module: pythons[told[2]] for module, told in CONTESTANTS.items() if told[1] not in missing}
    runs = [run for turn in range(given.repeats) for run in _turn(present, given.only, turn, console)]
    report, versions = compare.compared(runs), _versions(present)
    page.terminal(report, versions, missing, console)
    if not given.only:
        about = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": _machine(), "repeats": given.repeats}
        text = page.markdown(report, versions, missing, about | {"python": platform.python_version()})
        given.page.write_text(text, "utf-8")


def _environments(root: Path, console: Console) -> tuple[dict[str | None, Path], dict[str, str]]:
    """Return (interpreters, {peer: the reason why it is missing})."""
    pythons: dict[str | None, Path] = {None: Path(sys.executable)}
    missing: dict[str, str] = {}
    for name in environments.PINS:
        started = time.monotonic()
        pythons[name], gone = environments.made(name, root)
        missing |= gone
        console.print(f"environment {name}: {time.monotonic() - started:.0f} s", *page.absent(gone), sep="\n  ")
    return pythons, missing


def _turn(pythons: dict[str, Path], only: list[str], turn: int, console: Console) -> list[dict]:
    """Return every tool's answers, once."""
    found = []
    for module, python in pythons.items():
        started = time.monotonic()
        found += _asked(module, python, only)
        console.print(f"turn {turn + 1}, {module}: {time.monotonic() - started:.0f} s")
    if not only or "first_result" in only:
        found += [_started(*start, pythons[start[0]]) for start in STARTS if start[0] in pythons]
    return found


def _asked(module: str, python: Path, only: list[str]) -> list[dict]:
    command = [str(python), "-m", "benchmarks.peers.measure", module, *only]
    try:
        done = subprocess.run(command, cwd=ROOT, env=SETTING, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"question"')]
    return [{"who": CONTESTANTS[module][0], **json.loads(line)} for line in lines]


def _started(module: str, function: str, what: str, python: Path) -> dict:
    """Return the CPU seconds of a process from its start to its end."""
    who = {"who": CONTESTANTS[module][0] + what, "question": "first_result"}
    started = time.perf_counter()
    with subprocess.Popen(
        [str(python), "-m", "benchmarks.peers.first", module, function],
        cwd=ROOT,
        env=SETTING,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return {**who, "failed": f"ended with code {process.returncode}"}
    wall = time.perf_counter() - started
    return {**who, "answer": None, "cpu": used.ru_utime + used.ru_stime, "note": f"{wall:.2f} s on the clock, once"}


def _versions(pythons: dict[str, Path]) -> dict[str, str]:
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    found = {}
    for module, python in pythons.items():
        name, installed, _ = CONTESTANTS[module]
        told = subprocess.run([str(python), "-c", code, installed], capture_output=True, text=True)
        found[name] = told.stdout.strip()
    return found


def _machine() -> str:
    """Return the number of cores, the processor's name where the system states it, and the load."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {models[0] if models else platform.machine()}, load average {load:.0f} at the end"


if __name__ == "__main__":
    main()
