"""Matrix mechanisms: proved ends and simulations against enumerated patterns and sums over grids of outputs."""

from itertools import product
from math import ceil, sqrt

import numpy as np
import pytest
from matrix_references import (
    bin_means,
    gaussian_delta,
    grid_delta,
    patterns,
    separated_weights,
    toeplitz,
    two_bins_delta,
)
from scipy import stats

from tcdp_sim.accounting import (
    Additive,
    Allocated,
    Bands,
    Cyclic,
    Fixed,
    Ledger,
    MatrixMechanism,
    MinSeparation,
    SameBin,
    Sampled,
    tight_rho,
)
from tcdp_sim.calibration import calibrate_releases
from tcdp_sim.exact.correlated.domination import above, below
from tcdp_sim.exact.correlated.draws import BinDraws, SeparatedDraws
from tcdp_sim.exact.correlated.moves import longest_move
from tcdp_sim.exact.correlated.simulated import DIRECTIONS, one_way, proposal
from tcdp_sim.exact.correlated.strategies import strategy_of
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.prefix_sums import EachBin, EachPrefix, SquareRoot, Tree, WeightedSquareRoot
from tcdp_sim.privacy import ApproxDP

ROOT = [1.0, 0.5, 0.375, 0.3125, 0.2734375, 0.24609375, 0.2255859375, 0.20947265625]  # (2j)! / (j!)^2 / 4^j


def rng(seed=0):
    return np.random.default_rng(seed)


def random_matrix(seed, steps, bands=None):
    matrix = np.tril(rng(seed).uniform(0.1, 1.0, (steps, steps)))
    return matrix if bands is None else np.triu(matrix, 1 - bands)


def bracket(release, epsilon, relation="zero_out"):
    return Ledger([release], relation).delta(epsilon)


@pytest.mark.parametrize(
    ("column", "y", "loss"),
    [
        ((1, 0, 0, 0), (1, 0, 1, 0), 0.4337808305),
        ((1, 0.5, 0, 0), (1, 0.5, 1, 0.5), 0.9052974004),
        ((1, 1, 0.5, 0.5), (1, 1, 1, 1), 1.5799760836),
    ],
)
def test_three_losses_of_jax_privacy(column, y, loss):
    """Two bins, four steps, sigma = 1: the values are those of the tests of jax_privacy."""
    means = bin_means(toeplitz(column), 2)
    found = BinDraws(strategy_of(column).gram(2), 1.0).log_ratio(np.array([y]) @ means, 1.0)
    assert found.item() == pytest.approx(loss, abs=1e-10)


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 8])
def test_inner_products_of_bins_are_those_of_sums_of_columns(bins):
    for given, matrix in ((ROOT, toeplitz(ROOT)), (random_matrix(1, 8), random_matrix(1, 8))):
        means = bin_means(matrix, bins)
        np.testing.assert_allclose(strategy_of(given).gram(bins), means.T @ means, rtol=1e-13)


@pytest.mark.parametrize("bands", [1, 2, 4, 8])
def test_bands_are_the_first_diagonals_of_the_square_root(bands):
    strategy = Bands(bands, 8)
    matrix = toeplitz(ROOT[:bands] + (8 - bands) * [0.0])
    np.testing.assert_allclose(strategy.columns(), matrix)
    np.testing.assert_allclose(strategy.lengths, np.linalg.norm(matrix, axis=0))
    x = rng(bands).normal(size=(3, 8))
    np.testing.assert_allclose(strategy.pushed(x), x @ matrix.T)
    np.testing.assert_allclose(strategy.pulled(x), x @ matrix)


@pytest.mark.parametrize(
    "given", [ROOT, random_matrix(3, 8), random_matrix(4, 8, 2), Bands(3, 8), SquareRoot(8, "add_remove")], ids=str
)
def test_errors_are_those_of_the_noise_of_prefix_sums(given):
    """The rows of A C^-1, by numpy's inverse. C^-1 A has other rows, unless C is a Toeplitz matrix."""
    release = MatrixMechanism(given, SameBin(2), 0.7)
    rows = np.linalg.norm(np.tri(8) @ np.linalg.inv(release.strategy.columns()), axis=1)
    errors = release.prefix_sum_errors()
    assert errors.root_mean_square == pytest.approx(0.7 * sqrt((rows**2).mean()), rel=1e-12)
    assert errors.largest == pytest.approx(0.7 * rows.max(), rel=1e-12)


