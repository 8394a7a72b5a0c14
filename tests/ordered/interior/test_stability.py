"""The baseline with a weaker guarantee: its law by brute force, its privacy on all neighbours, its requirement."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from interior_dense import counts_below, depth_of, exponential, level_qualities, neighbours, tree_levels
from scipy.integrate import quad

from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.noise import Laplace
from tcdp_sim.ordered.interior import LevelProfile, sample, stability_histogram
from tcdp_sim.ordered.interior.exact_law import success_probability
from tcdp_sim.ordered.interior.release import ReleaseParameters, released_points
from tcdp_sim.privacy import TCDP, ApproxDP

TOLD = ReleaseParameters(1.0, Laplace(1.2), 1.0, 2.0, 4.0, "stability", floor=2.5)


def stability_winner(values, noise, floor):
    """P[each is the largest noisy one and above the floor]; only occupied nodes take part."""
    out = np.zeros(len(values))
    occupied = [i for i, value in enumerate(values) if value]
    for i in occupied:

        def density(y, i=i):
            others = [noise.cdf(y - values[o]) for o in occupied if o != i]
            return float(noise.pdf(y - values[i]) * np.prod(others))

        edges = sorted({floor, *(float(values[o]) for o in occupied if values[o] > floor), max(values) + 60.0})
        out[i] = sum(quad(density, a, b, epsabs=1e-12)[0] for a, b in pairwise(edges))
    return out


def stability_pmf(xs, k, parameters):
    """P[0], ..., P[k - 1], P[no output]."""
    f = counts_below(xs, k)
    levels = tree_levels(f, k)
    p_level = exponential(level_qualities(levels, parameters.lower, parameters.upper), parameters.epsilon_level)
    out = np.zeros(k + 1)
    for p, nodes in zip(p_level, levels):
        wins = stability_winner([node[-1] for node in nodes], parameters.noise, parameters.floor)
        out[k] += p * (1 - wins.sum())
        for q, (j1, m, j2, _) in zip(wins, nodes):
            for j, r in zip((j1, m, j2), exponential([depth_of(f, j) for j in (j1, m, j2)], parameters.epsilon_end)):
                out[j] += p * q * r
    return out


@pytest.mark.parametrize("xs", [[3, 3, 7, 9, 12], [4] * 6, [0, 15, 15, 7], [0]])
def test_success_and_law_by_brute_force(xs):
    """Outputs within 5 standard errors in 17 numbers of 4 data sets: false alarm below 4e-5."""
    k, trials, rng = 16, 30000, np.random.default_rng(3)
    law = stability_pmf(xs, k, TOLD)
    profile = LevelProfile.of(xs, k)
    inside = sum(p for j, p in enumerate(law[:k]) if min(xs) <= j <= max(xs))
    assert success_probability(profile, TOLD) == pytest.approx(inside, abs=1e-9)
    draws = sample(profile, TOLD, trials, rng=rng)
    found = [k if j is None else j for j in released_points(profile, draws, rng=rng)]
    share = np.bincount(found, minlength=k + 1) / trials
    assert (np.abs(share - law) <= 5 * np.sqrt(law * (1 - law) / trials) + 1e-9).all()
    assert draws.success.mean() == pytest.approx(share[min(xs) : max(xs) + 1].sum())


@pytest.mark.parametrize(
    ("change", "keeps"), [({}, True), ({"floor": 1.0}, False), ({"noise": Laplace(0.2), "floor": 1.8}, False)]
)
def test_all_neighbours_keep_epsilon_and_delta(change, keeps):
    """And a floor that forgets delta, or noise a tenth as wide, is caught."""
    promise = ApproxDP(3.0, 0.02)
    k, n = 5, 3
    told = replace(stability_histogram.release_parameters(promise, np.log2(k), n), **change)
    law = cache(lambda xs: stability_pmf(xs, k, told))
    worst = max(np.maximum(law(one) - np.exp(promise.epsilon) * law(two), 0).sum() for one, two in neighbours(k, n))
    assert (worst <= promise.delta) == keeps


def test_the_floor_is_as_low_as_delta_allows():
    """One record where the neighbour has none, all else left out: released with probability delta / 2."""
    promise = ApproxDP(3.0, 0.02)
    assert stability_histogram.split_budget(promise).noise.sf(stability_histogram.floor(promise) - 1) == pytest.approx(
        promise.delta / 2
    )


def test_the_ledger_adds_up():
    promise = stability_histogram.implied(TCDP(0.5, 2.83))
    lines = stability_histogram.ledger(promise)
    assert sum(step.guarantee.epsilon for step in lines) == pytest.approx(promise.epsilon)
    assert sum(getattr(step.guarantee, "delta", 0) for step in lines) == promise.delta


@pytest.mark.parametrize("shape", ["point", "solo", "pair", "oct", "half"])
@pytest.mark.parametrize("log2_k", [16, 1024])
def test_the_required_n_suffices(shape, log2_k):
    promise, k = stability_histogram.implied(TCDP(0.5, 2.83)), 2**log2_k
    n = stability_histogram.required_records(promise, log2_k)
    profile = LevelProfile.of(hard_data(shape, n, k), k)
    assert success_probability(profile, stability_histogram.release_parameters(promise, log2_k, n)) > 0.95
