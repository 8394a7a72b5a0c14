"""What each cluster admits in its keys, and what dask is told; without a cluster."""

import socket
import subprocess
import sys
import threading
import types
from contextlib import suppress

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import clusters
from tcdp_sim.engine.clusters import checks, jobs, queues, scheduler, tuning
from tcdp_sim.study.groups import named, options

NEEDED = {
    "scheduler": {"address": "tcp://localhost:8786"},
    "slurm": {"folder": "results/x/jobs"},
    "pbs": {"folder": "results/x/jobs"},
}


def spec(name, **own):
    return dict(named("cluster", name)) | NEEDED.get(name, {}) | own


def test_every_yaml_file_has_its_module():
    assert sorted(["serial", *clusters.CLUSTERS]) == options("cluster")


GOOD = [
    *[
        ("slurm", "walltime", value)
        for value in ("1min", "90min", "8h", "2d", "01:00:00", "1-12:00:00", 3600, "100:00:00")
    ],
    *[("slurm", "memory", value) for value in ("512MB", "2GB", "1.5 GiB", "1TB")],
    *[("slurm", "queue", value) for value in (None, "long", "long,short", 7)],
    ("slurm", "account", "group-x"),
    ("slurm", "interface", "ib0"),
    ("slurm", "folder", "/scratch/me/results/a,b=1/jobs"),
    ("slurm", "directives", ["--qos=low", "--constraint=skylake|icelake", "--nodelist=n[1-4,7]", "--exclusive"]),
    ("pbs", "directives", ["-l place=excl", "-p 10", "-m n"]),
    ("slurm", "cores", 64),
    ("slurm", "tls", False),
    *[("scheduler", "address", value) for value in ("host:1", "tcp://10.0.0.1:8786", "tcp://[::1]:8786")],
]
HOSTILE = ["x\nrm -rf ~", "x; rm -rf ~", "$(id)", "`id`", "x y", "x&y", "", {"a": 1}, [1], True, 1.5]
BAD = [
    *[
        (name, key, value)
        for name in ("slurm", "pbs")
        for key in ("queue", "account", "interface")
        for value in HOSTILE
    ],
    *[("slurm", "folder", value) for value in (None, "a b", *HOSTILE)],
    *[
        ("slurm", "walltime", v)
        for v in (None, "", "1", 59, "1:60:00", "8 weeks", "1.5h", "9999d", True, [1], "1h\n#", 1e3)
    ],
    *[("pbs", "memory", value) for value in (None, 2, "2", "GB", "2 gigabytes", "-1GB", "2GB;", True)],
    *[("slurm", "cores", value) for value in (0, -1, 1.5, "two", None, True, 10**6)],
    *[("slurm", "tls", value) for value in (None, 0, "yes")],
    *[(name, "dashboard", value) for name in ("local", "slurm", "pbs") for value in (None, 0, "yes")],
    *[
        ("slurm", "directives", [value])
        for value in ("--export=ALL,LD_PRELOAD=x", "--wrap=id", "--qos=a\nid", "qos=a", "", 1)
    ],
    *[("slurm", "directives", value) for value in (None, "--export=ALL", 3, {"qos": "low"})],
    *[("pbs", "directives", [value]) for value in ("-S x", "-v A=b", "-V", "-W stagein=x", "-l a=b\nid", "-C x")],
    *[
        ("scheduler", "address", v)
        for v in ("host", "http://host:1", "host:port", "inproc://1:2", "host:1/x", "", 5, ["a:1"])
    ],
    *[("scheduler", "wait", value) for value in (0, -1, None, "long", 1.5, True)],
    *[(name, "workers", v) for name in ("slurm", "pbs") for v in (None, 0, -1, True, 1.5, "two", 10**6)],
    *[("scheduler", "workers", value) for value in (0, True, "two")],
]


@pytest.mark.parametrize(("name", "key", "value"), GOOD)
def test_what_is_valid_is_accepted(name, key, value):
    assert clusters.worker_count(spec(name, **{key: value})) == (spec(name)["workers"] or 1)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        *[("60s", 60), ("90min", 5400), ("8h", 28800), ("1h", 3600), ("2d", 172800), ("366 d", 31622400)],
        *[("00:01:00", 60), ("01:00:00", 3600), ("01:02:03", 3723), ("100:00:00", 360000), ("1-12:00:00", 129600)],
        *[(3600, 3600), ("10-00:00:01", 864001)],
    ],
)
def test_a_walltime_is_so_many_seconds(written, seconds):
    assert checks.seconds({"walltime": written}, "walltime") == seconds


