"""What is measured of a claim and of its pairs, where a small slip would refute a true claim or accept a wrong pair.

The audits have fixed seeds; for a fresh seed the false-alarm rate of each is 0.1%.
"""

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import claims
from tcdp_sim.audits.run import CHANGED
from tcdp_sim.privacy import TCDP, PureDP


def rare(data, rng, trials):
    """A coin of 0.01, or of 0.0001."""
    return rng.random(trials) < (0.01 if data[0] else 1e-4)


def test_a_true_claim_of_low_orders_is_not_refuted_by_higher_ones():
    """D_a / a of the coin, both ways, by its formula: at most 0.0544 up to order 1.2, and 0.34 at order 2."""

    def divergence(order, p, q):
        return np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)

    orders = np.linspace(1.0001, 1.2, 2000)
    assert all((divergence(orders, *pair) / orders).max() < 0.055 for pair in ((0.01, 1e-4), (1e-4, 0.01)))
    assert divergence(2.0, 0.01, 1e-4) / 2 > 6 * 0.055
    given = {"neighbours": audited.ONE, "trials": 50_000, "level": 0.999, "learn": False}
    assert not tcdp_sim.audit(rare, claim=TCDP(0.055, 1.2), **given).refuted
    assert tcdp_sim.audit(rare, claim=TCDP(0.055, 4.0), **given).refuted


@pytest.mark.parametrize("omega", [1 + 1e-9, 1.01, 1.2, 3.0, 255.0, 1e6])
def test_no_order_of_a_claim_is_above_its_omega(omega):
    orders = claims.measure(TCDP(0.1, omega)).orders
    assert 1 < min(orders) <= max(orders) <= omega


def test_another_seed_in_the_same_folder_is_another_sample(tmp_path):
    """Each seed finds in the folder what it finds without one; of a yes and a no all look at the same events."""
    given = {"neighbours": audited.ONE, "claim": PureDP(1.0), "trials": 2000, "learn": False}
    kept = [tcdp_sim.audit(audited.response, **given, seed=s, name="seeds", results_dir=tmp_path) for s in range(3)]
    fresh = [tcdp_sim.audit(audited.response, **given, seed=s) for s in range(3)]
    assert [(one.bound, one.hits) for one in kept] == [(one.bound, one.hits) for one in fresh]
    assert len({one.hits for one in fresh}) == 3
    assert [one.resumed for one in kept] == [0, 0, 0]
    assert [CHANGED in one.notes for one in kept] == [False] * 3  # so nothing of another seed is thrown away
