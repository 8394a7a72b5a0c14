"""Discrete noises against laws by their definitions in 50 digits: points, tails, quantiles, moments, losses, draws."""

import mpmath as mp
import numpy as np
import pytest
from discrete_references import law
from noise_examples import TABLE
from scipy.stats import chisquare, dlaplace, kstest

from tcdp_sim import exact
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RoundedGaussian, RoundedLaplace
from tcdp_sim.noise.strips import COUNT, strips

NOISES = [noise for entry in TABLE.values() if entry.apart == "test_discrete_noises.py" for noise in entry.noises]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)
FEW = [DiscreteGaussian(0.15), DiscreteGaussian(0.7), DiscreteGaussian(5.0), DiscreteLaplace(3.0)]
FEW += [DiscreteLaplace(2.0, 0.5), RoundedGaussian(3.0), RoundedLaplace(2.0, 0.5)]
few = pytest.mark.parametrize("noise", FEW, ids=repr)


def places(noise):
    """Return whole numbers of steps from the centre to a tail of 1e-299, ascending."""
    far = np.round(noise.isf(10.0 ** -np.geomspace(0.31, 299, 12)) / noise.step)
    return np.unique(np.concatenate([np.arange(4.0), far]))


@every
def test_points_and_tails_have_the_logs_of_the_definition(noise):
    """The log of a probability of 1e-300 is 690, so its own rounding is 1e-13."""
    truth = law(noise)
    for i in places(noise):
        x = i * noise.step
        assert float(noise.logpmf(x)) == pytest.approx(float(mp.log(truth.mass(i))), rel=2e-15, abs=2e-14)
        assert noise.pmf(-x) == noise.pmf(x) == noise.pdf(x)
        assert float(noise.logsf(x)) == pytest.approx(float(mp.log(truth.tail(i + 1))), rel=2e-15, abs=2e-14)
        assert float(noise.sf(-x)) == pytest.approx(float(1 - truth.tail(i)), rel=1e-12, abs=1e-14)
        assert float(noise.cdf(x)) == pytest.approx(float(1 - truth.tail(i + 1)), rel=1e-14)
        assert noise.cdf(-x) == pytest.approx(float(truth.tail(i)), rel=1e-11)


@every
def test_nothing_lies_between_the_points(noise):
    x = (places(noise)[:5] + 0.5) * noise.step
    assert np.all(noise.pmf(x) == 0)
    np.testing.assert_array_equal(noise.sf(x), noise.sf(x - 0.5 * noise.step))
    assert np.isnan(noise.pmf(np.nan))
    assert np.isnan(noise.privacy_loss(0.5 * noise.step, noise.step))


@every
def test_quantiles_are_the_least_points(noise):
    truth = law(noise)
    for p in (1e-299, 1e-200, 1e-50, 1e-9, 1e-3, 0.1, 0.3, 0.45):
        i = round(float(noise.isf(p)) / noise.step)
        assert truth.tail(i + 1) <= p * (1 + mp.mpf(10) ** -11)
        assert i == 0 or truth.tail(i) > p * (1 - mp.mpf(10) ** -11)
        assert noise.isf_log(np.log(p)) == pytest.approx(noise.isf(p), abs=1.01 * noise.step)
        if p > 1e-12:
            j = round(float(noise.isf(1 - p)) / noise.step)  # P[Z > j] = 1 - P[Z >= -j]
            assert truth.tail(-j) >= p * (1 - mp.mpf(10) ** -4)
            assert truth.tail(-j + 1) < p * (1 + mp.mpf(10) ** -4)
    assert noise.isf(0.0) == -noise.isf(1.0) == np.inf
    assert noise.ppf(0.2) == -noise.isf(0.2)


@every
@pytest.mark.parametrize("log_p", [-800.0, -5e3, -1e6])
def test_quantiles_beyond_the_floats(noise, log_p):
    x = float(noise.isf_log(log_p))
    assert noise.logsf(x) <= log_p * (1 - 1e-14)
    assert noise.logsf(x - noise.step) > log_p * (1 + 1e-14)


