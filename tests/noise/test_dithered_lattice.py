"""Lattice noise plus a uniform draw of one step: against scipy's quadrature, sums over steps, and enumerated ties."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim import exact
from tcdp_sim.noise import DitheredLattice
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.selection.algorithms import NoisyMax
from tcdp_sim.selection.scores import Scores

TABLES = {"integers": (0.0, (0.0, -0.4, -1.1, -2.5), 1.3), "halves": (0.5, (0.0, -0.3, -1.7), 0.9)}
NOISES = [DitheredLattice(*table, scale) for table in TABLES.values() for scale in (1.0, 2.0, 0.3)]
each_noise = pytest.mark.parametrize("noise", NOISES, ids=str)


def density(noise, x):
    """From the table itself."""
    offset, table, fall = noise.offset, np.array(noise.log_mass), noise.fall
    i = round(abs(np.floor(x / noise.scale - offset + 0.5) + offset) - offset)
    log_mass = table[i] if i < len(table) else table[-1] - fall * (i - len(table) + 1)
    return np.exp(log_mass) / noise.scale


def steps(noise, shift=0.0, most=120):
    """Ends of the intervals on which the noise and its shifted self have constant densities, and their middles."""
    edges = noise.scale * (np.arange(-most, most) + noise.offset + 0.5)
    edges = np.unique(np.concatenate([edges, edges + shift]).round(12))
    return np.diff(edges), (edges[1:] + edges[:-1]) / 2


@each_noise
def test_density_and_tail(noise):
    for x in noise.scale * np.array([-3.3, -0.2, 0.1, 0.7, 2.9, 7.3]):
        assert noise.pdf(x) == pytest.approx(density(noise, x), rel=1e-13)
        jumps = [noise.scale * (i + noise.offset + 0.5) for i in range(-60, 60)]
        inside = [jump for jump in jumps if x < jump < 45 * noise.scale]
        tail, _ = integrate.quad(lambda z: density(noise, z), x, 45 * noise.scale, points=inside, limit=900)
        assert noise.sf(x) == pytest.approx(tail, rel=1e-10)
        assert noise.logsf(x) == pytest.approx(np.log(tail), rel=1e-10)
    width, middle = steps(noise)
    assert width @ noise.pdf(middle) == pytest.approx(1, rel=1e-12)
    second = width @ (noise.pdf(middle) * (middle**2 + noise.scale**2 / 12))
    assert noise.var() == pytest.approx(second, rel=1e-12)


@each_noise
def test_quantiles_invert_the_tail(noise):
    p = np.array([1e-300, 1e-100, 1e-20, 1e-3, 0.2, 0.499, 0.5, 0.6, 0.99])
    np.testing.assert_allclose(noise.sf(noise.isf(p)), p, rtol=1e-11)
    np.testing.assert_allclose(noise.isf_log(np.log(p)), noise.isf(p), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(noise.logsf(noise.isf_log(-5000.0)), -5000, rtol=1e-12)
    assert (noise.isf(0), noise.isf(1)) == (np.inf, -np.inf)
    assert np.isnan(noise.isf(1.5))


@each_noise
def test_draws_follow_the_law(noise):
    """Kolmogorov's test, p > 1e-4: one false alarm in 10,000 runs of a noise."""
    draws = noise.sample(100_000, rng=np.random.default_rng(20))
    assert stats.kstest(draws, noise.cdf).pvalue > 1e-4


@each_noise
@pytest.mark.parametrize("share", [0.35, 1.0, 1.65, 3.0])
def test_divergences_by_sums_over_steps(noise, share):
    shift = share * noise.scale
    width, middle = steps(noise, shift)
    chance = width * noise.pdf(middle)
    loss = np.log([density(noise, y) / density(noise, y - shift) for y in middle])
    np.testing.assert_allclose(noise.privacy_loss(middle, shift), loss, rtol=1e-11, atol=1e-12)
    for order in (1.0, 1.0001, 1.5, 8.0, 60.0):
        s = order - 1
        known = chance @ loss if s == 0 else np.log1p(chance @ np.expm1(s * loss)) / s
        bounds = exact.renyi_divergence(noise, shift, order)
        assert bounds.lower * (1 - 1e-11) <= known <= bounds.upper * (1 + 1e-11)
        assert bounds.upper - bounds.lower <= 1e-9 * known
    assert exact.renyi_divergence(noise, shift, np.inf).estimate == pytest.approx(loss.max(), rel=1e-12)
    assert noise.largest_loss(shift) == pytest.approx(loss.max(), rel=1e-12)
    for epsilon in (0.0, 0.2, 0.8):
        delta = chance @ np.maximum(-np.expm1(epsilon - loss), 0)
        bounds = exact.hockey_stick(noise, shift, epsilon)
        assert bounds.lower - 1e-13 <= delta <= bounds.upper + 1e-13


