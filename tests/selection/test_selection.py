"""Selection: sparse and dense paths, literal algorithms written here, and the exact laws must agree.

Statistical tests have fixed seeds and a p-value of 1e-6 each; there are about 500 of them, so that other seeds would
give a false alarm with probability 5e-4.
"""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.one_sided import Exponential, Gumbel
from tcdp_sim.selection.algorithms import NO_ANSWER, GeneralizedHistogram, NoisyMax, ObviousAnswer
from tcdp_sim.selection.baselines import SparseVector, Stability, exponential_mechanism, permute_and_flip
from tcdp_sim.selection.scores import Scores

SURE = 1e-6
NOISES = [Gaussian(2.0), Laplace(1.5), TruncatedLaplace(1.5, 8.0), SinhNormal(2.0, 3.0)]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)
TRIALS = 20_000


def rng(seed=21):
    return np.random.default_rng(seed)


def dense(values):
    return Scores(np.asarray(values, dtype=float), sensitivity=1)


def led_by(gap, k, m=1):
    """m leaders, listed, and k - m others at zero."""
    return Scores(np.full(m, float(gap)), others=k - m, sensitivity=1)


def check_proportion(successes, probability):
    assert stats.binomtest(int(np.sum(successes)), len(successes), min(float(probability), 1.0)).pvalue > SURE


def check_frequencies(chosen, probabilities):
    for j, probability in enumerate(probabilities):
        check_proportion(chosen == j, probability)


# Against the exact output distribution of small dense vectors

VECTORS = {"two": [3.0, 1.0], "ties": [2.0, 2.0, 0.0], "five": [4.0, 9.0, 6.5, 6.5, -3.0], "far": [0.0, 0.0, 12.0, 0.0]}
vectors = pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)


@every
@vectors
def test_output_frequencies_with_any_noise(noise, values):
    for algorithm, method in (
        ("generalized_histogram", GeneralizedHistogram(noise)),
        ("noisy_max", NoisyMax(noise)),
        ("obvious_answer", ObviousAnswer(noise)),
    ):
        law = exact.selection_distribution(algorithm, noise, values)
        assert law.estimate.sum() == pytest.approx(1, abs=1e-9)
        check_frequencies(method.select(dense(values), TRIALS, rng=rng())[:, 0], law.estimate)


@vectors
def test_output_frequencies_of_the_pure_mechanisms(values):
    for algorithm, method in (
        ("exponential_mechanism", exponential_mechanism(0.8)),
        ("permute_and_flip", permute_and_flip(0.8)),
    ):
        law = exact.selection_distribution(algorithm, 0.8, values).estimate
        assert law.sum() == pytest.approx(1, abs=1e-12)
        check_frequencies(method.select(dense(values), TRIALS, rng=rng())[:, 0], law)


@vectors
def test_permute_and_flip_taken_literally(values):
    values, generator = np.array(values), rng(3)
    chances = np.exp(0.4 * (values - values.max()))
    chosen = []
    for _ in range(TRIALS):
        while True:
            accepted = [j for j in generator.permutation(len(values)) if generator.random() < chances[j]]
            if accepted:
                chosen.append(accepted[0])
                break
    check_frequencies(np.array(chosen), exact.selection_distribution("permute_and_flip", 0.8, values).estimate)


@vectors
def test_stability_answers_or_does_not(values):
    method = Stability(Laplace(1.5), 0.02)
    law = exact.selection_distribution("stability", Laplace(1.5), values, delta=0.02).estimate
    chosen = method.select(dense(values), TRIALS, rng=rng())[:, 0]
    check_frequencies(np.where(chosen == NO_ANSWER, len(values), chosen), law)


def literal(algorithm, noise, scores, generator):
    """Algorithms 21 and 22 line by line, one trial."""
    order = sorted(range(len(scores)), key=lambda j: -scores[j])
    if algorithm == 21:
        f = [max(score - scores[order[1]], 0) for score in scores]
        return int(np.argmax([value + noise.sample(rng=generator) for value in f]))
    lead = max((scores[order[0]] - scores[order[1]]) / 2 - 1, 0)
    if lead + noise.sample(rng=generator) > noise.isf(1 / len(scores)):
        return order[0]
    return order[generator.integers(1, len(scores))]


@pytest.mark.parametrize(("number", "name"), [(21, "generalized_histogram"), (22, "obvious_answer")])
@vectors
def test_the_algorithms_taken_literally(number, name, values):
    noise, generator = Laplace(1.5), rng(5)
    chosen = np.array([literal(number, noise, values, generator) for _ in range(4000)])
    check_frequencies(chosen, exact.selection_distribution(name, noise, values).estimate)