def test_errors_of_many_bands_are_those_of_the_square_root():
    """A C^-1 = C for the whole square root; Newton's inverse has 100 columns and more."""
    squares = np.cumsum(np.cumprod(np.append(1.0, 1 - 0.5 / np.arange(1.0, 5000))) ** 2)
    np.testing.assert_allclose(Bands(5000, 5000).variances(), squares, rtol=1e-10)
    c = np.zeros(300)
    c[:100] = Bands(100, 300).column
    rows = np.linalg.norm(np.tri(300) @ np.linalg.inv(toeplitz(c)), axis=1)
    np.testing.assert_allclose(Bands(100, 300).variances(), rows**2, rtol=1e-9)


@pytest.mark.parametrize("kind", [SquareRoot, WeightedSquareRoot, EachBin, EachPrefix])
def test_a_factorisation_is_its_right_factor(kind):
    factorisation = kind(6, "add_remove")
    strategy = strategy_of(factorisation)
    left = factorisation.errors(np.eye(6)).T
    np.testing.assert_allclose(left @ strategy.columns(), np.tri(6), atol=1e-12)
    assert strategy.lengths.max() == pytest.approx(factorisation.sensitivity, rel=1e-9)


# moves


def brute_move(matrix, separation, participations):
    allowed = [
        pattern
        for pattern in patterns(len(matrix))
        if pattern.sum() <= participations and (np.diff(np.flatnonzero(pattern)) >= separation).all()
    ]
    return max(np.linalg.norm(matrix @ pattern) for pattern in allowed)


@pytest.mark.parametrize("participations", [1, 2, 4])
@pytest.mark.parametrize("separation", [1, 2, 3, 5])
def test_the_longest_move_of_all_patterns(separation, participations):
    """Exact for falling columns and for few bands; enclosed for every other matrix."""
    falling = np.sort(rng(separation).uniform(0, 1, 8))[::-1]
    few = random_matrix(separation, 8, min(separation, 3))
    for given, matrix in ((falling, toeplitz(falling)), (few, few)):
        low, high = longest_move(strategy_of(given), separation, participations)
        assert low <= high <= low * (1 + 1e-12)
        assert high == pytest.approx(brute_move(matrix, separation, participations), rel=1e-12)
    for seed in range(5):
        matrix = random_matrix(seed, 8)
        low, high = longest_move(strategy_of(matrix), separation, participations)
        assert low * (1 - 1e-12) <= brute_move(matrix, separation, participations) <= high <= 1.3 * low


def test_no_vectors_of_a_record_move_the_output_farther():
    """A record's vectors may differ from step to step. For C >= 0 equal ones are the worst; not for other C."""
    matrix = toeplitz(ROOT)
    _, high = longest_move(strategy_of(ROOT), 2, 4)
    for seed in range(200):
        vectors = rng(seed).normal(size=(8, 3))
        vectors *= (np.arange(8) % 2 == 0)[:, None] / np.linalg.norm(vectors, axis=1)[:, None]
        assert np.linalg.norm(matrix @ vectors) <= high


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_known_steps_are_gaussian_noise(epsilon):
    """sigma is over the length of a vector, not of a column of C, and replaced records move twice as far."""
    length = brute_move(toeplitz(ROOT), 3, 2)
    for relation, factor in (("zero_out", 1), ("substitute", 2)):
        low, _, high = bracket(MatrixMechanism(ROOT, Fixed(3, 2), 2.0), epsilon, relation)
        assert low <= gaussian_delta(factor * length / 2.0, epsilon) * (1 + 1e-9)
        assert high >= gaussian_delta(factor * length / 2.0, epsilon) * (1 - 1e-9)
        assert high <= low * 1.01
    assert tight_rho(MatrixMechanism(ROOT, Fixed(3, 2), 2.0)) == pytest.approx(length**2 / 8, rel=1e-9)