@pytest.mark.parametrize("sigma", [0.7, 5.0, 63.0, 65.0])
def test_tails_of_discrete_gaussian_noise_have_no_seam(sigma):
    """Where a table, an integral and a few terms meet: 40 sigmas, and sigma^2 / 2."""
    noise, truth = DiscreteGaussian(sigma), law(DiscreteGaussian(sigma))
    for seam in (40 * sigma, sigma**2 / 2):
        for i in np.unique(np.clip(np.round(seam) + np.arange(-3, 4), 0, 48 * sigma)):
            assert float(noise.logsf(i)) == pytest.approx(float(mp.log(truth.tail(int(i) + 1))), rel=2e-15, abs=2e-14)


@every
def test_moments_are_sums_of_the_definition(noise):
    second, fourth = law(noise).moment(2), law(noise).moment(4)
    assert float(noise.var()) == pytest.approx(float(second) * noise.step**2, rel=1e-12)
    assert noise.kurtosis() == pytest.approx(float(fourth / second**2), rel=1e-12)


@pytest.mark.parametrize("noise", [RoundedGaussian(2e3), RoundedLaplace(2e3)], ids=repr)
def test_moments_of_a_wide_rounded_noise_are_sums(noise):
    x = np.arange(1.0, 1.5e6 if noise.rounds is Laplace else 8e4)
    second, fourth = (2 * float((x**n * noise.pmf(x)).sum()) for n in (2, 4))
    assert float(noise.var()) == pytest.approx(second, rel=1e-11)
    assert noise.kurtosis() == pytest.approx(fourth / second**2, rel=1e-11)


@every
@pytest.mark.parametrize("steps", [1, 3])
def test_losses_keep_their_digits(noise, steps):
    """The relative error of a loss is 1e-12, at losses of 1e-9 as at losses of 700."""
    truth, shift = law(noise), steps * noise.step
    for i in np.concatenate([-places(noise), places(noise)]):
        loss = mp.log(truth.mass(abs(i))) - mp.log(truth.mass(abs(i - steps)))
        assert float(noise.privacy_loss(i * noise.step, shift)) == pytest.approx(float(loss), rel=2e-12, abs=1e-300)
    assert noise.privacy_loss(0.0, 0.5 * noise.step) == np.inf
    assert noise.largest_loss(0.5 * noise.step) == np.inf
    assert noise.max_order(0.5 * noise.step) == 1


@every
def test_atoms_of_the_loss_are_its_whole_law(noise):
    """Probabilities add up to 1 under P, and to 1 under Q if P reaches where Q lies; the losses descend."""
    atoms = noise.loss_atoms(2 * noise.step)
    assert np.all(np.diff(atoms.loss) <= 0)
    total, under_q = np.exp(atoms.log_mass).sum(), np.exp(atoms.log_mass - atoms.loss).sum()
    assert total == pytest.approx(1, abs=1e-12)
    assert noise.sf(noise.step) < 1e-80 or under_q == pytest.approx(1, abs=1e-12)
    assert max(atoms.log_above, atoms.log_below) < -700
    mean = float(np.exp(atoms.log_mass) @ atoms.loss)
    assert exact.renyi_divergence(noise, 2 * noise.step, 1.0).estimate == pytest.approx(mean, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("scale", "step", "steps"), [(2.0, 1.0, 1), (0.5, 1.0, 4), (3.0, 0.5, 7), (1e3, 1.0, 30)])
def test_the_losses_of_discrete_laplace_noise_are_those_of_the_specification(scale, step, steps):
    """n lambda / b with c / (1 - q); (n - 2 j) lambda / b with c q^j; -n lambda / b with c q^n / (1 - q)."""
    q = mp.exp(-mp.mpf(step) / mp.mpf(scale))
    c = (1 - q) / (1 + q)
    atoms = DiscreteLaplace(scale, step).loss_atoms(steps * step)
    masses = [c / (1 - q), *(c * q**j for j in range(1, steps)), c * q**steps / (1 - q)]
    losses = [(steps - 2 * j) * mp.mpf(step) / mp.mpf(scale) for j in range(steps + 1)]
    assert np.exp(atoms.log_mass) == pytest.approx([float(mass) for mass in masses], rel=1e-13)
    assert atoms.loss == pytest.approx([float(loss) for loss in losses], rel=1e-14, abs=1e-16)
    assert atoms.log_above == atoms.log_below == -np.inf


