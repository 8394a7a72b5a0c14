"""Benjamini and Hochberg's procedure, against scipy's."""

import numpy as np
import pandas as pd
from scipy import stats

from tcdp_sim.statistics.discoveries import FALSE_DISCOVERIES, beyond_chance


def table(p_values):
    return pd.DataFrame({"p_value": p_values, "distance": stats.norm.isf(np.asarray(p_values) / 2)})


def test_against_scipy():
    rng = np.random.default_rng(3)
    for wrong in (0, 1, 30):
        p_values = np.concatenate([rng.random(200), rng.random(wrong) * 1e-4])
        found = beyond_chance(table(p_values))
        expected = np.sort(p_values[stats.false_discovery_control(p_values) <= FALSE_DISCOVERIES])
        np.testing.assert_array_equal(found["p_value"], expected)
        assert found.attrs["comparisons"] == len(p_values)


def test_large_p_values_may_be_left_out():
    rng = np.random.default_rng(4)
    p_values = np.concatenate([rng.random(500), rng.random(20) * 1e-4])
    found = beyond_chance(table(p_values[p_values <= FALSE_DISCOVERIES]), len(p_values))
    pd.testing.assert_frame_equal(found, beyond_chance(table(p_values)))


def test_equal_p_values_are_ordered_by_distance():
    found = beyond_chance(pd.DataFrame({"p_value": [0.0, 1e-9, 0.0], "distance": [50.0, 6.0, 90.0]}))
    assert list(found["distance"]) == [90, 50, 6]


def test_nothing_compared():
    found = beyond_chance(pd.DataFrame({"p_value": [], "distance": []}))
    assert found.empty
    assert found.attrs["comparisons"] == 0