# bins: proved ends


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("sigma", [0.7, 2.0])
@pytest.mark.parametrize(("steps", "bins"), [(6, 2), (5, 2), (6, 3), (7, 3)])
def test_proved_ends_of_bins_enclose_the_sum_over_a_grid(steps, bins, sigma, epsilon):
    for given in (ROOT[:steps], Bands(2, steps), random_matrix(steps, steps), random_matrix(sigma > 1, steps, 2)):
        release = MatrixMechanism(given, SameBin(bins), sigma)
        truth = max(grid_delta(bin_means(release.strategy.columns(), bins), bins * [1 / bins], sigma, epsilon))
        low, _, high = bracket(release, epsilon)
        assert low <= truth * (1 + 2e-3) + 1e-9
        assert high >= truth * (1 - 2e-3) - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_the_pairs_that_bound_bins_are_larger_and_smaller(seed):
    means = rng(seed).uniform(0, 1, (9, 5)) + seed * 0.2
    gram = means.T @ means
    for split, sign in ((above(gram, 2.0), 1), (below(gram, 2.0), -1)):
        gap = split.own * np.eye(5) + split.common - gram
        assert (sign * np.linalg.eigvalsh(gap)).min() >= 0


def test_the_ends_of_the_whole_square_root_are_close():
    low, _, high = bracket(MatrixMechanism(Bands(100, 100), SameBin(10), 9.0), 1.0)
    known = gaussian_delta(sqrt(Bands(100, 100).gram(10)[0, 0]) / 9.0, 1.0)
    assert low > 0.9 * high
    assert high < 0.9 * known


@pytest.mark.parametrize(("steps", "bins", "sigma"), [(40, 10, 2.0), (8, 4, 1.0), (3, 3, 0.5)])
def test_independent_noise_is_random_allocation(steps, bins, sigma):
    """C = 1: an epoch of `bins` steps with sigma over the root of the number of epochs."""
    allocated = Allocated(sigma / sqrt(steps / bins), bins)
    for epsilon in (0.3, 2.0):
        one, other = (
            bracket(MatrixMechanism(Bands(1, steps), SameBin(bins), sigma), epsilon),
            bracket(allocated, epsilon),
        )
        assert one.lower == pytest.approx(other.lower, rel=1e-5)
        assert one.upper == pytest.approx(other.upper, rel=1e-5)


def test_one_bin_is_gaussian_noise():
    length = np.linalg.norm(toeplitz(ROOT).sum(axis=1))
    low, _, high = bracket(MatrixMechanism(ROOT, SameBin(1), 5.0), 1.0)
    assert low <= gaussian_delta(length / 5.0, 1.0) <= high <= low * 1.01


def test_bins_that_are_drawn_anew_do_not_compose():
    """Epochs one by one reveal less than the whole run, whose noise is correlated."""
    whole = bracket(MatrixMechanism(Bands(40, 40), SameBin(4), 8.0), 1.0)
    epochs = Ledger([(MatrixMechanism(Bands(4, 4), SameBin(4), 8.0), 10)], "zero_out").delta(1.0)
    assert epochs.upper < whole.lower


# samples of groups, and separated participations


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_samples_of_groups_are_poisson_samples(epsilon):
    """Against `Sampled` where all columns are whole, and against the sum over a grid where the last one is shorter."""
    step = Sampled(Additive(Gaussian(1.5), float(np.linalg.norm(ROOT[:3]))), 0.2)
    other = Ledger([(step, 10)], "zero_out").delta(epsilon)
    one = bracket(MatrixMechanism(Bands(3, 40), Cyclic(4, 0.2), 1.5), epsilon)
    assert one.estimate == pytest.approx(other.estimate, rel=1e-4)
    release = MatrixMechanism(Bands(2, 5), Cyclic(2, 0.3), 1.0)
    chosen = np.zeros((5, 8))
    chosen[::2] = patterns(3).T
    weights = 0.3 ** chosen.sum(axis=0) * 0.7 ** (3 - chosen.sum(axis=0))
    truth = max(grid_delta(release.strategy.columns() @ chosen, weights, 1.0, epsilon))
    low, _, high = bracket(release, epsilon)
    assert low * (1 - 2e-3) <= truth <= high * (1 + 2e-3)


SEPARATED = [(3, 0.4, True), (3, 0.4, False), (2, 0.7, True), (1, 0.3, True), (4, 1.0, True), (6, 1.0, False)]


