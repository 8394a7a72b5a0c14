"""Prefix sums as a mechanism of the framework.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.experiments import cdf as experiment
from tcdp_sim.mechanisms.cdf import Cdf
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.prefix_sums import EachPrefix, WeightedTree
from tcdp_sim.privacy import ZCDP
from tcdp_sim.privacy.relation import OF_COUNTS
from tcdp_sim.study import groups

METHODS = (
    "each_bin",
    "each_prefix",
    "square_root",
    "weighted_square_root",
    "tree_2",
    "tree_3",
    "least_squares_4",
    "weighted_2",
)
POINT = {"rho": 0.1, "omega": 4.0, "delta": 1e-6, "neighbours": "substitute", "k": 30}


def law(method, noise="gaussian", **more):
    return Cdf.law({"method": method, "noise": groups.named("noise", noise), **POINT, **more}, {}, None)


def built(method, noise="gaussian", **more):
    return Cdf.build(law(method, noise, **more), np.zeros(0))


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("method", METHODS)
def test_mean_square_errors_are_exact(method, relation):
    mechanism = built(method, neighbours=relation)
    drawn = mechanism.simulate(np.random.default_rng(3), 20_000)["mean_square_error"]
    truth = experiment.EXACT["mean_square_error_mean"](mechanism)
    assert abs(drawn.mean() - truth) <= 5.5 * drawn.std() / np.sqrt(len(drawn))
    assert drawn.std() > 0


def test_the_noise_of_an_unrelated_derivation():
    """Binary tree over 4 bins, substitution: 4 nodes move by one, and rho = 4 / (2 sigma^2)."""
    assert built("tree_2", k=4).variance == pytest.approx(4 / (2 * 0.1), rel=1e-12)
    assert built("each_prefix", k=4, neighbours="add-remove").variance == pytest.approx(4 / (2 * 0.1), rel=1e-12)
    assert built("each_bin", k=4).variance == pytest.approx(2 / (2 * 0.1), rel=1e-12)


def test_other_noise_is_calibrated_to_the_rows_that_move():
    tree = built("least_squares_2", "laplace", k=4)  # two levels below the public root, two nodes of each move
    assert tree.noise.scale == pytest.approx(4 / np.sqrt(2 * 0.1), rel=1e-9)
    assert tree.variance == pytest.approx(float(tree.noise.var()))
    assert tree.thresholds == {}


@pytest.mark.parametrize("method", ["square_root", "weighted_2"])
def test_tight_noise_for_unequal_moves_is_simulated(method):
    mechanism = built(method, "sinh_squared_tight")
    drawn = mechanism.simulate(np.random.default_rng(3), 20_000)["mean_square_error"]
    truth = experiment.EXACT["mean_square_error_mean"](mechanism)
    assert abs(drawn.mean() - truth) <= 5.5 * drawn.std() / np.sqrt(len(drawn))
    gaussian = experiment.EXACT["mean_square_error_mean"](built(method))
    assert gaussian < truth < 1.5 * gaussian


@pytest.mark.parametrize("method", METHODS)
def test_the_radius_holds_and_is_exact_for_independent_errors(method):
    mechanism = built(method)
    radius = mechanism.thresholds["largest_error"]["bound"]
    drawn = mechanism.simulate(np.random.default_rng(5), 20_000)["largest_error"]
    assert (drawn > radius).mean() <= 0.05 + 5.5 * np.sqrt(0.05 * 0.95 / 20_000)
    if method == "each_prefix":  # 29 independent errors
        scale = np.sqrt(29 / (2 * 0.1))
        assert radius == pytest.approx(scale * norm.isf(0.5 * (1 - 0.95 ** (1 / 29))), rel=1.1e-3)


def test_blocks_of_trials_are_independent():
    mechanism = Cdf(Gaussian(1.0), ZCDP(0.5), EachPrefix(2**17, "add_remove"))
    drawn = mechanism.simulate(np.random.default_rng(0), 5)["mean_square_error"]
    assert len(drawn) == len(set(drawn)) == 5


def test_a_wrong_sensitivity_would_be_seen():
    right = WeightedTree(16, "substitute", 2, (1.0,) * 4)
    assert right.sensitivity == pytest.approx(np.sqrt(8))