def test_atoms_that_are_too_rare_are_left_out_and_counted():
    atoms = DiscreteLaplace(3.0).loss_atoms(1e12)
    assert len(atoms.loss) < 3000
    assert -750 < atoms.log_below < -740
    assert atoms.loss[0] == pytest.approx(1e12 / 3)
    cut = DiscreteGaussian(2.0).loss_atoms(1.0, np.log(1e-10))
    assert np.exp(cut.log_above) == np.exp(cut.log_below) == pytest.approx(1 - np.exp(cut.log_mass).sum(), abs=1e-10)
    assert np.exp(cut.log_above) <= 1e-10 < np.exp(np.logaddexp(cut.log_above, cut.log_mass[0]))
    beyond = law(DiscreteGaussian(2.0)).tail((len(cut.loss) + 1) // 2)
    assert np.exp(cut.log_above) == pytest.approx(float(beyond), rel=1e-12)


def test_discrete_laplace_noise_is_that_of_scipy():
    x = np.arange(-40, 41)
    for scale in (0.3, 2.0, 11.0):
        noise = DiscreteLaplace(scale)
        assert noise.pmf(x) == pytest.approx(dlaplace.pmf(x, 1 / scale), rel=1e-12)
        assert noise.cdf(x) == pytest.approx(dlaplace.cdf(x, 1 / scale), rel=1e-9)
        assert noise.var() == pytest.approx(dlaplace.var(1 / scale), rel=1e-12)
        mean = mp.nsum(lambda k, s=scale: 2 * k * mp.exp(-k / s) * mp.tanh(1 / mp.mpf(2 * s)), [1, mp.inf])
        assert noise.mean_abs() == pytest.approx(float(mean), rel=1e-12)


@few
def test_draws_follow_the_law(noise):
    """A false alarm in 1e-6 of seeds each."""
    draws = noise.sample(200_000, rng=np.random.default_rng(7))
    x = np.arange(-400, 401) * noise.step
    p = np.asarray(noise.pmf(x))
    kept = p * len(draws) > 20
    seen = np.array([np.isclose(draws, each, rtol=1e-12, atol=1e-9).sum() for each in x[kept]])
    found = chisquare(np.append(seen, len(draws) - seen.sum()), np.append(p[kept], p[~kept].sum()) * len(draws))
    assert found.pvalue > 1e-6
    whole = draws / noise.step
    assert np.abs(whole - np.round(whole)).max() < 1e-9
    assert noise.sample(rng=np.random.default_rng(1)).shape == ()
    assert noise.sample((2, 3), rng=np.random.default_rng(1)).shape == (2, 3)


@pytest.mark.parametrize("noise", [DiscreteGaussian(1e5), DiscreteLaplace(1e5), RoundedGaussian(1e5)], ids=repr)
def test_draws_of_a_wide_noise_fall_into_equal_shares(noise):
    """64 intervals of equal probability; a false alarm in 1e-6 of seeds each."""
    edges = noise.ppf(np.arange(1, 64) / 64)
    draws = noise.sample(200_000, rng=np.random.default_rng(3))
    seen = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=64)
    p = np.diff(np.concatenate([[0.0], noise.cdf(edges), [1.0]]))
    assert chisquare(seen, p * len(draws)).pvalue > 1e-6


NARROW = (DiscreteGaussian, DiscreteLaplace, RoundedGaussian, RoundedLaplace)


@pytest.mark.parametrize("kind", NARROW)
def test_few_draws_need_a_density_or_a_quantile(kind):
    """These cost a hundred times as much as a look-up, so fewer than 6 in 100 draws may need one."""
    for scale in np.geomspace(0.02, 20, 40):
        found = strips(kind(scale).with_density())
        inverted = found.share == 0
        tries = (np.abs(found.outer - found.inner) * (found.most - found.least))[~inverted].sum()
        assert tries + inverted.mean() < 0.06


