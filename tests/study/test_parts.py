"""Which part has which chunk: every chunk belongs to exactly one, by its cell and index alone."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcdp_sim.engine.needs import _loads
from tcdp_sim.study import parts
from tcdp_sim.study.packed_cells import Cell, Packer
from tcdp_sim.study.parts import Part


def cell_id(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 20), st.booleans())
def test_every_chunk_belongs_to_exactly_one_part(number, chunks, count, whole):
    cell = cell_id(number)
    all_parts = [Part(i, count, whole) for i in range(1, count + 1)]
    having = [[part.number for part in all_parts if part.has(cell, chunk)] for chunk in range(chunks)]
    assert all(len(one) == 1 for one in having)
    sizes = [part.size(cell, chunks) for part in all_parts]
    assert sizes == [sum(one == [part.number] for one in having) for part in all_parts]
    assert sum(sizes) == chunks
    if not whole:
        assert max(sizes) - min(sizes) <= 1


def test_the_division_is_fixed():
    """Parts of one run may be computed by different versions, so it may not change."""
    first = "00000000000000ff" + 48 * "0"
    assert [parts.owner(first, chunk, 10) for chunk in range(6)] == [6, 7, 8, 9, 10, 1]
    assert parts.owner("ffffffffffffffff" + 48 * "0", 1, 2**64) == 1


@pytest.mark.parametrize("whole", [False, True])
def test_files_tell_their_part(whole):
    mine, other = Part(3, 20, whole), Part(13, 20, whole)
    name = f"20261123T000000-a.part-1-of-20.host-1-0a{mine.label}.seg"
    assert parts.labelled(name)[1:] == (3, 20)
    assert mine.may_be_in(name)
    assert not other.may_be_in(name)
    assert Part(13, 21, whole).may_be_in(name)
    assert Part(13, 20, not whole).may_be_in(name)
    assert other.may_be_in("20261123T000000-host-1-0a.seg")


@given(st.sets(st.integers(1, 50)))
def test_ranges_name_the_numbers(numbers):
    text = parts.in_ranges(numbers)
    named = [range(int(one.split("-")[0]), int(one.split("-")[-1]) + 1) for one in text.split(",") if one]
    assert [number for one in named for number in one] == sorted(numbers)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("chunks", "count"), [(1, 7), (7, 7), (10, 7), (3, 7), (5, 1)])
def test_the_loads_of_parts_are_those_that_counting_gives(chunks, count, whole):
    packer, weights = Packer(), np.arange(1.0, 31.0)
    for number in range(30):
        packer.add(Cell(cell_id(number), {}, {}, "", "", "", 1.0))
    cells = packer.cells()
    each = [Part(i, count, whole) for i in range(1, count + 1)]
    expected = [sum(w * part.size(cell, chunks) for cell, w in zip(cells.ids(), weights)) for part in each]
    np.testing.assert_allclose(_loads(cells, weights, chunks, count, whole), expected, rtol=1e-12)
