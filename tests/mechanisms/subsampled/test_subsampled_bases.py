"""Selection and threshold queries on subsamples, against exact sums over all subsamples and the laws of ranks.

Seeds are fixed; a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.data.counts import Counts
from tcdp_sim.mechanisms.subsampled import Subsampled
from tcdp_sim.mechanisms.thresholds import Thresholds
from tcdp_sim.privacy import PureDP
from tcdp_sim.privacy.amplification.schemes import SCHEMES
from tcdp_sim.selection.scores import Scores
from tcdp_sim.study import groups

COUNTS = np.array([5, 4, 2])
OPTIONS = {key: value for key, value in groups.named("mechanism", "subsampled").items() if key != "name"}
TRIALS = 20_000
EM = {"algorithm": "exponential_mechanism", "accounting": "paper"}


def rng(seed=7):
    return np.random.default_rng(seed)


def selection_law(options=OPTIONS, counts=COUNTS, **more):
    point = {"base": "gap_max_data", "data": "few", "k": 6.0, "scheme": "poisson", "sampling_fraction": 4 / 11, **more}
    Subsampled.uses(point)  # as a sweep asks first
    return Subsampled.law(point, options, Counts("few", counts, 6.0, ""))


def selection(options=OPTIONS, counts=COUNTS, **more):
    return Subsampled.build(selection_law(options, counts, **more), counts)


def threshold_law(**more):
    point = {"base": "thresholds", "records": "departures_AS", "scheme": "without_replacement", "rho": 1e12}
    point |= {"sampling_fraction": 0.25, **more}
    Subsampled.uses(point)
    return Subsampled.law(point, OPTIONS, None)


def agree(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values)) + 1e-12


def subsamples(counts, scheme, s, draws):
    """Every subsample of the bins with its probability, by scipy's laws."""
    found = {}
    for drawn in product(*(range((draws if scheme in WITH else count) + 1) for count in counts)):
        if scheme.startswith("poisson"):
            found[drawn] = np.prod(stats.binom(counts, s).pmf(drawn))
        elif sum(drawn) == draws:
            law = stats.multinomial(draws, counts / counts.sum()) if scheme in WITH else None
            law = law or stats.multivariate_hypergeom(counts, draws)
            found[drawn] = law.pmf(drawn)
    return found


WITH = ("with_replacement", "hybrid")


def exponential(drawn, epsilon, empty):
    """The exponential mechanism on counts, as it is defined: listed bins, then all that are empty together."""
    weight = np.append(np.exp(epsilon * np.array(drawn) / 2), empty)
    return weight / weight.sum()