@pytest.mark.parametrize(("separation", "probability", "warm"), SEPARATED)
@pytest.mark.parametrize("factor", [1.0, 2.3, -1.3])
def test_losses_of_separated_participations_are_sums_over_patterns(separation, probability, warm, factor):
    steps, sigma = 6, 1.3
    given = random_matrix(separation, steps, min(separation, 3))
    draws = SeparatedDraws(strategy_of(given), MinSeparation(separation, probability, warm), sigma)
    weights = separated_weights(steps, separation, probability, warm)
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    means = factor * given @ patterns(steps).T
    y = rng(1).normal(size=(20, steps)) * 2
    ratio = (weights * np.exp((y @ means - 0.5 * (means**2).sum(axis=0)) / sigma**2)).sum(axis=1)
    np.testing.assert_allclose(draws.log_ratio(y @ given, factor), np.log(ratio), rtol=1e-6, atol=1e-6)
    assert draws.kappa >= ((means[:, weights > 0] / factor / sigma) ** 2).sum(axis=0).max() * (1 - 1e-9)


@pytest.mark.parametrize(("separation", "probability", "warm"), SEPARATED)
def test_steps_are_drawn_by_their_probabilities(separation, probability, warm):
    """A chi-square test at 1e-6, with a fixed seed."""
    draws = SeparatedDraws(Bands(1, 6), MinSeparation(separation, probability, warm), 1.0)
    drawn = draws._steps(20_000, rng(3)) @ 2 ** np.arange(5, -1, -1)
    counts = np.bincount(drawn.astype(int), minlength=64)
    expected = 20_000 * separated_weights(6, separation, probability, warm)
    assert counts[expected < 1e-3].sum() == 0
    kept = expected >= 1e-3
    distance = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    assert distance <= stats.chi2.isf(1e-6, max(kept.sum() - 1, 1)) + 1e-9


def test_probability_one_is_balls_in_bins():
    draws = SeparatedDraws(Bands(3, 12), MinSeparation(4, 1.0), 1.5)
    d = rng(5).normal(size=(50, 12))
    bins = BinDraws(Bands(3, 12).gram(4), 1.5)
    moved = np.stack([d[:, i::4].sum(axis=1) for i in range(4)], axis=1)
    np.testing.assert_allclose(draws.log_ratio(d, 1.0), bins.log_ratio(moved / 1.5**2, 1.0), rtol=1e-9)


def test_separation_one_is_poisson_sampling():
    truth = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.2), 30)], "zero_out").delta(1.0)
    release = MatrixMechanism(Bands(1, 30), MinSeparation(1, 0.2), 1.0)
    found = release.simulate(1.0, 20_000, 0.9999, rng=rng(2))
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper <= 1.3 * found.lower
    low, _, high = bracket(release, 1.0)
    assert low <= truth.upper
    assert high == pytest.approx(truth.upper, rel=1e-3)  # one band: the bound is Poisson sampling itself


@pytest.mark.parametrize(("separation", "probability", "warm"), [(1, 0.3, True), (2, 0.3, True), (2, 1.0, False)])
@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_proved_ends_of_separated_participations_enclose_the_sum_over_a_grid(separation, probability, warm, epsilon):
    for given in (Bands(separation, 3), random_matrix(2, 3, separation)):
        release = MatrixMechanism(given, MinSeparation(separation, probability, warm), 1.2)
        weights = separated_weights(3, separation, probability, warm)
        truth = max(grid_delta(release.strategy.columns() @ patterns(3).T, weights, 1.2, epsilon))
        low, _, high = bracket(release, epsilon)
        assert 0 < low <= truth * (1 + 5e-3)
        assert high >= truth * (1 - 5e-3)


# simulation


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("sigma", "epsilon"), [(3.0, 1.0), (1.0, 6.0), (2.0, 4.0)])
def test_each_direction_is_the_sum_over_a_grid(direction, sigma, epsilon):
    """Two bins, eight steps of the square root. A false alarm has probability 1e-4 with new seeds."""
    truth = two_bins_delta(bin_means(toeplitz(ROOT), 2), sigma, epsilon)[DIRECTIONS.index(direction)]
    draws = BinDraws(Bands(8, 8).gram(2), sigma)
    found = one_way(draws, epsilon, direction, 100_000, 0.9999, rng(7))
    assert found.lower <= truth * (1 + 1e-5)
    assert found.upper >= truth * (1 - 1e-5)
    assert found.relative_width < 0.1


