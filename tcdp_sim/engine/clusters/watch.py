"""The watch over a client's workers: arrivals, departures and silence, for the log and the progress line."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.log import LOG

if TYPE_CHECKING:
    from distributed import Client

PERIOD = 5.0  # seconds between looks
SILENT = 10.0  # seconds without a sign of life; with few workers, each gives one every half second
EACH = 0.03  # seconds for each worker, if that is more in total: among 1,024 each gives a sign every 6 s
SCHEDULER = "the scheduler"
NOBODY = "every worker (the run goes on once one is there)"  # the name in messages when no worker is left


class Watch:
    """The state of a client's workers. All changes are logged, and `silent` names workers without a sign of life.

    Time is measured by the number of looks, so that a driver that was itself stopped suspects nobody.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._here: set[str] = set()
        self._signs: dict[str, tuple[float, int]] = {}  # the last sign of life, and the looks since then
        self._silent: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def silent(self) -> tuple[str, ...]:
        """Return the workers without a recent sign of life."""
        return self._silent

    def heard(self, event: tuple[float, Mapping[str, Any] | str]) -> None:
        """Process an event of the scheduler, a pair of its time and its content."""
        happened = event[1] if isinstance(event[1], dict) else {}
        if happened.get("action") == "add-worker":
            self._came(happened["worker"])
        elif happened.get("action") == "remove-worker":
            self._went(happened["worker"], len(happened.get("processing-tasks") or ()))

    def begin(self) -> None:
        """Subscribe to events and note the workers that are there already."""
        self._client.subscribe_topic("all", self.heard)
        for address in self._workers():
            self._came(address)

    def end(self) -> None:
        """Unsubscribe, because the scheduler would complain about events that nobody takes."""
        with suppress(Exception):  # the connection may be lost
            self._client.unsubscribe_topic("all")

    def look(self) -> None:
        """Ask the scheduler once when it last heard from each worker."""
        try:
            workers = self._workers()
        except TimeoutError:
            self._now_silent((SCHEDULER,))
            return
        seen = {address: one["last_seen"] for address, one in workers.items()} or {NOBODY: 0.0}
        self._signs = {address: self._sign(address, last) for address, last in seen.items()}
        patience = max(SILENT, EACH * len(workers))
        self._now_silent(tuple(one for one, (_, looks) in self._signs.items() if looks * PERIOD >= patience))

    def _workers(self) -> Mapping[str, Any]:
        """Return the scheduler's description of its workers."""
        scheduler: Any = self._client.scheduler  # exists as long as the client is open
        workers: Mapping[str, Any] = self._client.sync(scheduler.identity, callback_timeout=SILENT)["workers"]
        return workers

    def _sign(self, address: str, last: float) -> tuple[float, int]:
        """Return a worker's last sign of life, and the looks since then."""
        before, looks = self._signs.get(address, (None, 0))
        return (last, looks + 1 if last == before else 0)

    def _now_silent(self, silent: tuple[str, ...]) -> None:
        """Log the workers that have fallen silent, and those that are heard again."""
        for address in silent:
            if address not in self._silent:
                LOG.warning("silent: %s has given no sign of life for %g s or more", address, SILENT)
        for address in self._silent:
            if address not in silent and address in (*self._here, SCHEDULER, NOBODY):
                LOG.info("%s gives signs of life again", address)
        self._silent = silent

    def _came(self, address: str) -> None:
        """Log a new worker."""
        with self._lock:
            if address not in self._here:
                self._here.add(address)
                LOG.info("worker %s has come; there are %d", address, len(self._here))

    def _went(self, address: str, tasks: int) -> None:
        """Log a worker that has gone."""
        with self._lock:
            if address in self._here:
                self._here.remove(address)
                again = f"; its {tasks} tasks go to others" if tasks else ""
                LOG.info("worker %s has gone%s; there are %d", address, again, len(self._here))


@contextmanager
def watched(client: "Client") -> Iterator[Watch]:
    """Watch a client's workers during the block."""
    watch, end = Watch(client), threading.Event()

    def keep() -> None:
        while not end.wait(PERIOD):
            try:
                watch.look()
            except Exception as problem:  # the connection is lost, which the run itself reports
                LOG.info("the watch over the workers has ended: %s", problem)
                return

    watch.begin()
    keeper = threading.Thread(target=keep, name="watch", daemon=True)
    keeper.start()
    try:
        yield watch
    finally:
        end.set()
        keeper.join(1.0)
        watch.end()
