"""The level profile against the tree written out, and against identities, on domains of every size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interior_dense import counts_below, tree_levels

from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior import LevelProfile

HUGE = 2**65536
data_sets = st.integers(1, 70).flatmap(
    lambda k: st.tuples(st.lists(st.integers(0, k - 1), min_size=1, max_size=12), st.just(k))
)


def dense_heaviest(xs, k):
    return [max(value for *_, value in nodes) for nodes in tree_levels(counts_below(xs, k), k)]


@settings(max_examples=150, deadline=None)
@given(data_sets)
def test_heaviest_nodes_and_segments_are_those_of_the_tree(case):
    xs, k = case
    profile = LevelProfile.of(xs, k)
    levels = tree_levels(counts_below(xs, k), k)
    assert profile.depth == len(levels) - 1
    assert profile.heaviest_at(np.arange(-1, len(levels))).tolist() == [0, *dense_heaviest(xs, k)]
    for level, nodes in enumerate(levels):
        run = int(np.searchsorted(profile.starts, level, side="right")) - 1
        segments = profile.segments(run)
        assert segments.weight.tolist() == [value for *_, value in nodes if value]
        empty = sum(value == 0 for *_, value in nodes)
        assert np.exp(profile.log_empty(np.array([level]), len(segments.first))[0]) == pytest.approx(empty, abs=1e-9)


def test_golden_profile():
    assert LevelProfile.of([3, 3, 7, 9, 12], 16).heaviest_at(range(5)).tolist() == [2, 2, 2, 3, 5]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**20 - 1), min_size=1, max_size=20), st.integers(0, 2**20 - 1))
def test_xor_with_any_mask_permutes_nodes_of_a_full_tree(xs, mask):
    one, other = LevelProfile.of(xs, 2**20), LevelProfile.of([x ^ mask for x in xs], 2**20)
    assert one.heaviest_at(range(21)).tolist() == other.heaviest_at(range(21)).tolist()


def test_scaling_the_domain_shifts_the_levels():
    xs = [5, 5, 6, 90, 91, 200]
    small, large = LevelProfile.of(xs, 2**8), LevelProfile.of([x << 65528 for x in xs], HUGE)
    assert large.heaviest_at([0, *range(65528, 65537)]).tolist() == small.heaviest_at([0, *range(9)]).tolist()


def test_bit_lengths_alone_give_the_same_profile():
    gaps, weight = [1, 3, 1, 7, 2, 4], [1, 2, 1, 3, 1, 1, 2]
    values, x = [0], 0
    for gap in gaps:
        x = ((x >> (gap - 1)) + 1) << (gap - 1)
        values.append(x)
    told = LevelProfile.of([v for v, w in zip(values, weight) for _ in range(w)], 2**8)
    known = LevelProfile.of_bit_lengths(gaps, 8, weight)
    assert known.heaviest_at(range(9)).tolist() == told.heaviest_at(range(9)).tolist()
    for name in ("head", "zeros", "ones", "to_end"):
        assert getattr(known.points, name).tolist() == getattr(told.points, name).tolist()
    which, where = (part.ravel() for part in np.meshgrid(np.arange(8), np.arange(8)))
    assert known.points.bit(which, where).tolist() == told.points.bit(which, where).tolist()


def test_a_domain_too_large_to_write_down():
    profile = LevelProfile.of_bit_lengths([2**40, 1, 2**61], 2**62)
    assert profile.heaviest_at([0, 1, 2**40 - 1, 2**40, 2**61, 2**62]).tolist() == [1, 2, 2, 3, 4, 4]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_smallest_domains(k):
    profile = LevelProfile.of([k - 1] * 3, k)
    assert profile.depth == max((k - 1).bit_length(), 1)
    assert profile.heaviest_at(range(profile.depth + 1)).tolist() == [3] * (profile.depth + 1)


@pytest.mark.parametrize(
    ("xs", "k", "said"),
    [
        ([], 4, "empty"),
        ([4], 4, "valid: 0 to 3"),
        ([-1], 4, "a value of -1"),
        ([0], 0, "k = 0"),
        ([0], 2.5, "k = 2.5"),
    ],
)
def test_bad_data_are_one_line(xs, k, said):
    with pytest.raises(UserError, match=said):
        LevelProfile.of(xs, k)


def test_huge_numbers_are_not_printed():
    with pytest.raises(UserError, match="a number of 65537 bits"):
        LevelProfile.of([HUGE], HUGE)


def test_bad_bit_lengths_are_one_line():
    with pytest.raises(UserError, match=r"gaps\[1\] = 3"):
        LevelProfile.of_bit_lengths([3, 3], 8)
    with pytest.raises(UserError, match="log2_k = 0"):
        LevelProfile.of_bit_lengths([], 0)
