"""Private sets of keys as a mechanism of the framework.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest

from tcdp_sim.data import Counts
from tcdp_sim.experiments import partition_selection as experiment
from tcdp_sim.mechanisms.partition_selection import PartitionSelection
from tcdp_sim.privacy import ApproxDP, ApproxTCDP, ApproxZCDP
from tcdp_sim.study import groups

DATA = Counts(
    "toy", np.repeat([200, 60, 33, 30, 27, 24, 20, 16, 12, 8, 3, 1], [1, 1, 2, 2, 2, 2, 3, 3, 3, 5, 9, 30]), 1e6, ""
)
TARGETS = {
    "approximate": ({"epsilon": 0.5, "delta": 1e-3}, ApproxDP(0.5, 1e-3)),
    "zcdp": ({"rho": 0.05, "delta": 1e-3}, ApproxZCDP(1e-3, 0.05)),
    "tcdp": ({"rho": 0.05, "omega": 3.0, "delta": 1e-3}, ApproxTCDP(1e-3, 0.05, 3.0)),
}
CASES = [("optimal_dp", None), ("optimal_tcdp", None), ("threshold", "laplace"), ("threshold", "discrete_gaussian")]


def law(method, target, noise=None, data=DATA, **more):
    point = {"method": method, "noise": noise and groups.named("noise", noise), **TARGETS[target][0], **more}
    return PartitionSelection.law(point, {}, data)


def built(method, target, noise=None, **more):
    return PartitionSelection.build(law(method, target, noise, **more), DATA.counts)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("method", "noise"), CASES)
def test_means_are_exact_and_agree_with_a_plain_simulation(method, noise, target):
    mechanism = built(method, target, noise)
    drawn = mechanism.simulate(np.random.default_rng(3), 4000)
    for name, quantity in (("keys", "keys_mean"), ("records", "records_mean")):
        truth = experiment.EXACT[quantity](mechanism)
        assert abs(drawn[name].mean() - truth) <= 5.5 * drawn[name].std() / np.sqrt(4000)
        assert drawn[name].std() > 0
    rng = np.random.default_rng(4)
    plain = [sum(rng.random() < p for p in mechanism.curve.released(DATA.counts)) for _ in range(500)]
    assert abs(np.mean(plain) - drawn["keys"].mean()) <= 5.5 * np.std(plain) / np.sqrt(500)
    assert np.var(plain) == pytest.approx(drawn["keys"].var(), rel=0.4)


def test_the_comparison_matters_on_a_lattice():
    above, at_least = (
        built("threshold", "zcdp", "discrete_gaussian", comparison=word) for word in ("above", "at_least")
    )
    assert (
        at_least.curve.threshold == above.curve.threshold + 1
    )  # so both release a single record with equal probability
    counts = np.arange(1, 60)
    assert at_least.curve.released(counts) == pytest.approx(above.curve.released(counts), rel=1e-12)
    rng = np.random.default_rng
    assert (above.simulate(rng(1), 500)["keys"] == at_least.simulate(rng(1), 500)["keys"]).all()


def test_a_law_has_nothing_that_it_does_not_use():
    assert law("optimal_tcdp", "zcdp", "laplace") == law("optimal_tcdp", "zcdp", comparison="at_least")
    assert law("optimal_tcdp", "zcdp") != law("optimal_tcdp", "zcdp", data=Counts("other", [5, 1], 9, ""))


def test_several_records_at_a_key_need_more_of_them():
    one, five = (built("optimal_tcdp", "zcdp", records_per_key=n) for n in (1, 5))
    assert five.curve.records_needed(0.5) == 5 * (one.curve.records_needed(0.5) - 1) + 1
    assert (
        five.simulate(np.random.default_rng(0), 100)["keys"].mean()
        < one.simulate(np.random.default_rng(0), 100)["keys"].mean()
    )
