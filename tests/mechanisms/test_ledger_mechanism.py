"""Lists of releases as a mechanism: reading, law, draws, and refusals.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import json
from math import exp

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.ledger import Ledger
from tcdp_sim.mechanisms.ledger.releases import pair_of, read_list, symmetric
from tcdp_sim.study import groups

OPTIONS = groups.named("mechanism", "ledger")
GAUSSIANS = [{"noise": "gaussian", "scale": 2, "times": 4}, {"noise": "gaussian", "scale": 6.0, "sensitivity": 3}]


def law(releases=None, relation="add_remove", **more):
    if isinstance(releases, str):
        return Ledger.law({"list": releases, **more}, OPTIONS, None)
    lists = {"mine": {"relation": relation, "releases": GAUSSIANS if releases is None else releases}}
    return Ledger.law({"list": "mine", **more}, {"lists": lists}, None)


def delta_of(epsilon):
    mu = np.sqrt(4 / 4 + 9 / 36)
    return norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("name", OPTIONS["lists"])
def test_law_and_build_are_inverse_and_plain(name):
    description = law(name, delta=1e-6)
    assert json.loads(json.dumps(description)) == description
    mechanism = Ledger.build(description, np.zeros(0))
    assert (mechanism.relation, mechanism.delta) == (description["relation"], 1e-6)
    draws = mechanism.simulate(np.random.default_rng(3), 4000)
    assert abs(draws["hockey_stick"].mean() / 1e-6 - 1) < 0.25  # the epsilon of the law is near the one of delta
    assert draws["slope"].mean() > 0


@pytest.mark.parametrize("delta", [0.1, 1e-5, 1e-12])
def test_the_epsilon_of_a_delta_and_what_is_drawn_there(delta):
    mechanism = Ledger.build(law(delta=delta), np.zeros(0))
    truth = delta_of(mechanism.epsilon)
    assert truth == pytest.approx(delta, rel=0.15)
    draws = mechanism.simulate(np.random.default_rng(5), 40_000)["hockey_stick"]
    assert abs(draws.mean() - truth) < 5.5 * draws.std() / 200


def test_epsilon_may_be_given():
    mechanism = Ledger.build(law(epsilon=2.0), np.zeros(0))
    assert (mechanism.epsilon, mechanism.delta) == (2.0, None)
    draws = mechanism.simulate(np.random.default_rng(5), 40_000)["hockey_stick"]
    assert abs(draws.mean() - delta_of(2.0)) < 5.5 * draws.std() / 200
    assert set(Ledger.uses({"list": "a", "epsilon": 1.0})) == {"list", "direction", "epsilon"}


def test_directions_differ_where_they_do():
    assert law(delta=1e-3, direction="backward") == law(delta=1e-3)
    step = [{"noise": "gaussian", "scale": 1, "sampled": 0.1}]
    forward, backward = (law(step, delta=1e-6, direction=way)["epsilon"] for way in ("forward", "backward"))
    assert forward > 3 * backward
    pair = {"bounded_range": 1.0, "larger_loss": 0.7}
    relation, (found,) = read_list("mine", {"releases": [pair]})
    assert (relation, symmetric([found])) == ("add_remove", False)
    assert pair_of(found, "forward").values.max() == pytest.approx(0.7)
    assert pair_of(found, "backward").values.max() == pytest.approx(0.3)
    vectors = {"p": [0.9, 0.1], "q": [0.5, 0.5]}
    relation, (found,) = read_list("mine", {"releases": [vectors]})
    assert pair_of(found, "backward").values.max() == pytest.approx(np.log(5.0))


def test_a_table_of_histograms_is_a_list(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("level,query,sigma_squared,copies\na,x,4,3\nb,x,9,1\n", "utf-8")
    spec = {"path": str(path), "sigma_squared": "sigma_squared", "times": "copies", "relation": "substitute"}
    relation, found = read_list("mine", spec)
    assert relation == "substitute"
    assert [(release["sigma"], release["times"]) for release in found] == [(2.0, 6), (3.0, 2)]


@pytest.mark.parametrize(
    ("releases", "said"),
    [
        ([], "releases = .."),
        ({"noise": "gaussian"}, "releases = .*"),
        ([{"scale": 3}], "list mine: release 1 = .* one of the keys noise, response"),
        ([{"noise": "gaussian", "scale": 3, "p": [1.0], "q": [1.0]}], "one of the keys"),
        ([{"noise": "gauss", "scale": 3}], "noise = 'gauss' is not known.*did you mean gaussian"),
        ([{"noise": "gaussian", "scale": -3}], "list mine: release 1: scale = -3"),
        ([{"noise": "gaussian", "sigma": 3}], "'sigma' is not a key; valid: noise, scale"),
        ([{"noise": "gaussian"}], "list mine: release 1: .*scale"),
        ([{"noise": "student_t", "scale": 3, "df": 3}], "log-concave|not a key"),
        ([{"noise": "gaussian", "scale": 3, "times": 2.5}], "times = 2.5"),
        ([{"noise": "gaussian", "scale": 3, "sampled": 1.5}], "sampled = 1.5"),
        ([{"noise": "discrete_gaussian", "sigma": 3, "sensitivity": 0.5}], "list mine: release 1: "),
        ([{"noise": "gaussian", "scale": 3, "times": 3000}], "drawn one by one; valid: at most 2,000"),
        ([{"response": 0.0}], "response = 0"),
        ([{"response": 0.5, "k": 1}], "k = 1"),
        ([{"bounded_range": 0.5, "times": 2}], "valid: times = 1, or larger_loss"),
        ([{"bounded_range": 0.5, "larger_loss": 0.6}], "larger_loss = 0.6"),
        ([{"epsilon": 0.5, "delta": 1.0}], "delta = 1"),
        ([{"p": [0.5, 0.5], "q": [0.5, 0.6]}], "p and q are not valid"),
        ([{"p": [0.5, 0.5]}], "release 1: "),
    ],
)
def test_mistakes_in_lists_are_one_line(releases, said):
    with pytest.raises(UserError, match=said) as mistake:
        law(releases, delta=1e-6)
    assert "\n" not in str(mistake.value)


@pytest.mark.parametrize("lists", [3, {"mine": 3}, {"mine": {"releases": GAUSSIANS, "relation": "delete"}}])
def test_mistakes_in_options_are_one_line(lists):
    with pytest.raises((ValueError, UserError)) as mistake:
        Ledger.law({"list": "mine", "delta": 1e-6}, {"lists": lists}, None)
    assert "\n" not in str(mistake.value)


def test_a_sample_needs_its_relation():
    with pytest.raises(UserError, match="add_remove alone"):
        law([{"noise": "gaussian", "scale": 3, "sampled": 0.5}], "substitute", delta=1e-6)
