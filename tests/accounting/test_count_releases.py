"""Lists of counts with discrete Gaussian noise, against direct sums, inverted transforms and the specification."""

import itertools

import numpy as np
import pytest
from count_oracles import EXAMPLE_B, EXAMPLE_B2, delta_by_inversion, delta_by_sums, example_a, zcdp_epsilon
from scipy.special import log_ndtr

from tcdp_sim.accounting import CountReleases, counts_ledger, variance_factor
from tcdp_sim.accounting.count_releases import continuous_epsilon
from tcdp_sim.accounting.variance_factors import _Side
from tcdp_sim.data.count_lists import count_list

LISTS = {"A": (example_a(), 0.01), "B": (EXAMPLE_B, 1 / 6), "B2": (EXAMPLE_B2, 5 / 6)}
CASES = [("A", 1e-10), ("A", 1e-35), ("B", 1e-10), ("B", 1e-35), ("B2", 1e-10)]
TABLE = {  # list, delta: exact, continuous, best, simple, cuts in percent
    ("A", 1e-10): (9.618180, 9.61818, 10.03434, 10.59705, 7.26, 15.81),
    ("A", 1e-35): (18.306905, 18.30688, 18.59074, 18.95444, None, None),
    ("B", 1e-10): (35.33308, 35.37932, 36.70203, 37.79116, 5.83, 10.11),
    ("B", 1e-35): (61.246091, 61.23264, 62.11037, 62.86332, None, None),
    ("B2", 1e-10): (43.664446, 44.60197, 46.20814, 47.40824, 6.10, 18.26),
}


def counts(kinds, relation="add_remove"):
    variance, shift, times = zip(*kinds)
    return CountReleases(variance, relation, shift, times)


@pytest.mark.parametrize(("name", "delta"), CASES)
def test_brackets_hold_the_truth_by_direct_sums(name, delta):
    kinds, unit = LISTS[name]
    found = counts(kinds).ledger().epsilon(delta, 1e-7)
    assert found.upper - found.lower <= 1e-7 * found.upper
    low, high = (delta_by_sums(kinds, end, unit) for end in (found.lower, found.upper))
    assert high <= delta * (1 + 1e-11)
    assert delta <= low * (1 + 1e-11)


@pytest.mark.parametrize(("name", "delta"), CASES)
def test_the_table_of_the_specification(name, delta):
    releases = counts(LISTS[name][0])
    exact, continuous, best, simple, *cuts = TABLE[name, delta]
    assert releases.ledger().epsilon(delta, 1e-7).estimate == pytest.approx(exact, abs=2e-6)
    found = releases.conversions(delta)
    assert found == pytest.approx({"simple": simple, "best": best, "continuous": continuous}, abs=6e-6)
    for which, cut in zip(("best", "simple"), cuts):
        if cut is not None:
            factor = variance_factor(releases, found[which], delta).factor
            assert 100 * (1 - factor) == pytest.approx(cut, abs=0.006)


def test_substitution_counts_every_histogram_twice():
    kinds = [(2.5, 1, 1), (8.0, 2, 1), (10.0, 1, 3)]
    found = counts(kinds, "substitute").ledger().epsilon(1e-9, 1e-6)
    twice = [(variance, shift, 2 * times) for variance, shift, times in kinds]
    low, high = (delta_by_sums(twice, end, 0.05) for end in (found.lower, found.upper))
    assert high <= 1e-9 * (1 + 1e-11)
    assert low * (1 + 1e-11) >= 1e-9
    assert counts(kinds, "substitute").rho == pytest.approx(2 * counts(kinds).rho, rel=1e-14)


def test_rho_is_the_least_of_zcdp():
    kinds = [(2.5, 1, 1), (7.3, 2, 1), (0.3, 1, 3)]
    releases = counts(kinds)
    by_hand = 1 / 5 + 4 / 14.6 + 3 / 0.6
    assert releases.rho == pytest.approx(by_hand, rel=1e-14)
    for order in (2.0, 3.0, 7.0):  # it is attained at every whole order
        found = releases.ledger().renyi(order)
        assert found.lower <= order * by_hand * (1 + 1e-12)
        assert order * by_hand <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (1.0, 1e-10), (2.556, 1e-10), (9.0, 1e-35), (300.0, 0.2)])
def test_the_formulas_against_others(rho, delta):
    mu, epsilon = np.sqrt(2 * rho), continuous_epsilon(rho, delta)
    logs = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    assert logs[0] + np.log(-np.expm1(logs[1] - logs[0])) == pytest.approx(np.log(delta), abs=1e-7)
    found = CountReleases([1 / (2 * rho)], "add_remove").conversions(delta)
    published = max(zcdp_epsilon(rho, delta), 0)  # the package's conversion by binary tests is a little better
    assert max(epsilon, published * (1 - 1e-5)) * (1 - 1e-7) <= found["best"] <= published * (1 + 1e-7)
    assert found["simple"] == pytest.approx(rho + 2 * np.sqrt(rho * np.log(1 / delta)), rel=1e-12)


