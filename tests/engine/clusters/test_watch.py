"""Workers that come, go and fall silent: what the log and the progress line say, and that their tasks go to others."""

import logging
import os
import signal
import time

import pytest
from signals import sent

from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.clusters import tuning, watch

WAIT = 120  # seconds, generous: others may use the machine


class Asked:
    """A client whose scheduler says what it is told to: each answer maps workers to their last sign of life."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.scheduler = self
        self.topics = []

    def identity(self):
        raise AssertionError("called by sync only")

    def sync(self, function, callback_timeout):
        assert function == self.identity
        assert callback_timeout > 0
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"workers": {name: {"last_seen": seen} for name, seen in answer.items()}}

    def subscribe_topic(self, topic, handler):
        self.topics.append(topic)

    def unsubscribe_topic(self, topic):
        self.topics.remove(topic)


def looked(*answers):
    """(who is silent after each answer, the lines of the log)."""
    one = watch.Watch(Asked(*answers))
    found = []
    for _ in answers:
        one.look()
        found.append(one.silent())
    return found


@pytest.fixture
def log(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tcdp_sim"), "disabled", False)  # as a run sets it: Hydra may have been here
    caplog.set_level(logging.INFO, "tcdp_sim")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "tcdp_sim"]


def test_a_worker_without_a_sign_of_life_for_ten_seconds_is_silent_until_there_is_one(log):
    """A look every 5 s: after the second look that finds nothing new."""
    assert (watch.PERIOD, watch.SILENT) == (5.0, 10.0)
    seen = [
        {"a": 1.0, "b": 1.0},
        {"a": 6.0, "b": 1.0},
        {"a": 11.0, "b": 1.0},
        {"a": 16.0, "b": 1.0},
        {"a": 2.0, "b": 3},
    ]
    assert looked(*seen) == [(), (), ("b",), ("b",), ()]
    assert log() == ["silent: b has given no sign of life for 10 s or more"]  # b had never come, so it is not back


def test_clocks_do_not_matter_only_change_does():
    """The scheduler's clock is far off, or set back."""
    assert looked({"a": 1e9}, {"a": 5.0}, {"a": 1e12}) == [(), (), ()]


def test_a_worker_that_is_gone_is_not_silent():
    assert looked({"a": 1.0}, {"a": 1.0}, {"a": 1.0}, {}) == [(), (), ("a",), ()]


def test_that_no_worker_is_left_is_said_until_one_comes(log):
    """As after a cut cable, with nobody who starts workers again."""
    assert looked({"a": 1.0}, {}, {}, {}, {"b": 1.0}) == [(), (), (), (watch.NOBODY,), ()]
    assert log() == [
        f"silent: {watch.NOBODY} has given no sign of life for 10 s or more",
        f"{watch.NOBODY} gives signs of life again",
    ]


@pytest.mark.parametrize(("workers", "looks"), [(2, 2), (300, 2), (400, 3), (1024, 7)])
def test_many_workers_are_given_more_time(workers, looks):
    """0.03 s for each, in looks of 5 s: of 1,024, heard of every 6 s, 30.7 s."""
    same = {f"w{i}": 1.0 for i in range(workers)}
    assert [bool(silent) for silent in looked(*[same] * 9)].index(True) == looks


def test_a_scheduler_that_does_not_answer_is_silent(log):
    assert looked({"a": 1.0}, TimeoutError(), {"a": 2.0}) == [(), ("the scheduler",), ()]
    assert log() == [
        "silent: the scheduler has given no sign of life for 10 s or more",
        "the scheduler gives signs of life again",
    ]


def test_what_the_scheduler_reports_is_logged_once(log):
    client = Asked({"a": 1.0, "b": 1.0})
    one = watch.Watch(client)
    one.begin()
    assert client.topics == ["all"]
    gone = {"action": "remove-worker", "worker": "a", "processing-tasks": {"x", "y"}}
    for event in ({"action": "add-worker", "worker": "a"}, {"action": "add-worker", "worker": "c"}, gone, gone):
        one.heard((0.0, event))
    for event in ({"action": "gather"}, "text", {"action": "remove-worker", "worker": "c", "processing-tasks": []}):
        one.heard((0.0, event))
    assert log() == [
        "worker a has come; there are 1",
        "worker b has come; there are 2",
        "worker c has come; there are 3",
        "worker a has gone; its 2 tasks go to others; there are 2",
        "worker c has gone; there are 1",
    ]
    one.end()
    assert client.topics == []


def until(condition):
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_worker_that_hangs_is_named_and_its_tasks_are_done_by_others(monkeypatch, log):
    """SIGSTOP in the middle of a run. Dask allows five seconds at least; here the limit is that."""

    def nap(seconds):  # defined in here, it travels by value
        time.sleep(seconds)
        return os.getpid()

    monkeypatch.setattr(schedule, "run", nap)
    monkeypatch.setattr(watch, "PERIOD", 0.25)
    monkeypatch.setattr(watch, "SILENT", 2.0)
    monkeypatch.setitem(tuning.SETTINGS, "distributed.scheduler.worker-ttl", "1s")
    with clusters.connect({"name": "local", "workers": 2}) as executor:
        pids = executor._client.run(os.getpid)
        results = executor.results(iter([0.2] * 20))
        next(results)
        (address, hung), (_, alive) = pids.items()
        assert sent(hung, signal.SIGSTOP)
        until(lambda: executor.silent() == (address,))
        done = list(results)
        assert len(done) == 19
        assert alive in done
        until(lambda: executor.silent() == ())
    said = log()
    assert f"silent: {address} has given no sign of life for 2 s or more" in said
    assert any(line.startswith(f"worker {address} has gone; its ") and "go to others" in line for line in said)
    assert sum(" has come; " in line for line in said[:2]) == 2


def test_within_a_minute_the_tasks_of_a_silent_worker_are_elsewhere():
    """Dask's own limit is 5 minutes, and it looks once in as long; ours shows in the scheduler itself."""
    with clusters.connect({"name": "local", "workers": 1}) as executor:
        assert executor._client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_ttl) == 30
    assert tuning.PATIENT["distributed.scheduler.worker-ttl"] == "30s"


def test_the_end_of_a_watch_leaves_no_thread_and_no_complaint(caplog):
    import threading

    with clusters.connect({"name": "local", "workers": 1}):
        assert "watch" in [one.name for one in threading.enumerate()]
    assert "watch" not in [one.name for one in threading.enumerate()]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