@pytest.mark.parametrize("noise", [DiscreteGaussian(0.3), DiscreteLaplace(0.15)], ids=repr)
def test_strips_with_a_high_step_are_drawn_by_inversion(noise):
    """Given the strip, the tail of a draw is uniform in it; a false alarm in 1e-5 of seeds each."""
    dithered = noise.with_density()
    found = strips(dithered)
    (steep,) = np.flatnonzero(found.share[1 : COUNT // 2] == 0) + 1
    for strip, side in ((steep, -1), (COUNT - 1 - steep, 1)):
        draws = found._rest(np.random.default_rng(5), np.full(20_000, strip))
        place = dithered.sf(side * draws) * COUNT - steep
        assert kstest(place, "uniform").pvalue > 1e-5
    test_draws_follow_the_law(noise)


@few
def test_a_fair_coin_breaks_ties(noise):
    """With the uniform draw of a step the losses at whole shifts are the same, and no two draws are equal."""
    dithered = noise.with_density()
    draws = dithered.sample(1000, rng=np.random.default_rng(2))
    assert len(np.unique(draws)) == 1000
    assert np.abs(np.remainder(draws / noise.step + 0.5, 1) - 0.5).max() > 0.4
    y = np.arange(-9, 10) * noise.step
    for part in (-0.4, 0.3):
        loss = dithered.privacy_loss(y + part * noise.step, 2 * noise.step)
        np.testing.assert_allclose(loss, noise.privacy_loss(y, 2 * noise.step), rtol=1e-12, atol=1e-13)
    assert dithered.sf(y + 0.5 * noise.step) == pytest.approx(noise.sf(y), rel=1e-12)
    tails = np.array([1e-250, 1e-9, 0.1, 0.4, 0.6, 0.99])
    assert dithered.sf(dithered.isf(tails)) == pytest.approx(tails, rel=1e-9)


@few
def test_a_shift_between_points_mixes_its_neighbours(noise):
    """By the definition of dithered noise: the mean of e^((a - 1) L) is linear between whole shifts."""
    dithered, a = noise.with_density(), 3.0
    near, far = (exact.renyi_divergence(noise, n * noise.step, a).estimate for n in (1, 2))
    found = exact.renyi_divergence(dithered, 1.25 * noise.step, a)
    mixed = np.log(0.75 * np.exp((a - 1) * near) + 0.25 * np.exp((a - 1) * far)) / (a - 1)
    assert found.estimate == pytest.approx(mixed, rel=1e-11)
    assert found.lower <= mixed * (1 + 1e-12)
    assert found.upper >= mixed * (1 - 1e-12)


def test_a_wide_discrete_gaussian_is_the_continuous_one():
    """The two tails at cell ends differ by the density's curvature, 1 / (24 sigma^2)."""
    noise, dense = DiscreteGaussian(1e6), Gaussian(1e6)
    x = np.array([0.0, 1e5, 1e6, 5e6, 2e7])
    assert noise.logsf(x) == pytest.approx(dense.logsf(x + 0.5), rel=1e-10)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DiscreteGaussian(0.0), "sigma = 0"),
        (lambda: DiscreteLaplace(1.0, -1.0), "step = -1"),
        (lambda: RoundedGaussian([1.0, 2.0]), "scale = .* is not one number"),
        (lambda: DiscreteGaussian(1.0).loss_atoms(0.5), "shift = 0.5 is not valid .* valid: a multiple of its step 1"),
        (lambda: DiscreteGaussian(1e9).loss_atoms(1.0), "outputs that count; valid: at most"),
        (lambda: DiscreteGaussian(1e9).closed_hockey_stick(1.0, np.array([0.0])), "is a sum of"),
    ],
)
def test_what_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_noise_on_a_lattice_scales_with_it():
    assert DiscreteGaussian(2.0, 0.5).scaled(4.0) == DiscreteGaussian(8.0, 2.0)
    assert DiscreteGaussian(2.0, 0.5) != DiscreteGaussian(2.0)
    assert DiscreteGaussian(2.0).widened(1.5) == DiscreteGaussian(3.0)
    assert DiscreteGaussian(2.0).with_density().scaled(2.0) == DiscreteGaussian(4.0, 2.0).with_density()
