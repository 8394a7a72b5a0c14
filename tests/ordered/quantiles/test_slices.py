"""SliceQuantiles against a plain, slow version, and the steps of its proof of privacy.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from tcdp_sim.noise import DiscreteLaplace
from tcdp_sim.ordered.quantiles import Line, Slices
from tcdp_sim.ordered.quantiles.method import even_levels
from tcdp_sim.ordered.quantiles.slices import largest_noise
from tcdp_sim.privacy import ApproxDP

ALIKE = 1e-6  # least p-value of a Kolmogorov-Smirnov test


@pytest.mark.parametrize(("scale", "nodes"), [(0.7, 1), (6.0, 3), (40.0, 7)])
@pytest.mark.parametrize("failure", [1e-2, 1e-9])
def test_the_bound_on_the_noise_holds_and_is_not_far_off(scale, nodes, failure):
    """Exact tails by convolution of positive numbers."""
    reach = int(60 * scale) + 5
    one = DiscreteLaplace(scale).pmf(np.arange(-reach, reach + 1))
    law = one
    for _ in range(nodes - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2
    tail = 2 * np.cumsum(law[::-1])[::-1][middle + 1 :]  # P(|sum| > t) at t = 0, 1, ...
    bound = largest_noise(scale, nodes, failure)
    assert tail[int(bound)] <= failure
    needed = int(np.argmax(tail <= failure))
    assert bound <= 1.6 * needed + 6 * scale


def slow(line, method, rng):
    """One output of SliceQuantiles from its description: recursion over slices, on real records."""
    n = line.n
    z = method.noise.sample(size=(1, method.tree.noises), rng=rng)
    noise = np.rint(method.tree.errors(z))[0]
    centres = [int(np.floor(level * n) + noise[i]) for i, level in enumerate(method.levels)]
    slices = [line.values[max(c - method.half, 0) : max(min(c + method.half, n - 1) + 1, 0)] for c in centres]

    def recursion(parts, low, high):
        if not parts:
            return []
        at = len(parts) // 2
        edges = np.concatenate([[low], np.clip(parts[at], low, high), [high]])
        weight = np.diff(edges) * np.exp(-method.eta * np.abs(np.arange(len(edges) - 1) - len(parts[at]) / 2))
        piece = rng.choice(len(weight), p=weight / weight.sum())
        here = rng.uniform(edges[piece], edges[piece + 1])
        return [*recursion(parts[:at], low, here), here, *recursion(parts[at + 1 :], here, high)]

    return recursion(slices, 0.0, float(line.k))


@pytest.mark.parametrize("n", [12, 60])
def test_slices_are_those_of_the_description(n):
    """With few records, slices overlap and hang over the ends, which only privacy forbids."""
    rng = np.random.default_rng(1)
    line = Line(32 * rng.random(n), 64, "reals")
    method = Slices((0.25, 0.5, 0.75), "substitute", ApproxDP(12.0, 1e-6), 4)
    fast = method.sample(line, 4000, rng=rng)
    plain = np.array([slow(line, method, rng) for _ in range(4000)])
    for j in range(3):
        assert ks_2samp(fast[:, j], plain[:, j]).pvalue > ALIKE


@pytest.mark.parametrize("kind", ["reals", "integers"])
def test_slices_are_right_on_huge_domains(kind):
    values = 2**40 * np.arange(20_000, dtype=np.uint64) + np.uint64(2**63 if kind == "integers" else 0)
    line = Line(values, 2**64, kind)
    method = Slices.of((0.25, 0.5, 0.75), "substitute", ApproxDP(2.0, 1e-9), line)
    out = method.sample(line, 50, rng=np.random.default_rng(2))
    assert line.rank_errors(out, np.array(method.levels)).max() < 150
    assert (np.diff(out.astype(float), axis=1) > 0).all()


def test_ties_of_integers_do_no_harm():
    line = Line(np.repeat([3, 9, 200], 4000), 256, "integers")
    method = Slices.of((0.25, 0.5, 0.75), "substitute", ApproxDP(2.0, 1e-6), line)
    assert (method.sample(line, 50, rng=np.random.default_rng(3)) == [3, 9, 200]).mean() > 0.97


@pytest.mark.parametrize(("x", "moved"), [(130, 777), (777, 130), (500, 505), (0, 999)])
def test_a_substitution_changes_two_records_of_all_slices(x, moved):
    """The coupling of the proof: slices between both records move by one rank, and keep their records."""
    records = list(range(0, 2000, 2))
    other = sorted([*records[:x], *records[x + 1 :], 2 * moved + 1])
    half, centres = 20, [100, 200, 300, 400, 500, 600, 700, 800, 900]
    low, high = sorted((x, moved))
    step = -1 if x < moved else 1
    changed = 0
    for centre in centres:
        inside = low < centre - half and centre + half < high + (x < moved)
        shift = step if inside else 0
        before = set(records[centre - half : centre + half + 1])
        after = set(other[centre + shift - half : centre + shift + half + 1])
        assert len(before - after) <= 2
        changed += before != after
    assert changed <= 2


def test_the_noise_pays_for_two_paths():
    method = Slices((0.2, 0.4, 0.6, 0.8), "substitute", ApproxDP(1.0, 1e-6), 5)
    assert method.tree.levels == 1  # four numbers that are added up have less variance than a binary tree of two levels
    deep = Slices(even_levels(99), "substitute", ApproxDP(1.0, 1e-6), 5)
    assert (deep.tree.branching, deep.tree.levels) == (10, 2)
    assert 2 * method.tree.levels / method.noise.scale == pytest.approx(0.5)  # two paths, each node moves by one
    assert 2 * 2 * method.eta == pytest.approx(0.5)  # two selections, with a range of 2 eta


def test_slices_at_the_needed_distance_are_disjoint_after_the_largest_noise():
    method = Slices((0.25, 0.5, 0.75), "substitute", ApproxDP(1.0, 1e-6), 50)
    noise = largest_noise(method.noise.scale, int(method.tree.variances().max()), 1e-6 / 3)
    first_end, second_begin = noise + 50, method.needed_gap(1e-6) - noise - 50
    assert second_begin - first_end >= 2  # one more than needed, for the move of one slice by a rank
