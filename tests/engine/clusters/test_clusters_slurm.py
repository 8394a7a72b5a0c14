"""cluster=slurm on a real Slurm: munged, slurmctld and slurmd of one machine, started here, on loopback only."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from signals import sent

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import clusters, preload, schedule
from tcdp_sim.engine.clusters import batch, jobs, queues
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.study.parts import in_ranges

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")
START, RUN = 300, 600  # seconds, generous: others may use the machine

pytestmark = pytest.mark.slow
pytest.importorskip("dask_jobqueue", reason="needs the extra: pip install 'tcdp_sim[slurm]'")

CONFIG = """\
ClusterName=tcdp_test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=4096 State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def tool(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def started(folder, host):
    """Start the three daemons; the environment that finds them."""
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge" / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    config = folder / "slurm.conf"
    ports = {"controller": free_port(), "daemon": free_port()}
    config.write_text(CONFIG.format(folder=folder, host=host, cores=os.cpu_count(), **ports))
    files = {
        "key-file": "munge.key",
        "socket": "munge.socket",
        "pid-file": "pid",
        "log-file": "log",
        "seed-file": "seed",
    }
    munge = [f"--{option}={folder}/munge/{name}" for option, name in files.items()]
    daemons = (["munged", "--force", *munge], ["slurmctld", "-i", "-f", config], ["slurmd", "-f", config])
    for name, *words in daemons:
        subprocess.run([tool(name), *words], check=True, capture_output=True, timeout=START)
    return os.environ | {"SLURM_CONF": str(config)}


def stopped(folder):
    for name in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
        if (folder / name).exists():
            sent(int((folder / name).read_text()), signal.SIGKILL if name == "slurmd.pid" else signal.SIGTERM)


@pytest.fixture(scope="module")
def slurm():
    """The environment in which sbatch finds a cluster of one node; ended after the tests."""
    if missing := [name for name in NEEDED if not tool(name)]:
        pytest.skip(f"no {', '.join(missing)} here (Debian: apt-get install slurm-wlm munge)")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons need to be started by root")
    folder = Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp"))  # short: a socket's path has at most 108 letters
    folder.chmod(0o755)
    try:
        environment = started(folder, socket.gethostname().split(".")[0])
        deadline = time.monotonic() + START
        while "idle" not in ask(environment, "sinfo", "-h", "-o", "%T"):
            assert time.monotonic() < deadline, (folder / "slurmd.log").read_text()
            time.sleep(0.2)
        yield environment
        ask(environment, "scancel", "-u", "root")
    finally:
        stopped(folder)
        shutil.rmtree(folder, ignore_errors=True)


def ask(environment, *words):
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=START).stdout


STUDY = ("also=null", "chunk=500", "trials=20000", "mechanism.sampling=dense", "data.n=100", "sweep.k=[2000]")
STUDY += ("sweep.rho=[0.1]", "sweep.noise=[gaussian,laplace,truncated_laplace]")
SLURM = ("cluster=slurm", "cluster.interface=lo", "cluster.memory=512MB")


def start(folder, *words, **how):
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tcdp_sim", *STUDY, *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)


def finished(process):
    try:
        output, _ = process.communicate(timeout=RUN)
    except BaseException:
        process.kill()
        raise
    assert process.returncode == 0, output
    return output


def records(folder, name="histogram"):
    return sum(path.stat().st_size for path in (folder / "results" / name / "journal").glob("*.seg"))


def published(folder, name="histogram"):
    return tree_digest((folder / "results" / name / "results.zarr").resolve())


def numbers(environment, *words):
    return ask(environment, "squeue", "-h", "-o", "%A", *words).split()


