"""Records that are in a sample with a chance near the rounding of floats, against closed forms in 50 digits."""

import warnings
from math import inf

import pytest
from mpmath import mp, mpf

from tcdp_sim.accounting import Additive, Ledger, Sampled, Shuffled
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace

RATES = (1e-10, 1e-13, 1e-15, 5e-16, 1e-17, 1e-300)


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0), DiscreteLaplace(1.0)])
@pytest.mark.parametrize("rate", RATES)
def test_brackets_are_in_order_and_nothing_warns(noise, rate):
    step = Sampled(Additive(noise, 2.0), rate, "without_replacement")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for times in (1, 10):
            ledger = Ledger([(step, times)], "substitute")
            for found in (ledger.epsilon(1e-6), ledger.epsilon(1e-20), ledger.delta(0.1)):
                assert 0 <= found.lower <= found.upper


def one_step(rate, epsilon):
    """delta of one Gaussian step of sigma 1 on Poisson samples."""
    with mp.workdps(50):
        s, excess = mpf(rate), mp.expm1(mpf(epsilon))
        place = mp.log1p(excess / s) + mpf(0.5)  # where the loss is epsilon
        return s * mp.ncdf(1 - place) - (s + excess) * mp.ncdf(-place)


@pytest.mark.parametrize("rates", [{1e-15: 10}, {1e-12: 1000}, {1e-15: 1, 2e-15: 2}], ids=str)
def test_many_rare_steps_cost_no_more_than_their_sum_and_no_less_than_one(rates):
    step = Additive(Gaussian(1.0), 1.0)
    ledger = Ledger([(Sampled(step, rate), times) for rate, times in rates.items()], "add_remove")
    for epsilon in (0.0, 1.0):
        share = epsilon / sum(rates.values())
        most = sum(times * one_step(rate, share) for rate, times in rates.items())
        least = max(one_step(rate, epsilon) for rate in rates)
        found = ledger.delta(epsilon)
        assert least * (1 - 1e-2) <= found.lower <= found.upper <= most * (1 + 1e-3)
    nothing = ledger.epsilon(float(2 * sum(times * one_step(rate, 0.0) for rate, times in rates.items())))
    assert nothing.lower == nothing.upper == 0


@pytest.mark.parametrize(("scheme", "relation"), [("poisson", "add_remove"), ("without_replacement", "substitute")])
@pytest.mark.parametrize(("rate", "delta"), [(1e-4, 1e-9), (1e-6, 1e-9), (1e-6, 1e-20), (1e-13, 1e-14)])
def test_one_rare_step_in_closed_form(scheme, relation, rate, delta):
    ledger = Ledger([Sampled(Additive(Gaussian(1.0), 1.0), rate, scheme)], relation)
    found = ledger.epsilon(delta)
    assert found.upper <= found.lower * (1 + 1e-6)
    assert one_step(rate, found.lower * (1 - 1e-9)) >= delta >= one_step(rate, found.upper * (1 + 1e-9))
    assert ledger.delta(0.0).lower <= one_step(rate, 0.0) <= ledger.delta(0.0).upper * (1 + 1e-15)


@pytest.mark.parametrize(("scheme", "relation"), [("hybrid", "add_remove"), ("poisson_substitution", "substitute")])
def test_one_rare_step_of_other_schemes_follows_from_its_profile(scheme, relation):
    records = {"records": 10**6} if scheme == "hybrid" else {}
    ledger = Ledger([Sampled(Additive(Gaussian(1.0), 1.0), 1e-5, scheme, **records)], relation)
    found = ledger.epsilon(1e-8)
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-3)
    assert ledger.delta(found.lower * (1 - 1e-3)).upper >= 1e-8 >= ledger.delta(found.upper * (1 + 1e-3)).lower


def test_a_renyi_divergence_helps_where_no_grid_is_fine_enough():
    found = Ledger([(Sampled(Additive(Gaussian(0.5)), 1e-5), 1000)], "add_remove").epsilon(1e-9)
    assert 0.06 < found.lower < found.upper < 3


@pytest.mark.parametrize("order", [1e6, 1e8, 1e12, 1e300])
def test_a_renyi_divergence_of_any_order_lies_between_its_neighbours(order):
    ledger = Ledger([Sampled(Additive(Gaussian(1.0), 2.0), 1e-5)], "add_remove")
    below, found = ledger.renyi(1e5), ledger.renyi(order)
    assert below.lower <= found.lower <= found.upper <= inf


@pytest.mark.parametrize("relation", ["zero_out", "substitute"])
@pytest.mark.parametrize("sigma", [1e-99, 1e-12, 1e-4])
def test_hardly_any_noise_is_no_error(relation, sigma):
    release = Additive(Gaussian(sigma))
    for each in (Shuffled(sigma, 4), release, Sampled(release, 0.1) if relation == "zero_out" else release):
        ledger = Ledger([(each, 3)], relation)
        for found in (ledger.delta(1.0), ledger.renyi(1.0), ledger.renyi(2.0), ledger.tradeoff(0.1)):
            assert found.lower <= found.upper
