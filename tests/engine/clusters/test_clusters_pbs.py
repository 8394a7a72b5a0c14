"""cluster=pbs with stand-ins for qsub, qdel and qselect that run the very job scripts on this machine."""

import os
import stat
import sys
import textwrap
import time
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest
from signals import sent_to_group

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.clusters import batch, jobs

pytest.importorskip("dask_jobqueue", reason="needs the extra: pip install 'tcdp_sim[pbs]'")

HEAD = """\
#!{python}
import contextlib, os, pathlib, psutil, signal, subprocess, sys

queue = pathlib.Path({queue!r})
jobs = {{path.stem: int(path.read_text()) for path in queue.glob("*.pid")}}
"""
TOOLS = {
    "qsub": """
        if (queue / "closed").exists():
            sys.exit("qsub: the queue is closed")
        number = len(jobs) + 1
        script = queue / f"{number}.script"
        script.write_text(pathlib.Path(sys.argv[1]).read_text())
        bare = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]}  # PBS does not pass the environment on
        bare["TMPDIR"] = str(queue)
        log = (queue / f"{number}.log").open("w")
        job = subprocess.Popen(["sh", script], env=bare, stdout=log, stderr=log, start_new_session=True)
        (queue / f"{number}.pid").write_text(str(job.pid))
        print(f"{number}.stand-in")
    """,
    "qdel": """
        with contextlib.suppress(ProcessLookupError):
            os.killpg(jobs[sys.argv[1]], signal.SIGKILL)
    """,
    "qselect": """
        assert sys.argv[1] == "-u"
        for name, pid in jobs.items():
            if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                print(f"{name}.stand-in")
    """,
}


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """The folder of the stand-ins' queue: N.script, N.pid and N.log of each job."""
    queue, tools = tmp_path / "queue", tmp_path / "bin"
    queue.mkdir()
    tools.mkdir()
    for name, body in TOOLS.items():
        (tools / name).write_text(HEAD.format(python=sys.executable, queue=str(queue)) + textwrap.dedent(body))
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(jobs, "PERIOD", 0.5)
    yield queue
    for path in queue.glob("*.pid"):
        sent_to_group(int(path.read_text()))


def spec(tmp_path, **own):
    base = dict(clusters.groups.named("cluster", "pbs"))
    return base | {"interface": "lo", "memory": "512MB", "folder": str(tmp_path / "jobs"), "workers": 2} | own


def scripts(queue):
    return [path.read_text() for path in sorted(queue.glob("*.script"))]


@pytest.mark.slow
def test_a_job_of_two_workers_deleted_mid_run_is_submitted_again(queue, tmp_path, monkeypatch):
    def nap(seconds):  # defined in here, it travels by value
        time.sleep(seconds)
        return os.getpid()

    monkeypatch.setattr(schedule, "run", nap)
    own = {"cores": 2, "walltime": "2h", "queue": "long", "account": "me", "directives": ["-p 10"]}
    with clusters.connect(spec(tmp_path, **own)) as executor:
        assert executor.workers == 2
        results = executor.results(iter([0.2] * 30))
        next(results)
        assert sent_to_group(int((queue / "1.pid").read_text()))
        assert len(list(results)) == 29
    assert len(scripts(queue)) >= 2
    for line in ("-q long", "-A me", "-l select=1:ncpus=2:mem=977MB", "-l walltime=02:00:00", "-p 10", "-N tcdp-sim"):
        assert f"#PBS {line}\n" in scripts(queue)[0]
    assert " --nworkers 2 " in scripts(queue)[0]
    assert " --nthreads 1 " in scripts(queue)[0]
    assert " --lifetime 6600s --lifetime-stagger 300s " in scripts(queue)[0]
    assert " tls://127.0.0.1:" in scripts(queue)[0]


def test_a_queue_that_is_closed_is_one_line(queue, tmp_path):
    (queue / "closed").touch()
    told = r"^4 jobs ended before their worker came: qsub: the queue is closed$"
    with pytest.raises(UserError, match=told), clusters.connect(spec(tmp_path)):
        pass


def test_without_tls_there_is_a_warning(queue, tmp_path):
    (queue / "closed").touch()
    told = []
    with pytest.raises(UserError, match="closed"), clusters.connect(spec(tmp_path, tls=False), "warn", told.append):
        pass
    assert told[0].startswith(
        "warning: cluster.tls = False: whoever can reach this machine's ports can run code as you"
    )


def test_the_keys_of_the_workers_are_for_the_owner_only_and_gone_with_the_run(queue, tmp_path, monkeypatch):
    found = []

    class Watching(jobs.Jobs):
        def tend(self):
            found.extend(path.stat() for path in (tmp_path / "jobs").rglob("*"))
            return super().tend()

    monkeypatch.setattr(batch, "Jobs", Watching)
    (queue / "closed").touch()
    with pytest.raises(UserError, match="closed"), clusters.connect(spec(tmp_path)):
        pass
    folders = [one for one in found if stat.S_ISDIR(one.st_mode)]
    assert folders
    assert len(found) >= len(folders) + 2
    assert all(one.st_mode & 0o077 == 0 for one in found)
    assert list((tmp_path / "jobs").iterdir()) == []


def test_all_listen_on_the_interface_only_and_have_no_pages_and_folders_of_their_own(queue, tmp_path):
    """Driver and job: where they listen, what their web servers say, where the worker may write."""
    with clusters.connect(spec(tmp_path, workers=1)) as executor:
        job = psutil.Process(int((queue / "1.pid").read_text()))
        everybody = [psutil.Process(), *psutil.Process().children(recursive=True), *job.children(recursive=True)]
        found = {address for one in everybody for address in listening(one)}
        (worker,) = executor._client.scheduler_info()["workers"].values()
        (pages, theirs) = (executor._client.scheduler_info()["services"], worker["services"])
        assert {http(port, path) for port in (pages["dashboard"], theirs["dashboard"]) for path in PAGES} == {404}
        (above,) = [path for path in Path(worker["local_directory"]).parents if path.parent == queue]
        assert stat.S_IMODE(above.stat().st_mode) == 0o700
        assert executor.dashboard == ""
    assert len(found) >= 5
    assert {address.ip for address in found} == {"127.0.0.1"}


def listening(process):
    try:
        return [c.laddr for c in process.net_connections("inet") if c.status == "LISTEN"]
    except psutil.NoSuchProcess:  # the queue has just been asked
        return []


PAGES = ("/status", "/health", "/metrics", "/info/main/workers.html")


def http(port, path):
    one = HTTPConnection("127.0.0.1", port, timeout=60)
    one.request("GET", path)
    with one.getresponse() as answer:
        return answer.status


@pytest.mark.parametrize("tool", TOOLS)
def test_a_machine_without_the_queue_is_one_line(queue, tmp_path, tool):
    (tmp_path / "bin" / tool).unlink()
    with (
        pytest.raises(UserError, match=rf"^cluster=pbs: there is no {tool} on this machine; start"),
        clusters.connect(spec(tmp_path)),
    ):
        pass


def test_a_missing_package_is_one_line(queue, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    told = r"^cluster=pbs needs the package dask-jobqueue; install it with: pip install 'tcdp_sim\[pbs\]'$"
    with pytest.raises(UserError, match=told), clusters.connect(spec(tmp_path)):
        pass
