"""cluster=scheduler: a real `dask scheduler` with two `dask worker` processes, over TLS with certificates made here."""

import gc
import shutil
import socket
import subprocess
import sys
import time

import pytest
from distributed import Client

from tcdp_sim.core import log as runlog
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.clusters import agreement, scheduler
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.run_folder import RunWriter
from tcdp_sim.study.groups import named

START = 120  # seconds, generous: others may use the machine
STUDY = ("trials=1500", "chunk=500", "sweep.k=[10,1e9]", "sweep.rho=[0.1]", "sweep.noise=gaussian", "also=null")

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="the certificates are made by openssl")


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=START)


def certificates(folder, name):
    """An authority, and a certificate that it signed, as docs/howto/clusters.md says; cluster keys that name them."""
    folder.mkdir()
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(
        folder, *("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", f"/CN={name}")
    )
    openssl(folder, *("req", *curve, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=tcdp-sim"))
    signed = ("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
    openssl(folder, *signed, "-days", "2", "-out", "cert.pem")
    return {
        f"tls_{key}": str(folder / f"{file}.pem") for key, file in {"ca": "ca", "cert": "cert", "key": "key"}.items()
    }


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Processes:
    """A scheduler and two workers over TLS on one port; `words` is what to write after cluster."""

    def __init__(self, folder):
        self.folder, self.files = folder, certificates(folder / "tls", "authority")
        self.words = {"address": f"tls://127.0.0.1:{free_port()}", **self.files}
        self.started = []

    def start(self):
        """The scheduler first: it is the first of `started`."""
        address = self.words["address"]
        host, _, port = address.rpartition(":")
        keys = {key: f"--{key.replace('_', '-').replace('ca', 'ca-file')}" for key in self.files}
        common = ["--dashboard-address", "127.0.0.1:0", *(f"{keys[key]}={path}" for key, path in self.files.items())]
        worker = ["dask_worker", address, "--nthreads", "1", "--host", "127.0.0.1", *common]
        commands = (["dask_scheduler", "--host", host, "--port", port, *common], worker, worker)
        with (self.folder / "log").open("a") as log:
            for name, *words in commands:
                command = [sys.executable, "-m", f"distributed.cli.{name}", *words]
                self.started.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))

    def end(self):
        for one in reversed(self.started):
            one.terminate()
        for one in self.started:
            one.wait(START)
        self.started.clear()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """What to write after cluster.: the address of a scheduler with two workers, and the paths for TLS."""
    processes = Processes(tmp_path_factory.mktemp("scheduler"))
    try:
        processes.start()
        with clusters.connect(spec(processes.words)):
            pass  # both workers have come: no test below depends on how soon
        yield processes.words
    finally:
        processes.end()


def spec(cluster, **own):
    return dict(named("cluster", "scheduler")) | cluster | {"workers": 2, "wait": START} | own


@pytest.mark.slow
def test_the_published_bytes_are_those_of_one_process(cluster, command, folder):
    words = [f"cluster.{key}={value}" for key, value in spec(cluster).items() if key != "name"]
    code, out, err = command(*STUDY, "cluster=serial", "name=alone")
    assert (code, err) == (0, "")
    code, out, err = command(*STUDY, "cluster=scheduler", *words)
    assert (code, err) == (0, ""), out
    assert tree_digest((folder / "results.zarr").resolve()) == tree_digest(
        (folder.parent / "alone/results.zarr").resolve()
    )


@pytest.mark.slow
def test_a_scheduler_that_dies_and_comes_back_changes_no_byte(command, folder, tmp_path, monkeypatch):
    (tmp_path / "dies").mkdir()
    processes = Processes(tmp_path / "dies")
    words = [f"cluster.{key}={value}" for key, value in spec(processes.words).items() if key != "name"]
    records = []

    def extend(writer, chunks, worker, kept=RunWriter.extend):
        chunks = list(chunks)
        kept(writer, chunks, worker)
        before = len(records)
        records.extend(chunks)
        if before < 2 <= len(records):
            processes.started[0].kill()

    code, out, err = command(*STUDY, "cluster=serial", "name=alone")
    assert (code, err) == (0, "")
    try:
        processes.start()
        monkeypatch.setattr(RunWriter, "extend", extend)
        code, out, err = command(*STUDY, "trials=20000", "cluster=scheduler", *words)
        assert code == 2
        told = err.splitlines()[-1]  # before it there may be one that waits for the scheduler, and the progress
        assert told.startswith("tcdp-sim: the connection to the workers was lost; finished chunks are kept: the same")
        assert "once scheduler and workers are started again" in told
        assert "Traceback" not in out + err
        assert 2 <= len(records) < 80
        processes.end()
        processes.start()
        code, out, err = command(*STUDY, "cluster=scheduler", *words)
        assert code == 0, out + err
    finally:
        processes.end()
    assert tree_digest((folder / "results.zarr").resolve()) == tree_digest(
        (folder.parent / "alone/results.zarr").resolve()
    )


def test_both_workers_are_used_and_stay_when_the_run_ends(cluster):
    for _ in range(2):
        with clusters.connect(spec(cluster, workers=None)) as executor:
            assert executor.workers == 2


def test_a_plan_asks_how_many_workers_there_are(cluster, command):
    words = [f"cluster.{key}={value}" for key, value in cluster.items()]
    code, out, err = command("plan", *STUDY, "cluster=scheduler", *words)
    assert (code, err) == (0, "")
    assert " on 2 workers, in" in out.replace("\n", " ")
    code, out, err = command("plan", *STUDY, "cluster=scheduler", "cluster.workers=3", *words)
    assert (code, err) == (0, "")
    assert f"2 of 3 workers are at {cluster['address']} now" in out.replace("\n", " ")
    assert " on 3 workers, in" in out.replace("\n", " ")


def test_a_plan_without_an_answer_says_so(command):
    address = f"127.0.0.1:{free_port()}"
    words = (f"cluster.address={address}", "cluster.wait=1")
    code, out, err = command("plan", *STUDY, "cluster=scheduler", *words)
    assert (code, err) == (0, "")
    assert f"warning: cluster.address = {address} gives no connection (" in out
    assert "); so the forecast is for 1 workers" in out.replace("\n", " ")
    assert " on 1 workers, in" in out.replace("\n", " ")


def test_workers_that_come_and_go_are_in_the_runs_log(cluster, tmp_path):
    """Those that are there, one more, and that it leaves."""
    tls = [f"--{key.replace('_', '-').replace('ca', 'ca-file')}={cluster[key]}" for key in cluster if key != "address"]
    words = [cluster["address"], "--nthreads", "1", "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", *tls]
    said = tmp_path / runlog.NAME

    def until(*wanted):
        deadline = time.monotonic() + START
        while not all(line in said.read_text() for line in wanted):
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.1)

    with runlog.kept(tmp_path), clusters.connect(spec(cluster)):
        until("worker tls://127.0.0.1:", "has come; there are 1", "has come; there are 2")
        one = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", *words], cwd=tmp_path)
        try:
            until("has come; there are 3")
        finally:
            one.terminate()
            one.wait(START)
        until("has gone; there are 2")


