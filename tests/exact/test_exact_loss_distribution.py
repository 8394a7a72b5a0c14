"""Privacy-loss distributions against closed forms, 40-digit bisection, simulation, and a noise with heavy tails."""

from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest
from exact_references import NOISES, pdf, sf
from scipy import stats

from tcdp_sim.exact import PrivacyLossDistribution, hockey_stick, renyi_divergence
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace

LEVELS = np.array([-30.0, -2.0, -0.5, -0.1, 0.0, 0.1, 0.3, 1.0, 4.0, 30.0])


@dataclass(frozen=True, eq=False)
class Cauchy(Noise):
    """Not in the package: its loss rises from 0, falls, and rises to 0 again; it gives its loss in closed form."""

    family = "cauchy"

    def logpdf(self, x):
        return -2 * np.log(np.hypot(1, x)) - np.log(np.pi)

    def sf(self, x):
        return np.arctan2(1, x) / np.pi

    def logsf(self, x):
        return np.log(self.sf(x))

    def isf(self, p):
        with np.errstate(divide="ignore"):
            return 1 / np.tan(np.pi * np.asarray(p))

    def var(self):
        return np.inf

    def sample(self, size=None, *, rng):
        return rng.standard_cauchy(size)

    def privacy_loss(self, y, shift):
        with np.errstate(over="ignore"):
            return np.log1p(shift * (shift - 2 * np.asarray(y)) / (1 + np.square(y)))


class PlainCauchy(Cauchy):
    """The same from the six methods alone."""

    privacy_loss = Noise.privacy_loss


def cauchy_mass(level, shift, centre):
    """The mass about `centre` of {1 + (x - t)^2 > e^l (1 + x^2)}, by the roots of the quadratic."""
    a, b, c = 1 - mp.exp(level), -2 * mp.mpf(shift), 1 + mp.mpf(shift) ** 2 - mp.exp(level)
    root = mp.sqrt(max(b * b - 4 * a * c, 0))
    below = [mp.atan(x - centre) / mp.pi for x in sorted(((-b - root) / (2 * a), (-b + root) / (2 * a)))]
    return below[1] - below[0] if level > 0 else 1 - (below[1] - below[0])


@pytest.mark.parametrize("shift", [0.1, 1.0, 5.0])
@mp.workdps(40)
def test_a_new_noise_with_heavy_tails(shift):
    losses = PrivacyLossDistribution(Cauchy(), shift)
    top = float(2 * mp.asinh(mp.mpf(shift) / 2))
    for level in np.array([-0.99, -0.5, -1e-3, 1e-3, 0.3, 0.9, 0.999999]) * top:
        ours, theirs = (cauchy_mass(mp.mpf(level), shift, centre) for centre in (0, shift))
        assert losses.sf(level) == pytest.approx(float(ours), rel=1e-9)
        assert losses.sf(level, under="Q") == pytest.approx(float(theirs), rel=1e-9)
        found = hockey_stick(Cauchy(), shift, level)
        assert found.lower <= ours - mp.exp(level) * theirs <= found.upper
    assert losses.isf(0.0) == pytest.approx(top, rel=1e-12)
    assert losses.sf(top * (1 + 1e-9)) == 0
    p = np.array([0.01, 0.2, 0.7])
    np.testing.assert_allclose(losses.sf(losses.isf(p)), p, rtol=1e-9)


@pytest.mark.parametrize("shift", [0.1, 1.0, 5.0])
@mp.workdps(40)
def test_heavy_tails_from_the_six_methods_alone(shift):
    """Levels next to the largest loss, where rounding counts, may be refused; what is told is right."""
    losses = PrivacyLossDistribution(PlainCauchy(), shift)
    top = float(2 * mp.asinh(mp.mpf(shift) / 2))
    for level in np.array([-0.99, -0.5, -1e-3, 1e-3, 0.3, 0.9, 0.999999]) * top:
        ours, theirs = (cauchy_mass(mp.mpf(level), shift, centre) for centre in (0, shift))
        found = hockey_stick(PlainCauchy(), shift, level)
        assert found.lower <= ours - mp.exp(level) * theirs <= found.upper
        assert found.upper - found.lower <= 1e-6 * found.upper
        if level <= 0.9 * top:
            assert losses.sf(level) == pytest.approx(float(ours), rel=1e-9)
            assert losses.sf(level, under="Q") == pytest.approx(float(theirs), rel=1e-9)
    assert losses.sf(top * (1 + 1e-9)) == 0


