"""Released counts as a mechanism: law, draws against exact laws, guarantee and refusals.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json

import numpy as np
import pytest

from tcdp_sim.accounting import CountReleases
from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.census.exact_values import largest_quantiles, mean_square
from tcdp_sim.mechanisms.census import Census
from tcdp_sim.store import columns
from tcdp_sim.study import groups

LISTS = {"lists": groups.named("mechanism", "census")["lists"]}
TRIALS = 40_000


def built(name="synthetic_b", **more):
    law = Census.law({"list": name, "delta": 1e-10, **more}, LISTS, None)
    return Census.build(json.loads(json.dumps(law)), np.zeros(0))


def discrete_gaussian(variance):
    """P[|Z| = 0], P[|Z| = 1], ... by the definition."""
    x = np.arange(0, int(12 * np.sqrt(variance)) + 12)
    mass = np.exp(-(x**2) / (2 * variance)) * np.where(x, 2, 1)
    return x, mass / mass.sum()


@pytest.mark.parametrize(
    ("name", "more"), [("synthetic_b", {}), ("synthetic_b2", {"variances": "simple"}), ("us_2020_State", {})]
)
def test_draws_have_the_exact_mean_square_and_quantiles(name, more):
    mechanism = built(name, **more)
    draws = mechanism.simulate(np.random.default_rng(3), TRIALS)
    laws = [discrete_gaussian(mechanism.factor * variance) for variance in mechanism.releases.sigma_squared]
    truth = np.mean([(mass * x**2).sum() for x, mass in laws])
    assert mean_square(mechanism) == pytest.approx(truth, rel=1e-12)
    square = draws["mean_square_error"]
    assert abs(square.mean() - truth) < 5.5 * square.std() / np.sqrt(TRIALS)
    most = max(len(x) for x, _ in laws)
    below = np.prod([np.append(np.cumsum(mass), np.ones(most - len(mass))) for _, mass in laws], axis=0)
    by_hand = [int(np.argmax(below >= level - 1e-13)) for level in columns.QUANTILES]
    assert largest_quantiles(mechanism).tolist() == by_hand
    for level, m in ((0.5, by_hand[4]), (0.95, by_hand[7])):
        chance = below[m]
        assert chance >= level - 1e-12
        share = (draws["largest_error"] <= m).mean()
        assert abs(share - chance) < 5.5 * np.sqrt(chance * (1 - chance) / TRIALS) + 1e-12


def test_one_count_is_shown_by_level_and_query():
    mechanism = built("us_2020_persons", level="State", query="total")
    (place,) = mechanism.shown
    assert mechanism.releases.sigma_squared[place] == pytest.approx(1.2091924, rel=1e-7)
    draws = mechanism.simulate(np.random.default_rng(5), TRIALS)
    assert np.array_equal(draws["largest_error"] ** 2, draws["mean_square_error"])
    assert set(np.unique(draws["largest_error"])) <= set(range(12))
    everything = built("us_2020_persons")
    assert everything.shown == tuple(range(65))
    assert everything.guarantee.rho == pytest.approx(293764 / 114921, rel=1e-13)


@pytest.mark.parametrize("variances", ["best", "simple"])
def test_reduced_variances_have_the_epsilon_of_the_conversion(variances):
    own, reduced = built(), built(variances=variances)
    rows = own.releases

    def counts(mechanism):
        return CountReleases(mechanism.sigma_squared, rows.relation, rows.shift, rows.times)

    target = counts(own).conversions(1e-10)[variances]
    found = counts(reduced).ledger().epsilon(1e-10, 1e-7)
    assert found.upper <= target * (1 + 1e-7)
    assert found.lower >= target * (1 - 3e-5)
    assert reduced.factor < 0.95
    assert reduced.guarantee.rho == pytest.approx(own.guarantee.rho / reduced.factor, rel=1e-12)


@pytest.mark.parametrize("lists", [3, {"mine": 3}, {"mine": {"path": "nowhere.csv", "rho": "rho"}}])
def test_mistakes_in_lists_are_named(lists):
    with pytest.raises((ValueError, UserError)) as mistake:
        Census.law({"list": "mine", "delta": 1e-10}, {"lists": lists}, None)
    assert "\n" not in str(mistake.value)