def none_is_left(environment):
    deadline = time.monotonic() + START
    while left := numbers(environment):
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The published bytes of the same study, run in one process."""
    folder = tmp_path_factory.mktemp("serial")
    finished(start(folder, "cluster=serial"))
    return published(folder)


def until(condition, process):
    deadline = time.monotonic() + RUN
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_worker_cancelled_mid_run_changes_no_bit(slurm, local, tmp_path):
    process = start(tmp_path, *SLURM, "cluster.workers=2", env=slurm)
    until(lambda: records(tmp_path) > 0, process)
    until(lambda: len(numbers(slurm, "-t", "running")) == 2, process)
    process.send_signal(signal.SIGSTOP)  # the run shall not end in between
    here = [psutil.Process(process.pid), *workers(process)]
    listening = {c.laddr.ip for p in here for c in p.net_connections("inet") if c.status == "LISTEN"}
    cancelled = numbers(slurm)[0]
    ask(slurm, "scancel", cancelled)
    process.send_signal(signal.SIGCONT)
    output = finished(process)
    assert published(tmp_path) == local
    assert "jobs submitted: 2; waiting for the first worker" in output
    assert listening == {"127.0.0.1"}
    assert cancelled in numbers(slurm, "-t", "cancelled")
    none_is_left(slurm)


def workers(driver):
    """The workers' processes, of the jobs whose command names one of the driver's ports."""
    own = psutil.Process(driver.pid)
    ports = {str(c.laddr.port) for c in own.net_connections("inet") if c.status == "LISTEN"}
    found = []
    for one in psutil.process_iter(["cmdline"]):
        words = " ".join(one.info["cmdline"] or ())
        if "distributed.cli.dask_worker" in words and any(f":{port} " in words for port in ports):
            found += [one, *one.children(recursive=True)]
    assert found
    return found


@pytest.fixture
def spec(slurm, tmp_path, monkeypatch):
    """A spec for one worker, in this process; what leaves the queue is seen within a second."""
    monkeypatch.setenv("SLURM_CONF", slurm["SLURM_CONF"])
    monkeypatch.setattr(jobs, "PERIOD", 0.5)
    own = {"workers": 1, "memory": "512MB", "interface": "lo", "folder": str(tmp_path / "jobs")}
    return dict(clusters.groups.named("cluster", "slurm")) | own


@pytest.fixture
def napping(monkeypatch):
    """Tasks are seconds to sleep; what comes back: (the job they slept in, what the allocator keeps)."""

    def nap(seconds):  # defined in here, it travels by value
        time.sleep(seconds)
        return os.environ["SLURM_JOB_ID"], os.environ["MALLOC_TRIM_THRESHOLD_"]

    monkeypatch.setattr(schedule, "run", nap)


def test_the_only_job_cancelled_is_submitted_again(slurm, spec, napping):
    told = []
    with clusters.connect(spec, "strict", told.append) as executor:
        results = executor.results(iter([0.2] * 25))
        first, kept = next(results)
        ask(slurm, "scancel", first)
        later = [job for job, _ in results]
    assert len(later) == 24
    assert int(later[-1]) > int(first)
    assert kept == str(preload.KEEP_BYTES)
    assert told == [f"jobs submitted: 1; waiting for the first worker (logs in {spec['folder']})"]
    none_is_left(slurm)


def test_workers_retire_before_the_walltime_and_the_run_goes_on(slurm, spec, napping, monkeypatch):
    monkeypatch.setattr(queues, "lifetime", lambda walltime: (6, 1))
    with clusters.connect(spec | {"walltime": "1min"}) as executor:
        used = list(dict.fromkeys(job for job, _ in executor.results(iter([0.2] * 45))))
    assert len(used) >= 2
    assert set(used[:-1]) <= set(numbers(slurm, "-t", "completed"))  # by themselves: neither cancelled nor timed out


def test_a_job_that_slurm_refuses_is_one_line(spec):
    with (
        pytest.raises(UserError, match=r"^2 jobs ended before their worker came: .*invalid partition") as refused,
        clusters.connect(spec | {"queue": "nowhere"}),
    ):
        pass
    assert "\n" not in str(refused.value)


def test_jobs_that_end_at_once_are_one_line_with_what_their_log_says(spec, monkeypatch):
    monkeypatch.setattr(batch, "options", lambda spec, real=batch.options: real(spec) | {"python": "/no/such/python"})
    with (
        pytest.raises(UserError, match=r"^2 jobs ended before .*tcdp-sim-\d+\.err is: .*/no/such/python: No such file"),
        clusters.connect(spec),
    ):
        pass


def test_jobs_that_cannot_come_back_end_the_run_with_one_line(slurm, spec, napping, monkeypatch):
    """The first job works; then Slurm refuses new ones."""

    def run():
        with clusters.connect(spec) as executor:
            results = executor.results(iter([0.2] * 50))
            first, _ = next(results)
            monkeypatch.setenv("SBATCH_PARTITION", "nowhere")
            ask(slurm, "scancel", first)
            return list(results)

    with pytest.raises(UserError, match=r"^2 jobs ended before their worker came: .*invalid partition"):
        run()


def tasks(environment, state):
    """The tasks of arrays in a state, such as 12_3."""
    lines = ask(environment, "squeue", "-h", "-r", "-t", state, "-o", "%F_%K").split()
    return [line for line in lines if not line.endswith("_N/A")]


def submit(environment, folder, *parts):
    subprocess.run(
        ["sh", "job.sh", *parts], cwd=folder, env=environment, check=True, capture_output=True, timeout=START
    )


def end_of_finish(environment, folder):
    """The log of the latest job that finishes, once no job is left."""
    none_is_left(environment)
    return max((folder / "tcdp-sim-jobs").glob("*/finish.log"), key=lambda path: path.stat().st_mtime).read_text()


def test_an_array_of_parts_with_one_killed_and_one_lost(slurm, local, tmp_path):
    """The dependent job says which parts are missing; once they are submitted again, it publishes the serial bytes."""
    words = [sys.executable, "-m", "tcdp_sim", "script", "slurm", *STUDY, "parts=7"]
    printed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=RUN, check=True)
    (tmp_path / "job.sh").write_text(printed.stdout)
    submit(slurm, tmp_path)
    deadline = time.monotonic() + START
    while not (running := tasks(slurm, "running")):
        assert time.monotonic() < deadline, ask(slurm, "squeue")
        time.sleep(0.1)
    lost = tasks(slurm, "pending")[-1]
    ask(slurm, "scancel", lost)
    ask(slurm, "scancel", "--signal=KILL", running[0])
    missing = in_ranges(int(task.split("_")[1]) for task in (lost, running[0]))
    log = end_of_finish(slurm, tmp_path)
    assert f"missing parts: {missing} (2 of 7)\n" in log
    assert "chunks are missing" in log or "nothing is published" in log
    submit(slurm, tmp_path, missing)
    assert "3 of 3 cells whole" in end_of_finish(slurm, tmp_path)
    assert published(tmp_path) == local


FUNCTIONS = """
import time


