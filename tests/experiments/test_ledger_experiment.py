"""The study of lists of releases, from a small run; a user's own list; brackets that are wrong are found.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import dataclasses
from math import exp

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim import results
from tcdp_sim.accounting import Ledger as Accounts
from tcdp_sim.experiments import ledger as experiment
from tcdp_sim.experiments.ledger import exact_values
from tcdp_sim.experiments.ledger.inverse import epsilon_interval
from tcdp_sim.mechanisms.ledger import Ledger
from tcdp_sim.mechanisms.ledger.releases import release_of
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions
from tcdp_sim.study import groups

WORDS = ("experiment=ledger", "cluster=serial", "trials=4000", "chunk=2000")
MINE = "+mechanism.lists.mine={releases: [{noise: gaussian, scale: 4, times: 9}, {noise: gaussian, scale: 2}]}"
SAMPLED = ("sweep.list=[samples,responses]", "sweep.delta=[1e-3,1e-12]", "sweep.direction=[forward,backward]")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "ledger"


def table(folder):
    return published.table(experiment, results.open_cells(folder).load())


def gaussian(mu, epsilon):
    return norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


def test_simulated_numbers_stand_beside_brackets(ran_once, folder):
    said = ran_once(*WORDS, *SAMPLED)
    rows = table(folder)
    drawn = rows[rows["trials"] > 0]
    assert len(drawn) == 16
    assert set(drawn.loc[drawn["list"] == "responses", "direction"]) == {"forward"}  # both are the same
    assert (drawn["exact_low"] <= drawn["exact_high"]).all()
    assert (drawn["exact_high"] - drawn["exact_low"] <= 1.1e-4 * drawn["exact_high"]).all()
    assert (drawn["exact"].between(drawn["exact_low"], drawn["exact_high"])).all()
    assert ((drawn["simulated"] - drawn["exact"]).abs() < 5.5 * drawn["mcse"]).all()
    assert (drawn["mcse"] < 0.1 * drawn["simulated"]).all()
    assert (drawn["lower"] <= drawn["simulated"]).all()
    assert (drawn["simulated"] <= drawn["upper"]).all()
    curves = rows[rows["trials"] == 0]
    assert set(curves.groupby(["list", "direction"]).size()) == {25}
    assert contradictions.find(rows).empty
    assert contradictions.find(rows).attrs["comparisons"] == 16
    assert "none contradicts it beyond chance" in said
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"profiles", "agreement"}
    wrong = drawn.assign(exact=drawn["exact"] * np.where(drawn["quantity"] == "delta", 1.5, 1.15))
    assert len(contradictions.find(wrong)) >= 10  # brackets that far off would be found


def test_a_list_of_ones_own(command, folder):
    code, _, err = command(*WORDS, MINE, "sweep.list=mine", "sweep.delta=[1e-4]")
    assert code == 0, err
    rows = table(folder)
    rows = rows[rows["trials"] > 0].set_index("quantity")
    mu = np.sqrt(9 / 16 + 1 / 4)
    truth = brentq(lambda e: gaussian(mu, e) - 1e-4, 0, 20, xtol=1e-13)
    assert rows.loc["epsilon", "exact_low"] <= truth <= rows.loc["epsilon", "exact_high"]
    assert rows.loc["epsilon", "at"] == 1e-4
    at = rows.loc["delta", "at"]
    assert rows.loc["delta", "exact_low"] <= gaussian(mu, at) <= rows.loc["delta", "exact_high"]
    assert set(rows["releases"]) == {10}


def test_analysts_stand_beside_exact_means(ran_once, folder):
    said = ran_once(*WORDS, "sweep.analyst=[screening,refining]", "sweep.rho=1.5", "trials=500")
    rows = table(folder)
    assert len(rows) == 10
    rows = rows.set_index(["analyst", "quantity"])
    assert (
        rows.loc[("screening", "answered_split"), "simulated"]
        == rows.loc[("screening", "answered_split"), "exact"]
        == 11
    )
    assert rows.loc[("screening", "answered"), "exact"] == pytest.approx(72.64, abs=0.01)
    assert rows.loc[("refining", "answered"), "exact"] > 2.5 * rows.loc[("refining", "answered_split"), "exact"]
    assert rows.loc[("refining", "unspent"), "simulated"] == 0
    assert ((rows["simulated"] - rows["exact"]).abs() <= 5.5 * rows["mcse"] + 1e-9).all()
    assert contradictions.find(rows.reset_index()).empty
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"filters"}
    assert "Share of the budget" in said


def test_the_default_study_has_lists_in_both_directions_and_analysts(command):
    code, said, err = command("plan", "experiment=ledger")
    assert code == 0, err
    assert "72 cells" in said


def built(name, direction="forward"):
    point = {"list": name, "delta": 1e-6, "direction": direction}
    return Ledger.build(Ledger.law(point, groups.named("mechanism", "ledger"), None), np.zeros(0))


@pytest.mark.parametrize("name", ["samples", "selections", "vectors", "programme", "gaussians"])
def test_the_worse_direction_is_that_of_the_ledger(name):
    one, other = built(name), built(name, "backward")
    plain = Accounts([(release_of(item), item["times"]) for item in one.releases], one.relation)
    ways = [exact_values.ledger(mechanism).epsilon(1e-6, 1e-5) for mechanism in (one, other)]
    whole = plain.epsilon(1e-6, 1e-5)
    assert whole.lower <= max(way.upper for way in ways)
    assert max(way.lower for way in ways) <= whole.upper


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_bracket_is_that_of_its_direction(direction):
    """One release of two outputs, by the definition of delta: 0.5 - 0.2 e^0.1 or 0.8 - 0.5 e^0.1."""
    p, q = ([0.5, 0.5], [0.2, 0.8])[:: 1 if direction == "forward" else -1]
    delta = sum(max(a - exp(0.1) * b, 0) for a, b in zip(p, q))
    release = {"p": [0.5, 0.5], "q": [0.2, 0.8], "times": 1}
    bracket = exact_values.delta_bracket(
        dataclasses.replace(built("vectors", direction), releases=[release], epsilon=0.1)
    )
    assert bracket.lower <= delta <= bracket.upper <= (1 + 2e-4) * delta


def test_an_epsilon_far_from_the_simulated_one_widens_the_interval():
    mu, at = 0.8, 2.0
    below = exp(at) * norm.cdf(-at / mu - mu / 2)
    delta = (gaussian(mu, at), 1e-9, gaussian(mu, at) - 2e-9, gaussian(mu, at) + 2e-9)
    slope = (below, 1e-9, below - 2e-9, below + 2e-9)
    for asked in (1.7, 1.95, 2.0, 2.05, 2.4):
        found = epsilon_interval(at, gaussian(mu, asked), delta, slope)
        assert found[2] <= asked <= found[3]
        assert found[0] <= asked + 3e-7  # the tangent of a convex function lies below it
        assert abs(found[0] - asked) <= 1.2 * abs(asked - at)


def test_an_epsilon_without_a_tangent_is_not_known():
    nothing = (0.0, 0.0, 0.0, 0.0)
    assert np.isnan(epsilon_interval(1.0, 0.1, nothing, nothing)).all()
    assert np.isnan(epsilon_interval(1.0, 0.5, (0.1, 1e-3, 0.09, 0.11), (0.2, 1e-3, 0.19, 0.21))).all()


def test_the_spread_of_an_epsilon_is_that_of_repeated_simulations():
    mechanism = dataclasses.replace(built("gaussians"), delta=1.2e-6)  # the correction has its own spread
    found = []
    for seed in range(60):
        draws = mechanism.simulate(np.random.default_rng(seed), 2000)
        numbers = [(x.mean(), x.std() / np.sqrt(2000)) for x in (draws["hockey_stick"], draws["slope"])]
        numbers = [(mean, error, mean - 2 * error, mean + 2 * error) for mean, error in numbers]
        found.append(epsilon_interval(mechanism.epsilon, mechanism.delta, *numbers)[:2])
    estimates, errors = np.array(found).T
    assert 0.65 < estimates.std() / errors.mean() < 1.45  # a chi of 59 degrees leaves this range once in 10^4
