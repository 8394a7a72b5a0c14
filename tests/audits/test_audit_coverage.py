"""Claims that are exactly true are seldom refuted, and planted faults of the audit itself are seen.

400 audits each, at fixed seeds. Were the chance of a wrong refutation 10% and no more, a fresh set of seeds would give
a false alarm with probability 1e-6.
"""

import audited
import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.audits import answer_pairs, binomial, counting, run, search
from tcdp_sim.exact import hockey_stick
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP, ApproxDP, PureDP

LEVEL = 0.9
AUDITS = 400
MOST = stats.binom(AUDITS, 0.1).isf(1e-6)
DELTA = float(hockey_stick(Gaussian(1.0), 1.0, 1.0).estimate)

NULLS = {
    "laplace": (audited.laplace, audited.ONE, PureDP(1.0), 600),
    "noisy_max_2": (audited.noisy_max, answer_pairs(2)[2:4], PureDP(1.0), 600),
    "response": (audited.response, audited.ONE, PureDP(float(np.log(3))), 600),
    "gaussian": (audited.gaussian, audited.ONE, ApproxDP(1.0, DELTA), 600),
    "tcdp": (audited.gaussian, audited.ONE, TCDP(0.5, 4.0), 600),
}


def refuted(name):
    mechanism, pairs, claim, trials = NULLS[name]
    given = {"neighbours": pairs, "claim": claim, "trials": trials, "level": LEVEL, "learn": False}
    return sum(tcdp_sim.audit(mechanism, **given, seed=seed).refuted for seed in range(AUDITS))


@audited.WEAK
@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_true_claims_are_seldom_refuted(name):
    assert refuted(name) <= MOST


def refuted_of_ten():
    given = {"neighbours": audited.ONE, "claim": PureDP(0.3), "trials": 2000, "level": LEVEL, "learn": False}
    return sum(tcdp_sim.audit(audited.one_of_many, **given, seed=seed).refuted for seed in range(10))


@audited.WEAK
def test_choosing_and_bounding_on_the_same_sample_is_caught(monkeypatch):
    """A thousand labels, two of each: on the outputs that chose, those that came more often look telling; epsilon is 0.

    Were each audit wrong with a chance of 10%, 8 of 10 would be so with probability 4e-7.
    """
    assert refuted_of_ten() == 0
    streams = counting.stage_streams
    monkeypatch.setattr(counting, "stage_streams", lambda stage, pair: streams("bound", pair))
    monkeypatch.setattr(
        search, "sizes", lambda trials, pairs: search.Sizes(200, trials, trials, trials, trials, 0, trials)
    )
    assert refuted_of_ten() >= 8


@pytest.mark.slow
def test_a_split_that_is_forgotten_is_caught(monkeypatch):
    """Each of the two ends at a doubt of 0.7, as if there were no other end, pair or event: the coin shows it."""
    lower, upper = binomial.lower_probability, binomial.upper_probability
    monkeypatch.setattr(binomial, "lower_probability", lambda hits, trials, _: lower(hits, trials, 0.7))
    monkeypatch.setattr(binomial, "upper_probability", lambda hits, trials, _: upper(hits, trials, 0.7))
    assert refuted("response") > MOST


def test_counts_that_are_swapped_are_caught(monkeypatch):
    """The wrong input's hits: what is broken is not found any more."""
    _, pairs, claim, _ = NULLS["laplace"]
    assert tcdp_sim.audit(audited.half_laplace, neighbours=pairs, claim=claim, trials=20_000).refuted
    right = run._hits
    monkeypatch.setattr(run, "_hits", lambda event, counts: right(event, counts)[::-1])
    assert not tcdp_sim.audit(audited.half_laplace, neighbours=pairs, claim=claim, trials=20_000).refuted
