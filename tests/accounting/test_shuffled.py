"""Training on shuffled batches: ledgers against quadrature, thresholds in 40 digits, and the attack itself."""

from math import exp, sqrt

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from tcdp_sim.accounting import Additive, Allocated, Ledger, Sampled, Shuffled
from tcdp_sim.exact import shuffling
from tcdp_sim.noise import Gaussian

MOVES = {"zero_out": 1.0, "substitute": 2.0}


def threshold_delta(sigma, steps, epsilon, other):
    """The largest delta of a threshold for the largest output, in 40 digits; one mean is 2, or `other` without."""
    with mp.workdps(40):

        def above(mean, c):
            return 1 - mp.ncdf((c - mean) / sigma) * mp.ncdf(c / sigma) ** (steps - 1)

        found = [mp.mpf(0)]
        for c in np.linspace(-sigma, 2 + 9 * sigma, 400):
            with_record, without, factor = above(2, c), above(other, c), mp.exp(epsilon)
            found += [with_record - factor * without, (1 - without) - factor * (1 - with_record)]
        return float(max(found))


def density(x, sigma, steps, mean):
    """The density of the largest of normal numbers, of which one has this mean."""
    one, rest = stats.norm(mean, sigma), stats.norm(0, sigma)
    others = (steps - 1) * rest.logcdf(x)
    with np.errstate(divide="ignore"):
        changed = one.pdf(x) * np.exp(others)
        usual = one.cdf(x) * (steps - 1) * rest.pdf(x) * np.exp(others - rest.logcdf(x))
    return changed + np.where(rest.logcdf(x) > -700, usual, 0.0)


