"""A run's folder: what survives damage, and that the snapshot is a function of plan and journal."""

import hashlib
import json
import os
import random
import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import durable, journal
from tcdp_sim.store.digests import intact, tree_digest
from tcdp_sim.store.run_folder import HALF, Run
from tcdp_sim.summaries.encoding import from_bytes, to_bytes
from tcdp_sim.summaries.problems import WARNING, Problem
from tcdp_sim.summaries.summary import summarise

IDENTITY = {"experiment": "histogram", "seed": "1", "chunk": 100}
CELLS = ("a" * 64, "b" * 64)


def record(cell, chunk):
    x = np.random.default_rng([chunk, len(cell)]).standard_normal(100)
    return to_bytes(summarise(cell, chunk, 100, {"x": x, "e": x > 0}, {"x": {"one": 1.0}}))


def filled(folder, chunks=5):
    run = Run(folder, IDENTITY)
    with run.writer({"who": "test"}) as writer:
        for cell in CELLS:
            for chunk in range(chunks):
                writer.append(cell, chunk, record(cell, chunk))
    return run


def contents(summary):
    return to_bytes(summary)


def test_what_was_appended_is_there_at_once_and_after_reopening(tmp_path):
    run = filled(tmp_path / "r")
    again = Run(tmp_path / "r", IDENTITY)
    for store in (run, again):
        assert store.has(CELLS[0], 4)
        assert not store.has(CELLS[0], 5)
        assert contents(store.summary(CELLS[1], [3])) == record(CELLS[1], 3)
    assert contents(run.summary(CELLS[0], range(5))) == contents(again.summary(CELLS[0], range(5)))


def test_chunks_appended_together_have_the_bytes_of_each_alone(tmp_path, monkeypatch):
    """With problems before their chunk, chunks that ended with an error, and more than is written at once."""
    problems = [Problem(CELLS[0], chunk, WARNING, f"warning {chunk}", "here") for chunk in range(3)]
    monkeypatch.setattr("tcdp_sim.store.run_folder.BYTES", 1000)
    together, alone = (Run(tmp_path / name, IDENTITY) for name in ("together", "alone"))
    with together.writer({"who": "test"}) as writer:
        chunks = [(CELLS[0], chunk, None if chunk == 1 else record(CELLS[0], chunk)) for chunk in range(3)]
        writer.extend([(*each, (problem,)) for each, problem in zip(chunks, problems)])
        writer.extend([])
    with alone.writer({"who": "test"}) as writer:
        for (cell, chunk, summary), problem in zip(chunks, problems):
            writer.note(problem)
            if summary is not None:
                writer.append(cell, chunk, summary)
    each = [[payload for _, _, payload in journal.read(run.folder / "journal")] for run in (together, alone)]
    assert each[0] == each[1]
    assert [payload[:1] for payload in each[0]] == [b"H", b"P", b"C", b"P", b"P", b"C"]
    assert together.problems == alone.problems
    assert together.done == alone.done == [(CELLS[0], 0), (CELLS[0], 2)]


def test_what_comes_before_a_chunk_that_does_not_fit_is_kept(tmp_path):
    run = filled(tmp_path / "r", chunks=1).again()
    other = to_bytes(summarise(CELLS[0], 1, 100, {"y": np.zeros(100)}, {}))
    with (
        run.writer({"who": "test"}) as writer,
        pytest.raises(UserError, match="has other observables"),
    ):
        writer.extend([(CELLS[1], 1, record(CELLS[1], 1), ()), (CELLS[0], 1, other, ()), (CELLS[1], 2, b"", ())])
    assert set(run.again().done) == {(CELLS[0], 0), (CELLS[1], 0), (CELLS[1], 1)}


