"""The garbage collector during long work: seldom at work, and afterwards as it was."""

import gc

import pytest

import tcdp_sim
from tcdp_sim.core.collector import OBJECTS, collecting_seldom


@pytest.fixture
def thresholds():
    before = gc.get_threshold()
    yield gc.set_threshold
    gc.set_threshold(*before)


@pytest.mark.parametrize(("before", "inside"), [(700, OBJECTS), (0, 0), (10 * OBJECTS, 10 * OBJECTS)])
def test_only_a_collector_at_work_is_slowed_down(thresholds, before, inside):
    thresholds(before, 7, 8)
    with collecting_seldom():
        assert gc.get_threshold() == (inside, 7, 8)
    assert gc.get_threshold() == (before, 7, 8)


def test_it_is_as_it_was_after_an_error(thresholds):
    thresholds(700, 7, 8)
    with pytest.raises(ZeroDivisionError), collecting_seldom():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 7, 8)


@pytest.mark.parametrize("keys", [{}, {"name": "kept"}])
def test_a_sweep_leaves_it_as_it_was(thresholds, tmp_path, monkeypatch, keys):
    monkeypatch.chdir(tmp_path)
    thresholds(700, 7, 8)
    seen = []

    def seeing(rng, trials, n):
        seen.append(gc.get_threshold()[0])
        return rng.random(trials)

    tcdp_sim.sweep(seeing, {"n": [1, 2]}, trials=5, **keys)
    assert set(seen) == {OBJECTS}
    assert gc.get_threshold() == (700, 7, 8)