@pytest.mark.parametrize(("name", "key", "value"), BAD)
def test_what_is_not_valid_is_one_line_with_key_and_value(name, key, value):
    with pytest.raises(UserError) as refused:
        clusters.worker_count(spec(name, **{key: value}))
    text = str(refused.value)
    assert text.startswith(f"cluster.{key} = {value!r} is not valid; valid: ") or "is not given; give" in text
    assert "\n" not in text


def test_what_is_needed_and_not_given_is_one_line():
    with pytest.raises(UserError, match=r"^cluster\.address is not given; give "):
        clusters.worker_count(spec("scheduler", address=None))


def test_tls_files_go_with_a_tls_address_and_exist(tmp_path):
    for name in ("ca", "cert", "key"):
        (tmp_path / name).touch()
    files = {f"tls_{name}": str(tmp_path / name) for name in ("ca", "cert", "key")}
    assert clusters.worker_count(spec("scheduler", address="tls://host:8786", **files)) == 1
    for key in files:
        with pytest.raises(
            UserError, match=rf"^cluster\.{key} = None is not valid: an address with tls:// needs all three"
        ):
            clusters.worker_count(spec("scheduler", address="tls://host:8786", **{**files, key: None}))
        with pytest.raises(UserError, match=rf"^cluster\.{key} = '/no/such' is not a file"):
            clusters.worker_count(spec("scheduler", address="tls://host:8786", **{**files, key: "/no/such"}))
        with pytest.raises(UserError, match=rf"^cluster\.{key} = .* TLS goes with an address tls://HOST:PORT"):
            clusters.worker_count(spec("scheduler", **{key: files[key]}))


@pytest.mark.parametrize(
    "words",
    [
        ("cluster=slurm",),
        ("cluster=pbs", "cluster.workers=7"),
        ("cluster=scheduler", "cluster.address=h:1", "cluster.wait=1"),
    ],
)
def test_one_word_changes_the_cluster(command, words):
    code, out, err = command("plan", "sweep.k=10", "sweep.rho=0.1", "also=null", *words)
    assert (code, err) == (0, "")
    assert f" on {7 if 'pbs' in words[0] else 4 if 'slurm' in words[0] else 1} workers" in out


@pytest.mark.parametrize("word", ["cluster.commands=[id]", "cluster.python=x", "cluster._target_=os.system"])
def test_a_key_that_could_run_code_is_none(command, word):
    code, out, err = command("plan", "cluster=slurm", f"+{word}")
    assert (code, out) == (2, "")
    assert err.startswith("tcdp-sim: cluster: ")
    assert "is not a key; valid: name, workers, cores" in err


@pytest.mark.parametrize("walltime", [60, 61, 600, 1800, 3600, 86400, 7 * 86400])
def test_all_workers_retire_with_time_left(walltime):
    mean, stagger = queues.lifetime(walltime)
    left = walltime - (mean + stagger)
    assert left >= min(10, walltime / 6 - 1)  # to start, and to hand the task back
    assert stagger <= mean - stagger  # and after having worked for a while


def test_a_slurm_script_says_what_was_asked(monkeypatch, tmp_path):
    jobqueue = pytest.importorskip("dask_jobqueue")
    asked = spec("slurm", cores=3, memory="1GiB", walltime="1-02:03:04", queue="q", account="a", folder=str(tmp_path))
    kwargs = queues.options(asked | {"directives": ["--qos=low"]})
    job_only = {key: kwargs[key] for key in kwargs if key not in ("scheduler_options", "silence_logs")}
    script = jobqueue.slurm.SLURMJob("tls://10.0.0.1:1", name="n", **job_only).job_script()
    for line in (
        "-p q",
        "-A a",
        "--cpus-per-task=3",
        "--mem=3G",
        "-t 26:03:04",
        "--qos=low",
        f"-e {tmp_path}/tcdp-sim-%J.err",
    ):
        assert f"#SBATCH {line}\n" in script
    life, stagger = queues.lifetime(26 * 3600 + 184)
    assert " --nthreads 1 --memory-limit 1.00GiB --nworkers 3 --nanny " in script
    assert f" --lifetime {life}s --lifetime-stagger {stagger}s --no-dashboard --dashboard-address 127.0.0.1:0" in script


