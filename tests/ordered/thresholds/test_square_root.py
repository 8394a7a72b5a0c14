"""The CDF by the square root, against the factorisation's own variances and its Euclidean sensitivity."""

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior.ledger import total
from tcdp_sim.ordered.prefix_sums import SquareRoot
from tcdp_sim.ordered.thresholds.square_root import SquareRootCdf
from tcdp_sim.privacy import ZCDP


@pytest.mark.parametrize("k", [1000, 4200])  # all prefix sums are drawn, or those of the places
def test_errors_have_the_covariance_of_the_factorisation(k):
    """At 4,000 draws a variance is off by 2.2%, so 12% are 5 standard errors."""
    places, rng, release = np.array([0, 1, 500, k - 2, k - 1]), np.random.default_rng(2), SquareRootCdf(k, 0.5)
    draws = np.array([release.errors(places, rng=rng) for _ in range(4000)])
    whole = SquareRoot(k, "substitute")
    rows = np.array([np.pad(whole.coefficients[j::-1], (0, k - 1 - j)) for j in places])
    rows *= whole.sensitivity  # rho = 1/2: noise as large as the sensitivity
    expected = rows @ rows.T
    expected[-1] = expected[:, -1] = 0.0
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(draws.T @ draws / len(draws) - expected) <= 0.12 * scale + 1e-12).all()


def test_the_noise_is_that_of_the_sensitivity():
    assert SquareRootCdf(300, 0.125).scale == pytest.approx(2 * SquareRoot(300, "substitute").sensitivity)
    assert total(SquareRootCdf(2**60, 0.3).ledger) == ZCDP(0.3)


def test_a_domain_beyond_the_trees_has_errors_of_the_right_size():
    k = 2**100
    places = [0, k // 3, k // 3 + 1, k - 2]
    release, rng = SquareRootCdf(k, 0.5), np.random.default_rng(1)
    draws = np.array([release.errors(places, rng=rng) for _ in range(4000)]) / release.scale
    last = (100 * np.log(2) + np.euler_gamma + 4 * np.log(2)) / np.pi
    assert draws[:, -1].var() == pytest.approx(last, rel=0.12)  # 5 standard errors
    assert draws[:, 0].var() == pytest.approx(1.0, rel=0.12)
    assert (draws[:, 2] - draws[:, 1]).var() == pytest.approx(
        4 / np.pi, rel=0.12
    )  # the sum of squared differences of c


def test_mistakes_are_one_line():
    with pytest.raises(UserError, match="draws at most 4,096 prefix sums"):
        SquareRootCdf(2**30, 0.5).errors(np.arange(5000), rng=np.random.default_rng(1))
    with pytest.raises(UserError, match="valid: 2 <= k <= 2"):
        SquareRootCdf(2**501, 0.5)