def test_epsilon_of_continuous_noise_may_be_zero():
    assert continuous_epsilon(1e-6, 0.1) == 0.0


@pytest.mark.parametrize("name", LISTS)
def test_the_factor_meets_the_target_and_a_smaller_one_misses_it(name):
    """By direct sums: the ends that the search proves are not taken from its own brackets."""
    kinds, unit = LISTS[name]
    releases = counts(kinds)
    target = releases.conversions(1e-10)["best"]
    found = variance_factor(releases, target, 1e-10)
    assert found.epsilon.upper <= target < found.missed_epsilon.lower
    assert found.missed < found.factor <= found.missed * (1 + 1e-5)
    for factor, meets in ((found.factor, True), (found.missed, False)):
        scaled = [(factor * variance, shift, times) for variance, shift, times in kinds]
        assert (delta_by_sums(scaled, target, unit / factor) <= 1e-10) is meets


def test_a_target_inside_a_bracket_proves_nothing():
    releases = counts(example_a())
    wide = releases.ledger().epsilon(1e-10, 0.1)
    found = [
        _Side(releases, target, 1e-10, 0.1)(1.0)[1]
        for target in (wide.lower * 0.999, wide.estimate, wide.upper * 1.001)
    ]
    assert wide.upper - wide.lower > 1e-3
    assert found == [-1, 0, 1]


def test_targets_below_and_above_the_present_epsilon():
    releases = counts(EXAMPLE_B)
    present = releases.ledger().epsilon(1e-10, 1e-6)
    assert variance_factor(releases, present.upper, 1e-10).factor == pytest.approx(1, abs=1e-4)
    for share, near in ((0.05, 250.0), (0.5, 3.5), (3.0, 0.2)):
        found = variance_factor(releases, share * present.upper, 1e-10, 1e-3)
        assert near / 2 < found.factor < near * 2
        assert found.epsilon.upper <= share * present.upper < found.missed_epsilon.lower


def test_discrete_noise_is_not_monotone_in_a_common_factor():
    """This is why the search claims no more: at some variances more noise reveals more, at most others less."""
    found = [counts_ledger([variance], "add_remove").delta(3.0) for variance in np.linspace(0.08, 0.5, 43)]
    more = [later.lower > earlier.upper for earlier, later in itertools.pairwise(found)]
    less = [later.upper < earlier.lower for earlier, later in itertools.pairwise(found)]
    assert any(more)
    assert sum(less) > sum(more)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sigma_squared": []}, "sigma_squared"),
        ({"sigma_squared": [1.0, 0.0]}, "sigma_squared = 0"),
        ({"sigma_squared": [1.0], "relation": "bounded"}, "add_remove"),
        ({"sigma_squared": [1.0], "shift": 0}, "shift"),
        ({"sigma_squared": [1.0, 2.0], "times": [1]}, "times has 1 values; valid: 2"),
    ],
)
def test_mistakes_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        CountReleases(**wrong)


@pytest.mark.parametrize("wrong", [{"epsilon": 0.0}, {"delta": 0.0}, {"delta": 1.0}, {"tolerance": 0.0}])
def test_mistakes_in_targets_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        variance_factor(CountReleases([1.0]), **{"epsilon": 1.0, "delta": 1e-6} | wrong)


CERTIFICATE = {"Block": 2.93, "Block_Group": 9.38, "Tract": 11.70, "County": 13.05, "State": 16.89}


def us_persons(kept):
    found = count_list("us", {"file": "census_2020_us_persons.csv", "rho": "rho", "relation": "substitute"})
    return CountReleases([variance for level, variance in zip(found.levels, found.sigma_squared) if level in kept])


def test_the_numbers_of_the_certificate_of_2020_follow_from_the_list():
    """The Bureau prints them with two digits: for the whole release, and for a record that moves to another block."""
    levels = [*CERTIFICATE, "US"]
    assert us_persons(levels).conversions(1e-10)["best"] == pytest.approx(17849145 / 1041158, rel=1e-8)
    for i, (_, printed) in enumerate(CERTIFICATE.items(), 1):
        assert us_persons(levels[:i]).conversions(1e-10)["best"] == pytest.approx(printed, abs=0.005)


def test_the_exact_epsilon_of_2020():
    found = us_persons([*CERTIFICATE, "US"]).ledger().epsilon(1e-10, 1e-6)
    assert found.lower <= 16.46515537 <= found.upper <= found.lower * (1 + 1e-6)  # the next test has this number
    factor = variance_factor(us_persons([*CERTIFICATE, "US"]), 17849145 / 1041158, 1e-10, 1e-4).factor
    assert 100 * (1 - factor) == pytest.approx(6.65, abs=0.011)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "epsilon"), [([*CERTIFICATE, "US"], 16.46515537), (["State"], 9.053032)])
def test_the_exact_epsilon_of_2020_by_an_inverted_transform(levels, epsilon):
    kinds = [(variance, 1, 2) for variance in us_persons(levels).sigma_squared]
    low, high = (delta_by_inversion(kinds, epsilon + end, 2.5) for end in (-1e-6, 1e-6))
    assert high < 1e-10 < low