@pytest.mark.parametrize("theta", [1e-3, 0.5, 4.0])
def test_gaussian_loss_is_gaussian(theta):
    losses = PrivacyLossDistribution(Gaussian(1 / theta), 1.0)
    truth = stats.norm(theta**2 / 2, theta)
    level = truth.ppf([1e-12, 0.01, 0.4, 0.6, 0.99]) + 0.0
    np.testing.assert_allclose(losses.sf(level), truth.sf(level), rtol=1e-11)
    np.testing.assert_allclose(losses.cdf(level), truth.cdf(level), rtol=1e-11)
    far = theta**2 / 2 + theta * np.array([38.0, 100.0, 1e6])
    np.testing.assert_allclose(losses.logsf(far), truth.logsf(far), rtol=1e-11)
    other = stats.norm(-(theta**2) / 2, theta)
    np.testing.assert_allclose(losses.logsf(-far, under="Q"), other.logsf(-far), rtol=1e-11)
    np.testing.assert_allclose(losses.ppf([1e-300, 0.3, 0.9]), truth.ppf([1e-300, 0.3, 0.9]), rtol=1e-11)
    assert losses.isf(0.0) == np.inf
    assert losses.ppf(0.0) == -np.inf
    for n in (1, 2, 3, 4, 5):
        found = losses.moment(n)
        assert found.lower <= truth.moment(n) * (1 + 1e-13)
        assert found.upper >= truth.moment(n) * (1 - 1e-13)
        assert found.upper - found.lower <= 1e-9 * found.estimate
    assert losses.var().estimate == pytest.approx(theta**2, rel=1e-10)


@pytest.mark.parametrize("theta", [0.01, 0.5, 6.0])
def test_laplace_has_two_atoms(theta):
    losses = PrivacyLossDistribution(Laplace(1 / theta), -1.0)
    middle = theta * np.array([-0.9, -0.1, 0.0, 0.5, 0.99])
    np.testing.assert_allclose(losses.sf(middle), 1 - np.exp((middle - theta) / 2) / 2, rtol=1e-12)
    np.testing.assert_allclose(losses.sf(middle, under="Q"), np.exp(-(middle + theta) / 2) / 2, rtol=1e-12)
    inside, outside = theta * (1 - 1e-15), theta * (1 + 1e-15)
    assert losses.sf([inside, theta, outside]) == pytest.approx([0.5, 0, 0])
    assert losses.cdf([-outside, -theta, -inside]) == pytest.approx([0, np.exp(-theta) / 2, np.exp(-theta) / 2])
    assert list(losses.isf([0.0, 0.3, 0.5, 1.0])) == [theta, theta, theta, -theta]
    assert losses.mean().estimate == pytest.approx(np.expm1(-theta) + theta, rel=1e-9)
    assert losses.infinite_mass() == 0


def test_truncated_laplace_may_give_itself_away():
    losses = PrivacyLossDistribution(TruncatedLaplace(2.0, 9.0), 1.0)
    only_p = (np.exp(-4) - np.exp(-4.5)) / (2 * -np.expm1(-4.5))
    assert losses.infinite_mass() == pytest.approx(only_p, rel=1e-13)
    assert losses.sf([0.5, 7.0, 1e300]) == pytest.approx([only_p] * 3, rel=1e-13)
    assert losses.sf(np.inf) == 0
    assert losses.sf(-np.inf, under="Q") == pytest.approx(1 - only_p, rel=1e-13)
    assert list(losses.isf([0.5 * only_p, 2 * only_p])) == [np.inf, 0.5]
    assert losses.ppf(1.0) == np.inf
    assert losses.mean() == losses.var() == losses.moment(3) == (np.inf, np.inf, np.inf)
    apart = PrivacyLossDistribution(TruncatedLaplace(2.0, 9.0), 20.0)
    assert (apart.infinite_mass(), apart.sf(3.0), apart.cdf(3.0, under="Q")) == (1.0, 1.0, 1.0)


def loss_mp(noise, x, shift):
    return mp.log(pdf(noise, x)) - mp.log(pdf(noise, x - shift))


def crossings(noise, shift, level, reach):
    """Where the loss crosses the level, in 40 digits, from the changes of sign on a grid."""
    grid = [mp.mpf(x) for x in np.linspace(-reach, reach + shift, 301)]
    above = [loss_mp(noise, x, shift) > level for x in grid]
    for i in range(300):
        if above[i] != above[i + 1]:
            a, b = grid[i], grid[i + 1]
            for _ in range(130):
                middle = (a + b) / 2
                a, b = (middle, b) if (loss_mp(noise, middle, shift) > level) == above[i] else (a, middle)
            yield a, above[i]


def sf_mp(noise, shift, level, centre, reach):
    """P[L > level] as the masses between crossings; the loss of sinh-normal noise ends above every level."""
    total = mp.mpf(0)
    for x, above_on_the_left in crossings(noise, shift, level, reach):
        mass = sf(noise, -(x - centre))  # to the left of x
        total += mass if above_on_the_left else -mass
    return total


@pytest.mark.parametrize(("noise", "reach"), [(SinhNormal(3.0, 20.0), 40), (SinhNormal(4.0, 1.0), 7)])
@pytest.mark.parametrize("level", [-0.4, 0.05, 1.0, 6.0])
@mp.workdps(40)
def test_sinh_normal_with_one_mode_and_two(noise, reach, level):
    losses = PrivacyLossDistribution(noise, 0.75)
    for law, centre in (("P", 0), ("Q", mp.mpf(0.75))):
        truth = sf_mp(noise, mp.mpf(0.75), mp.mpf(level), centre, reach)
        assert losses.sf(level, under=law) == pytest.approx(float(truth), rel=1e-10)
        assert losses.logcdf(level, under=law) == pytest.approx(float(mp.log(1 - truth)), rel=1e-9)
    assert losses._sets.monotone == (noise.knee >= noise.scale)


