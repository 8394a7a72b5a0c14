"""The journal: what was acknowledged is read back, and nothing else."""

import errno
import os
import random
import resource
from itertools import accumulate

import pytest

from tcdp_sim.store import journal


def write(folder, payloads):
    with journal.Writer(folder) as writer:
        for payload in payloads:
            writer.append(payload)
    return writer.path


def read(folder):
    return [payload for _, _, payload in journal.read(folder)]


PAYLOADS = [b"", b"x", bytes(range(256)) * 40, journal.MAGIC, b"end"]


def test_reads_back_what_was_written_across_segments(tmp_path):
    write(tmp_path, PAYLOADS[:3])
    write(tmp_path, PAYLOADS[3:])
    assert sorted(read(tmp_path)) == sorted(PAYLOADS)


def test_offsets_point_at_the_payloads(tmp_path):
    with journal.Writer(tmp_path) as writer:
        offsets = [writer.append(payload) for payload in PAYLOADS]
    data = writer.path.read_bytes()
    assert [data[o : o + len(p)] for o, p in zip(offsets, PAYLOADS)] == PAYLOADS
    assert [offset for _, offset, _ in journal.read(tmp_path)] == offsets


def test_records_of_several_segments_are_read_again_in_any_order(tmp_path):
    """Short and long ones, and whatever their neighbours are; what is damaged meanwhile is none."""
    for part in (PAYLOADS, [b"a" * 5000, b"", b"b"], PAYLOADS[::-1]):
        write(tmp_path, part)
    found = list(journal.read(tmp_path))
    random.Random(1).shuffle(found)
    reader = journal.Reader()
    assert [reader.again(path, offset) for path, offset, _ in found] == [payload for *_, payload in found]
    path, offset, _ = next(one for one in found if one[2] == b"a" * 5000)
    for size, there in ((offset + 5016, True), (offset + 5015, False), (offset + 100, False), (offset - 3, False)):
        os.truncate(path, size)
        assert (reader.again(path, offset) is not None) == there
    path, offset, _ = next(one for one in found if one[2] == b"end")
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"eNd")
    assert reader.again(path, offset) is None
    with pytest.raises(FileNotFoundError):
        reader.again(tmp_path / "none.seg", offset)
    assert reader.again(path, offset) is None


def test_records_appended_together_have_the_bytes_of_each_alone(tmp_path):
    alone = write(tmp_path / "alone", PAYLOADS)
    with journal.Writer(tmp_path / "together") as writer:
        offsets = writer.extend(PAYLOADS[:1]) + writer.extend([]) + writer.extend(PAYLOADS[1:])
    assert writer.path.read_bytes() == alone.read_bytes()
    assert offsets == [offset for _, offset, _ in journal.read(tmp_path / "together")]


@pytest.mark.parametrize("room", [0, 10, 31, 32, 33, 65, 10_330, 10_331, 10_350])
def test_a_full_disk_keeps_the_records_that_fit_and_no_half_one(tmp_path, monkeypatch, room):
    """A disk takes some bytes, in writes of at most 20, and then no more until there is room again."""
    left, real = room, os.write

    def filling(file, data):
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = real(file, data[: min(20, left)])
        left -= done
        return done

    with journal.Writer(tmp_path) as writer:
        writer.append(b"before")
        monkeypatch.setattr(os, "write", filling)
        with pytest.raises(OSError, match="No space"):
            writer.extend(PAYLOADS)
        monkeypatch.undo()
        sizes = list(accumulate(len(payload) + 32 for payload in PAYLOADS))
        fitting = PAYLOADS[: sum(size <= room for size in sizes)]
        assert read(tmp_path) == [b"before", *fitting]
        offset = writer.append(b"after")
    assert read(tmp_path) == [b"before", *fitting, b"after"]
    assert writer.path.read_bytes()[offset:][:5] == b"after"


@pytest.mark.parametrize("window", [64, 5000, 1 << 20])
def test_several_records_read_together_are_those_read_one_by_one(tmp_path, monkeypatch, window):
    """Close together, far apart, in several files, in any order, twice, long, empty, damaged, cut short."""
    monkeypatch.setattr(journal, "_WINDOW", window)
    small = [bytes([i % 251]) * (i % 40) for i in range(300)]
    paths = [write(tmp_path, part) for part in (small, PAYLOADS, [b"a" * 50_000, *small[:50], b"b" * 9000, b"c"])]
    found = list(journal.read(tmp_path))
    random.Random(2).shuffle(found)
    places = [(path, offset) for path, offset, _ in found]
    reader = journal.Reader()
    assert reader.several(places) == [payload for *_, payload in found]
    assert reader.several(places[:7] + places[:7]) == [payload for *_, payload in found[:7]] * 2
    assert reader.several(places[::9]) == [payload for *_, payload in found[::9]]
    assert reader.several([]) == []
    for path, offset in places[:40]:
        with path.open("r+b") as file:
            file.seek(offset - random.Random(offset).randrange(1, 17))
            file.write(b"?")
    os.truncate(paths[2], paths[2].stat().st_size - 1)
    expected = [reader.again(path, offset) for path, offset in places]
    assert reader.several(places) == expected
    assert 1 < sum(one is None for one in expected) < 60
    with pytest.raises(FileNotFoundError):
        reader.several([*places, (tmp_path / "none.seg", 16)])


def test_records_far_apart_are_not_read_with_all_that_lies_between(tmp_path, monkeypatch):
    path = write(tmp_path, [b"a" * 60_000 if i % 2 else b"b" for i in range(40)])
    places = [(path, offset) for _, offset, payload in journal.read(tmp_path) if payload == b"b"]
    read_bytes, real = [], os.pread

    def counted(*arguments):
        read_bytes.append(arguments[1])
        return real(*arguments)

    monkeypatch.setattr(os, "pread", counted)
    assert journal.Reader().several(places) == [b"b"] * 20
    assert sum(read_bytes) <= 20 * 5000