@pytest.mark.parametrize("relation", MOVES)
@pytest.mark.parametrize(("sigma", "steps"), [(0.4, 10_000), (0.8, 1000), (1.0, 2), (3.0, 50)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_lower_end_is_what_the_largest_output_reveals(relation, sigma, steps, epsilon):
    """By a sum over 400,001 places, and no less than any threshold."""
    low, _, high = Ledger([Shuffled(sigma, steps)], relation).delta(epsilon, 1e-4)
    x = np.linspace(-12 * sigma, 2 + 12 * sigma, 400_001)
    p, q = (density(x, sigma, steps, mean) for mean in (2.0, 2.0 - MOVES[relation]))
    both = [(x[1] - x[0]) * np.maximum(a - exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p))]
    if relation == "substitute":  # the whole output reveals more: twice the record in a random step, or nowhere
        bins = Ledger([Allocated(0.5 * sigma, steps)], "add_remove").delta(epsilon)
        assert low >= max(both) * (1 - 2e-3) - 1e-12
        assert bins.lower * (1 - 1e-2) - 1e-30 <= low <= bins.upper
    else:
        assert low == pytest.approx(max(both), rel=2e-3, abs=1e-12)
    assert low >= threshold_delta(sigma, steps, epsilon, 2.0 - MOVES[relation]) * (1 - 2e-3) - 1e-12
    assert low <= high


def exact_tails(c, sigma, steps, mean):
    """The probabilities that the largest output lies below c, and above it, with all digits however small they are."""
    z, rest = ((mp.mpf(c) - m) / (mp.mpf(sigma) * mp.sqrt(2)) for m in (mean, 0))
    below = mp.erfc(-z) / 2 * (mp.erfc(-rest) / 2) ** (steps - 1)
    return below, -mp.expm1(mp.log1p(-mp.erfc(z) / 2) + (steps - 1) * mp.log1p(-mp.erfc(rest) / 2))


def exact_delta(sigma, steps, epsilon, other):
    """The largest delta of a threshold 4 to 6 standard deviations from a mean, in 40 digits, to about 0.05."""
    found = [mp.mpf(0)]
    with mp.workdps(40):
        for c in sigma * np.linspace(4, 6, 201):
            for side, place in ((0, other - c), (1, 2.0 + c)):
                probabilities = [exact_tails(place, sigma, steps, mean)[side] for mean in (2.0, other)]
                found.append(probabilities[1 - side] - mp.exp(epsilon) * probabilities[side])
        return max(found)


@pytest.mark.parametrize("relation", MOVES)
@pytest.mark.parametrize(("sigma", "steps"), [(0.01, 2), (0.02, 10)])
def test_little_noise_has_a_lower_end(relation, sigma, steps):
    """The other law's probabilities of the likely outputs are far below all floats."""
    ledger, other = Ledger([Shuffled(sigma, steps)], relation), 2.0 - MOVES[relation]
    low, _, high = ledger.epsilon(1e-6)
    assert exact_delta(sigma, steps, low, other) >= 0.95e-6
    assert exact_delta(sigma, steps, low * (1 + 1e-3), other) <= 1e-6
    assert low <= high <= low * (1 + 1e-3)
    assert 1 - 1e-7 <= ledger.delta(1.0).lower <= 1


@pytest.mark.parametrize(("sigma", "steps"), [(0.01, 2), (0.02, 10), (1.0, 5), (300.0, 1000)])
def test_no_cell_is_above_the_law_of_the_largest_output(monkeypatch, sigma, steps):
    """Masses and losses of all cells are at most the exact ones, in 60 digits, and hardly smaller."""
    monkeypatch.setattr(shuffling, "CELLS", 48)
    edges = shuffling._edges(sigma, 2.0, 1.0)
    with mp.workdps(60):
        laws = []
        for mean in (2.0, 1.0):
            tails = [exact_tails(c, sigma, steps, mean) for c in edges[1:-1]]
            below, above = [mp.mpf(0), *(low for low, _ in tails), mp.mpf(1)], [1, *(high for _, high in tails), 0]
            laws.append([b - a if b < 0.5 else c - d for a, b, c, d in zip(below, below[1:], above, above[1:])])
        for p, q, found in zip(laws, laws[::-1], shuffling.largest_output(sigma, steps, 2.0, 1.0)):
            exact = sorted((mp.log(a / b), a) for a, b in zip(p, q) if a > 1e-290)
            assert len(exact) == len(found.loss)
            for (loss, mass), least_loss, least_mass in zip(exact, found.loss.tolist(), found.mass.tolist()):
                assert loss - 1e-8 * (1 + abs(loss)) <= least_loss <= loss
                assert mass * (1 - 1e-8) <= least_mass <= mass


@pytest.mark.parametrize("sigma", np.geomspace(1e-3, 1e3, 7).tolist())
@pytest.mark.parametrize("relation", MOVES)
def test_both_ends_are_useful_at_any_noise(relation, sigma):
    for order in (1.0, 3.0):
        found = Ledger([Shuffled(sigma, 4)], relation).renyi(order)
        assert 0 < found.lower <= found.upper
    low, _, high = Ledger([Shuffled(sigma, 4)], relation).epsilon(1e-6)
    assert 0.1 * high < low <= high < np.inf


@pytest.mark.parametrize("sigma", [1e12, 1e100, 1e300, 1.7e308])
def test_much_noise_reveals_little(sigma):
    """The truth, 2 Phi(m / 2) - 1 with m = 1 / sigma, is near 0; the upper end is that of the noise 10^9."""
    low, _, high = Ledger([Shuffled(sigma, 4)], "zero_out").delta(0.0)
    assert low == 0 <= high <= 4.1e-10
    assert Ledger([Shuffled(sigma, 4)], "zero_out").epsilon(1e-6).upper == 0


def test_two_epochs_are_a_sum_over_pairs_of_largest_outputs():
    sigma, steps, epsilon = 0.8, 20, 2.0
    x = np.linspace(-4, 8, 3001)
    step = x[1] - x[0]
    p, q = (density(x, sigma, steps, mean) * step for mean in (2.0, 1.0))
    found = [np.maximum(np.outer(a, a) - exp(epsilon) * np.outer(b, b), 0).sum() for a, b in ((p, q), (q, p))]
    low, _, _ = Ledger([Shuffled(sigma, steps, 2)], "zero_out").delta(epsilon, 1e-4)
    assert low == pytest.approx(max(found), rel=3e-3)
    assert Ledger([(Shuffled(sigma, steps, 1), 2)], "zero_out").delta(epsilon, 1e-4).lower == pytest.approx(
        low, rel=1e-9
    )


@pytest.mark.parametrize("relation", MOVES)
@pytest.mark.parametrize("order", ["each_epoch", "once", "fixed"])
@pytest.mark.parametrize(("sigma", "steps", "epochs"), [(0.8, 1000, 5), (2.0, 10, 3), (0.6, 1000, 1)])
def test_the_upper_end_is_gaussian_noise_with_a_known_order(relation, order, sigma, steps, epochs):
    """delta = Phi(m/2 - e/m) - exp(e) Phi(-m/2 - e/m) with m = move sqrt(epochs) / sigma."""
    m = MOVES[relation] * sqrt(epochs) / sigma
    for epsilon in (1.0, 8.0):
        truth = stats.norm.cdf(m / 2 - epsilon / m) - exp(epsilon) * stats.norm.cdf(-m / 2 - epsilon / m)
        low, _, high = Ledger([Shuffled(sigma, steps, epochs, order)], relation).delta(epsilon, 1e-4)
        assert high == pytest.approx(truth, rel=2e-4)
        assert low <= truth * (1 + 1e-9)
        if order == "fixed":
            assert low == pytest.approx(truth, rel=2e-4)


def test_shuffled_once_all_epochs_have_the_same_batches():
    """The E outputs of a place have one sufficient statistic: their mean, with noise sigma / sqrt(E)."""
    once, one = Shuffled(1.0, 500, 10, "once"), Shuffled(1.0 / sqrt(10), 500, 1)
    ours, theirs = (Ledger([each], "zero_out").epsilon(1e-6) for each in (once, one))
    assert ours.lower == pytest.approx(theirs.lower, rel=1e-6)
    each = Ledger([Shuffled(1.0, 500, 10)], "zero_out").epsilon(1e-6)
    assert each.lower < 0.4 * ours.lower
    assert Ledger([Shuffled(1.0, 500, 1, "once")], "zero_out").epsilon(1e-6) == Ledger(
        [Shuffled(1.0, 500, 1)], "zero_out"
    ).epsilon(1e-6)


@pytest.mark.parametrize(("sigma", "steps", "epochs"), [(0.8, 1000, 5), (1.0, 500, 10), (0.6, 1000, 1)])
def test_a_run_on_shuffled_batches_reveals_more_than_on_poisson_samples(sigma, steps, epochs):
    poisson = Ledger([(Sampled(Additive(Gaussian(sigma)), 1 / steps), steps * epochs)], "zero_out").epsilon(1e-6)
    for order in ("each_epoch", "once"):
        assert Ledger([Shuffled(sigma, steps, epochs, order)], "zero_out").epsilon(1e-6).lower > 4 * poisson.upper


def test_one_step_is_gaussian_noise():
    for order in ("each_epoch", "once", "fixed"):
        found = Ledger([Shuffled(2.0, 1, 4, order)], "substitute").epsilon(1e-5)
        plain = Ledger([Additive(Gaussian(2.0), 4.0)]).epsilon(1e-5)
        assert found.lower <= plain.upper
        assert plain.lower <= found.upper
        assert found.upper - found.lower <= 2e-4 * found.upper


def test_ends_are_in_order_at_random_settings():
    rng = np.random.default_rng(5)
    for _ in range(20):
        sigma, steps, epochs = 10 ** rng.uniform(-0.7, 1.5), int(10 ** rng.uniform(0, 5)), int(rng.integers(1, 30))
        order, relation = rng.choice(["each_epoch", "once", "fixed"]), rng.choice(list(MOVES))
        ledger = Ledger([Shuffled(sigma, steps, epochs, str(order))], str(relation))
        low, _, high = ledger.epsilon(10 ** rng.uniform(-9, -2))
        assert 0 <= low <= high
        longer = Ledger([Shuffled(sigma, steps, epochs + 1, str(order))], str(relation))
        assert longer.delta(1.0).upper >= ledger.delta(1.0).lower


def test_the_attack_itself():
    """20 steps of two records each, all others at -1: outputs are drawn, and counted above the best threshold.

    The shares differ from their probabilities by more than 5 standard errors once in 10^6 tests.
    """
    sigma, steps, trials, rng = 0.5, 20, 200_000, np.random.default_rng(11)
    largest = []
    for record in (1.0, 0.0):
        sums = np.full((trials, steps), -2.0)
        places = rng.integers(0, steps, trials)
        sums[np.arange(trials), places] += 1.0 + record
        largest.append((sums + sigma * rng.standard_normal((trials, steps))).max(axis=1) + 2.0)
    with_record, without = largest
    ledger = Ledger([Shuffled(sigma, steps)], "zero_out")
    poisson = Ledger([(Sampled(Additive(Gaussian(sigma)), 1 / steps), steps)], "zero_out")
    for epsilon in (1.0, 2.0):
        gains = [np.mean(with_record > c) - exp(epsilon) * np.mean(without > c) for c in np.linspace(1.5, 3.5, 41)]
        error = sqrt((0.25 + exp(2 * epsilon) * 0.25) / trials)
        assert max(gains) <= ledger.delta(epsilon).upper + 5 * error
        assert max(gains) == pytest.approx(ledger.delta(epsilon).lower, abs=0.02)
        assert max(gains) - 5 * error > poisson.delta(epsilon).upper


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sigma": 0.0}, "sigma"),
        ({"steps": 0}, "steps"),
        ({"epochs": 1.5}, "epochs"),
        ({"order": "never"}, "order"),
    ],
)
def test_mistakes_are_one_line(given, told):
    with pytest.raises(ValueError, match=told):
        Shuffled(**({"sigma": 1.0, "steps": 10} | given))
    with pytest.raises(ValueError, match="valid: relation = 'zero_out' or 'substitute'"):
        Ledger([Shuffled(1.0, 10)], "add_remove")
