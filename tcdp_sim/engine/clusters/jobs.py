"""The jobs of a dask-jobqueue cluster; jobs that leave the queue are submitted again."""

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError

if TYPE_CHECKING:
    from distributed import Client

PERIOD = 10.0  # seconds between looks at the queue
PATIENCE = 60.0  # seconds for the queue to answer
MOST_FAILURES = 20  # jobs in a row without a worker before giving up, or twice the number of jobs if that is less


class Jobs:
    """A pool that keeps a fixed number of cluster jobs in the queue.

    A job leaves the queue when its worker retires before the walltime, is cancelled or pre-empted, or is lost with its
    node. In all cases a new job takes its place. If jobs keep ending before their worker has come, UserError is raised,
    because more jobs would not help. `own_jobs` is the command that prints the numbers of the user's jobs.
    """

    def __init__(self, cluster: Any, count: int, own_jobs: Sequence[str], logs: Path) -> None:
        self._cluster, self._count, self._own_jobs, self._logs = cluster, count, own_jobs, logs
        self._complaints: list[str] = []
        self._joined: set[str] = set()
        self._failures = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        cluster.new_spec["cls"] = _telling(cluster.job_cls, self._complaints)
        cluster.scale(jobs=count)

    def tend(self) -> int:
        """Submit lost jobs again, and return the number of workers. Raises UserError if jobs keep failing."""
        with self._lock:
            known = dict(self._cluster.workers)  # before the queue is asked, because a job submitted later is not gone
            queued = self._queued()
            names = {str(one["name"]) for one in self._cluster.scheduler_info["workers"].values()}
            joined = {job.job_id for name, job in known.items() if _has_worker(name, names)}
            if joined - self._joined:
                self._failures = 0
            self._joined |= joined
            gone = {name: job for name, job in known.items() if _is_gone(job, queued)}
            self._failures += sum(job.job_id not in self._joined for job in gone.values())
            if self._failures >= min(2 * self._count, MOST_FAILURES):
                raise UserError(self._reason())
            if gone:
                self._cluster.sync(self._forget, gone)
                self._cluster.scale(jobs=self._count)
            return len(names)

    @contextmanager
    def tended(self, client: "Client") -> Iterator[None]:
        """Tend the jobs during the block. Raises UserError from it if jobs keep failing."""
        stopped = []

        def keep() -> None:
            while not self._end.wait(PERIOD):
                try:
                    self.tend()
                except UserError as problem:
                    stopped.append(problem)
                    client.close(timeout=5)  # ends the wait for results
                    return

        keeper = threading.Thread(target=keep, name="jobs", daemon=True)
        keeper.start()
        try:
            yield
        except BaseException:
            if stopped:
                raise stopped[0] from None
            raise
        finally:
            self.close()
            keeper.join(PATIENCE)

    def close(self) -> None:
        """Stop submitting jobs."""
        self._end.set()

    async def _forget(self, gone: Mapping[str, Any]) -> None:
        """Remove jobs from dask's cluster."""
        for name, job in gone.items():
            if self._cluster.workers.get(name) is job:
                del self._cluster.workers[name]
                await job.close()

    def _queued(self) -> set[str] | None:
        """Return the numbers of the jobs that wait or run, or None if the queue does not answer."""
        try:
            output = subprocess.run(self._own_jobs, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return None
        return {line.strip().split(".")[0] for line in output.splitlines()}

    def _reason(self) -> str:
        """Return the reason for the failures: the queue's complaint, or the last line of the newest log."""
        message = f"{self._failures} jobs ended before their worker came"
        if self._complaints:
            return f"{message}: {self._complaints[-1]}"
        logs = [path for path in self._logs.iterdir() if path.is_file() and not path.name.startswith(".")]
        logs = [path for path in logs if path.stat().st_size]
        if not logs:
            return f"{message}; they left no log in {self._logs}"
        newest = max(logs, key=lambda path: path.stat().st_mtime)
        lines = newest.read_text("utf-8", "replace").strip().splitlines() or [""]
        return f"{message}; the last line of {newest} is: {lines[-1][:300]}"


def _is_gone(job: Any, queued: set[str] | None) -> bool:
    """Return True if a job is not in the queue any more."""
    return job.job_id is None or (queued is not None and job.job_id not in queued)


def _has_worker(job: str, workers: set[str]) -> bool:
    """Return True if a worker of this job is there."""
    return job in workers or any(name.startswith(f"{job}-") for name in workers)


def _telling(job_class: Any, complaints: list[str]) -> type:
    """Return a subclass of the job's class that keeps the queue's message when a job is refused.

    Dask would only log the message. A refused job counts as started, so that `tend` finds it missing from the queue. A
    closed job tells dask that it is closed.
    """
    from distributed.core import Status

    class Telling(job_class):  # type: ignore[misc]  # the base class depends on the queue
        async def start(self) -> None:
            try:
                await super().start()
            except (RuntimeError, OSError, ValueError) as problem:
                complaint = str(problem).partition("stderr:")[2] or str(problem)
                complaints.append(" ".join(complaint.split())[:300])
                self.status = Status.running

        async def close(self) -> None:
            await super().close()
            self.status = Status.closed

    return Telling
