"""The needs of the largest cells: which cells are tried, and what a chunk of them takes in a process of its own."""

import os
import signal
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from tcdp_sim.core import system
from tcdp_sim.engine import largest_cells
from tcdp_sim.mechanisms.functions import shipped
from tcdp_sim.sweeps import arguments, in_folder, run

MB = 1e6


def cell(**coords):
    return SimpleNamespace(coords=coords, **coords)


def measured(function, axes, tell=print, **keys):
    sweep, _ = run.prepared(arguments.checked(function, axes, name="a", **keys), print)
    laws = in_folder.study_of(sweep).plan.laws
    with shipped(sweep.options, sweep.call):
        return largest_cells.measured(laws, {"": None}, sweep.settings, tell)


def test_the_corners_of_a_grid_are_tried_whatever_the_order_of_its_values():
    """All pairs of extremes, by comparing each cell with the grid's extremes."""
    a, b, c = [3, 1, 50], [0.5, 0.1], [7, 8, 9, 10]
    cells = [cell(a=x, b=y, c=z) for x, y, z in product(a, b, c)]
    found = {(one.a, one.b, one.c) for one in largest_cells.corners(cells)}
    assert found == set(product((1, 50), (0.1, 0.5), (7, 10)))


def test_many_axes_have_few_corners_with_both_ends_of_each():
    cells = [cell(**dict(zip("abcdefg", values))) for values in product((1, 2), repeat=7)]
    found = largest_cells.corners(cells)
    assert len(found) == 16
    for axis in "abcdefg":
        assert {getattr(one, axis) for one in found} == {1, 2}
    assert any(set(one.coords.values()) == {2} for one in found)


@pytest.mark.parametrize("values", [["x", "y"], [True, None, "z"], [4]])
def test_values_that_are_no_numbers_have_the_ends_of_their_order(values):
    found = largest_cells.corners([cell(a=value) for value in values])
    assert {one.a for one in found} == {values[0], values[-1]}
    assert largest_cells.corners([cell()])[0].coords == {}


def large(rng, trials, n, p):
    return np.ones((trials, n), np.int8).sum(axis=1) + rng.random(trials) * p


def test_the_memory_and_the_time_are_those_of_the_largest_cell():
    """A chunk of 1,000 trials of 100,000 bytes has 100 MB at once; the pilot of 20 trials has had 2 MB."""
    found = measured(large, {"n": [10, 100_000, 1000], "p": [1, 2]}, trials=1000)
    assert 100 * MB <= found.bytes < 160 * MB
    assert 0 < found.seconds < 60


def test_a_chunk_that_is_too_long_is_extrapolated(monkeypatch):
    """A trial takes 64 kB and 1 ms. 64 of 4,000 are drawn, because the next attempt would take longer than 0.1 s."""
    drawn = []

    def run(task):
        trials = task.trials_per_chunk
        drawn.append(trials)
        return SimpleNamespace(seconds=1e-3 * trials)

    monkeypatch.setattr(largest_cells, "run", run)
    monkeypatch.setattr(largest_cells, "SECONDS", 0.1)
    monkeypatch.setattr(system, "has_fork_server", lambda: False)
    peaks = iter([5e7, 5e7 + 64e3, 5e7 + 8 * 64e3, 5e7 + 64 * 64e3, 5e7 + 64 * 64e3])
    monkeypatch.setattr(system, "peak_memory", lambda: next(peaks))
    one = SimpleNamespace(id="a", law={}, counts="", coords={}, where="")
    found = largest_cells.measured([one], {"": None}, SimpleNamespace(chunk=4000, seed=1), print)
    assert drawn == [1, 8, 64]
    assert found == largest_cells.Peak(bytes=4000 * 64e3, seconds=pytest.approx(4.0))


def test_a_pilot_that_dies_is_told(monkeypatch):
    monkeypatch.setattr(largest_cells, "run", lambda task: os.kill(os.getpid(), signal.SIGKILL))
    one = SimpleNamespace(id="a", law={}, counts="", coords={}, where="n=3")
    said = []
    found = largest_cells.measured([one], {"": None}, SimpleNamespace(chunk=40, seed=1), said.append)
    assert len(said) == 1
    assert "of cell n=3 ended with code -9" in said[0]
    assert found.bytes > 10 * MB


def test_what_a_child_prints_is_lost_and_what_it_does_stays_there(capfd):
    changed = []

    def work(note):
        print("lost")
        changed.append(1)
        note("kept\n")

    said, peak, code = system.in_child(work)
    assert (said, code, changed) == ("kept\n", 0, [])
    assert peak > 10 * MB
    assert capfd.readouterr().out == ""
