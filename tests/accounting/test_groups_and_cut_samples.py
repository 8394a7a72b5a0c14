"""Users with several records, and Poisson samples that are cut: ledgers against dp_accounting and enumerations."""

from itertools import combinations, product
from math import comb, exp, fsum

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from mpmath import mp
from scipy import stats

from tcdp_sim.accounting import Additive, Allocated, Claimed, Distributions, Ledger, MixturePair, Sampled, Thresholded
from tcdp_sim.exact import Mixture
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from tcdp_sim.privacy import PureDP
from tcdp_sim.privacy.amplification.schemes import cut_rates

STEP = 2e-3
X = np.arange(-15, 15, STEP)
NORMAL = {shift: stats.norm.pdf(X, shift) for shift in range(-6, 7)}


def density(shifts, weights):
    each = {}
    for shift, weight in zip(shifts, weights):
        each[shift] = each.get(shift, 0.0) + weight
    return sum(weight * NORMAL[shift] for shift, weight in each.items())


def hockey_stick(p, q, epsilon):
    """By the trapezoid rule, with an error below 1e-6 from the kink."""
    return STEP * float(np.maximum(p - exp(epsilon) * q, 0).sum())


def binomial(k, s):
    return [comb(k, j) * s**j * (1 - s) ** (k - j) for j in range(k + 1)]


def overlap(one, other, slack=1e-9):
    assert one.lower <= other.upper * (1 + slack)
    assert other.lower <= one.upper * (1 + slack)


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [2, 5])
@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_a_group_is_a_binomial_mixture(group, rate):
    p, q = density(range(group + 1), binomial(group, rate)), density([0], [1])
    ledger = Ledger([Sampled(Additive(Gaussian(1.0)), rate, group=group)], "zero_out")
    for epsilon in (0.0, 0.5, 2.0):
        truth = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        low, _, high = ledger.delta(epsilon, 1e-5)
        assert low - 1e-6 <= truth <= high + 1e-6


@pytest.mark.parametrize(("group", "rate", "times"), [(2, 0.1, 10), (8, 0.01, 100), (3, 0.01, 1000)])
def test_groups_of_dp_accounting(group, rate, times):
    """Its mixture mechanism spreads losses to points that are 1e-3 apart, which costs far less than that each time."""
    shares = binomial(group, rate)
    theirs = pld.from_mixture_gaussian_mechanism(2.0, [*range(group + 1)], shares, value_discretization_interval=1e-3)
    epsilon = theirs.self_compose(times).get_epsilon_for_delta(1e-6)
    low, _, high = Ledger([(Sampled(Additive(Gaussian(2.0)), rate, group=group), times)], "add_remove").epsilon(1e-6)
    assert low <= epsilon <= high + 1e-5 * times
    assert high - low <= 2e-4 * high


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(3.0), DiscreteGaussian(2.0), DiscreteLaplace(2.0)])
def test_what_groups_obey(noise):
    """One record is no group; all records at once are one longer move; a larger group is told apart more easily."""

    def epsilon(rate, group, times=10):
        return Ledger([(Sampled(Additive(noise), rate, group=group), times)], "add_remove").epsilon(1e-5)

    assert epsilon(0.1, 1) == Ledger([(Sampled(Additive(noise), 0.1), 10)], "add_remove").epsilon(1e-5)
    overlap(epsilon(1.0, 3), Ledger([(Additive(noise, 3.0), 10)], "add_remove").epsilon(1e-5))
    found = [epsilon(0.1, group) for group in (1, 2, 4)]
    assert found[0].upper < found[1].lower
    assert found[1].upper < found[2].lower


def test_a_group_on_a_lattice_is_a_sum():
    x = np.arange(-80, 81)
    pmf = np.exp(-np.abs(x) / 2.0)
    pmf /= fsum(pmf)
    p = sum(weight * np.roll(pmf, j) for j, weight in enumerate(binomial(3, 0.2)))  # what is rolled over is below 1e-16
    ledger = Ledger([Sampled(Additive(DiscreteLaplace(2.0)), 0.2, group=3)], "add_remove")
    for epsilon in (0.0, 0.3):
        truth = max(fsum(np.maximum(a - exp(epsilon) * b, 0)) for a, b in ((p, pmf), (pmf, p)))
        low, _, high = ledger.delta(epsilon)
        assert low - 1e-12 <= truth <= high + 1e-12


