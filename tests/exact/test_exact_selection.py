"""Success probabilities of selection: closed forms, enumeration, 30-digit quadrature, and the numbers of erratum E6."""

from itertools import combinations, pairwise, permutations
from math import comb

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim.exact import required_gap, selection_failure, selection_probability
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

NOISES = [Gaussian(3.0), Laplace(2.0), TruncatedLaplace(2.0, 9.0), SinhNormal(3.0, 5.0)]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)


def contains(bounds, truth, relative=1e-8):
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower <= relative * abs(bounds.estimate) + 1e-299


@pytest.mark.parametrize("gap", [0.0, 0.5, 4.0, 20.0, 60.0])
def test_two_candidates_and_gaussian_noise(gap):
    with mp.workdps(30):
        fails = mp.erfc(mp.mpf(gap) / 6) / 2
        contains(selection_failure("generalized_histogram", Gaussian(3.0), gap, 2), fails)
        contains(selection_probability("noisy_max", Gaussian(3.0), gap, 2), 1 - fails)


@pytest.mark.parametrize("gap", [0.0, 0.5, 4.0, 20.0, 60.0])
def test_two_candidates_and_laplace_noise(gap):
    """The difference of two Laplace variables has tail e^-x (1/2 + x/4)."""
    with mp.workdps(30):
        x = mp.mpf(gap) / 2
        contains(selection_failure("generalized_histogram", Laplace(2.0), gap, 2), mp.exp(-x) * (0.5 + x / 4))


@every
@pytest.mark.parametrize("k", [2, 5, 1000, 1e12, 1e100])
def test_without_a_gap_every_candidate_is_alike(noise, k):
    contains(selection_probability("generalized_histogram", noise, 0, k), mp.mpf(1) / mp.mpf(k))
    contains(selection_probability("obvious_answer", noise, 0, k), 1 / k)
    contains(selection_probability("obvious_answer", noise, 2, k), 1 / k)
    for algorithm in ("exponential_mechanism", "permute_and_flip"):
        contains(selection_probability(algorithm, 0.3, 0, k), 1 / k)


@every
@pytest.mark.parametrize(("k", "m"), [(5, 2), (6, 5), (30, 4)])
def test_without_a_gap_every_set_of_m_is_alike(noise, k, m):
    contains(selection_probability("generalized_histogram", noise, 0, k, m), 1 / comb(k, m))
    contains(selection_probability("exponential_mechanism", 0.3, 0, k, m), 1 / comb(k, m))


@every
@pytest.mark.parametrize(("k", "m", "gap"), [(3, 2, 1.0), (50, 3, 9.0), (1000, 1, 11.0)])
def test_against_scipys_quadrature(noise, k, m, gap):
    def integrand(z):
        return m * noise.pdf(z) * noise.sf(z) ** (m - 1) * noise.cdf(z + gap) ** (k - m)

    end = float(noise.isf(1e-25))
    kinks = np.unique(np.clip([-gap, 0.0, *(noise.isf([1e-6, 0.01, 0.99]) - gap), end - gap, -end], -end, end))
    parts = [integrate.quad(integrand, a, b, epsabs=1e-14, epsrel=1e-12, limit=500)[0] for a, b in pairwise(kinks)]
    parts += [integrate.quad(integrand, kinks[-1], end, epsabs=1e-14, epsrel=1e-12, limit=500)[0]]
    found = selection_probability("generalized_histogram", noise, gap, k, m)
    assert found.estimate == pytest.approx(sum(parts), rel=1e-9)


@pytest.mark.parametrize(("k", "gap"), [(1e12, 40.0), (1e100, 60.0), (1e100, 130.0)])
def test_against_quadrature_in_30_digits(k, gap):
    noise = Gaussian(3.0)
    found = selection_failure("generalized_histogram", noise, gap, k)
    with mp.workdps(30):
        unit = mp.mpf(found.estimate)  # mpmath's tolerance is absolute

        def fails(z):
            tail = mp.erfc((z + gap) / 3 / mp.sqrt(2)) / 2
            return mp.npdf(z, 0, 3) * -mp.expm1((mp.mpf(k) - 1) * mp.log1p(-tail)) / unit

        top = mp.mpf(float(noise.isf(1 / k))) - gap
        cuts = sorted({*(top + d for d in (-6, -3, -1, 0, 1, 3, 6)), *map(mp.mpf, range(-120, 41, 10))})
        truth = mp.quad(fails, cuts) * unit
    contains(found, truth)


