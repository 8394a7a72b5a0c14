"""Random allocation as a mechanism of the framework."""

import numpy as np
import pytest

from tcdp_sim.mechanisms.allocation import Allocation

POINT = {"sigma": 1.0, "steps": 50, "delta": 1e-5}


def law(**change):
    return Allocation.law(POINT | change, {}, None)


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
