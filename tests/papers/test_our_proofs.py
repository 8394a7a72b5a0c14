"""The steps of short proofs in rows of the tCDP paper: identities in fractions, inequalities on random laws."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from tcdp_sim.experiments.papers import claims
from tcdp_sim.experiments.papers.judge.evidence import Proof

OMEGAS = (Fraction(11, 10), Fraction(2), Fraction(21, 2), Fraction(100))
PROVED = ("T.L2", "T.P9", "T.T17", "T.T26", "T.C27", "T.P4 eq4", "T.C18p repaired", "V.asinh")


@pytest.mark.parametrize("identity", PROVED)
def test_the_rows_have_their_proof(identity):
    assert claims()[identity].proof is Proof.SYMBOLIC


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_orders_and_factors_of_proposition_9(omega, k):
    """Step from a group of k to one of k + 1, and the sum of all steps."""
    r = omega / (omega - 1)

    def order(size):
        return 1 + 1 / (r**size - 1)

    alpha = order(k + 1)
    q = (r ** (k + 1) - 1) / (r**k - 1)
    p = q / (q - 1)
    assert order(1) == omega == p * alpha
    assert 1 + q * (alpha - 1) == order(k)
    assert (alpha - 1 / p) / (alpha - 1) == r**k
    rho = Fraction(3, 7)
    assert sum(r**j * omega * rho for j in range(k)) == (r**k - 1) * (omega - 1) * omega * rho


def divergence(order, p, q):
    return np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)


@pytest.mark.parametrize("seed", range(5))
def test_holder_between_three_laws(seed):
    """It is an equality at P = Q, where the factor multiplies 0."""
    rng = np.random.default_rng(seed)
    first, second, third = rng.dirichlet(np.ones(6), size=3)
    for order in (1.1, 2.0, 7.0):
        for q in (1.2, 2.0, 5.0):
            p = q / (q - 1)
            last = divergence(1 + q * (order - 1), second, third)
            right = (order - 1 / p) / (order - 1) * divergence(p * order, first, second) + last
            assert divergence(order, first, third) <= right * (1 + 1e-12)
            assert divergence(order, second, third) <= last * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_moments_of_two_releases(seed):
    """The sum over z first, for each y, and then over y: the moment of the pair is at most a product."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4), size=2)
    then = rng.dirichlet(np.ones(3), size=(2, 4))  # laws of z given y, under both data sets
    pair = [(law[:, None] * given).ravel() for law, given in zip((p, q), then)]
    for order in (1.5, 3.0, 8.0):
        second = max(divergence(order, then[0, y], then[1, y]) for y in range(4))
        both = divergence(order, *pair)
        assert both <= divergence(order, p, q) + second + 1e-12
        last = [np.reshape(law, (4, 3)).sum(axis=0) for law in pair]
        assert divergence(order, *last) <= both + 1e-12


@pytest.mark.parametrize("k", [2, 3, 10, 1e6, 1e300])
def test_fano_up_to_one_half(k):
    """H(U|V) <= h(p) + p log(k-1) for an error p <= 1/2, which is at most log 2 + log(k)/2."""
    p = np.linspace(1e-9, 0.5, 1001)
    entropy = -p * np.log(p) - (1 - p) * np.log1p(-p)
    assert (entropy + p * log(k - 1) <= log(2) + log(k) / 2).all()
    assert log(k) - log(2) - log(k) / 2 == pytest.approx(log(k / 4) / 2, abs=1e-12 * log(k))


def test_corollary_27_solves_theorem_26():
    """At n of the corollary e^(n/(omega-1)) omega^2 rho is log(k/4)/2."""
    for omega, rho, k in ((2.0, 0.1, 1e6), (5.0, 0.01, 1e12)):
        n = (omega - 1) * log(log(k / 4) / (2 * omega**2 * rho))
        assert np.exp(n / (omega - 1)) * omega**2 * rho == pytest.approx(log(k / 4) / 2, rel=1e-12)
