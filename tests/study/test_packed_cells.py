"""Cells that are packed come back as they were, whatever is asked of them in whichever order."""

import hashlib
import json
import math
import tracemalloc

import pytest

from tcdp_sim.study import packed_cells
from tcdp_sim.study.packed_cells import Cell, Cells, Packer


def cell(i, law=None):
    """A cell with all kinds of values in it; law: a number, of which its id is a function."""
    name = hashlib.sha256(str(i if law is None else law).encode()).hexdigest()
    parts = {"mechanism": "x", "scale": math.pi * i, "far": math.inf, "n": 10**30 + i, "deep": {"a": [1, 2.0, None]}}
    coords = {"noise": "gauß \ud800", "k": float(i), "omega": None, "tiny": 5e-324}
    return Cell(name, parts, coords, "digest", "0.1-zCDP", f"Gaussian({i})", 1.5 * i)


@pytest.fixture(params=[1, 4, 256])
def size(request, monkeypatch):
    monkeypatch.setattr(packed_cells, "PACK", request.param)


def packed(cells):
    packer = Packer()
    for one in cells:
        packer.add(one)
    return packer.cells()


@pytest.mark.parametrize("count", [0, 1, 4, 11])
@pytest.mark.usefixtures("size")
def test_they_come_back_as_they_were(count):
    plain = [cell(i) for i in range(count)]
    cells = packed(plain)
    assert (len(cells), list(cells), list(cells.ids())) == (count, plain, [one.id for one in plain])
    assert [cells[i] for i in reversed(range(count))] == plain[::-1]
    assert cells[1:9:3] == tuple(plain[1:9:3])
    again = Cells.of_texts(json.loads(json.dumps(cells.as_texts())))
    assert (list(again), list(again.ids()), again.digest()) == (plain, list(cells.ids()), cells.digest())
    assert again.work.tolist() == cells.work.tolist()
    assert cells.work.tolist() == [one.work for one in plain]
    assert list(cells.by_id()) == [(i, name) for name, i in sorted((one.id, i) for i, one in enumerate(plain))]
    assert [cells.place(one.id) for one in plain] == list(range(count))
    assert cells.place("0" * 64) is None
    assert cells.place("no id") is None
    assert cells.places([one.id for one in plain[::-1]] + ["0" * 64]).tolist() == [*reversed(range(count)), -1]
    with pytest.raises(IndexError):
        cells[count]


@pytest.mark.usefixtures("size")
def test_of_the_cells_with_one_law_the_first_is_kept():
    plain = [cell(i, law) for i, law in enumerate([7, 3, 7, 7, 5, 3, 9])]
    cells = packed(plain).distinct()
    assert list(cells) == [plain[0], plain[1], plain[4], plain[6]]
    assert cells.work.tolist() == [one.work for one in cells]
    assert [cells.place(one.id) for one in cells] == [0, 1, 2, 3]
    assert list(cells.distinct()) == list(cells)
    assert list(cells.by_id()) == [(i, name) for name, i in sorted((one.id, i) for i, one in enumerate(cells))]
    assert packed(plain).place(plain[3].id) == 0  # the first with that id


def test_to_look_a_cell_up_copies_no_ids():
    """Measured in what Python allocates: 1,000 cells of one law each, and one that repeats a law."""
    plain = [cell(i) for i in range(1000)]
    cells = packed([*plain, plain[0]]).distinct()
    places = [cells.place(one.id) for one in plain[:2]]
    tracemalloc.start()
    try:
        places += [cells.place(one.id) for one in plain[2:5]]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert places == [0, 1, 2, 3, 4]
    assert most < 1000 * packed_cells.ID_BYTES / 4


def test_ids_that_end_in_zeros_are_told_apart():
    ids = ["ab" + "00" * 31, "ab" + "00" * 30 + "01", "00" * 32]
    cells = packed([Cell(name, {}, {}, "", "", "", 1.0) for name in ids])
    assert [cells.place(name) for name in ids] == [0, 1, 2]
    assert cells.place("ab" + "00" * 29 + "0100") is None
    assert list(cells.by_id()) == [(2, ids[2]), (0, ids[0]), (1, ids[1])]


def test_a_cell_takes_few_bytes():
    """Measured in what Python allocates: 2,000 cells and their index by id; the cells themselves take 1.5 kB each."""
    tracemalloc.start()
    try:
        cells = packed(cell(i) for i in range(2000))
        cells.place(cells[0].id)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken / 2000 < 250


def test_some_of_the_packed_cells_come_back_from_texts():
    """Cells of equal laws: the sequence has the first of each, in other places than those in which they were packed."""
    cells = packed([cell(i, law=i // 3) for i in range(9)]).distinct()
    again = Cells.of_texts(json.loads(json.dumps(cells.as_texts())))
    assert [one.coords["k"] for one in again] == [0.0, 3.0, 6.0]
    assert list(again) == list(cells)
