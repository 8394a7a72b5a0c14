"""The journal: what was acknowledged is read back, and nothing else."""

import os
import random

import pytest

from tcdp_sim import journal


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
