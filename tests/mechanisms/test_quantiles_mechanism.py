"""Quantiles as a mechanism of the framework.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json

import numpy as np
import pytest

from tcdp_sim.experiments import quantiles as experiment
from tcdp_sim.mechanisms.losses import LOSSES
from tcdp_sim.mechanisms.quantiles import METHODS, Quantiles
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.study import groups

OPTIONS = groups.named("mechanism", "quantiles") | {"bins": 64}
POINT = {"m": 3, "n": 60, "log2_k": 8, "domain": "integers", "records": "bell", "neighbours": "substitute", "rho": 2.0}


def law(method, **more):
    return Quantiles.law({"method": method, **POINT, **more}, OPTIONS, None)


def built(method, **more):
    return Quantiles.build(law(method, **more), np.zeros(0))


@pytest.mark.parametrize("method", [method for method in METHODS if method != "slices"])
def test_law_and_build_are_inverse_and_plain(method):
    description = law(method)
    assert json.loads(json.dumps(description)) == description
    mechanism = Quantiles.build(description, np.zeros(0))
    assert mechanism.guarantee == ZCDP(2.0)
    assert (mechanism.method.m, mechanism.line.n, mechanism.line.k) == (3, 60, 256)
    drawn = mechanism.simulate(np.random.default_rng(0), 20)
    assert {*drawn} == {*Quantiles.observables, *Quantiles.events} - {*LOSSES}
    assert (drawn["mean_rank_error"] <= drawn["largest_rank_error"]).all()
    assert (drawn["success"] == (drawn["largest_rank_error"] <= 0.6)).all()
    assert mechanism.work > 0


@pytest.mark.parametrize(
    ("given", "guarantee"),
    [
        ({}, ZCDP(2.0)),
        ({"omega_sqrt_rho": 2.0}, TCDP(2.0, 2.0 / np.sqrt(2.0))),
        ({"omega": 9.0}, TCDP(2.0, 9.0)),
        ({"epsilon": 1.0}, PureDP(1.0)),
        ({"epsilon": 1.0, "delta": 1e-6}, ApproxDP(1.0, 1e-6)),
    ],
)
def test_guarantees_follow_the_axes(given, guarantee):
    assert built("tree_search", **given).guarantee == guarantee
    assert built("recursive", **given).guarantee == (ZCDP(2.0) if isinstance(guarantee, TCDP) else guarantee)


def test_slices_need_many_records_and_an_approximate_guarantee():
    description = law("slices", n=9000, epsilon=4.0, delta=1e-6)
    mechanism = Quantiles.build(json.loads(json.dumps(description)), np.zeros(0))
    assert mechanism.guarantee == ApproxDP(4.0, 1e-6)
    assert mechanism.simulate(np.random.default_rng(0), 20)["largest_rank_error"].max() < 200


@pytest.mark.parametrize("method", ["independent", "joint", "recursive"])
def test_single_quantiles_are_exact(method):
    mechanism = built(method, m=1, domain="reals", rho=0.2)
    drawn = mechanism.simulate(np.random.default_rng(1), 20_000)
    mean = experiment.EXACT["mean_rank_error_mean"](mechanism)
    observed = drawn["mean_rank_error"]
    assert abs(observed.mean() - mean) < 5.5 * observed.std() / np.sqrt(20_000)
    chance = experiment.EXACT["success"](mechanism)
    if method != "recursive":
        assert abs(drawn["success"].mean() - chance) < 5.5 * np.sqrt(chance * (1 - chance) / 20_000)


@pytest.mark.parametrize("method", ["joint", "recursive"])
def test_three_quantiles_are_exact(method):
    mechanism = built(method, domain="reals", rho=0.3, neighbours="add-remove")
    observed = mechanism.simulate(np.random.default_rng(2), 20_000)["mean_rank_error"]
    mean = experiment.EXACT["mean_rank_error_mean"](mechanism)
    assert abs(observed.mean() - mean) < 5.5 * observed.std() / np.sqrt(20_000)


def test_sorting_does_not_increase_the_mean():
    mechanism = built("independent", m=9, rho=0.05)
    observed = mechanism.simulate(np.random.default_rng(3), 5_000)["mean_rank_error"]
    bound = experiment.BOUND["mean_rank_error_mean"](mechanism)
    assert 0.5 * bound < observed.mean() < bound


def test_a_law_has_nothing_that_it_does_not_use():
    assert law("joint", omega=3.0) == law("joint", omega=9.0) == law("joint")
    assert law("joint", records="departures_AS", n=7) == law("joint", records="departures_AS", n=9)
    assert Quantiles.uses({"method": "joint", **POINT}) == (
        *("method", "m", "records", "n", "log2_k", "domain", "neighbours", "rho"),
    )


def test_tables_of_the_package_are_records():
    mechanism = built("recursive", records="departures_AS")
    assert (mechanism.line.n, mechanism.line.k, mechanism.line.kind) == (712, 2**20, "integers")


@pytest.mark.parametrize("bins", [0, 100, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(ValueError, match="bins = "):
        Quantiles.law({"method": "tree_2", **POINT}, OPTIONS | {"bins": bins}, None)
