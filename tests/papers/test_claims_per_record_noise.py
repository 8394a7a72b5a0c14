"""The formulas of the per-record paper's noises that the claims write out, against mpmath and literal numbers."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.experiments.papers.per_record.exponential_polylogarithmic import (
    beyond,
    entries_of_power_1,
    offset_is_needed,
    printed_loss,
    second_derivative,
    second_moment,
    variance_as_it_reads,
    variance_of_power_2,
)
from tcdp_sim.experiments.papers.per_record.generalized_gaussian import moment, printed_density
from tcdp_sim.experiments.papers.per_record.growth import far_policy
from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.noise import ExponentialPolylogarithmic
from tcdp_sim.per_record import AdditiveRelease

E = float(np.e)


@pytest.mark.parametrize("power", [1.0, 0.5, 0.25])
def test_the_printed_density(power):
    with mp.workdps(25):
        truth = power / (6 * mp.gamma(1 / mp.mpf(power))) * mp.exp(-(mp.mpf(2) ** power))
    assert float(printed_density(np.array(-6.0), 3.0, power)) == pytest.approx(float(truth), rel=1e-13)


@pytest.mark.parametrize(("power", "second"), [(1.0, 2.0), (0.5, 120.0), (0.25, 6652800.0)])
def test_its_moments(power, second):
    """Of unit scale: Γ(3/p)/Γ(1/p) is 2!/0!, 5!/1! and 11!/3!."""
    for k, truth in ((0, 1.0), (2, second)):
        bounds = moment(1.0, power, k)
        assert bounds.lower <= truth <= bounds.upper
        assert bounds.upper - bounds.lower <= 1e-9 * truth


def test_the_printed_loss_and_where_it_is_too_small():
    assert printed_loss(0.5, 2.0, 2.0, 2.0) == pytest.approx(0.718271, abs=1e-6)
    assert printed_loss(0.5, 2.0, 1.0, 2.0) == pytest.approx(0.328804, abs=1e-6)
    points = list(offset_is_needed(Budget()))
    assert [point.right.estimate for point in points] == pytest.approx([0.734728, 0.734728], abs=1e-6)


def test_the_tail_of_kappa():
    with mp.workdps(25):
        truth = 1 - mp.ncdf(mp.sqrt(8) * (mp.log(5) - mp.mpf("0.125")))
    assert beyond(5.0, 0.5, 4.0) == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize(("rate", "offset", "scale"), [(1.0, E, 1.0), (1.5, E, 3.0)])
def test_the_variance_of_power_2(rate, offset, scale):
    """By mpmath in w = log(z/σ + a), where the density is that of a normal."""
    with mp.workdps(30):
        low = mp.log(mp.mpf(offset))
        grid = [low, low + 1, low + 2, low + 4, low + 8, low + 16]

        def integral(k):
            return mp.quad(lambda w: (mp.exp(w) - offset) ** k * mp.exp(w - rate * w * w), grid)

        truth = float(mp.mpf(scale) ** 2 * integral(2) / integral(0))
    assert truth == pytest.approx({1.0: 6.817322, 3.0: 20.8507}[scale], rel=2e-6)
    assert variance_of_power_2(rate, offset, scale) == pytest.approx(truth, rel=1e-11)
    bounds = second_moment(ExponentialPolylogarithmic(scale, 2.0, offset, rate))
    assert bounds.lower <= truth <= bounds.upper


def test_the_variance_of_power_1_is_12_and_not_60():
    point = next(p for p in variance_as_it_reads(Budget()) if p.where == "variance, p = 1, d = 5, a = 2, σ = 3")
    assert point.left.lower <= 12 <= point.left.upper
    assert point.left.upper - point.left.lower < 1e-7
    assert point.right.estimate == pytest.approx(60, rel=1e-12)


def test_the_second_derivative_as_printed_is_nine_times_too_large_at_sigma_3():
    """By mpmath's own derivative, of f(z) = -log(z/3 + e)² at z = 3."""
    with mp.workdps(30):
        truth = mp.diff(lambda z: -(mp.log(z / 3 + mp.e) ** 2), 3, 2)
    first = next(iter(second_derivative(Budget())))
    assert first.left.lower <= truth <= first.left.upper
    assert first.right.estimate == pytest.approx(9 * float(truth), rel=1e-6)
    for point in second_derivative(Budget()):
        if "σ = 1," in point.where:
            assert point.left.estimate == pytest.approx(point.right.estimate, rel=1e-5)


def test_the_mass_of_table_3_is_one_also_for_d_just_above_one():
    """The printed density of d = 1.5, a = 2, σ = 3 at 0.7 σ, literally; its distribution function by mpmath."""
    points = {p.where: p.left.estimate for p in entries_of_power_1(Budget())}
    with mp.workdps(25):

        def density(z):
            return mp.mpf("0.5") / 6 * mp.sqrt(2) * (z / 3 + 2) ** mp.mpf("-1.5")

        below = mp.mpf("0.5") + mp.quad(density, [0, mp.mpf("2.1")])
        assert 2 * mp.quad(density, [0, 10, 1e3, 1e6, mp.inf]) == pytest.approx(1, abs=1e-6)
    at = "p = 1, d = 1.5, a = 2, σ = 3, z = 0.7 σ"
    assert points[f"density, {at}"] == pytest.approx(float(density(mp.mpf("2.1"))), rel=1e-12)
    assert points[f"distribution function, {at}"] == pytest.approx(float(below), rel=1e-12)


@pytest.mark.parametrize("at", [100.0, 200.0])
def test_the_policy_beyond_floats_holds_the_exact_one(at):
    exact_one = exact.record_policy(AdditiveRelease(ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0)), 10.0**at)
    bracket = far_policy(at)
    assert bracket.lower <= exact_one.lower <= exact_one.upper <= bracket.upper * (1 + 1e-12)
    assert bracket.upper - bracket.lower < 0.01 * bracket.upper
