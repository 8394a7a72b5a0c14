"""A campaign: the driver is started and killed again and again, then ends and is compared with the reference."""

import json
import random
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import contextmanager
from math import inf
from pathlib import Path

import psutil

from tcdp_sim.engine.schedule import WINDOW

from . import damage, reader
from .deck import Deck
from .processes import WORKERS, Cluster, Driver, environment, kill, marked, one_of, wait_gone, workers_of
from .report import Report
from .sweep import Sweep, differences

GAP = 0.8  # seconds: the longest between two kills of one life
LIFE = 240.0  # seconds that a driver may live without a kill
MISHAPS = (  # messages with which a driver may end if a process that it needs was killed
    "the connection to the workers was lost",
    "a task ended",
    "gives no connection",
    "workers are at",
    "worker processes did not start",
)
TARGETS = {  # cards of each target in the deck of a cluster
    "local": {"worker": 6, "driver": 2, "everything": 1},
    "scheduler": {"worker": 4, "nanny": 4, "scheduler": 1, "driver": 2, "everything": 1},
}
ENDS_DRIVER = ("driver", "everything")


class Campaign:
    """A sweep under torture. `home` is an empty folder. The kills depend on the seed and on the machine's speed."""

    def __init__(self, home: Path, chunks: int, seed: int, tell: Callable[[str], None] = lambda _: None):
        self.before = Sweep(home / "before", 1)
        self.reference = Sweep(home / "reference", chunks)
        self.sweep = Sweep(home / "tortured", chunks)
        self.report = Report()
        self._rng = random.Random(seed)
        self._clusters = Deck(dict.fromkeys(TARGETS, 1), self._rng)
        self._targets = {where: Deck(cards, self._rng) for where, cards in TARGETS.items()}
        self.tell = tell
        self._mark = uuid.uuid4().hex
        self._tallied = home / "tally"
        self._cluster = Cluster(home, f"{self._mark}-cluster", self._tallied)
        self._short = 0.0  # seconds of a life that simulates next to nothing
        self._work = 0.0  # additional seconds of a life that simulates everything

    def run(self, kills: int, seconds: float = inf) -> Report:
        """Kill processes up to a number or time, then let the command end. Raises AssertionError on a fault."""
        started = time.monotonic()
        self.before.undisturbed()
        self._short = time.monotonic() - started
        shutil.copytree(self.before.home, self.sweep.home, symlinks=True)  # so that a reader finds something at once
        self.reference.undisturbed()
        self._work = max(0.0, time.monotonic() - started - 2 * self._short) / WORKERS
        try:
            with self._reader():
                while self.report.total < kills and time.monotonic() - started < seconds:
                    self._life(kills)
                    self.tell(f"{self.report.total} kills")
                self._last_life()
        finally:
            for mark in ("cluster", "driver"):
                kill(marked(f"{self._mark}-{mark}"))
        self.report.chunks = len(self.sweep.recorded())
        self.report.seconds = time.monotonic() - started
        return self.report

    def _life(self, kills: int) -> None:
        """Start the driver once, and wait until it is killed, has lost its workers, or is done."""
        where = self._clusters.draw()
        before = self.sweep.recorded()
        driver = self._start(where)
        target = self._torture(driver, where, kills)
        self._check_survivors(driver, target)
        after = self.sweep.recorded()
        assert before.keys() <= after.keys(), f"{len(before.keys() - after.keys())} recorded chunks are lost"
        self.report.lives[driver.popen.returncode] += 1
        if driver.popen.returncode == 0:
            self._check_end(driver)
            self._damage(damage.JOURNAL)
            self._damage(damage.PUBLISHED)
            return
        if driver.popen.returncode > 0:
            self._check_mishap(driver, target)
        else:
            self._check_loss(after)
        if len(after) == self.sweep.total:
            self._damage(damage.JOURNAL)  # or the next lives would have nothing to do
        elif self._rng.random() < 0.4:
            self._damage(damage.JOURNAL + damage.REST)

    def _start(self, where: str) -> Driver:
        self._tallied.unlink(missing_ok=True)
        words = ["cluster=local", f"cluster.workers={WORKERS}"]
        if where == "scheduler":
            self._cluster.operate()
            words = self._cluster.words
        log = self.sweep.home / "driver.log"
        return Driver(self.sweep, words, f"{self._mark}-driver", self._tallied, log)

    def _torture(self, driver: Driver, where: str, kills: int) -> str | None:
        """Kill processes until the driver is gone, and return the last target.

        The first kill comes at any moment of a life. In half of the lives it waits for the first record.
        """
        target, left = None, self.sweep.total - len(self.sweep.recorded())
        longest = self._short + self._work * left / self.sweep.total
        if left and self._rng.random() < 0.5:
            self._wait(driver, where, LIFE, until=lambda: self._phase(driver) != "starting")
            longest = 2 * GAP
        while self.report.total < kills:
            self._wait(driver, where, self._rng.uniform(0, longest))
            longest = GAP
            if driver.over:
                return target
            target = self._targets[where].draw()
            self._hit(driver, where, target)
            if target in ENDS_DRIVER:
                driver.popen.wait()
                return target
        self._wait(driver, where, LIFE)
        assert driver.over, f"a driver has not ended after {LIFE:.0f} s: {driver.said()}"
        return target

    def _wait(self, driver: Driver, where: str, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Let the driver run for some seconds, and restart lost parts of its cluster."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not driver.over and not until():
            if where == "scheduler":
                self._cluster.operate()
            time.sleep(min(0.05, max(0.0, end - time.monotonic())))

    def _hit(self, driver: Driver, where: str, target: str) -> None:
        phase = self._phase(driver)
        if kill(self._victims(driver, where, target)):
            self.report.kills[where, target] += 1
            self.report.phases[phase] += 1
        else:
            self._targets[where].put_back(target)

    def _victims(self, driver: Driver, where: str, target: str) -> list[psutil.Process]:
        if target == "driver":
            return [driver.process]
        if target == "everything":
            everybody = driver.family() + (self._cluster.family() if where == "scheduler" else [])
            self._rng.shuffle(everybody)
            return everybody
        if where == "local":
            return one_of(workers_of(driver.process), self._rng)
        found = {"worker": self._cluster.workers, "nanny": self._cluster.nannies, "scheduler": self._cluster.scheduler}
        return one_of(found[target], self._rng)

    def _phase(self, driver: Driver) -> str:
        written = any(f"-{driver.popen.pid}-" in path.name and path.stat().st_size for path in self.sweep.segments())
        if not written and time.monotonic() - driver.started < self._short / 2:
            return "starting"
        if len(self.sweep.recorded()) == self.sweep.total:
            return "publishing"
        return "simulating" if written else "starting"

    def _check_survivors(self, driver: Driver, target: str | None) -> None:
        """Check that no process that the driver started outlives it for long."""
        if not driver.over:
            return
        waited = wait_gone(driver.family())
        if target == "driver":
            self.report.longest_orphan = max(self.report.longest_orphan, waited)

    def _check_loss(self, after) -> None:
        """Check that the computed chunks without a record belong to the few tasks that were in flight."""
        lines = self._tallied.read_text().splitlines() if self._tallied.exists() else []
        computed = {(cell, int(chunk)): task for task, cell, chunk in map(str.split, lines)}
        lost = {task for key, task in computed.items() if key not in after}
        self.report.most_lost = max(self.report.most_lost, len(lost))
        # + 1: a worker may just be replaced
        assert len(lost) <= WINDOW * (WORKERS + 1), f"{len(lost)} finished tasks are lost"

    def _check_mishap(self, driver: Driver, target: str | None) -> None:
        said = driver.said()
        assert driver.popen.returncode == 2, said
        assert target is not None, said
        assert "Traceback" not in said, said
        assert any(mishap in said for mishap in MISHAPS), said

    def _check_end(self, driver: Driver) -> None:
        different = differences(self.reference, self.sweep)
        assert not different, f"{different} differ from an undisturbed run's\n{driver.said()}"
        repeated = [key for key, count in self.sweep.recorded().items() if count > 1]
        assert not repeated, f"{len(repeated)} chunks were recorded and computed again"
        (self.sweep.home / "damaged").unlink(missing_ok=True)

    def _last_life(self) -> None:
        driver = self._start("local")
        assert driver.popen.wait(LIFE) == 0, driver.said()
        self.report.lives[0] += 1
        self._check_survivors(driver, None)
        self._check_end(driver)
        self.report.equal = True

    def _damage(self, kinds) -> None:
        """Do one of the damages. Check that it destroys only the records that it touched."""
        kind = self._rng.choice(kinds)
        before = self.sweep.recorded()
        if kind in damage.PUBLISHED:
            (self.sweep.home / "damaged").touch()
        if kind(self.sweep, self._rng):
            self.report.damages[kind.__name__] += 1
        if kind in damage.PUBLISHED:
            (self.sweep.home / "damaged").touch()  # again: a reader may have opened the tree after the first time
        lost = len(before.keys() - self.sweep.recorded().keys())
        assert lost <= (3 if kind is damage.flipped_record else 0 if kind is not damage.torn_tail else lost), kind
        self.report.destroyed += lost

    @contextmanager
    def _reader(self):
        """Run a reader of the results beside the block. Raises AssertionError if the reader failed."""
        home = self.sweep.home
        words = json.dumps(self.sweep.words("cluster=serial"))
        references = [str(self.reference.folder), str(self.before.folder)]
        command = [sys.executable, reader.__file__, str(home), words, str(self.sweep.total), *references]
        with (home / "reader.log").open("w") as log:
            env = environment(f"{self._mark}-reader", self._tallied)
            process = subprocess.Popen(command, cwd=home, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield
        finally:
            (home / "stop").touch()
            out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, f"the reader failed: {(home / 'reader.log').read_text()[-3000:]}"
        self.report.seen = json.loads(out.splitlines()[-1])