# Samples that are cut -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "most", "rate"), [(5, 2, 0.3), (7, 1, 0.6), (6, 6, 0.5), (4, 3, 1.0)])
def test_the_rates_by_enumeration_of_all_samples(n, most, rate):
    full = used = 0.0
    for bits in product((0, 1), repeat=n):
        weight = np.prod([rate if bit else 1 - rate for bit in bits])
        others = sum(bits[1:])
        full += weight * (others >= most)
        used += weight * bits[0] * min(1.0, most / (others + 1))
    found = cut_rates(rate, n, most)
    assert found.full == pytest.approx(full, abs=1e-14)
    assert found.rest == pytest.approx(1 - full, abs=1e-14)
    assert found.included == pytest.approx(used, rel=1e-10)
    assert found.full * found.chosen + rate * (1 - found.full) == pytest.approx(used, rel=1e-10)


def binomial_tail(n, rate, m):
    """P[Bin(n, rate) > m] in 50 digits, term by term away from the mean."""
    s = mp.mpf(rate)
    upwards = m + 1 > n * s
    k = m + 1 if upwards else m
    term = mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) + k * mp.log(s))
    term *= (1 - s) ** (n - k)
    total = mp.mpf(0)
    while 0 <= k <= n and term > total * mp.mpf(10) ** -20:
        total += term
        odds = s / (1 - s)
        term *= odds * (n - k) / (k + 1) if upwards else k / (odds * (n - k + 1))
        k += 1 if upwards else -1
    return total if upwards else 1 - total


@pytest.mark.parametrize(
    ("n", "mean", "most"),
    [
        (1000, 4.0, 5),
        (10**6, 1000.0, 1010),
        (10**6, 1000.0, 2100),
        (10**9, 4000.0, 3800),
        (10**9, 10_000.0, 10_050),
        (2**53, 8000.0, 8100),
    ],
)
def test_the_rates_in_50_digits(n, mean, most):
    """`widened` has the safe side of each, by no more than 2e-11 of it."""
    rate = mean / n
    with mp.workdps(50):
        full, more = binomial_tail(n - 1, rate, most - 1), binomial_tail(n, rate, most)
        truth = 1 - full, full, more * most / n / full
        used = mp.mpf(rate) * (1 - full) + more * most / n
        found = cut_rates(rate, n, most).widened()
        for ours, theirs in zip(found[:3], truth):
            assert theirs <= ours <= theirs * (1 + mp.mpf(3e-11))
        assert used * (1 - mp.mpf(3e-11)) <= found.included <= used


def test_rates_that_floats_cannot_hold_are_raised():
    found = cut_rates(1e-9, 1000, 500)
    assert 0 < found.full < 1e-290
    assert found.chosen == 1e-9
    assert cut_rates(1e-9, 1000, 1000).full == 0
    step = Additive(Gaussian(1.0))
    never = Ledger([(Sampled(step, 1e-9), 10)], "zero_out").delta(0.1)
    rarely = Ledger([(Sampled(step, 1e-9, records=1000, most=500), 10)], "zero_out").delta(0.1)
    assert never.upper * (1 - 1e-9) <= rarely.upper <= never.upper * (1 + 1e-6)


def samples(n, most, rate):
    """All parts of 0, ..., n - 1 that may be used, with their probabilities."""
    found = {}
    for bits in product((0, 1), repeat=n):
        weight = np.prod([rate if bit else 1 - rate for bit in bits])
        drawn = [i for i, bit in enumerate(bits) if bit]
        parts = list(combinations(drawn, min(most, len(drawn))))
        for part in parts:
            found[part] = found.get(part, 0.0) + weight / len(parts)
    return found


@pytest.mark.parametrize(("n", "most", "rate"), [(3, 1, 0.5), (4, 2, 0.5), (4, 1, 0.8), (3, 2, 1.0)])
def test_no_data_exceed_the_upper_end_and_some_reach_the_lower_one(n, most, rate):
    """All data whose other records are -1, 0 or 1, by enumeration of the samples and quadrature, both directions."""
    ledger = Ledger([Sampled(Additive(Gaussian(1.0)), rate, records=n, most=most)], "zero_out")
    drawn = samples(n, most, rate)
    for epsilon in (0.0, 0.4):
        found = []
        for others in product((-1, 0, 1), repeat=n - 1):
            p, q = (
                density([sum((value, *others)[i] for i in part) for part in drawn], list(drawn.values()))
                for value in (1, 0)
            )
            found += [hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)]
        low, _, high = ledger.delta(epsilon, 1e-5)
        assert low - 1e-6 <= max(found) <= high + 1e-6


def test_a_limit_that_is_never_reached_changes_nothing():
    plain = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01), 100)], "zero_out").epsilon(1e-6)
    never = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01, records=500, most=500), 100)], "zero_out").epsilon(1e-6)
    seldom = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01, records=500, most=100), 100)], "zero_out").epsilon(1e-6)
    assert never.upper == pytest.approx(plain.upper, rel=1e-3)
    assert seldom.upper == pytest.approx(plain.upper, rel=1e-3)
    overlap(plain, never)


