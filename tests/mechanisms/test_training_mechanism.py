"""Training runs as a mechanism of the framework."""

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.training import SAMPLERS, Training

POINT = {"sigma": 0.9, "steps": 20, "epochs": 2, "delta": 1e-4}
CUT = {"batch": 10, "most": 13}


def law(sampler, **change):
    more = CUT if sampler == "poisson_cut" else {}
    return Training.law({"sampler": sampler} | POINT | more | change, {}, None)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_epsilon_that_is_found_has_about_the_delta(sampler):
    mechanism = Training.build(law(sampler), None)
    drawn = mechanism.simulate(np.random.default_rng(1), 4000)
    delta = drawn["hockey_stick"].mean()
    assert 0.5 < delta / 1e-4 < 2
    error = drawn["hockey_stick"].std() / np.sqrt(4000)
    assert error < 0.2 * delta
    assert drawn["slope"].mean() > 0
    assert set(drawn) == {*Training.observables, *Training.events}


def test_a_law_holds_what_the_run_depends_on():
    assert law("poisson", epsilon=1.0, batch=7).keys() == law("poisson", epsilon=1.0, batch=9).keys()
    assert "batch" not in law("shuffle_once", epsilon=1.0, batch=7)
    assert law("poisson_cut", epsilon=1.0)["most"] == 13
    assert law("no_shuffle", epsilon=1.0, direction="backward")["direction"] == "forward"  # a symmetric loss


def test_a_delta_that_no_draw_shows_is_refused_in_one_line():
    with pytest.raises(UserError, match="valid: a larger delta") as refused:
        law("shuffle_each_epoch", direction="backward", delta=1e-14)
    assert "\n" not in str(refused.value)


def test_both_worlds_are_drawn():
    mechanism = Training.build(law("no_shuffle", epsilon=0.5), None)
    drawn = mechanism.simulate(np.random.default_rng(2), 20_000)
    above, below = drawn["above_with"].mean(), drawn["above_without"].mean()
    assert abs(above - np.exp(0.5) * below - drawn["plain"].mean()) < 5.5 * 2 / np.sqrt(20_000)
    assert above > 1.5 * below
