"""Randomised response, counted, and a bit of the count, against all lists of answers and subgaussian moments.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tcdp_sim.experiments.mean_concentrated import EXACT, LOSS, bit_root_two_rho, bit_tau
from tcdp_sim.mechanisms.mean_concentrated import MeanConcentrated

MP = mpmath.mp.clone()
MP.dps = 30
CASES = [(1, 1.0, 1), (3, 0.5, 2), (4, 1.0, 1), (6, 2.0, 1), (6, 2.0, 6), (6, 0.1, 3), (7, 1.0, 4)]
cases = pytest.mark.parametrize(("answers", "epsilon", "cut"), CASES)


def built(answers, epsilon, cut):
    law = MeanConcentrated.law({"answers": answers, "epsilon": epsilon, "cut": cut}, {}, None)
    assert json.loads(json.dumps(law)) == law
    return MeanConcentrated.build(law, np.zeros(0))


def laws(answers, epsilon, outcome):
    """outcome -> (probability if the record's bit is one, if it is zero), over all lists of answers."""
    right = 1 / (1 + MP.exp(-MP.mpf(epsilon)))
    found = {}
    for given in product((0, 1), repeat=answers):
        p, q = (MP.fprod(right if answer == bit else 1 - right for answer in given) for bit in (1, 0))
        before = found.get(outcome(given), (0, 0))
        found[outcome(given)] = (before[0] + p, before[1] + q)
    return list(found.values())


def tau_of(pairs):
    """The least tau, larger of both directions: the root of the largest log E e^(l (Z - E Z)) over l^2/2."""
    return max(_one_way(pairs), _one_way([(q, p) for p, q in pairs]))


def _one_way(pairs):
    chances = [p for p, _ in pairs]
    losses = [MP.log(p / q) for p, q in pairs]
    mean = MP.fdot(chances, losses)

    def least(power):
        power = MP.mpf(power)
        moment = MP.log(MP.fsum(p * MP.exp(power * (z - mean)) for p, z in zip(chances, losses)))
        return float(MP.sqrt(2 * moment / power**2))

    grid = [sign * size for sign in (1, -1) for size in np.geomspace(0.01, 100, 41)]
    best = max(grid, key=least)
    near = sorted((best / 1.3, best * 1.3))
    return least(minimize_scalar(lambda x: -least(x), bounds=near, method="bounded", options={"xatol": 1e-9}).x)


@cases
def test_the_release_has_exactly_its_mu_and_tau(answers, epsilon, cut):
    mechanism = built(answers, epsilon, cut)
    pairs = laws(answers, epsilon, sum)
    mean = float(MP.fsum(p * MP.log(p / q) for p, q in pairs))
    assert mechanism.guarantee.mu == pytest.approx(mean, rel=1e-12)
    assert EXACT[LOSS](mechanism) == pytest.approx(mean, rel=1e-12)
    assert mechanism.guarantee.tau == pytest.approx(tau_of(pairs), rel=1e-6)


@cases
def test_the_bit_has_exactly_its_law_and_its_tau(answers, epsilon, cut):
    mechanism = built(answers, epsilon, cut)
    pairs = laws(answers, epsilon, lambda given: sum(given) >= cut)
    if sum(next(iter(product((0, 1), repeat=answers)))) >= cut:
        pairs = pairs[::-1]
    for column, known in zip(zip(*pairs), mechanism.log_bits):
        np.testing.assert_allclose(np.exp(known), [float(chance) for chance in column], rtol=1e-12)
    assert EXACT["bit"](mechanism) == pytest.approx(float(pairs[1][0]), rel=1e-12)
    assert bit_tau(mechanism) == pytest.approx(tau_of(pairs), rel=1e-6)


@cases
def test_the_bit_has_its_least_rho(answers, epsilon, cut):
    pairs = laws(answers, epsilon, lambda given: sum(given) >= cut)
    most = 0.0
    for way in (pairs, [(q, p) for p, q in pairs]):
        kl = float(MP.fsum(p * MP.log(p / q) for p, q in way))
        ratios = [
            float(MP.log(MP.fsum(p**a * q ** (1 - a) for p, q in way)) / (a - 1) / a)
            for a in 1 + np.geomspace(1e-4, 300, 300)
        ]
        most = max(most, kl, *ratios)
    assert bit_root_two_rho(built(answers, epsilon, cut)) == pytest.approx((2 * most) ** 0.5, rel=1e-4)


def test_a_bit_may_have_a_larger_tau_and_never_a_larger_rho():
    """The finding: 12 answers at epsilon 1 and the cut 2, in a moment at the power that shows it."""
    mechanism = built(12, 1.0, 2)
    assert bit_tau(mechanism) / mechanism.guarantee.tau == pytest.approx(1.3605, abs=1e-4)
    chances, losses = np.exp(mechanism.log_bits[1]), -mechanism.bit_losses
    power = 2 * np.log(chances[0] / chances[1]) / (losses[1] - losses[0])
    moment = np.log(chances @ np.exp(power * (losses - chances @ losses)))
    assert moment == pytest.approx(1.3605**2 * power**2 * mechanism.guarantee.tau**2 / 2, rel=1e-3)
    for cut in range(1, 13):
        for epsilon in (0.3, 1.0, 2.0):
            one = built(12, epsilon, cut)
            assert bit_root_two_rho(one) <= one.guarantee.tau


def test_simulated_numbers_have_their_means():
    mechanism = built(12, 0.5, 5)
    drawn = mechanism.simulate(np.random.default_rng(3), 100_000)
    for name, quantity in (("loss", LOSS), ("bit", "bit")):
        error = drawn[name].std() / np.sqrt(1e5)
        assert abs(drawn[name].mean() - EXACT[quantity](mechanism)) < 5.5 * error
    assert drawn["bit"].dtype == bool


def test_far_tails_keep_their_digits():
    """2,000 answers: the bit is zero with a probability far below rounding of its complement."""
    mechanism = built(2000, 1.0, 300)
    chances = [MP.binomial(2000, j) * MP.exp(j - 2000 * MP.log(1 + MP.e)) for j in range(300)]
    assert mechanism.log_bits[0][0] == pytest.approx(float(MP.log(MP.fsum(chances))), rel=1e-10)
    assert bit_tau(mechanism) > 0
