"""The fast release against the literal one: the whole law of its output.

Chi-square tests: p-values are required to be above 1e-6 in 21 of them, so a false alarm has probability below 3e-5.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from interior_dense import counts_below, level_pmf, output_pmf, recursive_pmf, simulate
from scipy import integrate, stats

from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.ordered.interior import LevelProfile, required_records, sample, split_budget
from tcdp_sim.ordered.interior.budget import release_parameters
from tcdp_sim.ordered.interior.exact_law import histogram_law, output_log_pmf, success_probability
from tcdp_sim.ordered.interior.release import ReleaseParameters, released_points
from tcdp_sim.privacy import TCDP

GOLDEN = ReleaseParameters(1.0, SinhNormal(2.0, 5.0), 1.0, 2.0, 4.0)
LEAST_P = 1e-6


def chi_square(found, pmf):
    """The p-value of outputs against a law; elements expected fewer than 5 times are taken together."""
    expected, seen = pmf * len(found), np.bincount(found, minlength=len(pmf))
    rare = expected < 5
    if rare.any():
        expected, seen = (np.append(v[~rare], v[rare].sum()) for v in (expected, seen))
    if len(seen) == 1:
        return float(seen[0] == len(found))
    return stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue


def cases():
    rng = np.random.default_rng(7)
    for k in (1, 2, 16, 23, 64):
        yield k, [int(x) for x in rng.integers(0, k, 6)]
        yield k, [k // 2] * 3 + [min(k // 2 + 1, k - 1)] * 3
        yield k, [k - 1, 0, 0, k - 1, k // 3, k // 3, k // 3]
        yield k, [k - 1]


def test_a_guarantee_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"guarantee = .*"):
        split_budget(Gaussian(1.0), 10)


def test_golden_success():
    profile = LevelProfile.of([3, 3, 7, 9, 12], 16)
    assert success_probability(profile, GOLDEN) == pytest.approx(0.756658, abs=5e-7)


@pytest.mark.parametrize(("k", "xs"), list(cases()))
@pytest.mark.parametrize("candidates", [2, 3])
def test_exact_law_is_the_literal_one(k, xs, candidates):
    told = replace(GOLDEN, candidates=candidates)
    exact = np.exp(output_log_pmf(LevelProfile.of(xs, k), told))
    np.testing.assert_allclose(exact, output_pmf(xs, k, told), rtol=1e-8, atol=1e-12)
    assert exact.sum() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize(("k", "xs"), list(cases()))
def test_outputs_have_the_literal_law(k, xs):
    rng = np.random.default_rng(100 + k + len(xs))
    profile = LevelProfile.of(xs, k)
    found = np.array(released_points(profile, sample(profile, GOLDEN, 20000, rng=rng), rng=rng))
    assert chi_square(found, output_pmf(xs, k, GOLDEN)) > LEAST_P


@pytest.mark.parametrize("noise", [Laplace(1.5), Gaussian(2.0), SinhNormal(2.0, 5.0)])
@pytest.mark.parametrize("weights", [(1, 2, 5), (4, 0), (3, 3, 0, 0, 0)])
def test_the_law_of_the_node_by_adaptive_quadrature(noise, weights):
    """Also for a density with a kink, which a rule without a node there misses by 1e-4."""

    def wins(j):
        def density(z):
            return noise.pdf(z) * np.prod([noise.cdf(z + weights[j] - w) for i, w in enumerate(weights) if i != j])

        kinks = sorted({0.0, *(float(w - weights[j]) for w in weights)})
        edges = [-60.0, *kinks, 60.0]
        return sum(integrate.quad(density, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in pairwise(edges))

    counts, many = np.unique([w for w in weights if w], return_counts=True)
    groups, empty = histogram_law(counts, many, np.log(weights.count(0)) if 0 in weights else -np.inf, noise)
    each = np.array([wins(j) for j in range(len(weights))])
    expected = [each[np.array(weights) == count].sum() for count in counts]
    assert groups == pytest.approx(expected, abs=1e-9)
    assert empty == pytest.approx(each[np.array(weights) == 0].sum(), abs=1e-9)


@pytest.mark.parametrize("floor", [None, 0.5, 1.5, 2.0, 9.0])
@pytest.mark.parametrize(("k", "xs"), list(cases())[4:12])
def test_the_surrogate_by_brute_force(k, xs, floor):
    """Simulated and exact law above every kind of floor; p-values above 1e-6 in 40 tests: false alarm below 4e-5."""
    told = replace(GOLDEN, selection="surrogate", floor=floor)
    law = recursive_pmf(counts_below(xs, k), k, (told,), levels=level_pmf(xs, k, told))
    profile, rng = LevelProfile.of(xs, k), np.random.default_rng(len(xs))
    np.testing.assert_allclose(np.exp(output_log_pmf(profile, told)), law, rtol=1e-8, atol=1e-11)
    assert chi_square(np.array(released_points(profile, sample(profile, told, 10000, rng=rng), rng=rng)), law) > LEAST_P


@pytest.mark.parametrize("shape", ["solo", "pair", "half", "cluster", "quad"])
@pytest.mark.parametrize("log2_k", [16, 1024])
def test_the_low_surrogate_succeeds_with_the_n_that_is_proved(shape, log2_k):
    bought = split_budget(TCDP(0.5, 2.83), log2_k, selection="surrogate_low")
    n = required_records(bought, log2_k, variant="low")
    assert n < 1.25 * required_records(split_budget(TCDP(0.5, 2.83), log2_k), log2_k)
    profile = LevelProfile.of(hard_data(shape, n, 2**log2_k), 2**log2_k)
    assert success_probability(profile, release_parameters(bought, log2_k, n, selection="surrogate_low")) > 0.95


def test_the_literal_simulation_agrees():
    rng = np.random.default_rng(5)
    xs, k = [3, 3, 7, 9, 12], 16
    assert chi_square(simulate(xs, k, GOLDEN, rng, 4000), output_pmf(xs, k, GOLDEN)) > LEAST_P


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(1.5), TruncatedLaplace(1.5, 9.0), SinhNormal(4.0, 2.0)])
@pytest.mark.parametrize(
    ("selection", "floor"),
    [("histogram", None), ("algorithm_21", None), ("algorithm_22", None), ("surrogate", None), ("surrogate", 0.5)],
)
def test_every_noise_and_selection_by_simulation_and_quadrature(noise, selection, floor):
    told = ReleaseParameters(1.0, noise, 1.0, 6.0, 10.0, selection, floor=floor)
    profile = LevelProfile.of([5] * 7 + [6, 9, 14, 40], 50)
    exact, trials = success_probability(profile, told), 40000
    found = sample(profile, told, trials, rng=np.random.default_rng(11)).success.mean()
    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / trials)  # false alarm below 6e-7 each


@pytest.mark.parametrize("log2_k", [62, 63, 130])
@pytest.mark.parametrize("shape", ["solo", "half", "pair"])
def test_around_and_beyond_the_62_bits_of_the_head(log2_k, shape):
    k, n, trials = 2**log2_k - 3, 14, 30000
    profile = LevelProfile.of(hard_data(shape, n, k), k)
    told = release_parameters(split_budget(TCDP(0.5, 2.83), log2_k), log2_k, n)
    exact = success_probability(profile, told)
    found = sample(profile, told, trials, rng=np.random.default_rng(3))
    assert abs(found.success.mean() - exact) < 5 * np.sqrt(exact * (1 - exact) / trials)


def test_outputs_of_a_huge_domain_are_interior_where_they_are_said_to_be():
    k = 2**3000
    xs = hard_data("half", 30, k)
    profile, rng = LevelProfile.of(xs, k), np.random.default_rng(2)
    draws = sample(profile, release_parameters(split_budget(TCDP(0.5, 2.83), 3000), 3000, 30), 400, rng=rng)
    found = released_points(profile, draws, rng=rng)
    depth = [min(sum(x <= j for x in xs), sum(x >= j for x in xs)) for j in found]
    assert depth == draws.depth.tolist()
    assert 0 < draws.success.mean() < 1
    assert (draws.segment < 0).any()


def test_knowing_bit_lengths_alone_changes_nothing():
    gaps, weight = [1, 3, 1, 7, 2, 4], [1, 2, 1, 3, 1, 1, 2]
    values = [0]
    for gap in gaps:
        values.append(((values[-1] >> (gap - 1)) + 1) << (gap - 1))
    told = LevelProfile.of([v for v, w in zip(values, weight) for _ in range(w)], 2**8)
    known = LevelProfile.of_bit_lengths(gaps, 8, weight)
    one, other = (sample(profile, GOLDEN, 5000, rng=np.random.default_rng(1)) for profile in (told, known))
    assert one.depth.tolist() == other.depth.tolist()
    with pytest.raises(ValueError, match="bit lengths alone"):
        success_probability(known, GOLDEN)


def test_a_domain_too_large_to_write_down_is_simulated():
    profile = LevelProfile.of_bit_lengths([2**40, 1, 2**61], 2**62, [70, 80, 60, 90])
    told = release_parameters(split_budget(TCDP(0.5, 2.83), 2**62), 2**62, 300)
    assert sample(profile, told, 2000, rng=np.random.default_rng(1)).success.mean() > 0.95


HARD = [("point", 0), ("pair", 0), ("quad", 0), ("cluster", 0), *(("solo", draw) for draw in range(4))]


@pytest.mark.parametrize(
    ("rho", "log2_k", "n"),
    [(0.5, 8, 21), (0.5, 16, 28), (0.5, 64, 41), (0.5, 1024, 61), (0.5, 65536, 86), (0.1, 32, 78), (0.1, 65536, 198)],
)
def test_the_specification_is_met_within_a_tenth(rho, log2_k, n):
    """n is its smallest with 95% success on 20 hard data sets: 10% fewer fail it, 10% more reach it."""
    bought, k, rng = split_budget(TCDP(rho, 2 / np.sqrt(rho)), log2_k), 2**log2_k, np.random.default_rng(9)

    def worst(count):
        told = release_parameters(bought, log2_k, count)
        profiles = (LevelProfile.of(hard_data(shape, count, k, draw), k) for shape, draw in HARD)
        return min(sample(profile, told, 4000, rng=rng).success.mean() for profile in profiles)

    assert worst(int(0.9 * n)) < 0.95 < worst(int(np.ceil(1.1 * n)))


def test_one_record_and_one_value():
    for xs, k in (([7], 16), ([7] * 200, 2**64), ([0], 1)):
        profile = LevelProfile.of(xs, k)
        found = sample(
            profile,
            release_parameters(split_budget(TCDP(0.5, 2.83), 64), 64, len(xs)),
            200,
            rng=np.random.default_rng(0),
        )
        assert found.success.all() == (len(xs) > 100 or k == 1)


def test_ties_defeat_the_literal_gap_max_at_any_n():
    """Two values with half of the data each: Algorithm 21 sees no gap and is uniform over all nodes."""
    k, n = 1024, 10**6
    profile = LevelProfile.of([0] * (n // 2) + [k - 1] * (n // 2), k)
    told = ReleaseParameters(50.0, SinhNormal(2.0, 5.0), 50.0, 0.2 * n, 0.4 * n)  # level 0 for certain
    gap_max = success_probability(profile, replace(told, selection="algorithm_21"))
    # Every leaf is an interior point here, so look at which nodes win: uniformly one of 1024.
    draws = sample(profile, replace(told, selection="algorithm_21"), 20000, rng=np.random.default_rng(4))
    assert (draws.level == 0).all()
    hits = (draws.segment >= 0).mean()
    assert abs(hits - 2 / k) < 5 * np.sqrt(2 / k / 20000)
    assert gap_max == pytest.approx(1)
    assert (sample(profile, told, 20000, rng=np.random.default_rng(4)).segment >= 0).all()
