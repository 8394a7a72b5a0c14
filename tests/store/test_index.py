"""The index of a journal says the same as a plain dictionary would."""

import hashlib
import random
import tracemalloc
from pathlib import Path

import pytest

from tcdp_sim.store.index import Index

CELLS = [f"{i:064x}" for i in range(5)]
SEGMENTS = [Path("a.seg"), Path("b.seg"), Path("c.seg")]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_dictionary(seed):
    rng = random.Random(seed)
    index, plain = Index(), {}
    assert not index
    for _ in range(400):
        chunk = rng.choice([0, 1, rng.randrange(50), rng.randrange(10**5), rng.randrange(2**64)])
        cell, segment, offset = rng.choice(CELLS), rng.choice(SEGMENTS), rng.randrange(1, 2**43)
        index.enter(cell, chunk, segment, offset, ("shape", cell))
        plain[cell, chunk] = (segment, offset)
    assert index
    assert sorted(index) == sorted(plain)
    assert all(index.where(*key) == place and key in index for key, place in plain.items())
    strangers = [(cell, chunk) for cell in CELLS for chunk in range(60) if (cell, chunk) not in plain]
    assert strangers
    assert not [key for key in strangers if key in index]
    for cell, chunk in ((CELLS[0], 2**70), ("f" * 64, 0), ("no id", 0)):
        assert (cell, chunk) not in index
        with pytest.raises(KeyError):
            index.where(cell, chunk)
    assert [index.shape(cell) for cell in CELLS] == [("shape", cell) for cell in CELLS]
    assert (index.shape("f" * 64), index.shape("f" * 64, "other")) == (None, "other")


@pytest.mark.parametrize("seed", range(5))
def test_cells_of_one_chunk_are_in_it_like_any_other(seed):
    """Few chunks and few shapes, None among them: what a large sweep has."""
    rng = random.Random(seed)
    cells = [f"{i:064x}" for i in range(60)]
    index, plain, shapes = Index(), {}, {}
    for _ in range(120):
        cell, chunk, segment, offset = rng.choice(cells), rng.choice([0, 0, 0, 1, 5000]), rng.choice(SEGMENTS), 16
        shape = rng.choice([None, "usual", "other"])
        index.enter(cell, chunk, segment, offset, shape)
        plain[cell, chunk] = (segment, offset)
        shapes.setdefault(cell, shape)
        assert (index.where(cell, chunk), index.shape(cell, "none")) == (plain[cell, chunk], shapes[cell])
    assert sorted(index) == sorted(plain)
    assert all(index.where(*key) == place for key, place in plain.items())
    assert [key for cell in cells for chunk in (0, 1, 2, 5000) if (key := (cell, chunk)) in index] == sorted(plain)
    assert {cell: index.shape(cell, "none") for cell in cells} == {cell: shapes.get(cell, "none") for cell in cells}


@pytest.mark.parametrize(("chunk", "far"), [(4098, 0), (4099, 1)])
def test_the_first_chunk_counts_for_how_far_away_the_next_one_may_be(chunk, far):
    index = Index()
    index.enter(CELLS[0], 0, SEGMENTS[0], 16)
    index.enter(CELLS[0], chunk, SEGMENTS[1], 32)
    assert len(index._far) == far
    assert sorted(index) == [(CELLS[0], 0), (CELLS[0], chunk)]


@pytest.mark.parametrize("shape", [None, ("linf_error", "top_stays")])
def test_a_cell_of_one_chunk_takes_half_of_the_memory_of_an_entry(shape):
    """Measured: 150 bytes, 285 with an entry; a run holds two indices."""
    cells = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(10_000)]
    index = Index()
    tracemalloc.start()
    try:
        for i, cell in enumerate(cells):
            index.enter(cell, 0, SEGMENTS[0], 300 * i + 24, shape)
        assert tracemalloc.get_traced_memory()[0] < 200 * len(cells)
    finally:
        tracemalloc.stop()


def test_a_chunk_far_away_takes_no_room_for_those_between():
    """A damaged record may name any chunk."""
    index = Index()
    index.enter(CELLS[0], 2**63, SEGMENTS[0], 16)
    index.enter(CELLS[0], 3, SEGMENTS[1], 32)
    assert sorted(index) == [(CELLS[0], 3), (CELLS[0], 2**63)]
    assert sum(len(entry.places) for entry in index._entries.values()) == 4


def test_records_of_whatever_numbers_take_room_for_themselves_alone():
    """Chunk numbers that double asked for 8 bytes each up to the last, here 2^22 of them."""
    index = Index()
    for power in range(23):
        index.enter(CELLS[0], 2**power, SEGMENTS[0], 16 + power)
    assert len(index._entries[bytes.fromhex(CELLS[0])].places) < 10_000
    assert sorted(index) == [(CELLS[0], 2**power) for power in range(23)]
    for chunk in range(20_000):
        index.enter(CELLS[0], chunk, SEGMENTS[1], 16)
    assert len(list(index)) == len(set(index)) == 20_000 + 23 - 15
    assert index.where(CELLS[0], 2**14) == (SEGMENTS[1], 16)


@pytest.mark.parametrize("chunk", [0, 1])
def test_a_chunk_that_comes_again_and_again_makes_no_room_for_others(chunk):
    """Chunk 0 as the only one of its cell, and chunk 1 as one of several."""
    index = Index()
    for again in range(10_000):
        index.enter(CELLS[0], chunk, SEGMENTS[0], 16 + again)
    index.enter(CELLS[0], 15_000, SEGMENTS[1], 32)
    assert len(index._entries[bytes.fromhex(CELLS[0])].places) == chunk + 1
    assert index.where(CELLS[0], chunk) == (SEGMENTS[0], 16 + 9_999)
    assert index.where(CELLS[0], 15_000) == (SEGMENTS[1], 32)
