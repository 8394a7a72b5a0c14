"""The intervals of simulated sides: against mpmath's and brute-force binomial laws, and by how often they miss."""

import mpmath
import numpy as np
import pytest
from scipy.stats import t

from tcdp_sim.statistics.intervals import SHARE, simulated_mean, simulated_proportion, simulated_quantile


@pytest.mark.parametrize(("successes", "trials"), [(0, 50), (1, 50), (17, 50), (50, 50), (1616, 2000)])
@pytest.mark.parametrize("chance", [0.05, SHARE])
def test_a_proportion_is_clopper_and_pearsons(successes, trials, chance):
    """At the ends the tails that reach the count have half the chance each, summed with 50 digits."""
    side = simulated_proportion(successes, trials, chance)
    assert side.lower <= side.estimate == successes / trials <= side.upper
    with mpmath.workdps(50):

        def tail(p, counts):
            return sum(
                mpmath.binomial(trials, k) * mpmath.mpf(p) ** k * (1 - mpmath.mpf(p)) ** (trials - k) for k in counts
            )

        if successes:
            assert float(tail(side.lower, range(successes, trials + 1))) == pytest.approx(chance / 2, rel=1e-6)
        else:
            assert side.lower == 0
        if successes < trials:
            assert float(tail(side.upper, range(successes + 1))) == pytest.approx(chance / 2, rel=1e-6)
        else:
            assert side.upper == 1


def test_the_mean_of_many_symmetric_trials_has_students_interval_and_more():
    side = simulated_mean(2.0, 0.5, 10**8, 0.0, 0.05)
    assert side.upper - 2.0 == pytest.approx(0.5 * t.isf(0.025, 10**8), rel=1e-3)
    assert 2.0 - side.lower == pytest.approx(side.upper - 2.0, rel=1e-12)
    few = simulated_mean(2.0, 0.5, 20, 0.0, 0.05)
    assert few.upper - 2.0 > 0.5 * t.isf(0.025, 19)


def test_skewed_laws_have_wider_intervals():
    widths = [simulated_mean(0.0, 1.0, 2000, skewness).upper for skewness in (0.0, 2.0, 6.0)]
    assert 6.3 < widths[0] < widths[1] < widths[2]


@pytest.mark.slow
def test_means_of_exponential_trials_are_missed_no_more_often_than_stated():
    """4000 samples of 200 at chance 0.01: 40 misses on average at most, 76 has a chance below 1e-6 of being passed."""
    rng = np.random.default_rng(20181)
    missed = 0
    for sample in rng.exponential(size=(4000, 200)):
        off = sample - sample.mean()
        skewness = (off**3).mean() / (off**2).mean() ** 1.5
        side = simulated_mean(sample.mean(), sample.std(ddof=1) / np.sqrt(200), 200, skewness, 0.01)
        missed += not side.lower <= 1 <= side.upper
    assert missed <= 76


@pytest.mark.parametrize("q", [0.1, 0.5, 0.95])
def test_quantiles_of_unit_bins_have_the_exact_law_of_ranks(q):
    """Bins of one trial each: the ends are order statistics, found here by adding up the binomial law."""
    n, chance = 300, 0.02
    edges = np.arange(n, dtype=float)
    side = simulated_quantile(edges, edges + 0.5, np.ones(n), q, chance)
    pmf = [float(mpmath.binomial(n, k) * mpmath.mpf(q) ** k * (1 - mpmath.mpf(q)) ** (n - k)) for k in range(n + 1)]
    below = np.cumsum(pmf)  # P[Binomial <= k]
    lower = max((k for k in range(1, n + 1) if below[k - 1] <= chance / 2), default=0)  # P[X_(k) > quantile] <= half
    upper = min((k for k in range(1, n + 1) if 1 - below[k - 1] <= chance / 2), default=n + 1)
    assert side.lower == edges[lower - 1]
    assert side.upper == edges[upper - 1] + 0.5
    assert edges[round(q * n) - 1] <= side.estimate <= edges[round(q * n) - 1] + 0.5


def test_quantiles_miss_as_often_as_stated_at_most():
    """5000 samples of 40 uniform trials, 0.9-quantile, chance 0.1: 500 misses at most on average, and 21 a sigma."""
    rng = np.random.default_rng(20182)
    missed = 0
    for sample in np.sort(rng.random((5_000, 40)), axis=1):
        side = simulated_quantile(sample, sample, np.ones(40), 0.9, 0.1)
        missed += not side.lower <= 0.9 <= side.upper
    assert missed <= 500 + 5 * 21
    assert missed > 50  # no wider than discreteness makes it


def test_too_few_trials_leave_quantiles_open():
    side = simulated_quantile([1.0, 2.0], [1.0, 2.0], [5, 5], 0.5)
    assert (side.lower, side.upper) == (-np.inf, np.inf)


@pytest.mark.parametrize("arguments", [(-1, 10), (11, 10), (1, 0), (0.5, 10)])
def test_counts_that_are_none_are_refused(arguments):
    with pytest.raises(ValueError, match="valid"):
        simulated_proportion(*arguments)
