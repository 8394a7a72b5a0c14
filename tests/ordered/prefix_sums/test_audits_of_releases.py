"""Audits of prefix sums and of random allocation at what they claim, and with planted bugs.

Seeds are fixed. A right claim is refuted with probability 5% at most for a fresh seed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim import audit
from tcdp_sim.accounting import Additive, Allocated, Ledger
from tcdp_sim.audits import GaussianDP
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.prefix_sums import SquareRoot, WeightedSquareRoot
from tcdp_sim.privacy import ApproxDP

K = 16


@dataclass(frozen=True)
class PrefixSums:
    """L (R counts + z) with noise for `relation`."""

    factorisation: Any
    sensitivity: float

    def __call__(self, counts, rng, trials):
        noise = self.sensitivity * rng.standard_normal((trials, K))
        return np.cumsum(counts) + self.factorisation.errors(noise)

    def log_likelihood_ratio(self, outputs, data, other):
        left = self.factorisation.errors(np.eye(K)).T
        scaled = np.linalg.solve(left, outputs.T).T / self.sensitivity
        one, two = (np.linalg.solve(left, np.cumsum(counts)) / self.sensitivity for counts in (data, other))
        return scaled @ (one - two) - 0.5 * (one @ one - two @ two)


def neighbours(relation):
    counts = np.full(K, 3.0)
    first, last = np.eye(K)[0], np.eye(K)[13]  # the farthest columns of the square root of 16 bins
    return [(counts + first, counts + (last if relation == "substitute" else 0))]


def audited(factorisation, relation, planted=1.0):
    mechanism = PrefixSums(factorisation, factorisation.sensitivity / planted)
    return audit(mechanism, neighbours=neighbours(relation), claim=GaussianDP(1.0), trials=40_000, learn=False)


def test_prefix_sums_keep_their_claim_and_a_forgotten_column_is_found():
    for relation in ("add_remove", "substitute"):
        assert not audited(SquareRoot(K, relation), relation).refuted
    assert not audited(WeightedSquareRoot(K, "add_remove"), "add_remove").refuted
    forgotten = SquareRoot(K, "add_remove")  # noise for one record more or less, records that are substituted
    assert audited(forgotten, "substitute").refuted
    assert audited(SquareRoot(K, "add_remove"), "add_remove", planted=1.2).refuted


def test_a_ledger_of_gaussian_noise_is_the_claim_of_prefix_sums():
    ledger, factorisation = Ledger([Additive(Gaussian(1.0))]), SquareRoot(K, "add_remove")
    for planted, found in ((1.0, False), (1.2, True)):
        mechanism = PrefixSums(factorisation, factorisation.sensitivity / planted)
        report = audit(mechanism, neighbours=neighbours("add_remove"), claim=ledger, trials=40_000, learn=False)
        assert report.refuted == found


@dataclass(frozen=True)
class Steps:
    """Noisy sums of steps. A record takes part in one of them, which is the first one if the shuffle is forgotten."""

    steps: int
    shuffled: bool

    def __call__(self, record, rng, trials):
        outputs = rng.standard_normal((trials, self.steps))
        step = rng.integers(self.steps, size=trials) if self.shuffled else np.zeros(trials, int)
        outputs[np.arange(trials), step] += record
        return outputs

    def log_likelihood_ratio(self, outputs, data, other):
        ratio = np.log(np.exp(outputs - 0.5).mean(axis=1)) if self.shuffled else outputs[:, 0] - 0.5
        return (data - other) * ratio


def test_a_shuffle_keeps_its_claim_and_a_forgotten_one_is_found():
    claim = ApproxDP(Ledger([Allocated(1.0, 20)], "add_remove").epsilon(1e-2).upper, 1e-2)
    reports = [
        audit(Steps(20, shuffled), neighbours=[(1.0, 0.0)], claim=claim, trials=40_000, learn=False)
        for shuffled in (True, False)
    ]
    assert [report.refuted for report in reports] == [False, True]
    tight = ApproxDP(0.9 * claim.epsilon, 1e-2)  # a claim below the lower end of the bracket
    assert tight.epsilon < Ledger([Allocated(1.0, 20)], "add_remove").epsilon(1e-2).lower