def largest(rng, trials, n):
    time.sleep(0.2)
    return rng.random((trials, n)).max(axis=1)


def mean_of_largest(n):
    return n / (n + 1)
"""
SWEEP = ("sweep", "my_file.py:largest", "sweep.n=[1,4,9]", "trials=20000", "chunk=250", "exact.value=mean_of_largest")


def test_an_array_of_parts_of_a_sweep_with_one_killed_and_one_lost(slurm, tmp_path):
    """The exact values arrive too, although the job that finishes has no code."""
    (tmp_path / "my_file.py").write_text(FUNCTIONS)
    program = [sys.executable, "-m", "tcdp_sim"]
    here = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": RUN}
    printed = subprocess.run([*program, "script", "slurm", *SWEEP, "parts=6"], check=True, **here)
    (tmp_path / "job.sh").write_text(printed.stdout)
    submit(slurm, tmp_path)
    deadline = time.monotonic() + START
    while records(tmp_path, "largest") < 3000 or not (running := tasks(slurm, "running")):  # a head and some chunks
        assert time.monotonic() < deadline, ask(slurm, "squeue")
        time.sleep(0.05)
    lost = tasks(slurm, "pending")[-1]
    ask(slurm, "scancel", lost)
    ask(slurm, "scancel", "--signal=KILL", running[0])
    missing = in_ranges(int(task.split("_")[1]) for task in (lost, running[0]))
    log = end_of_finish(slurm, tmp_path)
    assert f"missing parts: {missing} (2 of 6)\n" in log
    assert "chunks are missing" in log or "nothing is published" in log
    status = subprocess.run([*program, "status", "results/largest"], check=True, **here).stdout
    number = running[0].split("_")[1]
    assert f"  begun and not done (at work, killed or out of time): {number}\n" in status
    assert f"  not begun: {lost.split('_')[1]}\n" in status
    (words,) = re.findall("`sh job.sh (.*)` submits them alone", status)
    assert words == missing
    submit(slurm, tmp_path, words)
    log = end_of_finish(slurm, tmp_path)
    assert "3 of 3 cells whole" in log
    assert "3 simulated numbers have an exact one beside them; none contradicts" in log
    alone = subprocess.run([*program, *SWEEP, "name=alone", "cluster=serial"], **here)
    assert alone.returncode == 0, alone.stderr
    assert published(tmp_path, "largest") == published(tmp_path, "alone")
