"""`tcdp-sim drop`: the chunks of one worker leave the journal, and the same command brings the same bits back."""

import json
import shutil
import socket
from types import SimpleNamespace

import pytest

from tcdp_sim.engine import simulate
from tcdp_sim.store import dropping, journal

CELL = ("sweep.k=10", "sweep.noise=gaussian", "sweep.omega_sqrt_rho=1")


@pytest.fixture(scope="module")
def ran_by_two(tmp_path_factory):
    """A place for a copy of the run `two`."""
    return tmp_path_factory.mktemp("two") / "histogram"


@pytest.fixture
def two(tiny, ran_by_two, monkeypatch, folder):
    """A run whose first three chunks come from this host, and three more from one that is called `elsewhere`."""
    if ran_by_two.exists():
        shutil.copytree(ran_by_two, folder, symlinks=True)
        return folder
    assert tiny(*CELL, "trials=3000", "chunk=1000")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(simulate, "socket", SimpleNamespace(gethostname=lambda: "elsewhere"))
        assert tiny(*CELL, "trials=6000", "chunk=1000")[0] == 0
    shutil.copytree(folder, ran_by_two, symlinks=True)
    return folder


def results(folder):
    return json.loads((folder / "certificate.json").read_text("utf-8"))["snapshot"]


def test_chunks_of_a_host_are_dropped_and_come_back_with_the_same_bits(two, tiny, command):
    there = dropping.chunks(two)
    assert sorted((name.partition(":")[0], count) for name, count in there.items()) == sorted(
        [("elsewhere", 3), (socket.gethostname(), 3)]
    )
    before = results(two)
    code, out, _ = command("drop", two, "worker=elsewhere")
    assert (code, out.splitlines()[0]) == (0, f"3 chunks of elsewhere are dropped from {two}, 3 are kept")
    assert "3 of 6 chunks" in command("status", two)[1]
    assert list(two.glob(".writing*")) == []
    code, out, _ = tiny(*CELL, "trials=6000", "chunk=1000")
    assert code == 0
    assert "3 of 6 chunks to simulate" in out
    assert results(two) == before


def test_one_process_of_a_host_is_dropped(two, command):
    (name,) = (name for name in dropping.chunks(two) if not name.startswith("elsewhere"))
    assert command("drop", two, f"worker={name}")[0] == 0
    assert {name.partition(":")[0] for name in dropping.chunks(two)} == {"elsewhere"}


def test_workers_are_unknown_behind_damage_and_are_kept(two, command):
    """A flipped bit in the record that names the worker: its chunks stay until `unknown` is asked for."""
    (path,) = (path for path in (two / "journal").glob("*.seg") if b"elsewhere" in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"Welsewhere", b"Wilsewhere"))
    code, _, err = command("drop", two, "worker=elsewhere")
    assert (code, err.count("\n")) == (2, 1)
    assert "no chunk of" in err
    assert "unknown (3 chunks)" in err
    assert command("drop", two, "worker=unknown")[0] == 0
    assert sum(dropping.chunks(two).values()) == 3


def test_what_is_kept_is_whole(two, command):
    """Heads, and the records of the other worker, stay byte for byte."""

    def kept(kind):
        return [payload for _, _, payload in journal.read(two / "journal") if payload[:1] == kind]

    heads, chunks = kept(b"H"), kept(b"C")
    command("drop", two, "worker=elsewhere")
    assert kept(b"H") == heads
    assert len(kept(b"C")) == 3
    assert set(kept(b"C")) < set(chunks)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "drop takes worker=HOST or HOST:PID; its workers: "),
        (("worker=nobody",), "is of the worker nobody; its workers: "),
        (("worker=",), "drop takes worker=HOST or HOST:PID"),
        (("cell=1",), "'cell' is not a key of this command"),
    ],
)
def test_mistakes_are_one_line(two, command, words, said):
    code, _, err = command("drop", two, *words)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert sum(dropping.chunks(two).values()) == 6


@pytest.mark.slow
def test_processes_of_a_real_cluster(tiny, folder, command):
    words = (*CELL, "trials=20_000", "chunk=500", "cluster=local", "cluster.workers=2")
    assert tiny(*words)[0] == 0
    before, there = results(folder), dropping.chunks(folder)
    assert len(there) == 2
    assert command("drop", folder, f"worker={min(there)}")[0] == 0
    assert sum(dropping.chunks(folder).values()) == there[max(there)]
    assert tiny(*words)[0] == 0
    assert results(folder) == before