@every
@pytest.mark.parametrize("k", [2, 1000, 1e12, 1e100])
@pytest.mark.parametrize("gap", [0.3, 10.0, 60.0])
def test_success_and_failure_add_up(noise, k, gap):
    for algorithm, delta in (("generalized_histogram", None), ("obvious_answer", None), ("stability", 1e-6)):
        right, wrong = (
            law(algorithm, noise, gap, k, delta=delta) for law in (selection_probability, selection_failure)
        )
        assert right.estimate + wrong.estimate == pytest.approx(1, abs=2e-9)
        assert right.lower >= 0
        assert wrong.upper <= 1
    for algorithm in ("exponential_mechanism", "permute_and_flip", "sparse_vector"):
        right, wrong = (law(algorithm, 0.7, gap, k) for law in (selection_probability, selection_failure))
        assert right.estimate + wrong.estimate == pytest.approx(1, abs=2e-9)


@pytest.mark.parametrize("k", [2, 1e6, 1e100])
@pytest.mark.parametrize("gap", [1.0, 5.0, 60.0, 150.0])
def test_the_obvious_answer_in_closed_form(k, gap):
    """In 200 digits, with t_k from mpmath's own inverse error function."""
    with mp.workdps(200):
        t = 3 * mp.sqrt(2) * mp.erfinv(1 - 2 / mp.mpf(k)) if k < 1e50 else mp.mpf(0)
        if k > 1e50:
            start = -3 * stats.norm.ppf(1e-100)
            t = mp.findroot(lambda x: mp.log(mp.erfc(x / 3 / mp.sqrt(2)) / 2) + mp.log(mp.mpf(k)), start)
        lead = max(mp.mpf(gap) / 2 - 1, 0)
        right = mp.erfc((t - lead) / 3 / mp.sqrt(2)) / 2
        contains(selection_probability("obvious_answer", Gaussian(3.0), gap, k), right)
        contains(selection_failure("obvious_answer", Gaussian(3.0), gap, k), 1 - right)


def test_distance_based_stability_does_not_depend_on_k():
    for k in (2, 1e300):
        found = selection_probability("stability", Laplace(2.0), 30.0, k, delta=1e-6)
        assert found.estimate == pytest.approx(
            stats.laplace(scale=2).sf(stats.laplace(scale=2).isf(1e-6) - 14), rel=1e-11
        )


@pytest.mark.parametrize(("k", "m", "gap"), [(4, 1, 3.0), (5, 2, 3.0), (6, 3, 1.5)])
def test_the_exponential_mechanism_by_enumeration(k, m, gap):
    """Every order in which m are drawn, one after the other, each in proportion to its weight."""
    epsilon, total = 0.7, 0.0
    weights = np.exp(epsilon / 2 * np.where(np.arange(k) < m, gap, 0.0))
    for order in permutations(range(m)):
        left, chance = weights.sum(), 1.0
        for j in order:
            chance *= weights[j] / left
            left -= weights[j]
        total += chance
    contains(selection_probability("exponential_mechanism", epsilon, gap, k, m), total)


@pytest.mark.parametrize(("k", "gap"), [(2, 1.0), (5, 3.0), (6, 0.2), (7, 40.0)])
def test_permute_and_flip_by_enumeration(k, gap):
    """The leader is accepted when its turn comes, and wins unless someone before it is; each with chance q."""
    q = np.exp(-0.35 * gap)
    expected = np.mean([(1 - q) ** before for before in range(k)])
    contains(selection_probability("permute_and_flip", 0.7, gap, k), expected)
    others = sum(comb(k - 1, i) * (-1) ** (i + 1) * q**i / (i + 1) for i in range(1, k))
    contains(selection_failure("permute_and_flip", 0.7, gap, k), others)


@pytest.mark.parametrize(("k", "gap", "at_least"), [(1000, 100.0, 0.05), (1e6, 250.0, 0.5)])
def test_sparse_vector_against_scipys_quadrature(k, gap, at_least):
    epsilon = 0.3
    split = 2 ** (2 / 3)
    bar, score = stats.laplace(scale=(1 + split) / epsilon), stats.laplace(scale=2 * (1 + split) / split / epsilon)
    at = (gap + score.kwds["scale"] * np.log(k)) / 2

    def integrand(z):
        return bar.pdf(z) * score.cdf(at + z) ** (k - 1) * score.sf(at + z - gap)

    cuts = [-400, -at - 20, -at, -100, 0, gap - at, 100, 600]
    truth = sum(integrate.quad(integrand, a, b, epsabs=1e-13, limit=400)[0] for a, b in pairwise(cuts))
    assert truth > at_least
    assert selection_probability("sparse_vector", epsilon, gap, k).estimate == pytest.approx(truth, rel=1e-8)


# The gap that is needed


