"""Theorem 32's pure DP mechanism against a list of all data sets.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json
from itertools import combinations_with_replacement
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.calibration import calibrate
from tcdp_sim.experiments.pure_from_zcdp import EXACT, PURE, ZCDP, epsilon_spent
from tcdp_sim.mechanisms.losses import LOSSES
from tcdp_sim.mechanisms.pure_from_zcdp import PureFromZCDP
from tcdp_sim.privacy import ZCDP as Zero
from tcdp_sim.privacy import PureDP

CASES = [(10, None, 3.0, 3), (20, None, 2.0, 2), (14, 0.03, 4.0, 4), (1, 0.2, 1.0, 3), (60, None, 3.0, 3)]
cases = pytest.mark.parametrize(("n", "rho", "epsilon", "values"), CASES)


def law(n, rho, epsilon, values):
    return PureFromZCDP.law({"n": n, "rho": rho, "epsilon": epsilon, "values": values}, {}, None)


def built(*case):
    return PureFromZCDP.build(law(*case), np.zeros(0))


def every_mean(records, values):
    """The means of all data sets, as multisets of records."""
    places = [i / (values - 1) for i in range(values)]
    return [sum(data) / records for data in combinations_with_replacement(places, records)]


def laws(mechanism):
    """Mean and law of M' for every data set, from the exponential mechanism's formula."""
    for mean in sorted({round(mean, 12) for mean in every_mean(mechanism.records, mechanism.values)}):
        weights = [exp(-mechanism.epsilon * mechanism.records * abs(mean - y) / 2) for y in mechanism.net]
        yield mean, np.array(weights) / sum(weights)


@cases
def test_law_and_build_are_inverse_and_plain(n, rho, epsilon, values):
    description = law(n, rho, epsilon, values)
    assert json.loads(json.dumps(description)) == description
    mechanism = PureFromZCDP.build(description, np.zeros(0))
    assert (mechanism.n, mechanism.epsilon, mechanism.values) == (n, epsilon, values)
    assert mechanism.rho == pytest.approx(1 / (n * sqrt(pi)) if rho is None else rho)
    assert mechanism.guarantee == PureDP(epsilon)


@cases
def test_the_zcdp_mechanism_is_calibrated_noise_on_a_mean(n, rho, epsilon, values):
    mechanism = built(n, rho, epsilon, values)
    scale = calibrate("gaussian", Zero(mechanism.rho)).noise.scale / n
    truth = 2 * norm(scale=scale).expect(lambda x: x, lb=0)
    assert mechanism.alpha == pytest.approx(truth, rel=1e-7)
    assert mechanism.rho <= mechanism.alpha**2 * (1 + 1e-12)
    assert mechanism.records >= 4 / (epsilon * truth) * (mechanism.rho * n**2 + 1) * (1 - 1e-9) > mechanism.records - 1


@pytest.mark.parametrize(("n", "values"), [(10, 3), (20, 2), (14, 4), (60, 3), (6, 5), (120, 2)])
def test_the_net_is_a_packing_of_means(n, values):
    mechanism = built(n, None, 1.0, values)
    means = np.array(every_mean(n, values))
    gap = 4 * mechanism.alpha
    assert all(np.isclose(means, y, atol=1e-12).any() for y in mechanism.net)
    assert (np.diff(mechanism.net) > gap).all()
    assert np.abs(means[:, None] - mechanism.net).min(axis=1).max() <= gap
    assert (n < 60) or len(mechanism.net) > 2


@cases
def test_error_and_epsilon_against_all_data_sets(n, rho, epsilon, values):
    mechanism = built(n, rho, epsilon, values)
    assert mechanism.records < 500
    known = dict(laws(mechanism))
    assert len(known) == mechanism.sums
    errors = {mean: float(p @ np.abs(mean - mechanism.net)) for mean, p in known.items()}
    assert EXACT[PURE](mechanism) == pytest.approx(max(errors.values()), rel=1e-9)
    assert errors[min(errors, key=lambda mean: abs(mean - mechanism.answers(mechanism.worst_sum)))] == pytest.approx(
        max(errors.values()), rel=1e-9
    )
    apart = 1 / mechanism.records + 1e-9
    losses = [
        np.abs(np.log(p / q)).max()
        for mean, p in known.items()
        for other, q in known.items()
        if abs(mean - other) < apart
    ]
    assert epsilon_spent(mechanism) == pytest.approx(max(losses), rel=1e-9, abs=1e-12)
    assert epsilon_spent(mechanism) <= epsilon * (1 + 1e-12)


@cases
def test_the_theorem_is_kept(n, rho, epsilon, values):
    """Both bounds on the error, and Lemma 35's bound on the packing with Markov's 1/2."""
    mechanism = built(n, rho, epsilon, values)
    for mean, p in laws(mechanism):
        away = np.abs(mean - mechanism.net)
        assert p @ away <= 10 * mechanism.alpha
        for beta in (0.5, 1e-3, 1e-9):
            most = 10 * mechanism.alpha + 4 / (epsilon * mechanism.records) * log(1 / beta)
            assert p[away > most].sum() <= beta
    assert log(len(mechanism.net)) <= 2 * mechanism.rho * n**2 + 2 * log(2)


def test_blocks_overlap_so_that_no_pair_of_neighbours_is_missed(monkeypatch):
    mechanism = built(20, None, 2.0, 4)
    whole = epsilon_spent(mechanism), mechanism.worst_sum
    monkeypatch.setattr("tcdp_sim.mechanisms.pure_from_zcdp.BLOCK", 7)
    again = built(20, None, 2.0, 4)
    assert (epsilon_spent(again), again.worst_sum) == pytest.approx(whole)
    pairs = {(a, a + 3) for block in again.blocks(overlap=3) for a in block if a + 3 in block}
    assert len(pairs) == again.sums - 3


@pytest.mark.parametrize("case", [(30, None, 0.02, 12), (30, None, 1.0, 12), (10, 0.01, 5.0, 2)])
def test_simulated_errors_have_their_means(case):
    mechanism = built(*case)
    drawn = mechanism.simulate(np.random.default_rng(7), 100_000)
    assert set(drawn) == set(PureFromZCDP.observables) - {*LOSSES}
    for name, quantity in (("pure_error", PURE), ("zcdp_error", ZCDP)):
        error = max(drawn[name].std(), 1e-12) / sqrt(1e5)
        assert abs(drawn[name].mean() - EXACT[quantity](mechanism)) <= 5.5 * error + 1e-12
        assert drawn[name].min() >= PureFromZCDP.observables[name].least
