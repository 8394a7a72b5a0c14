"""The same command again, when everything is computed, and commands that only look, each in a process of its own."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.framework import empty_folder

COMMAND = (sys.executable, "-m", "tcdp_sim")
WITHOUT = {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}  # a processor without AVX-512
ONE_CELL = ("name=one", "sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "also=null")
TIMES = 3  # the least of so many times counts


def again():
    """Measure a first default study, with AVX-512 and without it, then commands that have nothing to compute."""
    processor = _processor()
    for what, more, aim in (("", {}, 15), (", AVX-512 switched off", WITHOUT, 25)):
        with empty_folder():
            wall, cpu = _spent((), more)
        yield f"first default study{what} ({processor})", f"{wall:.1f} s, {cpu:.1f} s of CPU", f"< {aim} s"
    with empty_folder():
        for words, name, aim in ((), "the default study again", 1.5), (ONE_CELL, "one cell again", 1.0):
            _spent(words)
            yield name, f"{_least(words):.2f} s of CPU", f"<= {aim} s"
        for words in (("--help",), ("list",), ("status", "results/histogram")):
            yield f"tcdp-sim {words[0]}", f"{_least(words):.2f} s of CPU", "<= 0.4 s"


def _least(words) -> float:
    """Return the CPU seconds of a command, the least of several times."""
    return min(_spent(words)[1] for _ in range(TIMES))


def _spent(words, more=None) -> tuple[float, float]:
    """Return the seconds of a command: wall-clock time, and CPU time of it and its workers."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*COMMAND, *words], check=True, capture_output=True, env=os.environ | (more or {}))
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _processor() -> str:
    """Return the model of the processor and the number of cores, as the operating system tells them."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {models[0] if models else 'an unknown processor'}"