def test_two_bins_have_the_values_of_the_specification():
    """The two oracles agree with them, and with each other."""
    means = bin_means(toeplitz(ROOT), 2)
    assert two_bins_delta(means, 3.0, 1.0) == pytest.approx((0.163883467, 0.163264555), abs=5e-10)
    assert grid_delta(means, [0.5, 0.5], 3.0, 1.0) == pytest.approx((0.163883467, 0.163264555), abs=5e-7)


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.35, 12.0), (0.5, 8.0), (1.0, 2.5), (2.0, 1.0)])
def test_rare_losses_are_simulated(sigma, epsilon):
    """C = 1, delta from 1e-3 down to 1e-12, against the transform; the lower end is close to delta."""
    truth = bracket(Allocated(sigma, 20), epsilon)
    found = MatrixMechanism(Bands(1, 20), SameBin(20), sigma).simulate(epsilon, 50_000, 0.999, rng=rng(1))
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.lower > 0.7 * truth.lower


def test_intervals_miss_no_more_often_than_stated():
    """1,000 intervals at level 0.9 of a known delta; at most 135 may miss, or the level is wrong (p < 1e-3)."""
    truth = two_bins_delta(bin_means(toeplitz(ROOT), 2), 2.0, 3.0)[0]
    draws = BinDraws(Bands(8, 8).gram(2), 2.0)
    found = [one_way(draws, 3.0, DIRECTIONS[0], 300, 0.9, rng(seed)) for seed in range(1000)]
    missed = sum(not each.lower <= truth * (1 + 1e-5) or not truth <= each.upper * (1 + 1e-5) for each in found)
    assert missed <= stats.binom.isf(1e-3, 1000, 0.1)
    assert any(each.lower > 0.5 * truth for each in found)


@pytest.mark.parametrize("participation", [SameBin(2), SameBin(5), MinSeparation(10, 0.2)], ids=str)
@pytest.mark.parametrize("sigma", [1.5, 4.0, 20.0])
def test_no_value_of_a_draw_exceeds_the_bound(participation, sigma):
    """Also where the bound of two stretches is above 1: cutting values there would lower the upper end."""
    draws, largest = MatrixMechanism(Bands(10, 40), participation, sigma)._draws, 0.0
    for epsilon, direction, further in product((0.0, 0.3, 1.0, 3.0), DIRECTIONS, (0.0, 3.0, 6.5)):
        by = proposal(draws, epsilon, direction, further)
        record, log_proposal = draws.draw(by.factors, 2000, np.random.default_rng(1))
        loss, weight = (record, record - log_proposal) if direction == "forward" else (-record, -log_proposal)
        value = np.where(loss > epsilon, -np.expm1(np.minimum(epsilon - loss, 0)) * np.exp(np.minimum(weight, 9)), 0)
        assert value.max() <= by.bound * (1 + 1e-9)
        largest = max(largest, float(value.max()))
    assert largest > 1 or sigma != 4.0 or participation != SameBin(2)


def test_a_cap_only_lowers_the_lower_end():
    """Most pilots of 50 draws see no large value; the lower end still holds."""
    truth = bracket(Allocated(2.0, 20), 1.0)
    draws = BinDraws(Bands(1, 20).gram(20), 2.0)
    missed = sum(one_way(draws, 1.0, DIRECTIONS[0], 200, 0.9, rng(seed)).lower > truth.upper for seed in range(500))
    assert missed <= stats.binom.isf(1e-3, 500, 0.05)


@pytest.mark.parametrize("bands", [1, 4, 16])
def test_calibrated_noise_has_delta(bands):
    """At equal epsilon and delta, not at equal sigma. The check has draws of its own."""
    release = MatrixMechanism(Bands(bands, 64), SameBin(16), 1.0)
    found = release.calibrated(3.0, 1e-3, 20_000, rng=rng(bands))
    assert found.release.sigma > 1.0
    assert 0.5e-3 < found.check.estimate < 1e-3
    assert found.check.upper <= 1e-3
    assert bracket(found.release, 3.0).lower <= found.check.upper
    again = found.release.simulate(3.0, 20_000, rng=rng(100))
    assert again.estimate != found.check.estimate
    assert again.upper <= 1e-3


