"""The bracketed supremum over orders: against closed forms, and a dense grid where there is none."""

from functools import partial

import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.noise import Laplace, SinhNormal


def certain(curve):
    """A divergence that is known exactly."""
    return lambda orders: Bounds(*(curve(orders),) * 3)


def test_a_gaussian_spends_the_same_at_every_order():
    low, _, high = largest_over_order(certain(lambda a: 0.3 * a), 50.0)
    assert low == pytest.approx(0.3, rel=1e-12)
    assert 0.3 <= high <= 0.3 * (1 + 1.1e-4)


def test_a_supremum_inside_is_found():
    """The loss is 3 with chance 1e-3, else 0 (to its mean under Q): D / order is small at 1, and falls as 3 / order."""

    def renyi(a):
        s = np.maximum(a - 1, 1e-12)
        return np.log1p(1e-3 * np.expm1(3 * s)) / s

    low, _, high = largest_over_order(certain(renyi), 40.0, 1e-6)
    dense = np.linspace(1, 40, 2_000_001)
    ratios = renyi(dense) / dense
    assert 2 < dense[ratios.argmax()] < 39
    assert low <= ratios.max() * (1 + 1e-9)
    assert ratios.max() <= high * (1 + 1e-12)
    assert high - low <= 2e-6 * low


@pytest.mark.parametrize(
    ("noise", "omega"), [(SinhNormal(40.0, 10.0), 1.25), (SinhNormal(4.0, 60.0), 7.5), (Laplace(1.0), 9.0)]
)
def test_it_bounds_a_dense_grid_from_above_and_meets_it(noise, omega):
    divergence = partial(exact.renyi_divergence, noise, 1.0)
    low, _, high = largest_over_order(divergence, omega, 1e-5)
    orders = np.linspace(1, omega, 3000)
    dense = (divergence(orders).estimate / orders).max()
    assert dense <= high
    assert low <= dense * (1 + 1e-6)
    assert high <= dense * (1 + 2e-5)


def test_what_is_uncertain_widens_the_bounds():
    low, _, high = largest_over_order(lambda a: Bounds(0.9 * a, a, 1.1 * a), 5.0)
    assert low == pytest.approx(0.9)
    assert high >= 1.1