def test_records_come_in_the_order_in_which_they_are_asked_for(tmp_path, monkeypatch):
    run = filled(tmp_path / "r")
    keys = [(cell, chunk) for chunk in (3, 0, 4, 1, 2) for cell in CELLS]
    expected = [record(*key) for key in keys]
    assert run.records(keys) == expected
    for most in (1, 700, 1 << 20):
        monkeypatch.setattr("tcdp_sim.store.run_folder.BYTES", most)
        assert list(run.each_record(iter(keys))) == expected
    with pytest.raises(KeyError):
        run.records([(CELLS[0], 5)])


def test_summaries_of_cells_lack_those_that_lack_a_chunk(tmp_path):
    run = filled(tmp_path / "r")
    found = run.summaries(CELLS, [range(5), range(6)], None)
    assert (contents(found[0]), found[1]) == (contents(run.summary(CELLS[0], range(5))), None)
    alone = run.summaries(CELLS, [range(1), range(1)], (["x"], ["e"]))  # with thresholds
    assert [contents(one) for one in alone] == [record(cell, 0) for cell in CELLS]


def test_the_first_of_two_equal_records_is_enough(tmp_path):
    filled(tmp_path / "r")
    run = filled(tmp_path / "r")
    assert run.summary(CELLS[0], range(5)).trials == 500


@pytest.mark.parametrize("key", sorted(IDENTITY))
def test_a_folder_of_another_run_is_refused(tmp_path, key):
    filled(tmp_path / "r")
    with pytest.raises(UserError, match=f"belongs to another run .*{key}"):
        Run(tmp_path / "r", IDENTITY | {key: "other"})


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match=r"not empty and not a run's folder"):
        Run(tmp_path, IDENTITY)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


UNREADABLE = ["5", "[]", "null", '"a"', "", "{", "\0\0\0", "[" * 100_000]


@pytest.mark.parametrize("content", UNREADABLE)
def test_an_unreadable_identity_without_a_record_is_a_new_run(tmp_path, content):
    """What a power failure may leave of a run that has just begun."""
    folder = tmp_path / "r"
    Run(folder, IDENTITY | {"seed": "another"})
    (folder / "run.json").write_text(content)
    (folder / "lock").touch()
    (folder / "run.log").write_text("begun")
    (folder / "journal").mkdir()
    (folder / "journal" / "x.seg").write_bytes(b"\0" * 100)
    run = Run(folder, IDENTITY)
    assert run.mended == ["run.json was damaged and nothing was recorded yet: the run begins anew"]
    assert json.loads((folder / "run.json").read_text()) == IDENTITY
    assert Run(folder, IDENTITY).mended == []


def test_a_run_that_lost_its_identity_before_its_first_record_begins_anew(tmp_path):
    (tmp_path / "lock").touch()
    (tmp_path / "journal").mkdir()
    assert not Run(tmp_path, IDENTITY).has(CELLS[0], 0)
    assert json.loads((tmp_path / "run.json").read_text()) == IDENTITY


@pytest.mark.parametrize("content", UNREADABLE)
@pytest.mark.parametrize("beside", ["snapshots/x", "thesis.tex", "journal/paper.pdf", ".git/config"])
def test_an_unreadable_identity_beside_anything_else_is_named(tmp_path, content, beside):
    path = tmp_path / beside
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(UserError, match=r"run\.json (is not JSON|holds no keys and values); restore it"):
        Run(tmp_path, IDENTITY)
    assert path.read_text() == "mine"
    assert (tmp_path / "run.json").read_text() == content


def test_an_unreadable_identity_beside_records_without_a_head_is_named(tmp_path):
    with journal.Writer(tmp_path / "r" / "journal") as writer:
        writer.append(b"C" + record(CELLS[0], 0))
    (tmp_path / "r" / "run.json").write_text("{")
    with pytest.raises(UserError, match=r"run\.json is not JSON; restore it"):
        Run(tmp_path / "r", IDENTITY)


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b'{"seed": "1"}', b'{"chunk": 100, "seed": "3"}', None])
def test_a_damaged_identity_is_restored_from_the_journal(tmp_path, content):
    filled(tmp_path / "r")
    path = tmp_path / "r" / "run.json"
    whole = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    run = Run(tmp_path / "r", IDENTITY)
    assert run.mended == ["run.json was damaged or lost; it is restored from the journal"]
    assert run.has(CELLS[0], 4)
    assert path.read_bytes() == whole
    assert Run(tmp_path / "r", IDENTITY).mended == []


