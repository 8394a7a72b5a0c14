"""Adaptive analysts under a filter: draws against exact means, and these against every course by hand.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Filter, RandomisedResponse, tight_rho
from tcdp_sim.experiments.ledger import analysts
from tcdp_sim.mechanisms.ledger import AdaptiveAnalyst, Ledger
from tcdp_sim.mechanisms.ledger.queries import QUERIES, Refining, Screening, Voting
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP

TRIALS = 3000
KINDS = [Screening(), Refining(), Voting(), Screening(0.4, 20.0, 12.0, 4.0, 1.0), Voting(1.0, 2, 7)]


def agree(draws, truth):
    assert abs(draws.mean() - truth) <= 5.5 * draws.std() / np.sqrt(len(draws)) + 1e-9


@pytest.mark.parametrize("query", KINDS, ids=str)
def test_lengths_have_the_exact_law(query):
    lengths = query.lengths(40_000, np.random.default_rng(1))
    law = analysts.probabilities(query)
    assert sum(law) == pytest.approx(1, rel=1e-12)
    assert len(law) == query.most == len(query.specs())
    for needed, chance in enumerate(law, 1):
        agree(lengths == needed, chance)


def test_laws_by_other_means():
    assert analysts.probabilities(Voting(1.0, 2, 3)) == pytest.approx(  # two equal responses, or a third one
        [0, (exp(2) + 1) / (1 + exp(1)) ** 2, 2 * exp(1) / (1 + exp(1)) ** 2]
    )
    small = Refining((1.0, 3.0), (2.0, 1.0))
    unclear = np.mean([norm.cdf(6, d, 2) - norm.cdf(-6, d, 2) for d in (1, 3)])
    assert analysts.probabilities(small) == pytest.approx([1 - unclear, unclear])
    flagged = 0.1 * norm.sf(16, 30, 8) + 0.9 * norm.sf(16, 0, 8)
    assert analysts.probabilities(Screening())[1] == pytest.approx(flagged)


@pytest.mark.parametrize("rho", [1.0, 2.7])
@pytest.mark.parametrize("query", KINDS, ids=str)
def test_draws_have_the_exact_means(query, rho):
    draws = AdaptiveAnalyst(query, rho).simulate(np.random.default_rng(2), TRIALS)
    for name, truth in analysts.means(query, rho).items():
        agree(draws[name], truth)
    assert (draws["answered"] >= draws["answered_split"]).all()
    assert (draws["unspent"] <= draws["wasted"] + 1e-12).all()


@pytest.mark.parametrize(("query", "rho"), [(Refining((1.0, 3.0), (2.0, 1.0)), 1.3), (Voting(1.0, 2, 3), 2.2)])
def test_exact_means_by_every_course(query, rho):
    """All sequences of lengths, paid for one by one."""
    law, prices = analysts.probabilities(query), [float(cost) for cost in analysts.costs(query)]

    def go(rest):
        if rest < prices[0] - 1e-12:
            return np.array([0.0, 0.0, rest])
        total = np.zeros(3)
        for needed, chance in enumerate(law, 1):
            left, given = rest, 0
            while given < needed and prices[given] <= left + 1e-12:
                left, given = left - prices[given], given + 1
            done = np.array([1.0, rest - left, 0.0]) if given == needed else np.zeros(3)
            total += chance * (done + go(left))
        return total

    answered, used, left = go(rho)
    found = analysts.means(query, rho)
    assert found["answered"] == pytest.approx(answered, rel=1e-10)
    assert found["wasted"] == pytest.approx(1 - used / rho, rel=1e-10)
    assert found["unspent"] == pytest.approx(left / rho, rel=1e-10, abs=1e-12)


def test_prices_are_those_of_the_filter_and_of_the_formulas():
    for query in KINDS:
        mechanism = AdaptiveAnalyst(query, 1.0)
        assert mechanism.costs == pytest.approx([float(cost) for cost in analysts.costs(query)], rel=1e-9)
    assert AdaptiveAnalyst(Screening(), 1.0).costs == [1 / 128, 1 / 8]
    assert AdaptiveAnalyst(Voting(), 1.0).costs[0] == pytest.approx(tight_rho(RandomisedResponse(0.25)), rel=1e-9)
    budget = Filter(ZCDP(1.0))
    assert budget.admit(Additive(Gaussian(8.0)))
    assert Fraction(budget.spent) == Fraction(1, 128)


def test_a_refused_answer_leaves_room_for_smaller_ones():
    """Two rough counts fit beside a fine one that does not: 0.15 = 19.2 / 128, a fine count takes 16."""
    answered, unspent, wasted, shares, _ = AdaptiveAnalyst(Screening(), 0.15)._trial([2, 2, 1, 1, 2, 1, 1])
    # rough and fine (17), rough and no fine (18), rough (19): 0.2 / 128 is left
    assert (answered, shares) == (2, 1)
    assert unspent == pytest.approx(0.2 / 19.2)
    assert wasted == pytest.approx(1.2 / 19.2)


def test_law_and_build_are_inverse_and_plain():
    law = Ledger.law({"analyst": "refining", "rho": 1.5, "list": "gaussians", "delta": 0.1}, {"lists": {}}, None)
    assert json.loads(json.dumps(law)) == law
    mechanism = Ledger.build(law, np.zeros(0))
    assert (mechanism.query, mechanism.rho, mechanism.guarantee) == (QUERIES["refining"], 1.5, ZCDP(1.5))
    assert Ledger.uses({"analyst": "refining", "rho": 1.5, "list": "gaussians"}) == ("analyst", "rho")


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ({"analyst": "guessing", "rho": 1.0}, "valid: screening, refining, voting"),
        ({"analyst": "voting"}, "rho is missing"),
        ({"analyst": "voting", "rho": 0.5}, "rho = 0.5 is not valid for analyst = voting; valid: 0.746"),
        ({"analyst": "voting", "rho": 1e9}, "valid: 0.7461 to 310.9"),
        ({"analyst": "voting", "rho": -1.0}, "rho = -1"),
    ],
)
def test_mistakes_are_one_line(point, said):
    with pytest.raises(ValueError, match=said) as mistake:
        Ledger.law(point, {"lists": {}}, None)
    assert "\n" not in str(mistake.value)
