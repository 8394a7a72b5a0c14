"""The gallery's exact numbers against those that were computed elsewhere, and others' bounds."""

import numpy as np
import pytest
from audit_gallery.laws.best_event import best_event
from audit_gallery.mechanisms import SparseVector
from audit_gallery.rows import rows

ROWS = {row.name: row for row in rows()}
SAMPLES, LEVEL = 2e8, 0.9


@pytest.mark.parametrize(
    ("name", "epsilon", "bound"),
    [
        ("laplace", 0.1, 0.09976),
        ("laplace_parallel", 0.1, 0.0652),
        ("truncated_geometric", np.log(9 / 8), 0.1175),
        ("noisy_hist_1", 0.1, 0.09976),
        ("noisy_hist_2", 10, 9.975),
        ("noisy_max_1", 0.0946, 0.0941),
        ("noisy_max_2", 0.1, 0.0995),
        ("noisy_max_4", np.inf, 4.139),
        ("svt_1", 0.0882, 0.0867),
        ("svt_2", 0.0882, 0.0867),
        ("svt_3", 0.5, 0.401),
        ("svt_5", np.inf, 15.0),
        ("svt_6", 0.420, 0.406),
        ("rappor", 0.3001, 0.298),
        ("one_time_rappor", 0.6005, 0.5986),
        ("snapped_laplace", 0.1, 0.0996),
    ],
)
def test_exact_epsilons_and_best_bounds(name, epsilon, bound):
    row = ROWS[name]
    assert row.epsilon() == pytest.approx(epsilon, rel=1e-3)
    assert row.best(SAMPLES, LEVEL).epsilon == pytest.approx(bound, rel=2e-3)


def test_the_other_threshold_of_the_first_search():
    """DP-Sniper tried version 1 at threshold 0.5."""
    mechanism = SparseVector(0.5, 20.0, 40.0, 1)
    found = max(best_event(*mechanism.cells(*pair), SAMPLES, LEVEL).epsilon for pair in ROWS["svt_1"].directed())
    assert found == pytest.approx(0.08695, rel=1e-3)


def test_no_published_bound_exceeds_the_truth():
    for row in rows():
        published = [x for x in (row.published.logistic, row.published.network) if x is not None]
        assert all(bound <= row.epsilon() * (1 + 3e-3) for bound in published), row.name