def test_damage_does_not_hand_a_run_to_another_study(tmp_path):
    """A flipped digit makes run.json that of a study with another seed, whose records these are not."""
    filled(tmp_path / "r")
    other = IDENTITY | {"seed": "3"}
    (tmp_path / "r" / "run.json").write_text(json.dumps(other))
    with pytest.raises(UserError, match=r"run\.json is damaged: it contradicts the journal beside it"):
        Run(tmp_path / "r", other)
    assert Run(tmp_path / "r", IDENTITY).mended


def test_a_folder_that_was_never_finished_is_taken(tmp_path):
    (tmp_path / ".run-77").write_text("{")
    assert not Run(tmp_path, IDENTITY).has(CELLS[0], 0)


@pytest.mark.parametrize("payload", [b"C", b"Cgarbage", b"C\x02\0\0\0[]", b"C\x02\0\0\0{}", b"C\x01\0\0\0\xff"])
def test_a_whole_record_of_something_else_counts_as_damaged(tmp_path, payload):
    filled(tmp_path / "r")
    with journal.Writer(tmp_path / "r" / "journal") as writer:
        writer.append(payload)
    run = Run(tmp_path / "r", IDENTITY)
    assert run.damaged == {writer.path.name: 1}
    assert all(run.has(cell, chunk) for cell in CELLS for chunk in range(5))


@pytest.mark.parametrize("broken", ["zarr.json", "x/c/0"])
def test_a_damaged_snapshot_is_replaced(tmp_path, broken):
    run = filled(tmp_path / "r")
    first = run.publish([dataset(1)]).resolve()
    (first / broken).write_bytes(b"")
    assert not intact(first, {first.name})
    assert run.publish([dataset(1)]).resolve() == first
    assert intact(first, {first.name})


def test_damage_costs_only_the_damaged_chunks(tmp_path):
    clean = filled(tmp_path / "r")
    whole = {(c, i): contents(clean.summary(c, [i])) for c in CELLS for i in range(5)}
    (segment,) = (tmp_path / "r" / "journal").iterdir()
    data = segment.read_bytes()
    rng = random.Random(3)
    for _ in range(100):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        segment.write_bytes(damaged)
        run = Run(tmp_path / "r", IDENTITY)
        kept = [key for key in whole if run.has(*key)]
        assert len(kept) >= len(whole) - 1
        assert sum(run.damaged.values()) >= 1
        assert all(contents(run.summary(cell, [chunk])) == whole[cell, chunk] for cell, chunk in kept)


def dataset(value):
    return xr.Dataset({"x": ("cell", np.full(3, float(value))), "s": ("cell", np.array(["a", "", "c"], dtype=object))})


def test_equal_datasets_give_equal_bytes_and_the_link_moves(tmp_path):
    run = filled(tmp_path / "r")
    first = run.publish([dataset(1)]).resolve()
    assert run.publish([dataset(1)]).resolve() == first
    assert first.name == tree_digest(first)[:32]
    second = run.publish([dataset(2)]).resolve()
    assert second != first
    assert float(xr.open_zarr(tmp_path / "r" / "results.zarr", consolidated=False)["x"][0]) == 2
    assert first.exists()  # a reader may still have it open
    run.publish([dataset(3)])
    assert not first.exists()


def test_files_that_have_changed_places_are_noticed(tmp_path):
    """The same bytes under other names are other numbers."""
    names = {"a": b"x", "b/c": b"y", "b/d": b""}
    digests = set()
    for i, order in enumerate(permutations(names)):
        for name, data in zip(order, names.values()):
            path = tmp_path / f"{i}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        digests.add(tree_digest(tmp_path / f"{i}"))
    assert len(digests) == 6
    expected = hashlib.blake2b(b"a\x001\0x" + b"b/c\x001\0y" + b"b/d\x000\0", digest_size=32)
    assert tree_digest(tmp_path / "0") == expected.hexdigest()


