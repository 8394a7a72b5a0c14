"""Drivers, schedulers, nannies and workers, which are started as users start them and killed by their ids."""

import os
import random
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from . import tally
from .sweep import Sweep

MARK = "TORTURE_MARK"  # in the environment of all our processes
WORKERS = 2
SETTLE = 240.0  # seconds until the children of a killed process must be gone, generous


def environment(mark: str, tallied: Path) -> dict[str, str]:
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": tally.__file__, tally.FILE: str(tallied)}
    return {**os.environ, **preload, MARK: mark, "PYTHONUNBUFFERED": "1"}


def marked(mark: str) -> list[psutil.Process]:
    """Return all living processes whose environment carries the mark."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                found.append(process)
    return found


def kill(processes) -> int:
    """Kill the processes with SIGKILL, and return the number of those that were alive."""
    hit = [process for process in processes if alive(process)]
    for process in hit:
        with suppress(psutil.Error, ProcessLookupError):
            process.kill()
    wait_gone(hit)
    return len(hit)


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def wait_gone(processes, seconds: float = SETTLE) -> float:
    """Wait until all processes have ended, and return the seconds. Raises AssertionError if they do not end."""
    started = time.monotonic()
    left = list(processes)
    while left := [process for process in left if alive(process)]:
        waited = time.monotonic() - started
        assert waited < seconds, f"{[process.cmdline() for process in left]} are still there after {waited:.0f} s"
        time.sleep(0.02)
    return time.monotonic() - started


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the worker processes below a driver or a nanny."""
    found = []
    with suppress(psutil.Error):
        for child in process.children(recursive=True):
            with suppress(psutil.Error):
                if any("spawn_main" in word for word in child.cmdline()) and alive(child):
                    found.append(child)
    return found


class Driver:
    """One start of the command, in its own session."""

    def __init__(self, sweep: Sweep, words: list[str], mark: str, tallied: Path, log: Path):
        self.started = time.monotonic()
        self._log = log
        self._mark = mark
        with log.open("w") as file:
            self.popen = subprocess.Popen(
                sweep.command(*words),
                cwd=sweep.home,
                env=environment(mark, tallied),
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self.process = psutil.Process(self.popen.pid)

    @property
    def over(self) -> bool:
        return self.popen.poll() is not None

    def family(self) -> list[psutil.Process]:
        """Return the driver and the processes that it started, as far as they are alive."""
        return marked(self._mark)

    def said(self) -> str:
        return self._log.read_text("utf-8", "replace")


class Cluster:
    """A scheduler and two workers with their nannies, which `operate` restarts when they are gone."""

    def __init__(self, home: Path, mark: str, tallied: Path):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self._port = one.getsockname()[1]
        self._home, self._mark, self._tallied = home, mark, tallied
        self._scheduler: subprocess.Popen | None = None
        self._nannies: list[subprocess.Popen | None] = [None] * WORKERS

    @property
    def words(self) -> list[str]:
        address = f"cluster.address=tcp://127.0.0.1:{self._port}"
        return ["cluster=scheduler", address, f"cluster.workers={WORKERS}"]

    @property
    def scheduler(self) -> list[psutil.Process]:
        return _living([self._scheduler])

    @property
    def nannies(self) -> list[psutil.Process]:
        return _living(self._nannies)

    @property
    def workers(self) -> list[psutil.Process]:
        return [worker for nanny in self.nannies for worker in workers_of(nanny)]

    def family(self) -> list[psutil.Process]:
        return marked(self._mark)

    def operate(self) -> None:
        """Start the scheduler and the nannies that are gone again."""
        if not self.scheduler:
            self._scheduler = self._start("dask_scheduler", "--port", str(self._port))
        address = f"tcp://127.0.0.1:{self._port}"
        for i, nanny in enumerate(self._nannies):
            if not _living([nanny]):
                self._nannies[i] = self._start("dask_worker", address, "--nthreads", "1", "--death-timeout", "60")

    def _start(self, name: str, *words: str) -> subprocess.Popen:
        common = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        with (self._home / "cluster.log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{name}", *words, *common],
                cwd=self._home,
                env=environment(self._mark, self._tallied),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def _living(popens) -> list[psutil.Process]:
    found = []
    for popen in popens:
        if popen is not None and popen.poll() is None:
            with suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(popen.pid))
    return found


def one_of(processes: list, rng: random.Random) -> list:
    """Return a list of one process at random, or an empty list if there is none."""
    return [rng.choice(processes)] if processes else []