def test_a_limit_costs_something_and_less_than_substitution():
    """The example of sigma 1, rate .01, 1,000 steps, 10,000 records, 130 at most: delta(1) is about .0035."""
    step = Sampled(Additive(Gaussian(1.0)), 0.01, records=10**4, most=130)
    low, _, high = Ledger([(step, 1000)], "zero_out").delta(1.0)
    poisson = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01), 1000)], "zero_out").delta(1.0)
    substituted = Ledger([(Sampled(Additive(Gaussian(1.0), 2.0), 0.01, "without_replacement"), 1000)], "substitute")
    assert low <= poisson.upper
    assert poisson.lower < high < 0.0036482  # what dp_accounting 0.5 gives for this sampler
    assert high < substituted.delta(1.0).lower


def test_with_all_records_in_every_sample_one_is_replaced():
    """Rate 1: the sample is a random part of fixed size."""
    cut = Ledger([(Sampled(Additive(Gaussian(2.0)), 1.0, records=100, most=10), 5)], "zero_out").epsilon(1e-6)
    fixed = Sampled(Additive(Gaussian(2.0), 2.0), 0.1, "without_replacement")
    assert cut.upper == pytest.approx(Ledger([(fixed, 5)], "substitute").epsilon(1e-6).upper, rel=1e-3)


@pytest.mark.parametrize("noise", [Laplace(2.0), DiscreteGaussian(2.0), DiscreteLaplace(2.0)])
def test_other_noise_is_cut_too(noise):
    found = [
        Ledger([(Sampled(Additive(noise), 0.1, records=50, most=most), 10)], "zero_out").epsilon(1e-5)
        for most in (5, 10, 50)
    ]
    assert all(0 < each.lower <= each.upper for each in found)
    plain = Ledger([(Sampled(Additive(noise), 0.1), 10)], "zero_out").epsilon(1e-5)
    overlap(found[-1], plain, 1e-6)
    assert found[0].upper > found[-1].lower


# The relation ---------------------------------------------------------------------------------------------------------

SAME = [
    Additive(Gaussian(2.0)),
    Sampled(Additive(Gaussian(1.0)), 0.1),
    Allocated(1.0, 10),
    Thresholded(Laplace(1.0), 20.0),
    Distributions([0.7, 0.3], [0.4, 0.6]),
    MixturePair(Mixture(Gaussian(1.0), (0.0, 1.0), (0.5, 0.5)), Mixture(Gaussian(1.0))),
    Claimed(PureDP(0.3)),
]


@pytest.mark.parametrize("release", SAME, ids=lambda release: type(release).__name__)
def test_zero_out_is_add_remove_where_no_sample_depends_on_the_number_of_records(release):
    added, emptied = (Ledger([(release, 3)], relation) for relation in ("add_remove", "zero_out"))
    assert added.epsilon(1e-5) == emptied.epsilon(1e-5)


@pytest.mark.parametrize("scheme", ["hybrid", "without_replacement", "with_replacement", "poisson_substitution"])
def test_other_schemes_have_no_pair_for_it(scheme):
    with pytest.raises(ValueError, match="has no pair for relation = 'zero_out'"):
        Ledger([Sampled(Additive(Gaussian(1.0)), 0.1, scheme, 10)], "zero_out")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"group": 0}, "group = 0"),
        ({"group": 2, "scheme": "hybrid", "records": 10}, "group is not valid for scheme = 'hybrid'"),
        ({"most": 3, "scheme": "without_replacement"}, "most is not valid for scheme"),
        ({"most": 3}, "most needs records"),
        ({"most": 30, "records": 10}, "most = 30"),
        ({"most": 3, "records": 10, "group": 2}, "group and most have no pair together"),
    ],
)
def test_mistakes_are_one_line(given, told):
    with pytest.raises(ValueError, match=told):
        Sampled(Additive(Gaussian(1.0)), 0.1, **given)
    with pytest.raises(ValueError, match="valid: relation = 'zero_out'"):
        Ledger([Sampled(Additive(Gaussian(1.0)), 0.1, records=10, most=3)], "add_remove")


def test_parts_of_the_records_and_zero_out():
    north, south = (Ledger([Additive(Gaussian(sigma))], "zero_out") for sigma in (1.0, 2.0))
    assert north.parallel(south).epsilon(1e-6).upper == pytest.approx(north.epsilon(1e-6).upper, rel=1e-3)
