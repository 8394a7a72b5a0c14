"""Grids of answers: every cell is the answer of its own ledger, in the place of its labels."""

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Ledger, ledger_grid
from tcdp_sim.noise import Gaussian


def noisy(sigma, times=1):
    return Ledger([(Additive(Gaussian(sigma)), times)])


def test_every_cell_has_the_closed_form():
    sigmas, times, alphas = [1.0, 2.0, 4.0], np.array([1, 4]), [0.05, 0.5]
    found = ledger_grid(noisy, "tradeoff", alphas, sigma=sigmas, times=times)
    assert found.dims == ("sigma", "times", "at", "end")
    for sigma in sigmas:
        for count in times:
            for alpha in alphas:
                low, _, high = found.sel(sigma=sigma, times=count, at=alpha).values
                exact = norm.cdf(norm.isf(alpha) - count**0.5 / sigma)
                assert low - 1e-12 <= exact <= high + 1e-12


def test_without_a_list_there_is_no_axis_of_arguments():
    found = ledger_grid(noisy, "delta", 1.0, sigma=[1.0, 3.0])
    assert found.dims == ("sigma", "end")
    assert found.name == "delta"
    exact = norm.sf(0.5) - np.e * norm.sf(1.5)
    assert found.sel(sigma=1.0, end="lower") <= exact <= found.sel(sigma=1.0, end="upper")


@pytest.mark.parametrize(
    ("question", "axes", "told"),
    [
        ("epsilons", {"sigma": [1.0]}, "question = 'epsilons' is not known"),
        ("epsilon", {"sigma": []}, r"axes of \[0, 1\] values are not valid; valid: 1 to 1,000,000 cells"),
        ("epsilon", {"sigma": [1.0, -1.0]}, "sigma = -1.0: scale = -1"),
    ],
)
def test_mistakes(question, axes, told):
    with pytest.raises(ValueError, match=told):
        ledger_grid(noisy, question, 1e-6, **axes)
