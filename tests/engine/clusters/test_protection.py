"""Who can connect to a run, and read its files: nobody but the user whose run it is. As another user, for real."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import psutil
import pytest

import tcdp_sim
from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.clusters import protection
from tcdp_sim.study.groups import named

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

# Everything is imported before the user is changed, since files of this installation may be closed to others.
STRANGER = """
    import http.client, json, os, socket, ssl, sys, warnings
    import cryptography.x509, distributed.http
    from distributed import Client
    from tcdp_sim.engine.clusters import protection

    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    os.setgroups([]), os.setgid(job["uid"]), os.setuid(job["uid"])
    assert os.getresuid() == (job["uid"],) * 3
    done = []

    def attempt(what, act):
        try:
            found = act()
        except (OSError, EOFError, ValueError, http.client.HTTPException, RuntimeError, MemoryError):
            return
        if found:
            done.append([what, str(found)])

    def submit(port, protocol, security):
        with Client(f"{protocol}://127.0.0.1:{port}", timeout=job["patience"], security=security) as client:
            return client.submit(os.getuid, pure=False).result(timeout=10 * job["patience"]) == job["victim"] and "ran"

    def hello(port, context):
        with socket.create_connection(("127.0.0.1", port), job["patience"]) as one, context.wrap_socket(one) as wrapped:
            return wrapped.recv(1)  # a server of Dask's speaks first

    web = set()

    def page(port, path):
        one = http.client.HTTPConnection("127.0.0.1", port, timeout=job["patience"])
        one.request("GET", path)
        answer = one.getresponse()
        web.add(port)
        text = answer.read()
        return answer.status != 404 and text != b'{"paths": ["/sitemap.json"]}' and path

    anybody = ssl._create_unverified_context()
    own = protection.mutual(*protection.certificate())  # of the same name, with another key
    for port in job["ports"]:
        for path in job["pages"]:
            attempt("page", lambda: page(port, path))
        if port not in web:  # of which the others would wait for an answer
            attempt("hello", lambda: hello(port, anybody))
            for protocol in job["protocols"]:
                attempt("submit", lambda: submit(port, protocol, own if protocol == "tls" else None))
    for path in job["private"]:
        attempt("list", lambda: os.path.isdir(path) and os.listdir(path) is not None and path)
        attempt("read", lambda: open(path, "rb").read(1))
        attempt("enter", lambda: os.stat(os.path.join(path, ".")) and path)
    for path in job["modules"]:
        attempt("plant", lambda: os.access(path, os.W_OK) and path)
    for pid in job["pids"]:
        for name in ("environ", "mem", "maps"):
            attempt(name, lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
        attempt("command", lambda: "PRIVATE" in open(f"/proc/{pid}/cmdline").read() and "a key")
    print(json.dumps(done))
"""
PAGES = ["/", "/status", "/health", "/metrics", "/info/main/workers.html", "/json/counts.json", "/sitemap.json"]


def family():
    return [psutil.Process(), *psutil.Process().children(recursive=True)]


def listening():
    """(address, port) of all that this process and those below it listen to."""
    own = [c for p in family() for c in p.net_connections("inet") if c.status == "LISTEN"]
    return {(c.laddr.ip, c.laddr.port) for c in own}


def stranger(**job):
    """What another user of this machine has managed to do, as (what, detail)."""
    job = {"uid": NOBODY, "victim": os.getuid(), "patience": 3, "pages": PAGES, "protocols": ["tcp", "tls"]} | job
    job = {"private": [], "modules": [], "pids": []} | job
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STRANGER)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=300,
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(Path(tcdp_sim.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    return {tuple(one) for one in json.loads(done.stdout)}


@pytest.fixture
def shared(monkeypatch):
    """A folder for temporary files as /tmp is: all may write in it, and each file belongs to who made it."""
    with tempfile.TemporaryDirectory(prefix="shared-") as folder:
        os.chmod(folder, 0o1777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@as_root
def test_another_user_of_this_machine_gets_nowhere(shared):
    """He connects to every port, with and without a certificate, asks for pages, and tries files and modules."""
    with clusters.connect({"name": "local", "workers": 1}) as executor:
        everywhere = listening()
        (theirs,) = executor._client.run(lambda: sys.path).values()
        (folder,) = shared.iterdir()
        done = stranger(
            ports=sorted(port for _, port in everywhere),
            private=[str(folder), *map(str, folder.rglob("*"))],
            modules=[path for path in {*sys.path, *theirs} if path and not path.endswith(".zip")],
            pids=[one.pid for one in family()],
        )
    assert len(everywhere) >= 5  # scheduler, worker, nanny, and the two that would have pages
    assert {address for address, _ in everywhere} == {"127.0.0.1"}
    assert done == set()


@as_root
def test_the_same_attempts_succeed_where_nothing_is_protected(shared):
    """So the test above can fail: a plain cluster of Dask's lets the stranger run code as its user."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        ports = [int(cluster.scheduler.address.rpartition(":")[2]), cluster.scheduler.http_server.port]
        (shared / "file").write_text("x")
        private = [str(shared), str(shared / "file")]
        tried = {"private": private, "modules": [str(shared)], "protocols": ["tcp"]}  # by tls he would wait in vain
        done = stranger(ports=ports, patience=60, **tried)
    assert {("list", str(shared)), ("enter", str(shared)), ("read", "b'x'"), ("plant", str(shared))} <= done
    assert ("submit", "ran") in done
    assert ("page", "/health") in done
    assert ("page", "/info/main/workers.html") in done


@as_root
def test_modules_that_another_user_has_planted_are_not_found(shared):
    """Dask puts its folder for files on sys.path; the one that all share is writable for whoever came first."""
    planted = shared / "dask-scratch-space"
    planted.mkdir()
    (planted / "planted_module.py").write_text("")
    for one in (planted, planted / "planted_module.py"):
        os.chown(one, NOBODY, NOBODY)
    planted.chmod(0o777)
    before = list(sys.path)
    with clusters.connect({"name": "local", "workers": 1}) as executor:
        assert sys.path != before
        with pytest.raises(ImportError):
            __import__("planted_module")
        (theirs,) = executor._client.run(lambda: sys.path).values()
        assert str(planted) not in theirs
    assert list(shared.iterdir()) == [planted]  # our own is gone, and not looked for any more
    assert sys.path == before


def test_the_folder_is_the_owners_alone_and_gone_at_the_end():
    before = list(sys.path)
    with protection.scratch() as folder:
        sys.path.insert(0, f"{folder}/dask-scratch-space")
        sys.path.append(f"{folder}/dask-scratch-space/scheduler-x")
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert not Path(folder).exists()
    assert sys.path == before


def test_key_files_are_the_owners_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        cert, key = protection.written("a certificate", "a key", tmp_path)
    finally:
        os.umask(before)
    for path, text in ((cert, "a certificate"), (key, "a key")):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert Path(path).read_text() == text


def test_every_run_has_a_certificate_of_its_own_that_clocks_a_bit_off_accept():
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    (one, key), (other, _) = protection.certificate(), protection.certificate()
    assert one != other
    read = x509.load_pem_x509_certificate(one.encode())
    read.verify_directly_issued_by(read)
    assert load_pem_private_key(key.encode(), None).public_key() == read.public_key()
    now = datetime.datetime.now(datetime.UTC)
    assert read.not_valid_before_utc < now - datetime.timedelta(hours=12)
    assert read.not_valid_after_utc > now + datetime.timedelta(days=366)


def test_no_task_goes_to_disk_and_there_are_no_pages():
    found = protection.settings({"dashboard": False}, "/x")
    assert found["distributed.worker.memory.spill"] is found["distributed.worker.memory.target"] is False
    assert found["distributed.scheduler.http.routes"] == found["distributed.worker.http.routes"] == []
    assert found["temporary-directory"] == "/x"
    assert "distributed.scheduler.http.routes" not in protection.settings({"dashboard": True})


@pytest.mark.parametrize("wanted", [False, True])
def test_the_dashboard_is_there_when_asked_for_and_said_to_be_open(wanted):
    from urllib.error import HTTPError
    from urllib.request import urlopen

    told = []
    spec = dict(named("cluster", "local")) | {"workers": 1, "dashboard": wanted}
    with clusters.connect(spec, "warn", told.append) as executor:
        ports = [port for address, port in listening() if address == "127.0.0.1"]
        assert len(ports) == len(listening())
        found = executor._client.dashboard_link
        status = 200
        try:
            urlopen(found.replace("/status", "/health"), timeout=30).close()
        except HTTPError as refused:
            with refused:
                status = refused.code
    assert status == (200 if wanted else 404)
    assert executor.dashboard == (found if wanted else "")
    assert told == ([protection.WATCHED] if wanted else [])


def test_serial_listens_on_nothing():
    before = listening()
    with clusters.connect({"name": "serial"}) as executor:
        assert listening() == before
    assert isinstance(executor, schedule.SerialExecutor)