# Sparse against dense, k up to 1000, and against the exact success probabilities beyond


@every
@pytest.mark.parametrize(("k", "m"), [(3, 1), (1000, 1), (40, 3)])
def test_sparse_and_dense_scores_have_the_same_law(noise, k, m):
    trials = TRIALS if k < 1000 else 4000
    gap = 0.8 * exact.required_gap("generalized_histogram", noise, k, 0.5, m).estimate
    full = dense([gap] * m + [0.0] * (k - m))
    for method in [GeneralizedHistogram(noise), NoisyMax(noise)] + ([ObviousAnswer(noise)] if m == 1 else []):
        right = [
            (np.sort(method.select(scores, trials, m, rng=rng(seed)), axis=1) == np.arange(m)).all(axis=1)
            for seed, scores in ((1, led_by(gap, k, m)), (2, full))
        ]
        table = [[r.sum(), (~r).sum()] for r in right]
        assert stats.fisher_exact(table).pvalue > SURE


METHODS = [
    *[
        (name, kind(noise), noise, {})
        for noise in NOISES
        for name, kind in (("generalized_histogram", GeneralizedHistogram), ("obvious_answer", ObviousAnswer))
    ],
    ("exponential_mechanism", exponential_mechanism(0.8), 0.8, {}),
    ("permute_and_flip", permute_and_flip(0.8), 0.8, {}),
    ("stability", Stability(Laplace(1.5), 1e-4), Laplace(1.5), {"delta": 1e-4}),
    ("sparse_vector", SparseVector(0.8), 0.8, {}),
]
methods = pytest.mark.parametrize(
    ("name", "method", "noise", "more"), METHODS, ids=lambda x: x if isinstance(x, str) else ""
)


@methods
@pytest.mark.parametrize("k", [2, 1000, 1e12, 1e100])
def test_needed_gaps_have_the_exact_quantiles(name, method, noise, more, k):
    needed = method.needed_gap(k, TRIALS, rng=rng(8))
    assert needed.shape == (TRIALS,)
    assert (needed >= 0).all()
    for beta in (0.9, 0.5, 0.05):
        gap = exact.required_gap(name, noise, k, beta, **more).estimate
        check_proportion(needed <= gap, exact.selection_probability(name, noise, gap, k, **more).estimate)


@methods
@pytest.mark.parametrize("k", [2, 1000, 1e12])
def test_what_is_selected_has_the_exact_probability(name, method, noise, more, k):
    gap = exact.required_gap(name, noise, k, 0.3, **more).estimate
    if name == "sparse_vector":
        method = SparseVector(0.8, method.balanced_threshold(gap, k))
    right = method.select(led_by(gap, k), TRIALS, rng=rng(9))[:, 0] == 0
    check_proportion(right, exact.selection_probability(name, noise, gap, k, **more).estimate)


@pytest.mark.parametrize(("k", "m"), [(5, 2), (1000, 4), (1e12, 3)])
def test_top_m_has_the_exact_probability(k, m):
    for name, method, noise in (
        ("generalized_histogram", GeneralizedHistogram(Gaussian(2.0)), Gaussian(2.0)),
        ("generalized_histogram", GeneralizedHistogram(Laplace(1.5)), Laplace(1.5)),
        ("exponential_mechanism", exponential_mechanism(0.8), 0.8),
    ):
        gap = exact.required_gap(name, noise, k, 0.3, m).estimate
        chosen = np.sort(method.select(led_by(gap, k, m), TRIALS, m, rng=rng(10)), axis=1)
        check_proportion((chosen == np.arange(m)).all(axis=1), 0.7)
        check_proportion(method.needed_gap(k, TRIALS, m, rng=rng(11)) <= gap, 0.7)


def test_a_selection_is_among_the_listed_and_the_others():
    scores = Scores([5.0, 4.0], others=1e100, sensitivity=1)
    for method in (GeneralizedHistogram(Laplace(1.0)), ObviousAnswer(Laplace(1.0)), exponential_mechanism(1.0)):
        chosen = method.select(scores, 1000, rng=rng())
        assert chosen.shape == (1000, 1)
        assert set(chosen[:, 0]) <= {0, 1, 2}
    assert set(SparseVector(2.0, 3.0).select(dense([5.0, -50.0]), 1000, rng=rng())[:, 0]) <= {NO_ANSWER, 0}


