"""The divergences that the claims on per-record privacy measure by, against mpmath."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.per_record.calculus import (
    group_of_records_printed,
    group_of_records_sharp,
    parallel_substitution,
)
from tcdp_sim.experiments.papers.per_record.divergences import (
    finite_per_order,
    gaussian_per_order,
    largest,
    response,
    shifted_per_order,
)
from tcdp_sim.experiments.papers.per_record.transformation import rounding
from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.noise import Laplace


def holds(bounds, truth, relative=1e-8):
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower <= relative * abs(float(truth))


@pytest.mark.parametrize("order", [1.0, 1.0001, 1.5, 8.0, 32.0])
def test_of_finite_laws(order):
    p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    terms = [(mp.mpf(a), mp.mpf(b)) for a, b in zip(p, q)]
    if order == 1:
        truth = mp.fsum(a * mp.log(a / b) for a, b in terms)
    else:
        truth = mp.log(mp.fsum(a**order * b ** (1 - mp.mpf(order)) for a, b in terms)) / (order - 1) / order
    holds(finite_per_order(p, q, order), truth)


@pytest.mark.parametrize(("shift", "scale", "order"), [(1.0, 1.0, 1.0), (5.0, 2.0, 8.0), (0.1, 3.0, 1.5)])
def test_of_gaussians_it_is_half_the_squared_shift(shift, scale, order):
    holds(gaussian_per_order(shift, scale, order), mp.mpf(shift) ** 2 / (2 * mp.mpf(scale) ** 2))


def test_of_laplace_noise_at_order_2():
    """log(2/3 e^t + 1/3 e^-2t) at scale 1."""
    holds(shifted_per_order(Laplace(1.0), 0.7, 2.0), mp.log(2 * mp.exp("0.7") / 3 + mp.exp("-1.4") / 3) / 2)


def test_randomised_response_loses_epsilon():
    for bit in (0, 1):
        assert sum(response(0.3, bit)) == pytest.approx(1, abs=1e-15)
    assert np.log(response(0.3, 0)[0] / response(0.3, 1)[0]) == pytest.approx(0.3, rel=1e-14)


def test_the_largest_of_bounds():
    assert largest(Bounds(1.0, 2.0, 3.0), Bounds(2.0, 2.5, 2.6)) == (2.0, 2.5, 3.0)


def test_the_distance_from_a_printed_number():
    distance, half = rounding(0.27951, 0.3, 0.05)
    assert distance == pytest.approx((0.02049, 0.02049, 0.02049), rel=1e-8)
    assert distance.lower < distance.upper
    assert half == (0.05, 0.05, 0.05)
    inside, _ = rounding(12.5, 12.5, 0.05)
    assert inside.lower == 0 < inside.upper < 1e-9


def test_three_records_lose_6_4_and_are_promised_9():
    where = "Gaussian noise on a sum, losses 0.1, 0.4, 2.5"
    for claim, promised in ((group_of_records_printed, 9.0), (group_of_records_sharp, 6.4)):
        point = next(point for point in list(claim(Budget())) if point.where == where)
        assert point.right.estimate == pytest.approx(promised, rel=1e-7)
        assert point.left.estimate == pytest.approx((np.sqrt(0.1) + np.sqrt(0.4) + np.sqrt(2.5)) ** 2, rel=1e-9)


def test_a_replaced_record_costs_the_sum():
    """Counts of σ = 1 and 2 lose 1/2 + 1/8; responses of ε = 1 and 1/2 lose both ε tanh(ε/2) as α falls to 1."""
    points = {point.where: point for point in parallel_substitution(Budget())}
    gaussian = points["Gaussian counts of both parts, σ = 1, 2, α = 8"]
    assert gaussian.left.estimate == pytest.approx(0.625, rel=1e-9)
    assert gaussian.right.estimate == pytest.approx(0.625, rel=1e-12)
    responses = points["randomised responses of both parts, ε = 1, 0.5, α → 1"]
    truth = float(mp.tanh(0.5) + mp.tanh(0.25) / 2)
    assert responses.left.estimate == pytest.approx(truth, rel=1e-9)
    assert responses.right.estimate == pytest.approx(truth, rel=1e-12)