@pytest.mark.parametrize("table", TABLES)
def test_fractions_of_a_step_cost_no_more_than_a_step(table):
    """What noise on the lattice promises of whole counts, the dithered one promises of all moves up to one."""
    lattice, noise = LatticeNoise(*TABLES[table]), DitheredLattice(*TABLES[table])
    for order in (1.0, 1.3, 5.0, 50.0):
        whole = exact.renyi_divergence(lattice, 1.0, order)
        at_one = exact.renyi_divergence(noise, 1.0, order)
        assert at_one.estimate == pytest.approx(whole.estimate, rel=1e-12)
        below = [exact.renyi_divergence(noise, shift, order).upper for shift in (1e-6, 0.1, 0.5, 0.9, 0.999)]
        assert sorted(below) == below
        assert below[-1] <= whole.upper


@pytest.mark.parametrize("table", TABLES)
def test_the_law_of_the_loss_is_that_of_the_lattice(table):
    lattice = LatticeNoise(*TABLES[table])
    x = np.arange(-80.0, 80.0) + lattice.offset
    chance, loss = np.exp(lattice.logpdf(x)), lattice.logpdf(x) - lattice.logpdf(x - 1)
    for noise in (lattice, lattice.with_density()):
        law = exact.PrivacyLossDistribution(noise, 1.0)
        for level in (-1.35, -1.0, -0.1, 0.0, 0.1, 0.39, 0.7, 1.0, 1.25):
            assert law.sf(level) == pytest.approx(chance[loss > level].sum(), rel=1e-9, abs=1e-15)
        assert law.mean().estimate == pytest.approx(chance @ loss, rel=1e-8)
    with pytest.raises(ValueError, match="multiples of 1"):
        exact.PrivacyLossDistribution(lattice, 0.5)


@pytest.mark.parametrize("table", TABLES)
def test_ties_fall_by_a_fair_coin(table):
    """Three whole scores: against all outcomes on the lattice, ties shared evenly. Alarm at 5 standard errors."""
    lattice, noise = LatticeNoise(*TABLES[table]), DitheredLattice(*TABLES[table])
    scores, x = np.array([2.0, 1.0, 1.0]), np.arange(-25.0, 25.0) + lattice.offset
    chance = np.exp(lattice.logpdf(x))
    wins = np.zeros(3)
    for i, j, k in itertools.product(range(len(x)), repeat=3):
        noisy = scores + x[[i, j, k]]
        best = noisy == noisy.max()
        wins += chance[i] * chance[j] * chance[k] * best / best.sum()
    exact_wins = exact.selection_distribution("noisy_max", noise, scores)
    np.testing.assert_allclose(exact_wins.estimate, wins, atol=1e-8)
    trials = 200_000
    chosen = NoisyMax(noise).select(Scores(scores, others=0, sensitivity=1), trials, rng=np.random.default_rng(6))[:, 0]
    errors = np.bincount(chosen, minlength=3) / trials - wins
    assert (np.abs(errors) < 5 * np.sqrt(wins * (1 - wins) / trials)).all()


def test_scale():
    noise = DitheredLattice(*TABLES["halves"])
    assert noise.scaled(3.0) == DitheredLattice(*TABLES["halves"], 3.0) != noise
    assert noise.scaled(3.0).sf(4.2) == pytest.approx(noise.sf(1.4), rel=1e-12)
    with pytest.raises(ValueError, match="scale"):
        DitheredLattice(*TABLES["halves"], 0.0)


@pytest.mark.parametrize("table", TABLES)
def test_far_out_the_loss_stays_what_it_is_beyond_the_table(table):
    """Where y - 1 would round to y."""
    noise = DitheredLattice(*TABLES[table])
    for y in (60.0, 1e10, 3e20, 1e200):
        at = y + noise.offset
        for each in (noise, noise.lattice):
            assert each.privacy_loss(at, 1.0) == pytest.approx(-noise.fall, rel=1e-9)
            assert each.privacy_loss(-at, 2.0) == pytest.approx(2 * noise.fall, rel=1e-9)