def test_required_gaps_in_closed_form():
    for k in (10, 1e6, 1e100):
        truth = 2 / 0.3 * np.log((k - 1) * 19)
        contains(required_gap("exponential_mechanism", 0.3, k, 0.05), truth)
        noise = SinhNormal(3.0, 5.0)
        contains(required_gap("obvious_answer", noise, k, 0.05), 2 * (noise.isf(1 / k) + noise.isf(0.05) + 1))


@every
@pytest.mark.parametrize(("k", "m"), [(10, 1), (1e6, 1), (1e100, 1), (1000, 5)])
def test_the_required_gap_is_where_the_success_is_one_minus_beta(noise, k, m):
    for beta in (0.5, 0.05, 1e-9):
        gap = required_gap("generalized_histogram", noise, k, beta, m)
        assert gap.upper - gap.lower <= 1e-6 * gap.estimate
        assert selection_failure("generalized_histogram", noise, gap.upper, k, m).upper <= beta
        assert selection_failure("generalized_histogram", noise, gap.lower, k, m).lower >= beta


@every
def test_no_gap_is_needed_where_guessing_is_enough(noise):
    assert required_gap("generalized_histogram", noise, 2, 0.6) == (0, 0, 0)


@pytest.mark.parametrize(
    ("k", "obvious", "one_query", "two_queries"), [(1e3, 70.4, 70.1, 88.2), (1e12, 94.9, 93.2, 112.2)]
)
def test_erratum_e6_required_gaps_at_equal_privacy(k, obvious, one_query, two_queries):
    """Sinh-normal noise by Theorem 17 at rho = 0.1, omega = 2: the table of the errata, to its one decimal."""
    rho, omega = 0.1, 2.0
    for algorithm, queries, sensitivity, printed in (
        ("obvious_answer", 1, 1, obvious),
        ("generalized_histogram", 1, 2, one_query),
        ("generalized_histogram", 2, 2, two_queries),
    ):
        noise = SinhNormal(sensitivity * np.sqrt(8 * queries / rho), 8 * sensitivity * omega)
        assert required_gap(algorithm, noise, k, 0.05).estimate == pytest.approx(printed, abs=0.06)


@pytest.mark.parametrize(("k", "success"), [(10, 0.972), (1e3, 0.890), (1e6, 0.810), (1e9, 0.761)])
def test_erratum_e6_theorem_20_is_not_enough_for_algorithm_22(k, success):
    noise = Gaussian(10.0)
    gap = 2 * noise.isf(0.005 / k)  # P[|Z| >= gap / 2] = 0.01 / k
    assert selection_probability("obvious_answer", noise, gap, k).estimate == pytest.approx(success, abs=6e-4)
    assert selection_failure("generalized_histogram", noise, gap, k).upper <= 0.01
    sufficient = 4 * noise.isf(1 / k) + 2
    assert selection_failure("obvious_answer", noise, sufficient, k).estimate == pytest.approx(1 / k, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("exponential", 1.0, 1.0, 5), "algorithm = 'exponential'"),
        (("obvious_answer", Gaussian(1.0), -1.0, 5), "gap = -1"),
        (("obvious_answer", Gaussian(1.0), np.nan, 5), "gap = nan"),
        (("obvious_answer", Gaussian(1.0), 1.0, 1), "k = 1"),
        (("obvious_answer", Gaussian(1.0), 1.0, 5.5), "k = 5.5"),
        (("obvious_answer", Gaussian(1.0), 1.0, 5, 2), "m = 2"),
        (("generalized_histogram", Gaussian(1.0), 1.0, 5, 5), "m = 5"),
        (("exponential_mechanism", -1.0, 1.0, 5), "epsilon = -1"),
        (("stability", Laplace(1.0), 1.0, 5), "delta = nan"),
    ],
)
def test_what_is_not_valid_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        selection_probability(*arguments)


def test_all_sets_of_two_by_enumeration_of_pairs():
    """Top 2 of 4 by noisy maximum: over all pairs the probabilities of being selected add up to one."""
    gap, k = 2.0, 4
    noise = Laplace(2.0)
    scores = np.array([gap, gap, 0, 0])

    def pair(i, j):
        """P[i and j are the two largest], by quadrature over the lower of them."""
        rest = [n for n in range(k) if n not in (i, j)]

        def integrand(y, low, high):
            return (
                noise.pdf(y - scores[low])
                * noise.sf(y - scores[high])
                * np.prod([noise.cdf(y - scores[n]) for n in rest])
            )

        cuts = (-40, 0, gap, 60)
        parts = [
            integrate.quad(integrand, a, b, (x, y), limit=300)[0]
            for a, b in pairwise(cuts)
            for x, y in ((i, j), (j, i))
        ]
        return sum(parts)

    chances = {two: pair(*two) for two in combinations(range(k), 2)}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)
    assert selection_probability("generalized_histogram", noise, gap, k, 2).estimate == pytest.approx(
        chances[0, 1], rel=1e-9
    )


