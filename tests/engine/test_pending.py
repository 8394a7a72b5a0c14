"""What is still to be simulated: counted right, the longest first, read as the workers come to it."""

import hashlib
import tracemalloc

import numpy as np
import pytest

from benchmarks.many_workers import Costs, run_through
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.study.packed_cells import Cell, Packer

FREE = Costs(task=0.0, chunk=0.0, choice=0.0, worker=0.0, delay=0.0)


def cells(works):
    packer = Packer()
    for i, work in enumerate(works):
        packer.add(Cell(hashlib.sha256(str(i).encode()).hexdigest(), {"i": i}, {}, "", "", "", work))
    return packer.cells()


def test_what_is_missing_is_counted():
    made = cells([10.0, 30.0, 20.0])
    names = list(made.ids())
    wanted = Wanted(made, 3)
    done = {(names[0], 0), (names[0], 2), (names[1], 0), (names[1], 1), (names[1], 2)}
    todo = Pending(made, wanted, lambda *key: key in done)
    assert (len(todo), todo.cells, todo.work) == (4, 2, 10 + 3 * 20)
    assert [(cell.id, chunk) for cell, chunk in todo] == [(names[2], 0), (names[2], 1), (names[2], 2), (names[0], 1)]
    assert [todo.of_cell(name) for name in (*names, "f" * 64)] == [(1, 3), (0, 3), (3, 3), (0, 0)]
    left_out = Pending(made, wanted, lambda *key: key in done, {names[2]})
    assert (len(left_out), [cell.id for cell, _ in left_out]) == (1, [names[0]])


def test_what_is_wanted_is_a_mapping():
    made = cells([1.0] * 4)
    wanted = Wanted(made, 2).with_chunks(np.array([2, 7, 3, 5]))
    assert dict(wanted) == dict(wanted.items()) == dict(zip(made.ids(), (2, 7, 3, 5)))
    assert (wanted.total, len(wanted), wanted.get("f" * 64, 0)) == (17, 4, 0)
    assert list(wanted.by_id()) == sorted(wanted.items())
    assert list(made.ids()) != sorted(made.ids())


def test_wanted_cells_in_the_order_of_their_ids_take_no_list_of_all():
    wanted = Wanted(cells([1.0] * 2000), 1)
    assert next(wanted.by_id())[1] == 1  # makes the order of the places, which is kept
    tracemalloc.start()
    try:
        assert sum(chunks for _, chunks in wanted.by_id()) == 2000
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10 * 2000  # bytes; a sorted list takes 200 a cell


def test_the_longest_come_first_and_equals_keep_the_order_of_the_plan():
    """Works within a factor of two are equals: 3 and 2, 1.5 and 1."""
    works = [1.0, 1000.0, 2.0, 1.5, 999.0, 3.0, 0.0]
    made = cells(works)
    order = [cell.law["i"] for cell, _ in Pending(made, Wanted(made, 1), lambda *_: False)]
    assert order == [1, 4, 2, 5, 0, 3, 6]


@pytest.mark.parametrize("workers", [2, 30])
def test_tasks_that_differ_a_thousandfold_end_together(workers):
    """By a simulated clock: one chunk in a hundred takes 10 s, the others 10 ms, a long one being the plan's last.

    Workers end within 1% of the whole of each other; in the order of the plan they do not within 10%.
    """
    works = [1000.0] * (4 * workers - 1) + [1.0] * (400 * workers) + [1000.0]
    made = cells(works)
    ordered = [cell.work for cell, _ in Pending(made, Wanted(made, 1), lambda *_: False)]
    ideal = 0.01 * sum(works) / workers
    ends, as_planned = (
        run_through(workers, [(0.01 * work, 1) for work in order], FREE).ends for order in (ordered, works)
    )
    assert max(ends) - min(ends) <= 0.01 * ideal
    assert ideal - 1e-9 <= max(ends) <= 1.01 * ideal
    assert max(as_planned) - min(as_planned) > 0.1 * ideal