def test_a_flipped_bit_in_a_published_array_is_noticed(tmp_path):
    path = filled(tmp_path / "r").publish([xr.Dataset({"x": ("cell", np.arange(1000.0))})]).resolve()
    (chunk,) = (p for p in path.rglob("*") if p.is_file() and p.name != "zarr.json")
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    with pytest.raises(RuntimeError, match=r"(?i)decompress|checksum|corrupt"):
        xr.open_zarr(path, consolidated=False)["x"].load()


def test_what_a_killed_driver_left_half_done_is_swept_by_the_next(tmp_path):
    run = filled(tmp_path / "r")
    first = run.publish([dataset(1)]).resolve()
    left = [run.folder / name for name in (".link-7", ".provenance-8", ".certificate-9")]
    left[0].symlink_to("snapshots/none", target_is_directory=True)
    for path in left[1:]:
        path.write_text("{")
    (run.folder / "snapshots" / ".writing-7").mkdir()
    with run.lock():
        second = run.publish([dataset(2)]).resolve()
    assert not any(path.is_symlink() or path.exists() for path in left)
    assert {path.name for path in (run.folder / "snapshots").iterdir()} == {first.name, second.name}


def test_a_half_written_tree_is_swept_also_when_nothing_new_is_published(tmp_path):
    run = filled(tmp_path / "r")
    first = run.publish([dataset(1)]).resolve()
    half = run.folder / "snapshots" / ".writing-host-7-ab"
    (half / "x").mkdir(parents=True)
    (half / "x" / "zarr.json").write_text("{")
    (run.folder / ".mine-too").mkdir()
    with run.lock():
        run.publish([dataset(1)])
    assert [path.name for path in (run.folder / "snapshots").iterdir()] == [first.name]
    assert (run.folder / ".mine-too").is_dir()


@pytest.mark.parametrize("clock", [0, 4e9])
def test_what_was_published_stays_whatever_the_clock_says(tmp_path, clock):
    """Trees of an earlier time, or of a later one: the clock was set back, or the folder copied."""
    run = filled(tmp_path / "r")
    for value in (1, 2, 3, 4, 3, 4, 4):
        before = (run.folder / "results.zarr").resolve()
        for tree in (run.folder / "snapshots").glob("*"):
            os.utime(tree, (clock, clock))
        now = run.publish([dataset(value)]).resolve()
        assert intact(now, {now.name})
        assert value == 1 or intact(before, {before.name})
        assert len(list((run.folder / "snapshots").iterdir())) <= 2
        assert float(xr.open_zarr(now, consolidated=False)["x"][0]) == value


def test_a_link_that_was_lost_costs_no_tree(tmp_path):
    run = filled(tmp_path / "r")
    trees = {run.publish([dataset(value)]).resolve() for value in (1, 2)}
    (run.folder / "results.zarr").unlink()
    run.publish([dataset(3)])
    assert all(tree.exists() for tree in trees)


def test_names_of_what_is_not_finished_are_of_one_process_on_one_host(tmp_path, monkeypatch):
    made = {durable.unfinished(tmp_path / "run.json").name for _ in range(100)}
    assert len(made) == 100
    monkeypatch.setattr("platform.node", lambda: "some/../odd host")
    odd = durable.unfinished(tmp_path / "results.zarr")
    assert odd.parent == tmp_path
    assert odd.name.startswith(f".results-some..oddhost-{os.getpid()}-")
    assert all(HALF.fullmatch(name) for name in {*made, odd.name})


