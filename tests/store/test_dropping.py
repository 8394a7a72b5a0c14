"""Workers of chunks in journal files that several workers have filled."""

import pytest

from tcdp_sim.store import dropping, journal

RECORDS = (b"H{}", b"Wa:1", b"C1", b"C2", b"Wb:1", b"P3", b"C3", b"Wa:2", b"C4")


@pytest.fixture
def folder(tmp_path):
    with journal.Writer(tmp_path / "journal") as writer:
        writer.extend(RECORDS)
    return tmp_path


def left(folder):
    return [payload for _, _, payload in journal.read(folder / "journal")]


def test_chunks_are_counted_by_worker(folder):
    assert dropping.chunks(folder) == {"a:1": 2, "b:1": 1, "a:2": 1}


@pytest.mark.parametrize(
    ("asked", "count", "kept"),
    [
        ("a", 3, [b"H{}", b"Wb:1", b"P3", b"C3"]),
        ("a:1", 2, [b"H{}", b"Wb:1", b"P3", b"C3", b"Wa:2", b"C4"]),
        ("b", 1, [b"H{}", b"Wa:1", b"C1", b"C2", b"Wa:2", b"C4"]),
        ("1", 0, list(RECORDS)),
        ("unknown", 0, list(RECORDS)),
    ],
)
def test_only_the_records_of_the_worker_go(folder, asked, count, kept):
    assert dropping.drop(folder, dropping.is_of(asked)) == count
    assert left(folder) == kept


def test_no_chunk_behind_a_damaged_record_is_taken_for_the_worker_before_it(folder):
    (path,) = (folder / "journal").glob("*.seg")
    path.write_bytes(path.read_bytes().replace(b"Wb:1", b"Wx:1"))
    assert dropping.chunks(folder) == {"a:1": 2, "unknown": 1, "a:2": 1}
    assert dropping.drop(folder, dropping.is_of("a")) == 3
    assert left(folder) == [b"H{}", b"P3", b"C3"]
