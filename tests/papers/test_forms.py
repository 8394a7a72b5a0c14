"""Points of asymptotic claims: their places and sides, and quantiles of the largest error far beyond the floats."""

from math import log

import mpmath
import pytest

from tcdp_sim.experiments.papers.judge.forms import growing, growing_in_logs, label, largest_error
from tcdp_sim.noise import Gaussian, Laplace

MP = mpmath.mp.clone()
MP.dps = 60


def each_tail(log_k, level):
    """P[|Z| > t] at the t with (1 - P[|Z| > t])^k = level, without any expansion."""
    return -MP.expm1(MP.log(MP.mpf(level)) / MP.exp(MP.mpf(log_k)))


@pytest.mark.parametrize("level", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("log_k", [27.0, 60.0, 110.0])
def test_the_largest_of_many_laplace_errors_has_its_quantile_in_closed_form(log_k, level):
    low, _, high = largest_error(Laplace(2.5), log_k, level)
    truth = -MP.mpf("2.5") * MP.log(each_tail(log_k, level))
    assert low <= truth <= high <= low * (1 + 3e-9)


def test_the_tail_of_a_normal_error_at_the_quantile():
    low, _, high = (MP.mpf(end) for end in largest_error(Gaussian(3.0), 80.0, 0.9))
    assert MP.erfc(low / 3 / MP.sqrt(2)) > each_tail(80.0, 0.9) > MP.erfc(high / 3 / MP.sqrt(2))


def test_few_errors_are_refused():
    with pytest.raises(ValueError, match="at least 27"):
        largest_error(Laplace(1.0), 26.9)


def test_points_stand_where_they_say():
    (plain,) = growing([3], lambda x: 2 * x, lambda x: x + 1)
    assert (plain.where, plain.at, plain.left.estimate, plain.right.estimate) == ("k = 1000", 3, 2000, 1001)
    (far,) = growing_in_logs([400], lambda log_x: log_x, lambda log_x: log_x / log(10), name="n")
    assert (far.where, far.at) == ("n = 1e400", 400)
    assert far.left.lower <= 400 * MP.log(10) <= far.left.upper
    assert far.right.lower <= 400 <= far.right.upper


@pytest.mark.parametrize(
    ("exponent", "text"), [(2, "100"), (-1, "0.1"), (12, "1e12"), (300, "1e300"), (1e6, "10^(10^6)"), (2500, "10^2500")]
)
def test_powers_of_ten_are_written_as_people_write_them(exponent, text):
    assert label(exponent) == text