@pytest.mark.parametrize(("limit", "left_open"), [(4, 1), (8, 2), (400, 3)])
def test_a_reader_leaves_a_part_of_the_files_open_that_may_be(tmp_path, monkeypatch, limit, left_open):
    monkeypatch.setattr("resource.getrlimit", lambda _: (limit, limit))
    paths = [write(tmp_path, [bytes([i])]) for i in range(3)]
    offset = next(journal.read(tmp_path))[1]
    before = os.listdir("/proc/self/fd")
    reader = journal.Reader()
    assert [reader.again(path, offset) for path in paths * 2] == [b"\0", b"\1", b"\2"] * 2
    assert len(os.listdir("/proc/self/fd")) == len(before) + left_open
    del reader
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_process_may_open_as_many_files_as_its_hard_limit_admits(monkeypatch):
    asked = []
    monkeypatch.setattr("resource.setrlimit", lambda _, limits: asked.append(limits))
    for soft, hard in ((1024, 4096), (1024, 10**6), (1024, resource.RLIM_INFINITY), (10**5, 10**6), (4096, 4096)):
        monkeypatch.setattr("resource.getrlimit", lambda _, now=(soft, hard): now)
        journal.allow_many_files()
    assert asked == [(4096, 4096), (8192, 10**6), (8192, resource.RLIM_INFINITY)]


def test_an_empty_segment_leaves_no_file(tmp_path):
    write(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_empty_journal(tmp_path):
    assert read(tmp_path / "none") == []


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_torn_tail_loses_the_last_record_only(tmp_path, cut):
    path = write(tmp_path, [b"a" * 50, b"b" * 50])
    os.truncate(path, path.stat().st_size - cut)
    found = read(tmp_path)
    assert found[0] == b"a" * 50
    assert all(payload is None for payload in found[1:])


def test_a_flipped_bit_anywhere_loses_one_record_and_invents_none(tmp_path):
    payloads = [bytes([i]) * (20 + i) for i in range(20)]
    path = write(tmp_path, payloads)
    clean = path.read_bytes()
    rng = random.Random(1)
    for _ in range(300):
        damaged = bytearray(clean)
        damaged[rng.randrange(len(clean))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        found = read(tmp_path)
        kept = [payload for payload in found if payload is not None]
        assert None in found
        assert len(kept) == len(payloads) - 1
        assert set(kept) < set(payloads)


def test_a_failed_write_leaves_no_half_record(tmp_path, monkeypatch):
    writer = journal.Writer(tmp_path)
    writer.append(b"kept")
    real, calls = os.write, []

    def disk_full(file, data):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real(file, data[:5])

    monkeypatch.setattr(os, "write", disk_full)
    with pytest.raises(OSError, match="No space"):
        writer.append(b"lost")
    monkeypatch.undo()
    writer.append(b"after")
    writer.close()
    assert read(tmp_path) == [b"kept", b"after"]


def test_a_short_write_is_continued(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    write(tmp_path, [b"a long enough payload" * 3])
    assert read(tmp_path) == [b"a long enough payload" * 3]


@pytest.fixture
def disk(monkeypatch):
    """What fsync was called for, as [(name, bytes then)], at a time that only `disk.now` moves."""

    class Disk(list):
        now = 100.0

    disk, real = Disk(), os.fsync

    def fsync(file):
        path = os.readlink(f"/proc/self/fd/{file}")
        disk.append((os.path.basename(path), os.path.getsize(path) if os.path.isfile(path) else None))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr("time.monotonic", lambda: disk.now)
    return disk


def test_records_are_synced_every_half_second_while_the_writer_writes(tmp_path, disk):
    """At 0, 0.2, 0.4, ... seconds: what was appended 0.6 seconds after the last sync takes all before it along."""
    writer, wanted = journal.Writer(tmp_path / "j"), []
    disk.clear()
    for i in range(1, 13):
        disk.now = 100 + 0.2 * i
        writer.append(b"record")
        if i % 3 == 0:
            wanted.append(writer.path.stat().st_size)
        assert [size for name, size in disk if name == writer.path.name] == wanted
    writer.append(b"last")
    writer.close()
    assert disk[-1] == (writer.path.name, writer.path.stat().st_size)
    assert [name for name, size in disk if size is None] == ["j"]  # the folder, once the segment is in it


def test_the_first_record_is_synced_at_once_with_the_names_that_lead_to_it(tmp_path, disk):
    writer = journal.Writer(tmp_path / "run" / "j")
    assert [name for name, _ in disk] == ["run", tmp_path.name]
    disk.clear()
    writer.begin(b"head")
    assert disk == [(writer.path.name, writer.path.stat().st_size), ("j", None)]
    writer.close()
    assert not writer.path.exists()  # it was alone


def test_a_folder_that_was_there_is_synced_all_the_same(tmp_path, disk):
    (tmp_path / "j").mkdir()  # by a driver that was killed at once
    journal.Writer(tmp_path / "j").close()
    assert (tmp_path.name, None) in disk


def test_segments_tell_what_has_changed(tmp_path):
    assert journal.segments(tmp_path / "none") == {}
    path = write(tmp_path, [b"a"])
    before = journal.segments(tmp_path)
    assert before == {path.name: path.stat().st_size}
    with path.open("ab") as file:
        file.write(b"x")
    assert journal.segments(tmp_path) != before