def test_what_another_driver_wrote_meanwhile_is_known_under_the_lock(tmp_path):
    """It would be simulated again otherwise."""
    late = Run(tmp_path / "r", IDENTITY)
    with filled(tmp_path / "r").lock(), pytest.raises(UserError, match="being written by another process"):
        late.lock().__enter__()
    assert not late.has(CELLS[0], 4)
    with late.lock():
        assert late.has(CELLS[0], 4)
        assert contents(late.summary(CELLS[1], [3])) == record(CELLS[1], 3)
        assert late.heads == [{"who": "test"}]


def test_a_folder_that_another_study_has_taken_meanwhile_is_refused_under_the_lock(tmp_path):
    late = Run(tmp_path / "r", IDENTITY)
    (tmp_path / "r" / "run.json").unlink()
    Run(tmp_path / "r", IDENTITY | {"seed": "2"})
    with pytest.raises(UserError, match="belongs to another run"):
        late.lock().__enter__()


def test_a_writer_that_wrote_nothing_leaves_no_segment(tmp_path):
    run = Run(tmp_path / "r", IDENTITY)
    with run.writer({"who": "test"}) as writer:
        (segment,) = (tmp_path / "r" / "journal").iterdir()
        assert segment.stat().st_size > 0  # its head is there at once
        writer.end({"who": "test"})
    assert list((tmp_path / "r" / "journal").iterdir()) == []


def test_all_segments_are_on_the_disk_before_what_is_made_of_them(tmp_path, monkeypatch):
    """Also those of a driver that was killed before it had synced them."""
    run, synced, real = filled(tmp_path / "r"), [], os.fsync

    def fsync(file):
        synced.append(Path(os.readlink(f"/proc/self/fd/{file}")))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    tree = run.publish([dataset(1)]).resolve()
    (segment,) = (run.folder / "journal").iterdir()
    folders = [run.folder / "journal", run.folder / "snapshots", run.folder]
    order = [synced.index(path) for path in (segment, *folders)]
    assert order == sorted(order)
    assert synced[-1] == run.folder  # the link
    files = [path for path in tree.rglob("*") if path.is_file()]
    written = {path.name for path in synced if ".writing-" in str(path)}
    assert written >= {path.name for path in files}
    assert len(synced) == len(files) + sum(path.is_dir() for path in tree.rglob("*")) + 1 + 4


def test_a_failed_publication_leaves_the_old_one(tmp_path, monkeypatch):
    run = filled(tmp_path / "r")
    first = run.publish([dataset(1)]).resolve()
    monkeypatch.setattr(os, "replace", None)

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_zarr", fail)
    with pytest.raises(OSError, match="No space"):
        run.publish([dataset(2)])
    assert (tmp_path / "r" / "results.zarr").resolve() == first
    assert [p.name for p in (tmp_path / "r" / "snapshots").iterdir()] == [first.name]


def test_nothing_in_a_store_is_a_pickle(tmp_path):
    run = filled(tmp_path / "r")
    run.publish([dataset(1)])
    assert json.loads((tmp_path / "r" / "run.json").read_text()) == IDENTITY
    for path in (tmp_path / "r").rglob("*"):
        if path.is_file():
            assert not path.read_bytes().startswith(b"\x80\x04")
    assert from_bytes(record(CELLS[0], 0)).trials == 100


@pytest.mark.parametrize("how", ["moved", "replaced by a copy"])
def test_a_folder_that_is_moved_while_it_is_written_is_not_begun_anew(tmp_path, how):
    """Neither the journal nor what is published of it goes into a second folder at the old place."""
    folder, moved = tmp_path / "r", tmp_path / "elsewhere"
    run = filled(folder)
    with run.lock():
        run.need_place()
        writer = journal.Writer(folder / "journal")
        writer.begin(b"H{}")
        folder.rename(moved)
        if how != "moved":
            shutil.copytree(moved, folder)
        with pytest.raises(UserError, match="has been moved or replaced while its run was at work"):
            run.need_place()
        with pytest.raises(FileNotFoundError):
            writer.sync()
    assert folder.exists() == (how != "moved")
    assert Run(moved, IDENTITY).has(CELLS[0], 4)
