"""Random allocation as a mechanism of the framework."""

import json

import numpy as np
import pytest

from tcdp_sim.mechanisms import Allocation

POINT = {"sigma": 1.0, "steps": 50, "delta": 1e-5}


def law(**change):
    return Allocation.law(POINT | change, {}, None)


def test_law_and_build_are_inverse_and_plain():
    description = law()
    assert json.loads(json.dumps(description)) == description
    mechanism = Allocation.build(description, None)
    assert (mechanism.sigma, mechanism.steps, mechanism.participations) == (1.0, 50, 1)
    assert (mechanism.direction, mechanism.delta) == ("adding", 1e-5)


@pytest.mark.parametrize(
    "change", [{}, {"direction": "removing"}, {"participations": 5}, {"sigma": 3.0, "steps": 1000}]
)
def test_the_epsilon_that_is_found_has_about_the_delta(change):
    mechanism = Allocation.build(law(**change), None)
    delta = mechanism.simulate(np.random.default_rng(1), 4000)["hockey_stick"].mean()
    assert 0.4 < delta / 1e-5 < 2.5


def test_an_epsilon_of_ones_own_is_taken():
    assert law(epsilon=0.5) == {
        "mechanism": "allocation",
        "version": 2,
        "sigma": 1.0,
        "steps": 50,
        "participations": 1,
        "direction": "adding",
        "epsilon": 0.5,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": 0}, "sigma = 0 is not valid"),
        ({"steps": 1}, "steps = 1 is not valid; valid: a whole number from 2 to 100000"),
        ({"participations": 51}, "participations = 51 is not valid; valid: a whole number from 1 to 50"),
        ({"delta": None}, "epsilon and delta are missing"),
        ({"delta": 2}, "delta = 2 is not valid"),
        ({"epsilon": -1}, "epsilon = -1 is not valid"),
        ({"direction": "up"}, "direction = "),
    ],
)
def test_mistakes_are_one_line(change, message):
    with pytest.raises(ValueError, match=message):
        law(**change)
