"""The square root at few places of an enormous domain, against dense matrices and sums of a million terms."""

import numpy as np
import pytest

from tcdp_sim.ordered.prefix_sums import SquareRoot
from tcdp_sim.ordered.prefix_sums.sparse_square_root import SparseSquareRoot, _covariance

PLACES = [0, 1, 7, 8, 200, 201, 3000, 4998, 4999]


def test_covariances_are_those_of_the_dense_matrix():
    k = 5000
    c = SquareRoot(k, "substitute").coefficients
    rows = np.array([np.pad(c[j::-1], (0, k - 1 - j)) for j in PLACES])
    factor = SparseSquareRoot(k).factor(PLACES)
    expected = rows @ rows.T
    expected[-1] = expected[:, -1] = 0.0  # all bins: the public number of records
    assert factor @ factor.T == pytest.approx(expected, abs=1e-5)


def test_covariances_of_far_places_by_adding_up():
    c = SquareRoot(2**21, "add_remove").coefficients
    for last, distance in ((10**6, 0), (10**6, 1), (900_000, 10**6), (31, 5), (32, 0), (33, 10**6)):
        found = _covariance(np.array([float(last)]), np.array([float(distance)])).item()
        assert found == pytest.approx(float(c[: last + 1] @ c[distance : distance + last + 1]), abs=1e-5)


def test_covariances_grow_as_the_logarithm():
    """The variance of the sum of k bins is (ln k + Euler's constant + 4 ln 2) / pi, for large k."""
    for bits in (60, 400):
        found = _covariance(np.array([2.0**bits]), np.zeros(1)).item()
        assert found == pytest.approx((bits * np.log(2) + np.euler_gamma + 4 * np.log(2)) / np.pi, abs=1e-5)


@pytest.mark.parametrize("k", [2, 37, 4096, 4097, 2**17, 1_000_003])
def test_the_sensitivity_is_that_of_all_distances_rounded_up(k):
    truth = SquareRoot(k, "substitute").sensitivity
    assert truth * (1 - 1e-9) <= SparseSquareRoot(k).sensitivity <= truth * (1 + 1e-4)


def test_the_sensitivity_of_an_enormous_domain_bounds_every_pair_tried():
    """Columns 0 and d, whose squared distance is S(k) + S(k - d) - 2 (c_0 c_d + ...), for many d."""
    k = 2**80
    d = np.concatenate([np.geomspace(1, k / 2, 5000), k - np.geomspace(k / 2, 1e6, 5000)])
    squares = [_covariance(x, np.zeros(len(d))) for x in (np.full(len(d), float(k)), k - d)]
    inner = _covariance(k - d - 1, d)
    truth = np.sqrt((squares[0] + squares[1] - 2 * inner).max())
    assert truth <= SparseSquareRoot(k).sensitivity <= truth * (1 + 1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SparseSquareRoot(1), "k = 1 is not valid; valid: 2 to 2"),
        (lambda: SparseSquareRoot(2**501), "is not valid"),
        (lambda: SparseSquareRoot(2**30).factor(range(5000)), "5,000 places are not valid; valid: at most 4,096"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
