"""Simulated delta of random allocations, against brackets of the ledger, quadrature and closed forms.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8, one of 1 - level =
1e-7 has that rate, and a test of a miss rate has one of 1e-6 at most.
"""

import numpy as np
import pytest
from allocation_references import adding, removing
from scipy.stats import binom, norm

from tcdp_sim import UserError
from tcdp_sim.accounting import Allocated
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question
from tcdp_sim.exact.training import bins, simulation

SURE = 1 - 1e-7
WAYS = [("forward", "stretched"), ("forward", "largest"), ("backward", "stretched"), ("backward", "tilted")]
FAILS = (2.0, 100, 0.25)  # sigma, steps, epsilon: many outputs make the loss together


def rng(seed=1):
    return np.random.default_rng(seed)


def ends(release, epsilon, direction):
    way = ("forward", "backward").index(direction)
    question = delta_question(epsilon, lambda most: 1e-3 * most)
    low = bracket(release.attained("add_remove", 1)[0][way], question)[0]
    return low, bracket(release.cases("add_remove", 1)[0][way], question)[1]


@pytest.mark.parametrize(("direction", "method"), WAYS)
@pytest.mark.parametrize(("sigma", "epsilon"), [(0.5, 3.0), (1.0, 1.0), (3.0, 0.1)])
def test_one_of_two_steps_by_quadrature(sigma, epsilon, direction, method):
    truth = (adding if direction == "forward" else removing)(sigma, 2, epsilon)
    found = Allocated(sigma, 2).simulate(epsilon, 30_000, rng=rng(), level=SURE, direction=direction, method=method)
    assert found.lower <= truth * (1 + 1e-4)
    assert found.upper >= truth * (1 - 1e-4)


@pytest.mark.parametrize(("direction", "method"), WAYS)
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.0, 50, 0.4), (0.5, 200, 2.0), (2.0, 100, 0.05)])
def test_one_of_many_steps_by_the_ledger(sigma, steps, epsilon, direction, method):
    release = Allocated(sigma, steps)
    low, high = ends(release, epsilon, direction)
    found = release.simulate(epsilon, 20_000, rng=rng(2), level=SURE, direction=direction, method=method)
    assert found.lower <= high
    assert found.upper >= low


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("bins_of", ["each_epoch", "same"])
def test_epochs_by_the_ledger(bins_of, direction):
    release = Allocated(1.5, 10, bins=bins_of, epochs=3)
    low, high = ends(release, 0.5, direction)
    found = release.simulate(0.5, 60_000, rng=rng(3), level=SURE, direction=direction)
    assert found.lower <= high
    assert found.upper >= low
    assert found.upper - found.lower < 0.6 * high


@pytest.mark.parametrize(("direction", "method"), WAYS)
def test_one_step_is_the_gaussian_mechanism(direction, method):
    sigma, epsilon = 0.8, 3.0
    truth = norm.cdf(0.5 / sigma - epsilon * sigma) - np.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma)
    found = Allocated(sigma, 1).simulate(epsilon, 50_000, rng=rng(4), level=SURE, direction=direction, method=method)
    assert found.lower - 1e-15 <= truth <= found.upper + 1e-15
    if method == "largest":
        assert found.estimate == pytest.approx(truth, rel=1e-12)  # no output is left to draw


@pytest.mark.parametrize(("direction", "method"), [way for way in WAYS if way[1] != "largest"])
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(0.6, 30, 2.0), (1.0, 3, 0.5), (3.0, 40, 0.0)])
def test_no_value_exceeds_its_bound(sigma, steps, epsilon, direction, method):
    way = bins.simulation(sigma, steps, 1, epsilon, direction, method)
    assert way.draw(20_000, rng(5)).max() <= way.bound


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("trials", [300, 3_000, 30_000])
def test_the_largest_output_is_refused_where_many_make_the_loss(trials, seed):
    sigma, steps, epsilon = FAILS
    with pytest.raises(UserError, match="effective sample size"):
        Allocated(sigma, steps).simulate(epsilon, trials, rng=rng(seed), method="largest")


def test_where_the_largest_fails_stretched_means_say_how_little_they_know():
    sigma, steps, epsilon = FAILS
    release = Allocated(sigma, steps)
    low, high = ends(release, epsilon, "forward")
    found = release.simulate(epsilon, 30_000, rng=rng(6))
    assert found.lower <= high
    assert found.upper > 1000 * low  # an honest interval
    assert found.effective < 10
    assert "effective sample size" in repr(found)


@pytest.mark.parametrize(("direction", "method"), WAYS)
def test_a_target_is_met(direction, method):
    found = Allocated(1.0, 20).simulate(0.3, target=0.1, rng=rng(7), direction=direction, method=method)
    low, high = ends(Allocated(1.0, 20), 0.3, direction)
    assert found.relative_width <= 0.1
    assert found.lower <= high
    assert found.upper >= low


def test_a_target_out_of_reach_leaves_a_wider_interval():
    found = Allocated(1.0, 20).simulate(2.0, target=0.01, most=40_000, rng=rng(8))
    assert found.draws <= 40_000
    assert found.relative_width > 0.01


@pytest.mark.parametrize("method", ["stretched", "largest"])
def test_intervals_of_a_target_keep_their_level(method):
    """2,000 repetitions with a pilot; the pilot's own draws would lower the mean where they stop by chance."""
    truth, missed = adding(0.7, 2, 1.5), 0
    way, source = bins.simulation(0.7, 2, 1, 1.5, "forward", method), rng(9)
    for _ in range(2000):
        found = simulation.estimated(way, None, 0.2, 20_000, 0.9, source)
        missed += not found.lower <= truth <= found.upper
    assert binom.sf(missed - 1, 2000, 0.1) > 1e-6
    assert missed < 260


def test_only_draws_of_the_estimate_are_counted():
    way = bins.simulation(1.0, 10, 1, 0.5, "forward", "stretched")
    asked = []
    counting = simulation.Simulation(
        lambda size, source: asked.append(size) or way.draw(size, source), way.bound, way.width, way.method
    )
    found = simulation.estimated(counting, None, 0.1, 10**6, 0.95, rng(10))
    assert found.draws < sum(asked)


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({"direction": "up"}, "forward, backward"),
        ({"method": "exact"}, "stretched, largest, tilted"),
        ({"method": "tilted"}, "stretched"),
        ({"trials": None}, "one of them"),
        ({"target": 0.1}, "one of them"),
        ({"trials": None, "target": 0.5}, "0.2"),
        ({"trials": 1}, "2 to"),
        ({"level": 1.0}, "1"),
        ({"epsilon": -1.0}, "0"),
    ],
)
def test_mistakes_are_refused_in_one_line(change, valid):
    arguments = {"epsilon": 1.0, "trials": 1000, "rng": rng()} | change
    with pytest.raises(ValueError, match=valid) as refused:
        Allocated(1.0, 10).simulate(**arguments)
    assert "\n" not in str(refused.value)


def test_what_has_no_simulation_is_refused():
    with pytest.raises(UserError, match="participations = 2"):
        Allocated(1.0, 10, 2).simulate(1.0, 100, rng=rng())
    with pytest.raises(UserError, match="3 epochs"):
        Allocated(1.0, 10, epochs=3).simulate(1.0, 100, rng=rng(), method="largest")