def test_noise_of_proved_ends_is_calibrated():
    found = calibrate_releases(
        [MatrixMechanism(Bands(8, 64), Cyclic(8, 0.3), 1.0)], ApproxDP(2.0, 1e-5), relation="zero_out"
    )
    assert 0.9999e-5 <= found.ledger.delta(2.0, 1e-6).upper <= 1e-5 * (1 + 1e-6)


def test_expected_batches():
    """The share of records in a batch: counted for separated participations, which start warm."""
    draws = SeparatedDraws(Bands(1, 12), MinSeparation(5, 0.3), 1.0)
    counted = draws._steps(40_000, rng(8)).mean(axis=0)
    assert MinSeparation(5, 0.3).rate == pytest.approx(0.3 / 2.2)
    np.testing.assert_allclose(counted, 0.3 / 2.2, atol=5 * sqrt(0.14 / 40_000))
    assert (SameBin(8).rate, Cyclic(4, 0.2).rate, Fixed(10, 3).rate) == (1 / 8, 0.05, 0.1)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: MatrixMechanism([1.0, -0.5], SameBin(2), 1.0), "strategy"),
        (lambda: MatrixMechanism([[1.0, 0.0], [-0.1, 1.0]], SameBin(2), 1.0), "strategy"),
        (lambda: MatrixMechanism([[1.0, 0.5], [0.1, 1.0]], SameBin(2), 1.0), "lower-triangular"),
        (lambda: MatrixMechanism([0.0, 1.0], SameBin(2), 1.0), "above 0"),
        (lambda: MatrixMechanism("sqrt", SameBin(2), 1.0), "Bands"),
        (lambda: MatrixMechanism(Tree(8, "add_remove", 2), SameBin(2), 1.0), "one noise"),
        (lambda: MatrixMechanism(SquareRoot(8, "substitute"), SameBin(2), 1.0), "add_remove"),
        (lambda: MatrixMechanism(Bands(3, 8), Cyclic(2, 0.1), 1.0), "at most 2 bands"),
        (lambda: MatrixMechanism(Bands(3, 8), MinSeparation(2, 0.1), 1.0), "at most 2 bands"),
        (lambda: MatrixMechanism(Bands(3, 8), SameBin(9), 1.0), "steps"),
        (lambda: MatrixMechanism(Bands(3, 8), 4, 1.0), "participation"),
        (lambda: MatrixMechanism(Bands(3, 8), SameBin(4), 0.0), "sigma"),
        (lambda: Bands(9, 8), "bands"),
        (lambda: MinSeparation(3, 0.1, 2), "warm"),
        (lambda: MatrixMechanism(Bands(3, 8), Fixed(2, 2), 1.0).simulate(1.0, rng=rng()), "Ledger"),
        (lambda: MatrixMechanism(Bands(3, 8), SameBin(2), 1e-3).simulate(1.0, rng=rng()), "sigma"),
        (lambda: MatrixMechanism(Bands(3, 8), SameBin(2), 1.0).simulate(1.0, 10, rng=rng()), "trials"),
        (lambda: MatrixMechanism(Bands(3, 8), SameBin(2), 1.0).simulate(-1.0, rng=rng()), "epsilon"),
        (lambda: Ledger([MatrixMechanism(Bands(3, 8), SameBin(2), 1.0)], "substitute"), "relation"),
        (lambda: Ledger([MatrixMechanism(Bands(3, 8), Fixed(2, 2), 1.0)], "add_remove"), "relation"),
        (lambda: tight_rho(MatrixMechanism(Bands(3, 8), SameBin(2), 1.0)), "rho"),
    ],
)
def test_what_is_not_valid_is_refused_in_one_line(ask, said):
    with pytest.raises(ValueError, match=said) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_tiny_delta_has_an_interval():
    """Values near 1e-200, whose squares are 0."""
    found = MatrixMechanism(Bands(1, 8), SameBin(4), 1.0).simulate(40.0, 200, rng=rng())
    assert 0 <= found.lower <= found.estimate < 1e-100
    assert found.upper < 1e-100


def test_a_strategy_of_a_user_is_stated_shortly():
    release = MatrixMechanism(np.tri(100), SameBin(2), 1.0)
    assert len(repr(release)) < 120
    assert ceil(release.strategy.width) == 100