def test_workers_that_do_not_come_are_one_line(cluster):
    told = r"^2 of 3 workers are at tls://127\.0\.0\.1:\d+ after 2 s; start more with: dask worker tls://"
    with (
        clusters.connect(spec(cluster)),
        pytest.raises(UserError, match=told),
        clusters.connect(spec(cluster, workers=3, wait=2)),
    ):
        pass


@pytest.mark.parametrize("how", ["stranger's certificate", "no TLS"])
def test_who_has_no_certificate_is_refused_in_one_line(cluster, how, tmp_path):
    with clusters.connect(spec(cluster)):
        pass  # it is there
    own = certificates(tmp_path / "tls", "stranger")
    if how == "no TLS":
        own = dict.fromkeys(own) | {"address": cluster["address"].replace("tls", "tcp")}
    with (
        pytest.raises(UserError, match=r"^cluster\.address = t..://127.* gives no connection \(.+\)$"),
        clusters.connect(spec(cluster, wait=5, **own)),
    ):
        pass


def test_a_scheduler_killed_mid_run_is_one_line(tmp_path, monkeypatch):
    port = free_port()
    dashboard = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    commands = (["dask_scheduler", "--port", port], ["dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1"])
    commands = [
        [sys.executable, "-m", f"distributed.cli.{name}", *map(str, rest), *dashboard] for name, *rest in commands
    ]
    with (tmp_path / "log").open("w") as log:
        scheduler, worker = (subprocess.Popen(words, cwd=tmp_path, stdout=log, stderr=log) for words in commands)

    def run():
        plain = dict(named("cluster", "scheduler")) | {"address": f"tcp://127.0.0.1:{port}", "wait": START}
        with clusters.connect(plain) as executor:
            results = executor.results(iter([0.2] * 1000))
            next(results)
            scheduler.kill()
            return list(results)

    monkeypatch.setattr(schedule, "run", time.sleep)
    try:
        with pytest.raises(UserError, match=r"^the connection to the workers was lost; finished chunks are kept"):
            run()
    finally:
        for one in (scheduler, worker):
            one.kill()
            one.wait(START)


