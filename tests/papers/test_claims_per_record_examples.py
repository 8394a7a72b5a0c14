"""The numbers of the examples of the per-record paper, literally, and its estimators against mpmath."""

import mpmath as mp
import pytest

from tcdp_sim.experiments.papers.per_record.estimators import ROWS, moments, printed_estimator, printed_variance
from tcdp_sim.experiments.papers.per_record.transformation import (
    log_against_root_of_all_sizes,
    log_at_equal_error,
    policies_of_two_roots,
    policy_formula,
    root_at_equal_error,
    step_of_the_proof,
)
from tcdp_sim.experiments.papers.per_record.unit_splitting import exact_losses, pieces, printed_losses, ten_rows
from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.per_record import Identity, Log, Root


def lefts(claim):
    return [point.left.estimate for point in list(claim(Budget()))]


def rights(claim):
    return [point.right.estimate for point in list(claim(Budget()))]


def test_the_losses_of_unit_splitting():
    assert lefts(printed_losses) == pytest.approx([1, 1, 1, 4, 9, 1e6, 1e6], rel=1e-12)
    assert lefts(exact_losses) == pytest.approx([0.25, 0.25, 1, 4, 9, 1e6], rel=1e-9)


def test_the_losses_of_pieces():
    """5, 10, 15, 20, 30 and 10,000 employees are in 1, 1, 2, 2, 3 and 1000 rows."""
    assert rights(pieces) == pytest.approx([1, 1, 4, 4, 9, 1e6], rel=1e-9)
    assert lefts(pieces) == pytest.approx([0.25, 1, 2.25, 4, 9, 1e6], rel=1e-9)


def test_the_loss_of_ten_rows_in_units_of_one():
    """(v/10)² for v = 11 ... 20 and 91 ... 100."""
    truth = [(v / 10) ** 2 for v in (*range(11, 21), *range(91, 101))]
    assert lefts(ten_rows) == pytest.approx(truth, rel=1e-9)
    assert rights(ten_rows) == [4.0] * 10 + [100.0] * 10


def test_the_policies_of_the_square_root_and_of_the_fourth_root():
    """At σ = 2: t/8 and √t/8."""
    points = {point.where: point.left.estimate for point in policies_of_two_roots(Budget())}
    assert points["root of degree 2, a = 0, influence 100"] == pytest.approx(12.5, rel=1e-9)
    assert points["root of degree 4, a = 0, influence 10000"] == pytest.approx(12.5, rel=1e-9)


@pytest.mark.parametrize(
    ("transform", "losses"),
    [
        (Root(4.0), [float(mp.sqrt(n) / 8) for n in (5, 10, 20, 30, 10_000)]),
        (Log(1.0), [float(mp.log(n) ** 2 / 8) for n in (6, 11, 21, 31, 10_001)]),
        (Identity(), [25 / 8, 12.5, 50, 112.5, 1.25e7]),
    ],
)
def test_the_losses_of_transformations(transform, losses):
    sizes = (5.0, 10.0, 20.0, 30.0, 10_000.0)
    assert [policy_formula(transform, size, 2.0) for size in sizes] == pytest.approx(losses, rel=1e-13)


def test_the_formula_with_an_offset():
    with mp.workdps(30):
        truth = (mp.root(mp.mpf(8), 3) - mp.root(mp.mpf(1), 3)) ** 2 / 18
    assert policy_formula(Root(3.0, 1.0), 7.0, 3.0) == pytest.approx(float(truth), rel=1e-14)


def test_gaussian_noise_of_equal_error_costs_the_largest_one_0_650_and_0_0092():
    assert lefts(root_at_equal_error)[5] == pytest.approx(0.65023, rel=1e-4)
    assert lefts(log_at_equal_error)[5] == pytest.approx(0.0091976, rel=1e-4)


def test_the_logarithm_and_the_root_cross_at_2_53_and_5504_5():
    def difference(size):
        return mp.log(1 + size) ** 2 - mp.sqrt(size)

    crossings = [mp.findroot(difference, start) for start in (2.5, 5500)]
    assert [float(crossing) for crossing in crossings] == pytest.approx([2.529313, 5504.5316], rel=1e-6)
    below = [point.where for point in log_against_root_of_all_sizes(Budget()) if "below" in point.where]
    assert below == [
        f"{size}: logarithm below root" for size in ("1 employee", "2 employees", "5505 employees", "10000 employees")
    ]


def test_the_step_of_the_proof_fails_where_a_record_is_removed():
    """From 10 to 0 the square root moves by 3.162, from 10 to 20 by 1.310."""
    assert (lefts(step_of_the_proof)[0], rights(step_of_the_proof)[0]) == pytest.approx((3.16227766, 1.30985829))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, None])
def test_moments_by_another_quadrature(degree):
    """Gauss-Hermite with 60 points in 30 digits: exact for polynomials of degree below 120."""
    q, offset, scale = 10.0, 3.0, 0.7
    with mp.workdps(30):
        y, s = mp.mpf(q + offset), mp.mpf(scale)
        centre = mp.log(y) if degree is None else y ** (mp.mpf(1) / degree)

        def released(z):
            v = centre + s * z
            if degree is None:
                return mp.exp(v - s**2 / 2) - offset
            return s**degree * mp.hermite(degree, v / s / mp.sqrt(2)) / mp.sqrt(2) ** degree - offset

        def mean_of(power):
            grid = [k for k in range(-14, 15, 2)]
            return mp.quad(lambda z: (released(z) - (q if power == 2 else 0)) ** power * mp.npdf(z), grid)

        first, second = mean_of(1), mean_of(2)
    mean, variance = moments(printed_estimator(degree, offset, scale), degree, q, offset, scale)
    assert mean.lower <= float(first) <= mean.upper
    assert variance.lower <= float(second) <= variance.upper
    assert float(first) == pytest.approx(q, rel=1e-12)
    assert printed_variance(degree, q, offset, scale) == pytest.approx(float(second), rel=1e-11)


def test_the_rows_of_table_2_are_the_general_formulas():
    for degree, g, variance in ROWS.values():
        assert variance(13.0, 0.7) == pytest.approx(printed_variance(degree, 10.0, 3.0, 0.7), rel=1e-13)
        assert g(2.2, 3.0, 0.7) == pytest.approx(float(printed_estimator(degree, 3.0, 0.7)(2.2)), rel=1e-12)
