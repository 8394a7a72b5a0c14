"""Bounds on packings against the best mechanism that there is: for a single record, and for two data sets.

Of data sets of one record each, all are neighbours. Whoever tells them apart with probability 1 - beta cannot do better
than randomised response, and the least guarantee that allows it is found order by order: one record suffices for it.

Of two packed data sets one becomes the other by n substitutions, one after the other. Whether a mechanism says "the
second" is on that way a chain of coins, and each meets the guarantee with the one before at every order. The chain that
always goes as far as the guarantee lets it comes from beta to 1 - beta with the fewest records; no bound may ask for
more. The shares are what the bounds reached when this was written.
"""

import numpy as np
import pytest

from tcdp_sim.bounds.lower import selection_gap
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

HIGHEST = 300.0  # order up to which zCDP is looked at


def renyi(orders, log_p, log_q):
    """The Renyi divergences of two coins, given the logarithms of their two sides."""
    heads, tails = (orders * p + (1 - orders) * q for p, q in zip(log_p, log_q))
    return np.logaddexp(heads, tails) / (orders - 1)


def concentrated(rho, omega=HIGHEST, xi=0.0):
    orders = 1 + np.geomspace(1e-4, omega - 1, 150)

    def allows(p, q):
        sides = [(np.log(x), np.log1p(-x)) for x in (p, q)]
        return all((renyi(orders, *pair) <= xi + rho * orders).all() for pair in (sides, sides[::-1]))

    return allows


def indistinguishable(epsilon, delta=0.0):
    def allows(p, q):
        pairs = [(p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)]
        return all(x <= np.exp(epsilon) * y + delta for x, y in pairs)

    return allows


def fewest(allows, beta):
    """Return the number of steps from a chance of beta to one of 1 - beta."""
    p, steps = beta, 0
    while p < 1 - beta:
        low, high = p, 1 - 1e-15
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if allows(p, middle) else (low, middle)
        p, steps = low, steps + 1
    return steps


CASES = {  # name -> (guarantee, beta, which steps it allows, the share of the truth that the bound is at least)
    "zCDP": (ZCDP(0.01), 0.3, concentrated(0.01), 0.95),
    "zCDP, seldom wrong": (ZCDP(0.01), 0.05, concentrated(0.01), 0.85),
    "zCDP with xi": (ZCDP(0.01, 0.02), 0.3, concentrated(0.01, xi=0.02), 0.5),
    "tCDP, omega of no account": (TCDP(0.001, 30.0), 0.3, concentrated(0.001, 30.0), 0.95),
    "tCDP, seldom wrong": (TCDP(0.1, 5.0), 1e-3, concentrated(0.1, 5.0), 0.65),
    "tCDP, few records": (TCDP(0.1, 1.5), 0.3, concentrated(0.1, 1.5), 0.85),
    "tCDP, more than omega": (TCDP(0.01, 1.5), 0.3, concentrated(0.01, 1.5), 0.6),
    "tCDP, large": (TCDP(1.0, 3.0), 1e-6, concentrated(1.0, 3.0), 0.6),
    "pure": (PureDP(0.1), 0.05, indistinguishable(0.1), 0.6),
    "approximate": (ApproxDP(0.1, 0.01), 0.05, indistinguishable(0.1, 0.01), 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_no_bound_is_above_what_a_mechanism_needs_and_none_is_far_below(name):
    guarantee, beta, allows, share = CASES[name]
    steps = fewest(allows, beta)
    assert share * steps <= selection_gap(guarantee, 2, beta) <= steps


def least_rho(k, beta, omega, xi=0.0):
    """The least rho that randomised response on k answers has, by the divergence of its outputs at many orders."""
    p, q = 1 - beta, beta / (k - 1)
    orders = 1 + np.geomspace(1e-3, omega - 1, 2000)
    heads, tails = (orders * np.log(x) + (1 - orders) * np.log(y) for x, y in ((p, q), (q, p)))
    others = np.full(len(orders), np.log((k - 2) * q) if k > 2 else -np.inf)
    spent = (np.logaddexp(np.logaddexp(heads, tails), others) / (orders - 1) - xi) / orders
    return max((p - q) * np.log(p / q) - xi, spent.max())  # at order 1, and beyond


@pytest.mark.parametrize("omega", [1.05, 1.2, 1.5, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("k", [2, 3, 10, 1e4, 1e12])
def test_one_record_is_enough_where_randomised_response_needs_no_more(k, omega):
    for beta in [beta for beta in (1e-6, 0.05, 0.3, 0.8) if beta < 1 - 1 / k]:
        gap = selection_gap(TCDP(least_rho(k, beta, omega), omega), k, beta)
        assert 0.79 < gap <= 1 + 1e-6, beta


@pytest.mark.parametrize("k", [2, 10, 1e12])
def test_one_record_is_enough_also_with_an_offset_or_a_delta(k):
    for beta in (0.05, 0.3):
        gap = selection_gap(ZCDP(least_rho(k, beta, HIGHEST, xi=0.2), 0.2), k, beta)
        assert 0.79 < gap <= 1 + 1e-6, beta
        delta = 1 - beta - np.exp(0.3) * beta / (k - 1)
        assert selection_gap(ApproxDP(0.3, delta), k, beta) == pytest.approx(1, rel=1e-9)