@pytest.mark.parametrize("noise", [noise for noise in NOISES if not isinstance(noise, TruncatedLaplace)], ids=repr)
@mp.workdps(30)
def test_moments_against_mpmath(noise):
    losses, shift = PrivacyLossDistribution(noise, 0.5), mp.mpf(0.5)
    reach = float(noise.isf(1e-40))
    edges = sorted({0.0, 0.5, 0.25, *np.linspace(-reach, reach + 0.5, 24)})
    for n in (1, 2, 3):
        truth = mp.quad(lambda x: pdf(noise, x) * loss_mp(noise, x, shift) ** n, edges)  # noqa: B023
        found = losses.moment(n)
        assert found.lower <= truth <= found.upper
        assert found.estimate == pytest.approx(float(truth), rel=1e-10)
    assert losses.mean().estimate == pytest.approx(renyi_divergence(noise, 0.5, 1).estimate, rel=1e-10)
    second, mean = losses.moment(2).estimate, losses.mean().estimate
    assert losses.var().estimate == pytest.approx(second - mean**2, rel=1e-8)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
class TestEveryNoise:
    def test_simulated_losses(self, noise):
        """Dvoretzky-Kiefer-Wolfowitz: a false alarm in 1e9, on either side of every level."""
        shift, draws = float(noise.isf(0.3)), 200_000
        y = noise.sample(draws, rng=np.random.default_rng(7))
        losses = PrivacyLossDistribution(noise, shift)
        width = np.sqrt(np.log(4e9) / (2 * draws))
        for law, centre in (("P", 0.0), ("Q", shift)):
            drawn = noise.privacy_loss(y + centre, shift)[:, None] > LEVELS
            assert np.abs(drawn.mean(axis=0) - losses.sf(LEVELS, under=law)).max() <= width

    def test_complements_and_mirrors(self, noise):
        losses = PrivacyLossDistribution(noise, float(noise.isf(0.2)))
        levels = LEVELS + 0.0123  # no atoms
        np.testing.assert_allclose(losses.sf(levels) + losses.cdf(levels), 1, rtol=1e-14)
        np.testing.assert_allclose(losses.sf(levels, under="Q"), losses.cdf(-levels), rtol=1e-11, atol=1e-15)
        assert (np.diff(losses.sf(np.linspace(-5, 5, 400))) <= 1e-15).all()

    def test_quantiles_are_the_smallest_losses_that_reach_them(self, noise):
        losses = PrivacyLossDistribution(noise, float(noise.isf(0.2)))
        for p in (1e-8, 0.03, 0.4, 0.77):
            upper, lower = losses.isf(p), losses.ppf(p)
            assert losses.sf(upper + 1e-9) <= p * (1 + 1e-9)
            assert losses.sf(min(upper, 1e300) - 1e-9) >= p * (1 - 1e-9)
            assert losses.cdf(lower + 1e-9) >= p * (1 - 1e-9)
            assert losses.cdf(min(lower, 1e300) - 1e-9) <= p * (1 + 1e-9)

    def test_shapes_and_directions(self, noise):
        losses = PrivacyLossDistribution(noise, 0.4)
        assert np.ndim(losses.sf(0.1)) == np.ndim(losses.isf(0.1)) == 0
        assert losses.sf(LEVELS.reshape(2, 5)).shape == losses.isf(np.full((2, 5), 0.2)).shape == (2, 5)
        assert losses == PrivacyLossDistribution(noise, -0.4)

    def test_without_a_shift_nothing_is_lost(self, noise):
        losses = PrivacyLossDistribution(noise, 0.0)
        assert list(losses.sf([-1e-9, 0.0, 1.0])) == [1, 0, 0]
        assert losses.isf(0.3) == losses.isf(0.0) == losses.mean().estimate == losses.var().estimate == 0


def test_bad_arguments_are_one_line():
    losses = PrivacyLossDistribution(Gaussian(1.0), 1.0)
    for call, word in (
        (lambda: PrivacyLossDistribution(Gaussian(1.0), np.inf), "shift = inf"),
        (lambda: PrivacyLossDistribution(Gaussian([1.0, 2.0]), 1.0), "array-valued"),
        (lambda: losses.sf(np.nan), "loss = nan"),
        (lambda: losses.sf(0.0, under="R"), "under = 'R'"),
        (lambda: losses.isf(1.5), "p = 1.5"),
        (lambda: losses.moment(1.5), "n = 1.5"),
        (lambda: losses.moment(0), "n = 0"),
    ):
        with pytest.raises(ValueError, match=word):
            call()
