"""Who of the workers comes, goes and falls silent: into the run's log, and for the progress line. For any scheduler."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.log import LOG

if TYPE_CHECKING:
    from distributed import Client

PERIOD = 5.0  # seconds between looks
SILENT = 10.0  # seconds without a sign of life; few workers give one every half second
EACH = 0.03  # or seconds for each worker, if that is more: many give theirs less often (1,024: every 6 s)
SCHEDULER = "the scheduler"
NOBODY = "every worker (the run goes on once one is there)"  # stands for them all where none is left


class Watch:
    """What is known of a client's workers. All is told in log lines; `silent` names who gives no sign of life.

    Whether time passes is judged by the number of looks, so that a driver that was itself stopped suspects nobody.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._here: set[str] = set()
        self._signs: dict[str, tuple[float, int]] = {}  # the last sign of life, and looks since then
        self._silent: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def silent(self) -> tuple[str, ...]:
        """The workers that have given no sign of life for some time."""
        return self._silent

    def heard(self, event: tuple[float, Mapping[str, Any] | str]) -> None:
        """An event of the scheduler's: (time, what happened)."""
        happened = event[1] if isinstance(event[1], dict) else {}
        if happened.get("action") == "add-worker":
            self._came(happened["worker"])
        elif happened.get("action") == "remove-worker":
            self._went(happened["worker"], len(happened.get("processing-tasks") or ()))

    def begin(self) -> None:
        """Note who is there already."""
        self._client.subscribe_topic("all", self.heard)
        for address in self._workers():
            self._came(address)

    def end(self) -> None:
        """Ask for no more events: the scheduler would complain that nobody takes them."""
        with suppress(Exception):  # the connection may be lost
            self._client.unsubscribe_topic("all")

    def look(self) -> None:
        """Ask the scheduler once of whom it has heard since the last look."""
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
        scheduler: Any = self._client.scheduler  # there is one as long as the client is open
        workers: Mapping[str, Any] = self._client.sync(scheduler.identity, callback_timeout=SILENT)["workers"]
        return workers

    def _sign(self, address: str, last: float) -> tuple[float, int]:
        before, looks = self._signs.get(address, (None, 0))
        return (last, looks + 1 if last == before else 0)

    def _now_silent(self, silent: tuple[str, ...]) -> None:
        for address in silent:
            if address not in self._silent:
                LOG.warning("silent: %s has given no sign of life for %g s or more", address, SILENT)
        for address in self._silent:
            if address not in silent and address in (*self._here, SCHEDULER, NOBODY):
                LOG.info("%s gives signs of life again", address)
        self._silent = silent

    def _came(self, address: str) -> None:
        with self._lock:
            if address not in self._here:
                self._here.add(address)
                LOG.info("worker %s has come; there are %d", address, len(self._here))

    def _went(self, address: str, tasks: int) -> None:
        with self._lock:
            if address in self._here:
                self._here.remove(address)
                again = f"; its {tasks} tasks go to others" if tasks else ""
                LOG.info("worker %s has gone%s; there are %d", address, again, len(self._here))


@contextmanager
def watched(client: "Client") -> Iterator[Watch]:
    """Watch a client's workers while the block runs."""
    watch, end = Watch(client), threading.Event()

    def keep() -> None:
        while not end.wait(PERIOD):
            try:
                watch.look()
            except Exception as problem:  # the connection is lost: the run itself finds out, and says so
                LOG.info("the workers are watched no more: %s", problem)
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