def test_scores_are_counted_in_units_of_their_sensitivity():
    for method in (
        GeneralizedHistogram(Laplace(1.0)),
        NoisyMax(Laplace(1.0)),
        ObviousAnswer(Laplace(1.0)),
        SparseVector(1.0, 3.0),
    ):
        plain = method.select(Scores([5.0, 1.0, 0.0], sensitivity=1), 500, rng=rng())
        scaled = method.select(Scores([0.05, 0.01, 0.0], sensitivity=0.01), 500, rng=rng())
        assert np.array_equal(plain, scaled)


@pytest.mark.parametrize(
    ("noise", "reference"), [(Gumbel(2.0), stats.gumbel_r(scale=2.0)), (Exponential(3.0), stats.expon(scale=3.0))]
)
def test_one_sided_noises(noise, reference):
    p = np.array([1e-300, 1e-12, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(noise.isf(p), reference.isf(p), rtol=1e-12)
    np.testing.assert_allclose(noise.ppf(p[1:]), reference.ppf(p[1:]), rtol=1e-12)
    out = np.empty(TRIALS)
    noise.fill(out, rng=rng())
    assert stats.kstest(out, reference.cdf).pvalue > SURE


# Scores


def test_gaps_and_ties():
    scores = Scores([3.0, 7.0, 7.0, 1.0], sensitivity=1)
    assert (scores.k, scores.gap(), scores.gap(2), scores.gap(3)) == (4, 0, 4, 2)
    assert scores.top(3).tolist() == [1, 2, 0]  # of tied scores the first counts as the higher
    assert scores.leads().tolist() == [0, 0, 0, 0]
    assert scores.leads(2).tolist() == [0, 4, 4, 0]
    sparse = Scores([9.0], others=1e300, level=4.0, sensitivity=0.5)
    assert (sparse.k, sparse.gap(), sparse.leads().tolist()) == (1e300, 10, [10])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Scores([1.0, 2.0]), "sensitivity is missing; give the largest change"),
        (lambda: Scores([1.0, 2.0], sensitivity=0), "sensitivity = 0"),
        (lambda: Scores([1.0, np.nan], sensitivity=1), "score = nan"),
        (lambda: Scores([1.0, np.inf], sensitivity=1), "score = inf"),
        (lambda: Scores(["a", "b"], sensitivity=1), "is not a number"),
        (lambda: Scores([], sensitivity=1), "which is not valid"),
        (lambda: Scores([[1.0, 2.0]], sensitivity=1), "which is not valid"),
        (lambda: Scores([1.0], sensitivity=1), "k = 1 is not valid; valid: at least 2"),
        (lambda: Scores([1.0], others=2.5, sensitivity=1), "others = 2.5"),
        (lambda: Scores([1.0], others=-1, sensitivity=1), "others = -1"),
        (lambda: Scores([1.0], others=3, level=2.0, sensitivity=1), "level = 2"),
        (lambda: Scores([1.0, 0.0], sensitivity=1).gap(2), "m = 2 is not valid; valid: a whole number from 1 to 1"),
        (lambda: Scores([1.0, 0.0], others=9, sensitivity=1).top(3), "m = 3"),
        (lambda: Scores([1.0, 0.0], sensitivity=1).top(1.0), "m = 1.0"),
        (lambda: NoisyMax(Laplace(1.0)).select(dense([1, 0]), 5, 2, rng=rng()), "m = 2"),
        (lambda: ObviousAnswer(Laplace(1.0)).select(dense([1, 0, 0]), 5, 2, rng=rng()), "m = 2 .* valid: m = 1"),
        (lambda: ObviousAnswer(Laplace(1.0)).needed_gap(1, 5, rng=rng()), "k = 1"),
        (lambda: NoisyMax(Laplace(1.0)).needed_gap(5, 5, 5, rng=rng()), "m = 5"),
        (lambda: NoisyMax(Laplace(1.0)).needed_gap(5.5, 5, rng=rng()), "k = 5.5"),
        (lambda: NoisyMax(Laplace(1.0)).needed_gap(np.nan, 5, rng=rng()), "k = nan"),
        (lambda: SparseVector(1.0).select(dense([1, 0]), 5, rng=rng()), "at is missing"),
        (lambda: exponential_mechanism(-1), "epsilon = -1"),
        (lambda: permute_and_flip(np.nan), "epsilon = nan"),
        (lambda: Stability(Laplace(1.0), 0), "delta = 0"),
    ],
)
def test_what_is_not_valid_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
