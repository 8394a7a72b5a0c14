"""Audits of small ledgers: true claims stand, and planted bugs are found.

Seeds are fixed; for a fresh seed the false-alarm rate of each audit is 0.1%.
"""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    PermuteAndFlip,
    RandomisedResponse,
    Sampled,
    Thresholded,
)
from tcdp_sim.audits import LedgerMechanism
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP

MIXED = [
    (Additive(Gaussian(4.0)), 2),
    Additive(Laplace(3.0)),
    (RandomisedResponse(0.4, 3), 2),
    Additive(DiscreteGaussian(3.0)),
    Sampled(Additive(Gaussian(1.0)), 0.1),
    BoundedRange(0.4),
    Claimed(ApproxDP(0.2, 1e-3)),
]
LEDGERS = {
    "mixed": (Ledger(MIXED, "add_remove"), 0.02),
    "responses": (Ledger([(RandomisedResponse(0.3), 4), PermuteAndFlip(0.3), Claimed(PureDP(0.2))]), 0.0),
    "lattice": (Ledger([(Additive(DiscreteLaplace(4.0)), 3), BoundedRangePair(0.5, 0.3)]), 0.05),
    "lost": (Ledger([Additive(TruncatedLaplace(1.0, 4.0)), Additive(Laplace(4.0))]), 0.02),
    "vectors": (Ledger([(Distributions([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]), 2)], "add_remove"), 0.05),
}
GIVEN = {"trials": 60_000, "level": 0.999, "learn": False}


def claim(epsilon, delta):
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def audited(ledger, guarantee, planted=None):
    """Audit the releases of a ledger, or of another one that is planted, at a guarantee."""
    mechanism = LedgerMechanism(planted or ledger)
    return tcdp_sim.audit(mechanism, neighbours=mechanism.pairs, claim=guarantee, **GIVEN)


@pytest.mark.parametrize("name", LEDGERS)
def test_true_claims_stand_and_claims_that_are_too_small_fall(name):
    ledger, delta = LEDGERS[name]
    epsilon = ledger.epsilon(delta)
    true = audited(ledger, claim(epsilon.upper, delta))
    assert not true.refuted
    assert true.bound > 0.75 * epsilon.lower
    assert audited(ledger, claim(0.6 * epsilon.lower, delta)).refuted


def test_noise_that_is_too_small_is_found():
    ledger, delta = LEDGERS["mixed"]
    planted = Ledger([Additive(Gaussian(2.0)), *MIXED], "add_remove")  # a release that the ledger forgot
    assert audited(ledger, ApproxDP(ledger.epsilon(delta).upper, delta), planted).refuted


def test_claims_of_zcdp_are_audited():
    ledger = Ledger([(Additive(Gaussian(2.0)), 2), RandomisedResponse(0.5)])
    rho = 0.25 + 0.5 * np.tanh(0.25)
    assert not audited(ledger, ZCDP(rho)).refuted
    assert audited(ledger, ZCDP(0.7 * rho)).refuted


@pytest.mark.parametrize("name", LEDGERS)
def test_the_losses_of_its_outputs_have_the_mean_that_they_must_have(name):
    """E e^-L = 1 less what Q alone can give under P, and E e^L is the same under Q: the two worlds fit the losses."""
    mechanism = LedgerMechanism(LEDGERS[name][0])
    one, none = np.array([1.0]), np.array([0.0])
    for first, second, seed in ((one, none, 1), (none, one, 2)):
        outputs = mechanism(first, np.random.default_rng(seed), 40_000)
        loss = mechanism.log_likelihood_ratio(outputs, first, second)
        events = np.quantile(loss[np.isfinite(loss)], [0.3, 0.7])
        others = mechanism.log_likelihood_ratio(
            mechanism(second, np.random.default_rng(seed + 2), 40_000), first, second
        )
        for event in events:  # P[L > l] - e^l Q[L > l] = E_P (1 - e^(l - L)); L > l
            weights = np.where(loss > event, np.exp(-loss), 0.0)
            seen = (others > event) & np.isfinite(others)
            error = np.hypot(weights.std(), seen.std()) / np.sqrt(40_000)
            assert abs(weights.mean() - seen.mean()) < 5.5 * error


@pytest.mark.parametrize(
    "ledger",
    [
        Ledger(),
        Ledger([(RandomisedResponse(1.0), 2000)]),
        Ledger([Claimed(ZCDP(0.1))]),
        Ledger([Thresholded(Laplace(1.0), 9.0)], "add_remove"),
        Ledger([Sampled(Additive(Gaussian(1.0)), 0.1, "without_replacement")], "substitute"),
        "ledger",
    ],
)
def test_what_cannot_be_drawn_is_refused(ledger):
    with pytest.raises(tcdp_sim.UserError, match="valid: "):
        LedgerMechanism(ledger)
