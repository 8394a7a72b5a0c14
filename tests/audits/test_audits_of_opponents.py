"""Audits of methods that other experiments compare with: right claims stand, planted bugs are found.

Seeds are fixed. An audit at level 0.99 refutes a right claim with a probability of at most 1%.
"""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import records
from tcdp_sim.candidates import NegativeBinomialTries, largest_loss
from tcdp_sim.noise import DiscreteLaplace
from tcdp_sim.ordered.quantiles import AboveThreshold, Independent, Joint, Line, Recursive, Slices, TreeSearch
from tcdp_sim.privacy import ApproxDP, PureDP
from tcdp_sim.selection.keys import ThresholdCurve

DATA = [1.0, 1.5, 2.0, 6.0, 6.5, 7.0]
EDGES = [0.1, 7.9]
GIVEN = {"trials": 20_000, "level": 0.99, "learn": False}


def released(method, k=8):
    """Return a method that releases quantiles as a function to audit."""

    def quantiles(data, rng, trials):
        return method.sample(Line(data, k, "reals"), trials, rng=rng)

    return quantiles


@pytest.mark.parametrize("levels", [(0.5,), (0.25, 0.5, 0.75)], ids=len)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("kind", [Independent, Joint, Recursive, AboveThreshold])
def test_quantiles_keep_their_claims(kind, relation, levels):
    method, claim = kind.of(levels, relation, PureDP(1.0)), PureDP(1.0)
    neighbours = records(DATA, relation.replace("-", "_"), EDGES)
    assert not tcdp_sim.audit(released(method), neighbours=neighbours, claim=claim, **GIVEN).refuted


def test_a_noisy_tree_keeps_its_claim():
    method = TreeSearch.of((0.5,), "add_remove", PureDP(1.0), Line(DATA, 8, "reals"))
    neighbours = records(DATA, domain=EDGES)
    assert not tcdp_sim.audit(released(method), neighbours=neighbours, claim=PureDP(1.0), **GIVEN).refuted


@pytest.mark.parametrize("kind", [Independent, Joint, Recursive])
def test_half_of_the_noise_of_a_quantile_is_found(kind):
    """The planted bug: a method for twice the budget. Its exact loss is 1.5 or more, and the claim is 1."""
    method = kind.of((0.5,), "add_remove", PureDP(2.0))
    report = tcdp_sim.audit(released(method), neighbours=records(DATA, domain=EDGES), claim=PureDP(1.0), **GIVEN)
    assert report.refuted


def test_slices_keep_their_claim():
    """Records in the middle of the domain, of which one moves from one end to the other."""
    claim, data = ApproxDP(2.0, 1e-3), np.linspace(3, 5, 4000)
    method = Slices.of((0.5,), "substitute", claim, Line(data, 8, "reals"))
    other = np.sort(np.append(data[1:], 7.9))
    given = {**GIVEN, "trials": 5000}
    assert not tcdp_sim.audit(released(method), neighbours=[(data, other)], claim=claim, **given).refuted


@pytest.mark.parametrize("comparison", [">", ">="])
def test_thresholds_of_keys_keep_their_delta_and_the_other_comparison_is_found(comparison):
    noise = DiscreteLaplace(1.0)
    claims = {sign: ThresholdCurve(noise, 4.0, sign).spent_delta(1.0) for sign in (">", ">=")}

    def keys(data, rng):
        kept = [data.count(key) + int(noise.sample(size=(), rng=rng)) for key in sorted(set(data))]
        passed = [count > 4 if comparison == ">" else count >= 4 for count in kept]
        return {key for key, passes in zip(sorted(set(data)), passed) if passes}

    given = {**GIVEN, "neighbours": [(["a"], []), (["a"] * 4, ["a"] * 3)], "trials": 5000}
    right = tcdp_sim.audit(keys, claim=ApproxDP(1.0, claims[comparison]), **given)
    assert not right.refuted
    if comparison == ">=":  # the delta of the strict comparison leaves out a count that equals the threshold
        wrong = tcdp_sim.audit(keys, claim=ApproxDP(1.0, claims[">"]), **given | {"neighbours": [(["a"], [])]})
        assert wrong.refuted


def best_of_tries(tries, epsilon):
    """Return the best of a geometric number of noisy runs on two candidates, as a function to audit."""

    def best(data, rng):
        runs = int(tries.sample(1, rng=rng)[0])
        if not runs:
            return None
        candidates = rng.integers(0, 2, runs)
        truth = rng.random(runs) < np.exp(epsilon) / (1 + np.exp(epsilon))
        score = np.where(candidates == 0, truth == (len(data) > 1), rng.random(runs) < 0.5)
        place = int(np.argmax(score + rng.random(runs) / 2))
        return (int(candidates[place]), bool(score[place]))

    return best


def test_the_best_of_random_tries_keeps_its_claim():
    tries = NegativeBinomialTries(1.0, 0.2)
    claim = PureDP(largest_loss(1.0, tries))
    neighbours = [(["a", "b"], ["a"])]
    report = tcdp_sim.audit(best_of_tries(tries, 1.0), neighbours=neighbours, claim=claim, **GIVEN)
    assert not report.refuted
    assert report.bound > 0.5
    assert tcdp_sim.audit(best_of_tries(tries, 3.0), neighbours=neighbours, claim=PureDP(1.0), **GIVEN).refuted
