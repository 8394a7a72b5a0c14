"""Records on a line against plain Python numbers."""

import itertools

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.line_shapes import SHAPES, line_shape
from tcdp_sim.ordered.quantiles import Line
from tcdp_sim.ordered.quantiles.line import Gaps

HUGE = 2**64


@pytest.mark.parametrize(("values", "k"), [([3, 5, 3], 8), ([0, HUGE - 1, 2**63, 2**63 + 1], HUGE), ([7], 8)])
def test_gaps_of_integers_are_exact(values, k):
    line, ordered = Line(values, k, "integers"), sorted(values)
    expected = [ordered[0], *(b - a for a, b in itertools.pairwise(ordered)), k - ordered[-1]]
    assert line.gaps.tolist() == [float(each) for each in expected]
    assert line.values.tolist() == ordered
    assert Line(np.array(values, dtype=np.uint64), k, "integers").values.tolist() == ordered


@pytest.mark.parametrize("k", [2**10, HUGE])
def test_ranks_and_errors_follow_their_definitions(k):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 40, 30).tolist()
    line, levels = Line(values, k, "integers"), np.array([0.1, 0.5, 0.77])
    outputs = np.array([[0, 20, 39], [12, 12, k - 1]], dtype=np.uint64)
    for row, errors, off in zip(outputs, line.rank_errors(outputs, levels), line.value_errors(outputs, levels)):
        for z, level, error, distance in zip(row, levels, errors, off):
            below, upto = sum(x < z for x in values), sum(x <= z for x in values)
            target = level * 30
            assert error == (below - target if target < below else target - upto if target > upto else 0)
            assert distance == abs(int(z) - sorted(values)[int(np.ceil(target)) - 1])


def test_elements_above_records():
    line = Line([10, HUGE - 2], HUGE, "integers")
    assert line.beyond(np.array([0, 1, 2]), np.array([4.9, 0.0, 50.0])).tolist() == [4, 10, HUGE - 1]
    real = Line([10.5], 16, "reals")
    assert real.beyond(np.array([1, 1]), np.array([0.25, 99.0])).tolist() == [10.75, np.nextafter(16.0, 0)]


def test_spread_records_stay_in_their_units_in_each_trial():
    line = Line([4, 4, 4, 6], 9, "integers")
    gaps = Gaps.of(line, 1000, rng=np.random.default_rng(0))
    places = np.cumsum(gaps.sizes, axis=1)
    assert np.allclose(places[:, -1], 9)
    assert (np.floor(places[:, :-1]) == [4, 4, 4, 6]).all()
    inside = places[:, :3] - 4  # order statistics of three uniform numbers have means 1/4, 2/4, 3/4
    assert np.abs(inside.mean(axis=0) - [0.25, 0.5, 0.75]).max() < 5.5 * 0.3 / np.sqrt(1000)
    rows = np.arange(1000)
    middle = gaps.outputs(rows, np.full(1000, 1), gaps.sizes[:, 1] * 0.999)  # between the first two records
    assert (middle == 4).all()


@pytest.mark.parametrize(
    ("values", "k", "kind", "message"),
    [
        ([], 8, "reals", "the data set is empty"),
        ([8.0], 8, "integers", "a record of 8.0 lies outside"),
        (np.array([8.0]), 8, "integers", "a record of 8.0 lies outside"),
        (np.array([2.0**64]), 2**64, "integers", "lies outside"),
        ([2**64], 2**64, "integers", "lies outside"),
        ([8], 8, "integers", "a record of 8 lies outside the domain; valid: 0 to below 8"),
        ([-0.5], 8, "reals", "a record of -0.5 lies outside"),
        ([float("nan")], 8, "reals", "a record of nan lies outside"),
        ([1], 1, "reals", "a domain of 1 reals is not valid"),
        ([1], 2**65, "integers", "k from 2 to 2"),
        ([1], 8, "words", "a domain of 8 words is not valid"),
    ],
)
def test_mistakes_are_one_line(values, k, kind, message):
    with pytest.raises(UserError, match=message):
        Line(values, k, kind)


def test_shapes_are_the_same_each_time_and_lie_in_the_domain():
    for shape in SHAPES:
        first, again = line_shape(shape, 500, 2**32), line_shape(shape, 500, 2**32)
        assert (first == again).all()
        assert first.min() >= 0
        assert first.max() < 2**32
        assert line_shape(shape, 500, 256).max() < 256
    bell = line_shape("bell", 20_000, 256)
    assert abs(bell.mean() - 128) < 5.5 * 21.4 / np.sqrt(20_000)
    assert abs(bell.std() - 256 / 12) < 0.6  # of 12 uniform numbers with variance 1/12 each
    assert len(set(line_shape("ties", 500, 256))) < 14
    pareto = line_shape("pareto", 20_000, 2**64)
    assert abs((pareto > 32).mean() - 0.25) < 5.5 * np.sqrt(0.25 * 0.75 / 20_000)  # P(16 / sqrt u > 32) = 1/4
