"""The jobs behind a dask-jobqueue cluster, kept at their number: what leaves the queue is submitted again."""

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
MOST_FAILURES = 20  # jobs in a row that end before their worker has come, or twice their number if that is less


class Jobs:
    """So many jobs of a cluster. Workers retire before the walltime, and are cancelled, pre-empted, lost with a node:

    in all cases their job leaves the queue, and a new one takes its place. Where jobs end one after the other
    without a worker ever coming, more would be of no use, and UserError says so.
    own_jobs: the command that prints the numbers of the user's jobs, one a line.
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
        """Submit again what has left the queue; the number of workers there are. UserError when it is of no use."""
        with self._lock:
            known = dict(self._cluster.workers)  # before the queue is asked: a job submitted since then is not gone
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
        """Look after the jobs while the block runs; UserError out of it when that is of no use any more."""
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
        """Submit no more."""
        self._end.set()

    async def _forget(self, gone: Mapping[str, Any]) -> None:
        for name, job in gone.items():
            if self._cluster.workers.get(name) is job:
                del self._cluster.workers[name]
                await job.close()

    def _queued(self) -> set[str] | None:
        """The numbers of the jobs that wait or run; None when the queue does not answer."""
        try:
            output = subprocess.run(self._own_jobs, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return None
        return {line.strip().split(".")[0] for line in output.splitlines()}

    def _reason(self) -> str:
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
    return job.job_id is None or (queued is not None and job.job_id not in queued)


def _has_worker(job: str, workers: set[str]) -> bool:
    return job in workers or any(name.startswith(f"{job}-") for name in workers)


def _telling(job_class: Any, complaints: list[str]) -> type:
    """The job's class, which keeps what the queue says when it refuses a job (dask would only log it).

    Such a job counts as begun, and `tend` finds it missing from the queue; one that is closed says so to dask.
    """
    from distributed.core import Status

    class Telling(job_class):  # type: ignore[misc]  # known when the queue is, at run time
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
