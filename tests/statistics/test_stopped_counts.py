"""The intervals of an event that stops its own simulation, by enumeration of all ways to stop."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.statistics import stopped_counts
from tcdp_sim.statistics.any_time import AnyTime

WAYS = {  # looks in trials, and the hits that are asked for
    "chunks": ([4, 8, 12, 16, 20], 3),
    "one hit": ([5, 10, 15], 1),
    "a least number": ([20, 25, 40], 4),
    "one look": ([30], 2),
    "never enough": ([5, 9, 13], 14),
}


def ends_of_all_ways(looks, asked, p):
    """Yield (look, hits, probability) of every way to stop."""
    going, before = {0: 1.0}, 0
    for place, trials in enumerate(looks):
        moved = {}
        for hits, weight in going.items():
            for more in range(trials - before + 1):
                moved[hits + more] = moved.get(hits + more, 0.0) + weight * stats.binom.pmf(more, trials - before, p)
        last = place == len(looks) - 1
        yield from ((place, hits, weight) for hits, weight in moved.items() if last or hits >= asked)
        going = {} if last else {hits: weight for hits, weight in moved.items() if hits < asked}
        before = trials


def interval(looks, asked, place, hits):
    return stopped_counts.ends(hits, looks[place - 1] if place else 0, looks[place], asked)


@pytest.mark.parametrize("way", WAYS)
def test_the_interval_covers_with_its_level_for_every_probability(way):
    looks, asked = WAYS[way]
    known = {}
    for p in np.concatenate([np.linspace(0.001, 0.999, 70), [1e-9, 1 - 1e-9]]):
        covered = 0.0
        for place, hits, weight in ends_of_all_ways(looks, asked, p):
            if (place, hits) not in known:
                known[place, hits] = interval(looks, asked, place, hits)
            low, high = known[place, hits]
            covered += weight * (low <= p <= high)
        assert covered >= 0.95 - 1e-9, p


@pytest.mark.parametrize("way", ["chunks", "a least number"])
def test_the_ends_are_the_probabilities_of_more_and_of_less_extreme_ways(way):
    """In the order: an earlier look first, then more hits. All ways are listed, and none has a weight of its own."""
    looks, asked = WAYS[way]

    def tails(p, place, hits):
        every = list(ends_of_all_ways(looks, asked, p))
        larger = sum(weight for i, h, weight in every if i < place or (i == place and h >= hits))
        smaller = sum(weight for i, h, weight in every if i > place or (i == place and h <= hits))
        return larger, smaller

    for place, hits in ((0, asked), (1, asked), (1, asked + 2), (len(looks) - 1, asked), (len(looks) - 1, 1)):
        low, high = interval(looks, asked, place, hits)
        assert tails(low, place, hits)[0] == pytest.approx(0.025, rel=1e-6)
        assert tails(high, place, hits)[1] == pytest.approx(0.025, rel=1e-6)


def test_at_the_first_look_it_is_the_exact_binomial_interval():
    for hits in (0, 1, 17, 100):
        low, high = stopped_counts.ends(hits, 0, 100, 5)
        exact = stats.binomtest(hits, 100).proportion_ci(0.95, "exact")
        assert (low, high) == (pytest.approx(exact.low, abs=1e-12), pytest.approx(exact.high, abs=1e-12))


def test_more_hits_and_an_earlier_look_move_both_ends_up():
    looks, asked = [100, 200, 400], 10
    ways = [(2, 0), (2, 4), (2, 9), (2, 10), (2, 30), (1, 10), (1, 50), (0, 10), (0, 90), (0, 100)]
    every = [interval(looks, asked, *way) for way in ways]
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(every))


def test_large_numbers_are_as_those_of_a_poisson_law():
    """100 hits of which the last come in the last fifth of a million trials: near the interval of a gamma law."""
    low, high = stopped_counts.ends(100, 800_000, 1_000_000, 100)
    assert 1e6 * low == pytest.approx(stats.gamma.ppf(0.025, 100), rel=0.05)
    assert 1e6 * high == pytest.approx(stats.gamma.ppf(0.975, 101), rel=0.05)


def test_only_the_event_that_stops_its_cells_has_this_interval():
    rule = AnyTime(100.0, (100, 200), "x", 10)
    assert rule.proportion("x", 12, 200)[2:] == stopped_counts.ends(12, 100, 200, 10)
    assert rule.proportion("x", 12, 100)[2:] == stopped_counts.ends(12, 0, 100, 10)
    low, high = rule.proportion("y", 12, 200)[2:]
    assert low < stopped_counts.ends(12, 100, 200, 10)[0]
    assert high > 0.1
