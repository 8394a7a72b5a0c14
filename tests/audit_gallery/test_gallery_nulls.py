"""Audits of true claims: the claims are true, and audits refute them as seldom as the level says."""

import numpy as np
import pytest
from audit_gallery import nulls
from scipy import stats

from tcdp_sim.privacy import ApproxDP, PureDP

NULLS = nulls.nulls()
EXACT = {  # the laws of single outputs, whose largest ratio is the claim
    "Laplace": lambda x, a: stats.laplace(a).pdf(x),
    "6-ary response": lambda x, a: np.where(np.round(x) == a, 0.5, 0.1),
    "discrete Laplace": lambda x, a: stats.dlaplace(1.0, loc=a).pmf(np.round(x)),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_true_parameter_is_the_claimed_one(name):
    x, density = np.linspace(-5, 5, 2001), EXACT[name]
    assert np.log(density(x, 0) / density(x, 1)).max() == pytest.approx(NULLS[name].claim.epsilon, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "law"), [("exponential noise", stats.expon), ("truncated Laplace", None), ("Gaussian", stats.norm)]
)
def test_the_true_delta_is_the_claimed_one(name, law):
    """By quadrature of the positive part of p - e q, for both directions."""
    claim = NULLS[name].claim
    assert isinstance(claim, ApproxDP)
    x = np.linspace(-9, 60, 2_000_001)

    def density(a):
        if law is not None:
            return law(a).pdf(x)
        inside = np.where(np.abs(x - a) <= 3, np.exp(-np.abs(x - a)), 0)
        return inside / (2 * -np.expm1(-3.0))

    p, q = density(0.0), density(1.0)
    step = x[1] - x[0]
    shown = max(np.maximum(one - np.exp(claim.epsilon) * other, 0).sum() * step for one, other in ((p, q), (q, p)))
    assert shown == pytest.approx(claim.delta, rel=1e-4)


def test_there_are_twenty_mechanisms_of_every_notion():
    assert len(NULLS) >= 20
    assert len({type(null.claim) for null in NULLS.values()}) == 5


def test_true_claims_are_seldom_refuted_here_and_false_ones_are():
    """An audit of each mechanism at level 0.9999: a false alarm has a chance of at most 0.23%."""
    assert sum(nulls.refutations(null, 1, 300, 0.9999) for null in NULLS.values()) == 0
    wrong = nulls.Null(NULLS["Laplace"].mechanism, NULLS["Laplace"].neighbours, PureDP(0.3))
    assert nulls.refutations(wrong, 1, 2000, 0.95) == 1


def test_the_table_counts_what_was_found():
    text = nulls.table({"Laplace": 2, "noisy maximum": 0}, 50, 0.95)
    assert "| Laplace | 1-DP | yes | 2 of 50 |" in text
    assert "In all 2 of 100 audits at level 0.95 refute a true claim: 2.00%" in text
    low, high = nulls.interval(2, 100)
    assert stats.binom(100, low).sf(1) == pytest.approx(0.025)
    assert stats.binom(100, high).cdf(2) == pytest.approx(0.025)


@pytest.mark.slow
def test_a_thousand_true_claims():
    """Fifty audits of each mechanism at level 0.9: more refutations than this have a chance of at most 1e-6."""
    hits = sum(nulls.refutations(null, 50, 300, 0.9) for null in NULLS.values())
    assert hits <= stats.binom(50 * len(NULLS), 0.1).isf(1e-6)
