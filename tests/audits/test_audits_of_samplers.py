"""The attack on shuffled batches is run: counted outputs of a small run refute the epsilon of Poisson samples.

40 records in 20 batches of 2, sigma = 0.8: the first record is 1 or empty, and all others are -1. The audit sees the
largest output of each run. A true claim is refuted with probability 1 - level at most, here 1e-6.
"""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.accounting import Ledger, Shuffled, training_report
from tcdp_sim.audits import Neighbours
from tcdp_sim.privacy import ApproxDP

SIGMA, RECORDS, BATCH, DELTA = 0.8, 40, 2, 1e-3
STEPS = RECORDS // BATCH
OTHERS = np.full(RECORDS - 1, -1.0)
PAIR = Neighbours(((np.r_[1.0, OTHERS], np.r_[0.0, OTHERS]),), "the first record replaced by an empty one")
WORDS = {"neighbours": PAIR, "trials": 20_000, "level": 1 - 1e-6, "learn": False}


def shuffled(data, rng, trials):
    """The noisy sums of all batches, shape (trials, STEPS)."""
    order = rng.permuted(np.tile(data, (trials, 1)), axis=1)
    return order.reshape(trials, STEPS, BATCH).sum(axis=2) + SIGMA * rng.standard_normal((trials, STEPS))


def poisson(data, rng, trials):
    """The noisy sums of Poisson samples with the same mean size."""
    sums = [(rng.random((trials, len(data))) < BATCH / RECORDS) @ data for _ in range(STEPS)]
    return np.stack(sums, axis=1) + SIGMA * rng.standard_normal((trials, STEPS))


@pytest.fixture(scope="module")
def printed():
    return training_report("shuffle_once", SIGMA, RECORDS, BATCH, 1, DELTA).printed


def test_counted_outputs_of_shuffled_batches_refute_the_claim_of_poisson_samples(printed):
    report = tcdp_sim.audit(largest(shuffled), claim=ApproxDP(printed, DELTA), **WORDS)
    assert report.refuted


def test_they_do_not_refute_what_is_proved():
    low, _, high = Ledger([Shuffled(SIGMA, STEPS)], "zero_out").epsilon(DELTA)
    report = tcdp_sim.audit(largest(shuffled), claim=ApproxDP(high, DELTA), **WORDS)
    assert not report.refuted
    assert low < high


def test_poisson_samples_keep_their_claim(printed):
    assert not tcdp_sim.audit(largest(poisson), claim=ApproxDP(printed, DELTA), **WORDS).refuted


def largest(run):
    """The largest output of a run, which the attack looks at."""
    return lambda data, rng, trials: run(data, rng, trials).max(axis=1)