def test_nobody_at_the_address_is_one_line():
    address = f"tcp://127.0.0.1:{free_port()}"
    with (
        pytest.raises(UserError, match=rf"^cluster\.address = {address} gives no connection \(.+\)$"),
        clusters.connect(dict(named("cluster", "scheduler")) | {"address": address, "wait": 2}),
    ):
        pass


def test_a_refused_connection_is_told_before_anything_is_imported(tmp_path):
    """Within a second: the first thing that is done, and a refusal comes at once."""
    told, address = [], f"tcp://127.0.0.1:{free_port()}"
    spec = dict(named("cluster", "scheduler")) | {"address": address, "wait": 1}
    with pytest.raises(UserError, match="gives no connection"):
        scheduler.present(spec, told.append)
    assert told[0] == f"{address} refuses the connection; waiting for a scheduler there up to 1 s"
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert not scheduler._refuses("127.0.0.1", other.getsockname()[1])
    assert not scheduler._refuses("no.such.host.invalid", 1)


class Pretending:
    """A real cluster's answers, some of them changed: (worker or "scheduler", package or function) -> what it says."""

    def __init__(self, client, changed):
        self._client, self._changed = client, changed

    def get_versions(self, packages):
        found = self._client.get_versions(packages=packages)
        everybody = {"scheduler": found["scheduler"], **dict(zip("ab", found["workers"].values()))}
        for (who, what), value in self._changed.items():
            if what in everybody[who]["packages"]:
                everybody[who]["packages"][what] = value
        return found | {"workers": {name: everybody[name] for name in "ab"}}

    def run(self, function, workers=None):
        found = dict(zip("ab", self._client.run(function).values()))
        return {name: self._changed.get((name, function.__name__), found[name]) for name in workers or "ab"}


@pytest.fixture
def agree(cluster, monkeypatch):
    """agree(changed answers, strict) -> the lines that are told, or UserError."""
    with clusters.connect(spec(cluster)) as executor:

        def asked(changed, strict=False):
            told = []
            agreement.check(Pretending(executor._client, changed), strict, told.append)
            return told

        yield asked


def test_what_is_the_same_everywhere_is_not_worth_a_line(agree):
    assert agree({}) == agree({}, strict=True) == []
    assert agree({("scheduler", "tcdp_sim"): None, ("scheduler", "numpy"): None}) == []  # a scheduler needs neither


@pytest.mark.parametrize("package", agreement.RESULTS)
@pytest.mark.parametrize("version", [None, "0.0.1"])
def test_versions_that_give_other_numbers_are_refused(agree, package, version):
    told = (
        rf"^worker b has {package} {version or '.none.'}, this machine \d.*; install the same versions everywhere: .*$"
    )
    with pytest.raises(UserError, match=told):
        agree({("b", package): version})
    with pytest.raises(UserError, match=r"^worker a has .* \(and 1 more\); install"):
        agree({("a", package): version, ("b", package): version})


@pytest.mark.parametrize("who", ["scheduler", "a"])
def test_versions_of_what_only_carries_messages_are_a_warning(agree, who):
    (line,) = agree({(who, "distributed"): "2020.1.0"})
    assert line.startswith(
        f"warning: {'the ' if who == 'scheduler' else 'worker '}{who} has distributed 2020.1.0, this"
    )


@pytest.mark.slow
def test_elementary_functions_that_differ_are_a_warning_or_refused(agree):
    changed = {("a", "fingerprint"): "other", ("b", "fingerprint"): "another"}
    (line,) = agree(changed)
    assert line.startswith("warning: worker a and 1 more: elementary functions differ from this machine's in the last")
    with pytest.raises(UserError, match=r"^worker a and 1 more: elementary functions .*; numerics=warn accepts that$"):
        agree(changed, strict=True)


@pytest.mark.slow
def test_another_random_stream_is_refused(agree):
    with pytest.raises(UserError, match=r"^worker b: the random generator gives another stream than here"):
        agree({("b", "fingerprint"): "other", ("b", "bit_stream"): "other"})


def test_a_client_that_found_nobody_is_closed_at_once():
    """While the error is still known. Garbage may be collected in a start of distributed, which would then wait."""
    before = sum(type(one) is Client for one in gc.get_objects())
    spec = dict(named("cluster", "scheduler")) | {"address": f"tcp://127.0.0.1:{free_port()}", "wait": 1}
    with pytest.raises(UserError, match="gives no connection") as caught, clusters.connect(spec):
        pass
    assert caught.value.__context__ is not None
    assert sum(type(one) is Client for one in gc.get_objects()) <= before
