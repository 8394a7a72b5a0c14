"""The laws that exact values are read from, beside brute force and scipy."""

from types import SimpleNamespace

import composed_pairs as of_pairs
import numpy as np
import pytest
from scipy import stats

from tcdp_sim.candidates import tries_of
from tcdp_sim.experiments import losses, private_candidates
from tcdp_sim.experiments.laws import binomial, quantiles_of_atoms, sum_of_binomials
from tcdp_sim.experiments.per_record_splitting import errors
from tcdp_sim.experiments.smooth_sensitivity import chance_within, mean_error
from tcdp_sim.experiments.subsampling import theory
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace, SinhNormal
from tcdp_sim.store import columns

LEVELS = columns.QUANTILES


def test_quantiles_of_atoms_are_the_least_values_that_reach_the_level():
    values, chances = np.array([3.0, -1.0, np.inf, 3.0]), np.array([0.2, 0.5, 0.1, 0.2])
    np.testing.assert_array_equal(
        quantiles_of_atoms(values, chances), [-1, -1, -1, -1, -1, 3, 3, np.inf, np.inf, np.inf]
    )  # 0.5 and 0.9 are reached by -1 and 3
    law = stats.binom(40, 0.3)
    np.testing.assert_array_equal(quantiles_of_atoms(np.arange(41.0), law.pmf(np.arange(41))), law.ppf(LEVELS))


@pytest.mark.parametrize(("n", "chance"), [(1.0, 0.5), (30.0, 0.02), (1e6, 0.25), (5.0, 1.0), (5.0, 0.0)])
def test_binomials_are_those_of_scipy(n, chance):
    values, chances = binomial(n, chance)
    np.testing.assert_allclose(chances, stats.binom.pmf(values, n, chance), rtol=1e-8)
    assert chances.sum() == pytest.approx(1, rel=1e-12)


def test_sums_of_binomials_are_products_of_all_their_generating_functions():
    times, chances = np.array([3.0, 20.0, 1.0, 7.0]), np.array([0.5, 0.03, 1.0, 0.0])
    brute = np.ones(1)
    for n, chance in zip(times.astype(int), chances):
        for _ in range(n):
            brute = np.convolve(brute, [1 - chance, chance])
    values, law = sum_of_binomials(times, chances)
    np.testing.assert_allclose(law, brute[values.astype(int)], rtol=1e-9)
    assert law.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("law", "scipys"),
    [("poisson", stats.poisson(7.5)), ("geometric", stats.geom(1 / 7.5)), ("logarithmic", None)],
)
def test_numbers_of_runs_have_the_laws_of_scipy(law, scipys):
    tries = tries_of(law, 7.5)
    found = quantiles_of_atoms(*private_candidates._law_of_tries(tries))
    np.testing.assert_array_equal(found, (scipys or stats.logser(1 - tries.stop)).ppf(LEVELS))


@pytest.mark.parametrize("noise", [Gaussian(0.8), Laplace(1.5), SinhNormal(3.0, 20.0)])
@pytest.mark.parametrize("s", [0.03, 0.4, 1.0])
def test_delta_of_a_sample_is_that_of_the_mixture(noise, s):
    """The oracle integrates over the mixture, and uses no theorem on amplification."""
    for epsilon in (-0.5, 0.0, 0.1, 0.7):
        bracket = of_pairs.subsampled_hockey_stick(noise, 1.0, epsilon, s)
        found = theory.subsampled_delta(noise, s, epsilon)
        assert bracket.lower - 1e-9 <= found <= bracket.upper + 1e-9


@pytest.mark.parametrize("noise", [Gaussian(0.8), SinhNormal(3.0, 20.0)])
@pytest.mark.parametrize("s", [0.03, 0.4, 1.0])
def test_quantiles_of_the_loss_of_a_sample_are_where_its_tail_passes_the_level(noise, s):
    """The tail is computed from the base loss, and the quantiles from the outputs."""
    found = theory.loss_quantiles(noise, s, LEVELS)
    np.testing.assert_allclose(theory.loss_tail(noise, s, found), 1 - LEVELS, rtol=1e-6)


def test_quantiles_of_the_loss_are_refused_where_it_does_not_rise():
    for noise in (DiscreteLaplace(2.0), SinhNormal(4.0, 1.0)):
        with pytest.raises(ValueError, match="does not rise"):
            theory.loss_quantiles(noise, 0.1, LEVELS)


@pytest.mark.parametrize(("answer", "truth"), [(100.0, 100.0), (60.0, 100.0), (99.0, 100.0)])
def test_sizes_of_normal_errors_are_folded_normal(answer, truth):
    release = SimpleNamespace(var=lambda answer: 49.0)
    mechanism = SimpleNamespace(release=release, answers=(answer,), true_sums=(truth,))
    law = stats.foldnorm((truth - answer) / 7, scale=7)
    assert errors.mean_size(mechanism) == pytest.approx(law.mean(), rel=1e-9)
    errors.size_quantiles.__wrapped__(mechanism)
    np.testing.assert_allclose(errors.size_quantiles.__wrapped__(mechanism), law.ppf(LEVELS), rtol=1e-9)
    assert errors.within_tolerance(mechanism) == pytest.approx(law.cdf(10), rel=1e-9)
    assert errors.negative(mechanism) == pytest.approx(stats.norm.cdf(-answer / 7), rel=1e-9)


@pytest.mark.parametrize("answer", [0.0, 40.0, 55.0, 100.0])
def test_the_mean_of_a_clamped_error_is_the_sum_of_its_tail(answer):
    mechanism = SimpleNamespace(noise=Laplace(1.0), target=55.0, largest=100.0, answer=answer, sensitivity=9.0)
    step = 0.01
    radii = np.arange(0, 55, step) + step / 2
    brute = step * sum(1 - chance_within(mechanism, radius) for radius in radii)
    assert mean_error(mechanism) == pytest.approx(brute, rel=1e-5)


@pytest.mark.parametrize("noise", [Gaussian(0.8), Laplace(1.5), SinhNormal(4.0, 1.0)])
def test_quantiles_of_one_coordinates_loss_are_where_its_tails_pass_the_level(noise):
    mechanism = SimpleNamespace(noise=noise, moves=1, draws_losses=True)
    for name, quantity in zip(losses.SURVIVAL, (losses.QUANTILES, losses.QUANTILES_ON_NEIGHBOUR)):
        found = losses.EXACT[quantity](mechanism)
        slack = 1e-6 * np.abs(found).max()
        assert (losses.SURVIVAL[name](mechanism, found + slack) <= 1 - LEVELS + 1e-9).all()
        assert (losses.SURVIVAL[name](mechanism, found - slack) >= 1 - LEVELS - 1e-9).all()
    assert np.isnan(losses.EXACT[losses.QUANTILES](SimpleNamespace(noise=noise, moves=2, draws_losses=True))).all()
