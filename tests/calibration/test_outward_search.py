"""Roots and minima found step by step, also where a function cannot be computed everywhere."""

from math import exp, log

import pytest

from tcdp_sim.calibration.outward_search import extremes, first_computable, increasing_root, largest_root, lowest

WIDE = (-30.0, 30.0)


def valley(level):
    """Falls up to 2 and then rises; its roots are log(level) away from 2, on either side."""
    return lambda u: exp(abs(u - 2.0)) - level


def only_above(edge, function):
    """The function where u >= edge; not computable elsewhere."""

    def partly(u):
        if u < edge:
            raise ValueError(f"{u} is not computable")
        return function(u)

    return partly


@pytest.mark.parametrize("start", [-20.0, -1.0, 0.5, 29.0, 30.0])
def test_the_root_of_an_increasing_function(start):
    assert increasing_root(lambda u: u - 0.5, start, *WIDE) == pytest.approx(0.5, abs=1e-10)
    assert increasing_root(lambda u: u - 50, start, *WIDE) is None
    assert increasing_root(lambda u: u - 30, start, *WIDE) == pytest.approx(30, abs=1e-7)  # an end
    assert increasing_root(only_above(-25, lambda u: u + 40), start, *WIDE) is None


def test_a_jump_is_no_root():
    assert increasing_root(lambda u: 1.0 if u > 0.7 else -1.0, 0.0, *WIDE) is None
    assert largest_root(lambda u: 1.0 if u > 0.7 else -1.0, 0.0, *WIDE) is None


@pytest.mark.parametrize("start", [-12.0, 1.0, 1.9, 2.0, 2.3, 14.0, 30.0])
def test_the_larger_root_of_a_valley(start):
    assert largest_root(valley(5.0), start, *WIDE) == pytest.approx(2 + log(5), abs=1e-9)
    assert largest_root(valley(1.0001), start, *WIDE) == pytest.approx(2 + log(1.0001), abs=1e-6)
    assert largest_root(valley(0.9), start, *WIDE) is None
    assert largest_root(valley(1e20), start, *WIDE) is None


@pytest.mark.parametrize("start", [-3.0, 1.0, 2.0])
def test_only_one_branch_may_cross(start):
    assert largest_root(valley(5.0), start, -30.0, 3.0) == pytest.approx(2 - log(5), abs=1e-9)
    assert largest_root(valley(5.0), start, 1.5 if start > 1.5 else -3.0, 30.0) == pytest.approx(2 + log(5), abs=1e-9)
    assert largest_root(valley(5.0), start, -3.0, 2.0) == pytest.approx(2 - log(5), abs=1e-9)  # it only falls


@pytest.mark.parametrize("start", [-9.9, 0.0, 2.0, 9.0])
def test_the_lowest_place_and_both_extremes(start):
    assert lowest(valley(0.0), start, *WIDE).at == pytest.approx(2, abs=2e-2)
    assert extremes(valley(0.0), start, -10.0, 5.0) == pytest.approx((1.0, exp(12)), rel=2e-2)
    assert extremes(lambda u: u, start, *WIDE) == (-30.0, 30.0)
    assert extremes(lambda u: -u, start, *WIDE) == (-30.0, 30.0)
    assert lowest(only_above(start, valley(0.0)), start, *WIDE).value == pytest.approx(exp(max(start - 2, 0)), rel=2e-2)
    least, most = extremes(only_above(-10.0, lambda u: u), start, *WIDE)
    assert -10 <= least < -9.9
    assert most == 30


def test_the_first_place_that_is_computable():
    function = only_above(0.0, lambda u: u)
    assert first_computable(function, [-1.0, 3.0, 2.0]) == 3.0
    with pytest.raises(ValueError, match="-2"):
        first_computable(function, [-1.0, -2.0])