def test_only_jobs_in_a_row_that_end_without_a_worker_end_a_run(tmp_path):
    """One job: two failures in a row are too many; one, a worker that came, and one more are not."""
    queue = tmp_path / "queue"
    cluster = types.SimpleNamespace(new_spec={}, job_cls=object, workers={}, scheduler_info={"workers": {}})
    cluster.scale = lambda jobs: None
    cluster.sync = lambda forget, gone: cluster.workers.clear()
    tended = jobs.Jobs(cluster, 1, ["cat", str(queue)], tmp_path)

    def job(number, queued, joined=False):
        cluster.workers = {"job": types.SimpleNamespace(job_id=str(number))}
        cluster.scheduler_info = {"workers": {"w": {"name": "job-0"}} if joined else {}}
        queue.write_text(f"{number}.server\n" if queued else "")
        return tended.tend()

    assert job(1, queued=False) == 0
    assert job(2, queued=True, joined=True) == 1
    assert job(2, queued=False) == 0
    assert job(3, queued=False) == 0
    with pytest.raises(UserError, match=r"^2 jobs ended before their worker came"):
        job(4, queued=False)


@pytest.mark.parametrize(
    ("workers", "has"),
    [({"x-1"}, True), ({"x-1-0"}, True), ({"x-10"}, False), ({"x-10-0", "x-2"}, False), (set(), False)],
)
def test_a_worker_of_job_ten_is_none_of_job_one(workers, has):
    assert jobs._has_worker("x-1", workers) == has


def test_what_a_user_has_in_his_own_jobqueue_yaml_is_kept(tmp_path):
    pytest.importorskip("dask_jobqueue")
    import dask

    with dask.config.set({"jobqueue.slurm.job-script-prologue": ["module load python"]}):
        first, *_, last = queues.options(spec("slurm", folder=str(tmp_path)))["job_script_prologue"]
    assert first == "module load python"
    assert last.startswith("export DASK_INTERNAL_INHERIT_CONFIG=")


def test_workers_of_a_queue_are_told_what_those_here_are():
    """What a job's environment says, read as dask reads it: nested, and with the patience that lost workers need."""
    import dask

    found = dask.config.deserialize(tuning.inherited({"distributed.worker.http.routes": []}))["distributed"]
    assert found["scheduler"]["allowed-failures"] == 10
    assert found["scheduler"]["worker-ttl"] == "30s"
    assert found["worker"] == {"profile": {"enabled": False}, "http": {"routes": []}}
    assert found["nanny"]["pre-spawn-environ"] == {
        "MALLOC_TRIM_THRESHOLD_": 2**28,
        "MALLOC_MMAP_THRESHOLD_": 2**28,
    }


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *[(host, True) for host in ("localhost", "127.0.0.1", "127.8.8.8", "[::1]")],
        *[(host, False) for host in ("10.0.0.1", "localhost.example", "0.0.0.0", "node1", "[2001:db8::1]")],
    ],
)
def test_what_stays_on_this_machine(host, local):
    assert scheduler.is_loopback(host) == local


@pytest.fixture
def web_server():
    """The address of something that answers, but not as a Dask scheduler does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer, suppress(OSError):  # such as a peer that only looks whether anybody listens
                    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                    peer.recv(4096)

        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def test_what_is_no_scheduler_is_one_line(web_server):
    with (
        pytest.raises(UserError, match=rf"^cluster\.address = {web_server} gives no connection \(.+\)$"),
        clusters.connect(spec("scheduler", address=web_server, wait=2)),
    ):
        pass


def test_what_listens_and_never_answers_is_one_line():
    """Such as a scheduler that was stopped. A client of Dask waits for its answer for ever."""
    told = r"gives no connection \(what listens there did not answer within 1 s\)$"
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UserError, match=told), clusters.connect(spec("scheduler", address=address, wait=1)):
            pass


@pytest.mark.parametrize("remote", [True, False])
def test_plain_text_is_warned_of(monkeypatch, remote):
    told = []
    monkeypatch.setattr(scheduler, "_shake_hands", refuse)
    address = f"tcp://{'node1' if remote else 'localhost'}:8786"
    with (
        pytest.raises(UserError, match=r"gives no connection \(nobody there\)"),
        clusters.connect(spec("scheduler", address=address), "warn", told.append),
    ):
        pass
    who = "whoever can reach it, or the way to it," if remote else "every user of this machine"
    (line,) = (line for line in told if "refuses the connection" not in line)
    assert line.startswith(f"warning: cluster.address = {address} is plain text: {who} can run code as you; use tls://")


def refuse(*_, **__):
    raise OSError("nobody there")


def test_dask_does_not_complain_of_folders_that_are_gone(tmp_path):
    """Its folder for files goes with ours, maybe before it looks for it as the process ends."""
    code = f"""
import logging, shutil
from distributed.diskutils import WorkSpace
from tcdp_sim.engine.clusters import logs
logs.mute()
logging.getLogger("distributed").handlers.clear()  # Python then prints errors itself
kept = WorkSpace({str(tmp_path / "ours")!r}).new_work_dir(name="scheduler")
shutil.rmtree({str(tmp_path / "ours")!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
