"""Threshold queries as a mechanism of a sweep."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tcdp_sim.mechanisms.thresholds import METHODS, Thresholds
from tcdp_sim.ordered.thresholds import Records
from tcdp_sim.ordered.thresholds.noisy_tree import NoisyTree
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.study import groups

OPTIONS = {key: value for key, value in groups.named("mechanism", "thresholds").items() if key != "name"}


def point(**changed):
    told = {"method": "median", "noise": groups.named("noise", "sinh_normal_tight"), "records": "departures_AS"}
    return told | {"rho": 0.5, "omega": 2.83} | changed


def built(**changed):
    return Thresholds.build(json.loads(json.dumps(Thresholds.law(point(**changed), OPTIONS, None))), None)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_simulates_what_it_says(method):
    mechanism = built(method=method, **({"records": "delays"} if method in ("windows", "square_root") else {}))
    found = mechanism.simulate(np.random.default_rng(1), 3)
    assert all(values.shape == (3,) and np.isfinite(values).all() for values in found.values())
    assert set(found) <= set(mechanism.observables)
    assert "median_rank_error" in found
    assert ("sup_error" in found) == (method not in ("median", "binary_search"))
    assert mechanism.guarantee == (TCDP(0.5, 2.83) if METHODS[method] else ZCDP(0.5))


def test_errors_are_those_of_the_records():
    mechanism = built(method="tree_16", rho=1e9)
    found = mechanism.simulate(np.random.default_rng(1), 3)
    assert found["sup_error"].max() < 0.01
    assert found["median_rank_error"].max() == 0
    watched = [mechanism.records.ranks([mechanism.records.quantile(p)])[0] / 712 for p in (0.05, 0.95)]
    assert [found["cdf_at_q05"][0], found["cdf_at_q95"][0]] == pytest.approx(watched, abs=1e-4)


def test_errors_of_a_tree_by_hand():
    """Records 1, 3, 5, 7 of 8; told 0 5 0 0 0 3 3 4 where F is 0 1 1 2 2 3 3 4: the first to reach rank 2 is 1."""
    mechanism = Thresholds("tree_2", ZCDP(0.5), Records([1, 3, 5, 7], [1, 1, 1, 1], 8))
    mechanism.__dict__["plan"] = SimpleNamespace(errors=lambda places, rng: np.array([0, 4, -1, -2, -2, 0, 0, 0.0]))
    found = mechanism.simulate(None, 1)
    assert found["sup_error"] == [4]
    assert found["sup_error_share"] == [1]
    assert found["median_rank_error"] == [1]  # the first record, not the second
    assert found["median_value_error"] == [2 / 8]  # 1 instead of 3, of a domain of 8
    assert [found[f"cdf_at_q{p}"][0] for p in ("25", "50", "75", "95")] == [5 / 4, 0, 3 / 4, 1]


def test_a_bound_is_claimed_only_where_windows_are_as_large_as_the_proof_asks():
    assert built(method="medians_2").thresholds["sup_error"]["bound"] > 0
    small = built(method="medians_2", records="departures_OO")
    assert small.plan.finder.m < small.plan.finder.needed
    assert small.thresholds == {}


def test_large_numbers_keep_their_identity():
    law = Thresholds.law(point(records="departures_AS_fine"), OPTIONS, None)
    assert all(int(text) % 2**40 == 0 for text in law["values"].split())


class CountingGenerator:
    """A generator that counts the numbers that are drawn from it."""

    def __init__(self):
        self.rng, self.drawn = np.random.default_rng(1), 0

    def __getattr__(self, name):
        def drawing(*arguments, **named):
            found = getattr(self.rng, name)(*arguments, **named)
            self.drawn += np.size(found)
            return found

        return drawing


def counted_work(mechanism, trials):
    """Return what a trial does, whatever the machine's speed: 100 a call of Python code, 2.5 a number drawn.

    These are the weights with which the CPU times of the experiment's 26 cells were between .5 and 1.6 times the count.
    """
    calls, rng = 0, CountingGenerator()

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    mechanism.simulate(rng, 1)  # what is worked out once is no part of a trial
    rng.drawn = 0
    sys.setprofile(count)
    try:
        mechanism.simulate(rng, trials)
    finally:
        sys.setprofile(None)
    return (100 * calls + 2.5 * rng.drawn) / trials


WORKS = [  # of every method, and those of the experiment's study that cost the most and the least
    *(("departures_OO", method, 0.5) for method in METHODS if method not in ("windows", "deciles", "medians_6")),
    ("delays", "windows", 0.5),
    ("delays", "windows", 0.01),
    ("delays", "medians_4", 0.5),
    ("delays", "medians_4", 0.01),
    ("delays", "medians_4", 0.001),  # windows of many records, where each record counts
    ("delays", "medians_1", 0.5),  # one window, where sorting counts
    ("delays", "medians_6", 0.5),
    ("delays", "tree_2", 0.5),
    ("delays", "tree_16", 0.5),
    ("departures_AS", "deciles", 0.5),
    ("departures_AS", "median", 0.5),
    ("departures_AS_fine", "tree_2", 0.5),
    ("departures_AS_fine", "tree_16", 0.5),
    ("delays", "square_root", 0.5),
]


@pytest.mark.parametrize(("records", "method", "rho"), WORKS)
def test_work_is_what_a_trial_costs(records, method, rho):
    mechanism = built(records=records, method=method, rho=rho, omega=2 / rho**0.5)
    trials = 200 if method == "binary_search" else 2
    assert 1 / 3 < mechanism.work / counted_work(mechanism, trials) < 3


def test_work_counts_every_place_at_every_level():
    """The counts above are of calls and draws; what numpy does with each place is not among them."""
    assert NoisyTree(2**20, 0.5).work(10**5) > 20 * 10**5