# Extreme corners, against closed forms in 800 digits


def two_laws(epsilon, gap, k):
    """(P[failure of permute-and-flip], P[failure of the exponential mechanism])."""
    with mp.workdps(800):
        q, k = mp.exp(-mp.mpf(epsilon) * mp.mpf(gap) / 2), mp.mpf(k)
        flip = 1 + mp.expm1(k * mp.log1p(-q)) / (k * q) if q < 1 else 1 - 1 / k
        weight = (k - 1) * q
        return {"permute_and_flip": flip, "exponential_mechanism": weight / (1 + weight)}


@pytest.mark.parametrize("k", [2, 1000, 16000, 1e15, 1e100, 1e250, 1e300])
@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 50.0])
def test_every_corner_of_gap_and_epsilon(k, epsilon):
    for gap in (0.0, 1e-10, 0.5, 40.0, 1380.0, 1500.0, 2980.0, 16000.0):
        for algorithm, truth in two_laws(epsilon, gap, k).items():
            fails = selection_failure(algorithm, epsilon, gap, k)
            right = selection_probability(algorithm, epsilon, gap, k)
            assert fails.lower <= truth <= fails.upper
            assert fails.upper - fails.lower <= 1e-9 * truth + 3e-310
            with mp.workdps(800):
                assert right.lower <= 1 - truth <= right.upper


def test_literal_corners():
    """k q / 2 where q is far below the floats: e^(250 log 10 - 800) / 2."""
    found = selection_failure("permute_and_flip", 0.1, 16000.0, 1e250)
    assert found.estimate == pytest.approx(1.8339372920887622e-98, rel=1e-10)
    assert required_gap("permute_and_flip", 1.0, 1e300, 1e-26).estimate == pytest.approx(
        2 * (300 * np.log(10) + 26 * np.log(10) - np.log(2)), rel=1e-10
    )
    for algorithm in ("permute_and_flip", "exponential_mechanism"):
        assert selection_failure(algorithm, 1e300, 1e300, 5).lower == 0
        assert selection_failure(algorithm, 1.0, 4000.0, 5).upper > 0  # 1e-868 is not zero


@pytest.mark.parametrize("k", [1e100, 1e290, 1e300])
def test_losers_whose_tails_are_below_the_floats(k):
    """Laplace(1), gap 750: of the leader's noise z from 0 up all that counts is k e^-(z + gap) / 2 (an elementary sum).

    Over z in (log k - gap + 40, 0) f(z) times it is k e^-gap / 4, constant; beyond 0 it falls by e^-2z.
    """
    gap = 750.0
    with mp.workdps(40):
        count = mp.mpf(k) - 1

        def fails(z):
            return mp.exp(-abs(z)) / 2 * -mp.expm1(count * mp.log1p(-mp.exp(-z - gap) / 2)) / unit

        top, unit = mp.log(mp.mpf(k)) - gap, count * mp.exp(-gap) / 4
        cuts = sorted({top + d for d in (-90, -40, -8, -3, -1, 0, 1, 3, 8, 40)} | {mp.mpf(0), mp.mpf(40)})
        truth = mp.quad(fails, [c for c in cuts if c >= -gap]) * unit
    contains(selection_failure("noisy_max", Laplace(1.0), gap, k), truth, 1e-5)


@pytest.mark.parametrize("beta", [0.5, 1 - 1e-12, 1e-299, 1e-305])
@pytest.mark.parametrize(
    ("algorithm", "noise"),
    [("exponential_mechanism", 1e200), ("permute_and_flip", 1e-299), ("noisy_max", Laplace(1e-200))],
)
def test_required_gaps_bracket_what_they_claim(algorithm, noise, beta):
    for k in (2, 1e6, 1e300):
        gap = required_gap(algorithm, noise, k, beta)
        assert gap.lower <= gap.estimate <= gap.upper
        assert gap.lower == 0 or selection_failure(algorithm, noise, gap.lower, k).lower >= beta
        assert np.isinf(gap.upper) or selection_failure(algorithm, noise, gap.upper, k).upper <= beta


def test_a_gap_that_quadrature_cannot_certify_has_no_upper_end():
    found = required_gap("noisy_max", Gaussian(1.0), 10, 1e-305)
    truth = -np.sqrt(2) * stats.norm.ppf(1e-300)  # of two at 1e-300: the gap is a little larger than that
    assert found.lower < 1.05 * truth
    assert found.upper == np.inf


def test_a_million_and_one_selections_are_refused():
    with pytest.raises(ValueError, match=r"m = 1000001 is not valid.*1,000,000"):
        selection_failure("exponential_mechanism", 1.0, 1.0, 1e300, 10**6 + 1)