@pytest.mark.parametrize("path", ["counts", "records"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_selection_is_a_sum_over_all_subsamples(scheme, path):
    """The same exact law by counts and record by record."""
    rho, draws, s = 0.5, 4, 4 / 11
    mechanism = selection(OPTIONS | {"path": path}, **EM, scheme=scheme, sampling_fraction=s, rho=rho)
    assert mechanism.guarantee == PureDP(np.sqrt(2 * rho))
    chances = subsamples(COUNTS, scheme, s, draws)
    assert sum(chances.values()) == pytest.approx(1)
    law = sum(chance * exponential(drawn, np.sqrt(2 * rho), 3) for drawn, chance in chances.items())
    found = mechanism.simulate(rng(), TRIALS)
    agree(found["top_selected"], law[0])
    agree(found["missed"], law @ (5 - np.array([5, 4, 2, 0])))
    own = sum(chance * (5 - COUNTS[int(np.argmax(drawn))]) for drawn, chance in chances.items())
    agree(found["missed_by_sampling"], own)
    assert set(found) <= {*Subsampled.observables, *Subsampled.events}


@pytest.mark.parametrize("algorithm", ["generalized_histogram", "obvious_answer", "stability", "permute_and_flip"])
def test_selection_beside_a_plain_simulation(algorithm):
    """Every algorithm: one subsample at a time, the algorithm as it is on that one's scores."""
    noise = groups.named("noise", "gaussian")
    mechanism = selection(algorithm=algorithm, noise=noise, rho=0.7, delta=0.1, scheme="without_replacement")
    plain, random = [], rng(11)
    records = np.repeat(np.arange(3), COUNTS)
    for _ in range(4000):
        drawn = np.bincount(random.permutation(records)[:4], minlength=3)
        chosen = mechanism.calibrated.select(Scores(drawn, others=3, sensitivity=1), 1, rng=random)[0, 0]
        plain.append(5 - (0 if chosen < 0 else np.append(COUNTS, 0)[chosen]))
    found = mechanism.simulate(rng(), TRIALS)["missed"]
    error = np.hypot(np.std(plain) / np.sqrt(4000), found.std() / np.sqrt(TRIALS))
    assert abs(found.mean() - np.mean(plain)) <= 5.5 * error


def winners(scores):
    """Every pair that Algorithm 21 may select without noise, each as likely as the others.

    It looks at leads over the third highest score alone: where that ties with the second, all the rest are equal.
    """
    third = np.sort(scores)[-3]
    above, rest = np.flatnonzero(scores > third), np.flatnonzero(scores <= third)
    return [{*above, *some} for some in combinations(rest, 2 - len(above))]


def test_two_winners_without_noise():
    """rho = 1e9: the two fullest bins of the subsample, if they are clear; what they miss, over all subsamples."""
    point = {"algorithm": "generalized_histogram", "noise": groups.named("noise", "gaussian"), "m": 2, "rho": 1e9}
    counts = np.array([30, 12, 5])
    mechanism = selection(counts=counts, **point, scheme="without_replacement", sampling_fraction=10 / 47)
    found = mechanism.simulate(rng(), 5000)
    chances = subsamples(counts, "without_replacement", 10 / 47, 10)
    every = np.append(counts, [0, 0, 0])  # three bins are empty
    selected = missed = 0.0
    for drawn, chance in chances.items():
        pairs = winners(np.append(drawn, [0, 0, 0]))
        selected += chance * sum(pair == {0, 1} for pair in pairs) / len(pairs)
        missed += chance * sum(42 - every[list(pair)].sum() for pair in pairs) / len(pairs)
    agree(found["top_selected"], selected)
    agree(found["missed"], missed)
    own = sum(p * (42 - counts[np.argsort(-np.array(drawn), kind="stable")[:2]].sum()) for drawn, p in chances.items())
    agree(found["missed_by_sampling"], own)
    assert {0, 42 - 35} <= set(np.unique(found["missed"]))  # a tie may also let an empty bin win
    assert found["missed"].min() >= 0


@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_the_final_epsilon_of_a_selection_holds_and_is_nearly_reached(scheme):
    """Over all subsamples of neighbours: the log ratio of the exponential mechanism's chances."""
    final, s = 0.3, 4 / 11
    mechanism = selection(**EM, scheme=scheme, epsilon=final)
    assert mechanism.guarantee == PureDP(final)
    epsilon = np.log1p(np.expm1(final) / s)
    assert 2 / mechanism.noise.scale == pytest.approx(epsilon)
    others = [np.array([4, 4, 2])] if scheme == "poisson" else [np.array([4, 5, 2]), np.array([4, 4, 3])]
    worst = 0.0
    laws = []
    for counts in (COUNTS, *others):
        chances = subsamples(counts, scheme, s, 4)
        laws.append(sum(chance * exponential(drawn, epsilon, 3) for drawn, chance in chances.items()))
    worst = max(np.abs(np.log(laws[0] / law)).max() for law in laws[1:])
    assert 0.3 * final < worst <= final


def test_medians_of_subsamples_without_noise_are_their_order_statistics():
    """P[the median of a subsample is at most x] is hypergeometric; binary search, hardly any noise."""
    mechanism = Subsampled.build(threshold_law(method="binary_search"), np.zeros(0, np.int64))
    records, draws = mechanism.records, mechanism.sampling.draws
    assert (records.n, draws) == (712, 178)
    found = mechanism.simulate(rng(), 2000)["median_rank_error"]
    below = stats.hypergeom(712, records.below[1:], draws).sf((draws + 1) // 2 - 1)  # at least so many are that small
    chance = np.diff(np.concatenate([[0.0], below]))
    assert chance.sum() == pytest.approx(1)
    agree(found, (chance * records.rank_error(records.values, (records.n + 1) // 2)).sum())


@pytest.mark.parametrize("scheme", ["without_replacement", "with_replacement", "hybrid"])
def test_the_cdf_of_a_subsample_has_its_mean_and_variance(scheme):
    """A noisy tree with hardly any noise: (hyper)geometric moments of the CDF at the true quantiles."""
    mechanism = Subsampled.build(threshold_law(method="tree_16", scheme=scheme), np.zeros(0, np.int64))
    n, m, found = 712, 178, mechanism.simulate(rng(), 1000)
    for p in (0.05, 0.5, 0.9):
        told = found[f"cdf_at_q{round(100 * p):02d}"]
        share = mechanism.records.ranks([mechanism.records.quantile(p)])[0] / n
        agree(told, share)
        variance = share * (1 - share) / m * ((n - m) / (n - 1) if scheme == "without_replacement" else 1)
        agree((told - share) ** 2, variance)
    assert (found["sup_error"] > 0).all()


@pytest.mark.parametrize("method", ["windows", "medians_2", "deciles", "median", "tree_2"])
def test_at_fraction_one_the_errors_are_those_of_the_base(method):
    """Means of 40 trials each, at 5.5 standard errors of the two; where no two trials differ, nothing may."""
    noise = groups.named("noise", "sinh_normal_tight")
    point = {"method": method, "noise": noise, "rho": 2.0, "omega": 3.0, "records": "departures_AS"}
    whole = Thresholds.build(Thresholds.law(point, OPTIONS, None), None).simulate(rng(1), 40)
    some = Subsampled.build(threshold_law(**point, sampling_fraction=1.0), None).simulate(rng(2), 40)
    assert set(whole) == set(some)
    for name, values in whole.items():
        error = np.hypot(values.std(), some[name].std()) / np.sqrt(40)
        assert abs(values.mean() - some[name].mean()) <= 5.5 * error + 1e-9


def test_estimates_are_rescaled_to_all_records():
    noise = groups.named("noise", "sinh_normal_tight")
    law = threshold_law(method="deciles", noise=noise, rho=50.0, omega=3.0, sampling_fraction=0.5)
    mechanism = Subsampled.build(law, None)
    run = mechanism.plan.run(mechanism.records, rng=rng())
    ranks = [0, *(int(np.ceil(round(356 * i / 10, 9))) for i in range(1, 10)), 356]  # of half of the records
    assert run.n == 712
    assert run.estimates == pytest.approx([a + b for a, b in pairwise(ranks)], rel=1e-12)  # their middles, twice
