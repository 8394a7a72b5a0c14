"""Bounds: their order, and that arithmetic on them contains the exact result, by fractions and mpmath."""

import copy
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcdp_sim.core.numerics import Bounds

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@st.composite
def bounds(draw):
    return Bounds(*sorted(draw(st.tuples(FLOATS, FLOATS, FLOATS))))


def contains(interval, exact):
    low, high = interval[::2]
    return (low == -np.inf or Fraction(low) <= exact) and (high == np.inf or exact <= Fraction(high))


def test_an_estimate_never_lies_outside():
    assert Bounds(0.0, 1.0000000000000002, 1.0) == (0.0, 1.0, 1.0)
    assert Bounds(0.5, 0.25, 1.0).estimate == 0.5
    middle = Bounds(np.zeros(3), np.array([-1.0, 0.5, 2.0]), np.ones(3)).estimate
    assert list(middle) == [0.0, 0.5, 1.0]


def test_crossed_ends_are_refused():
    with pytest.raises(ValueError, match=r"no number lies between 2\.0 and 1\.0"):
        Bounds(2.0, 1.5, 1.0)
    with pytest.raises(ValueError, match="lower <= upper"):
        Bounds(np.array([0.0, 2.0]), np.array([0.0, 2.0]), np.array([1.0, 1.0]))


def test_what_is_not_known_stays_so():
    unknown = Bounds(0.0, np.nan, np.inf)
    assert unknown.lower == 0
    assert np.isnan(unknown.estimate)
    assert np.isnan(Bounds(np.zeros(2), np.array([np.nan, 1.0]), np.ones(2)).estimate[0])


def test_they_are_a_tuple_of_three_that_can_be_sent_and_kept():
    one = Bounds(0.0, 1.0, 2.0)
    low, middle, high = one
    assert (low, middle, high) == one
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert one._replace(upper=3.0) == (0.0, 1.0, 3.0)


@given(bounds(), bounds(), st.sampled_from(sorted(OPERATIONS)))
def test_arithmetic_contains_the_exact_result_of_all_ends(one, other, sign):
    if sign == "/" and other.lower <= 0 <= other.upper:
        with pytest.raises(ValueError, match="contain 0"):
            one / other
        return
    result = OPERATIONS[sign](one, other)
    assert result.lower <= result.estimate <= result.upper or np.isnan(result.estimate)
    for a in one:
        for b in other:
            assert contains(result, OPERATIONS[sign](Fraction(a), Fraction(b)))


@given(FLOATS, FLOATS, st.sampled_from(sorted(OPERATIONS)))
def test_numbers_give_bounds_of_two_units_in_the_last_place(a, b, sign):
    if sign == "/" and b == 0:
        return
    left, right = OPERATIONS[sign](Bounds(a, a, a), b), OPERATIONS[sign](a, Bounds(b, b, b))
    assert left == right
    if np.isfinite([left.lower, left.upper]).all():
        assert Fraction(left.upper) - Fraction(left.lower) <= 2 * Fraction(math.ulp(max(map(abs, left))))


@pytest.mark.parametrize("ends", [(0.0, 2.0), (-0.0, 2.0), (-2.0, 0.0), (-2.0, -0.0), (0.0, 0.0)])
def test_a_divisor_that_ends_at_0_is_refused(ends):
    """The quotients by what it holds beside 0 grow without end, to a side that the sign of a zero does not tell."""
    divisor = Bounds(ends[0], ends[1] / 2 + ends[0] / 2, ends[1])
    for quotient in (lambda: 1.0 / divisor, lambda: Bounds(1.0, 2.0, 3.0) / divisor):
        with pytest.raises(ValueError, match="contain 0"):
            quotient()
    with pytest.raises(ValueError, match="contain 0"):
        Bounds(1.0, 2.0, 3.0) / Bounds(*(np.array([1.0, end]) for end in divisor))


def test_numbers_of_numpy_and_arrays_work_from_both_sides():
    one = Bounds(1.0, 1.5, 2.0)
    assert np.float64(2) * one == one * 2.0 == one + one
    product = np.array([1.0, -1.0]) * one
    assert isinstance(product, Bounds)
    assert product.lower == pytest.approx([1, -2])
    assert product.upper == pytest.approx([2, -1])
    assert all(product.lower <= [1, -2])
    assert all(product.upper >= [2, -1])
    assert (1 - one).estimate == -0.5
    assert (3 / one).estimate == 2.0


@given(st.tuples(*[st.floats(0, allow_infinity=False)] * 2))
def test_logarithms_contain_the_truth(ends):
    low, high = sorted(ends)
    result = Bounds(low, low, high).log()
    with mpmath.workprec(200):
        for end, number in ((result.lower, low), (result.upper, high)):
            if number == 0:
                assert end == -np.inf
            else:
                distance = abs(mpmath.mpf(end) - mpmath.log(number))
                assert distance <= 4 * np.spacing(abs(end))
        assert low == 0 or mpmath.mpf(result.lower) <= mpmath.log(low)
        assert high == 0 or mpmath.mpf(result.upper) >= mpmath.log(high)


def test_a_logarithm_of_what_may_be_negative_is_refused():
    with pytest.raises(ValueError, match="lower >= 0"):
        Bounds(-1.0, 0.0, 1.0).log()


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Bounds(0.0, 1.0, np.inf) * 0.0, (0.0, 0.0)),
        (Bounds(1.0, 2.0, np.inf) / Bounds(1.0, 2.0, np.inf), (0.0, np.inf)),
        (Bounds(np.inf, np.inf, np.inf) / Bounds(np.inf, np.inf, np.inf), (0.0, np.inf)),
        (Bounds(np.inf, np.inf, np.inf) / -Bounds(1.0, 2.0, np.inf), (-np.inf, 0.0)),
        (Bounds(0.0, 0.0, 0.0) + 1.0, (1.0, 1.0)),
        (Bounds(1e-200, 1e-200, 1e-200) * 1e-200, (0.0, 5e-324)),
        (Bounds(1e200, 1e200, 1e200) * 1e200, (np.finfo(float).max, np.inf)),
    ],
)
def test_the_ends_of_the_number_line(result, expected):
    assert result[::2] == expected


def test_clipping_moves_all_three():
    assert Bounds(-0.1, 0.5, 1.1).clipped(0, 1) == (0.0, 0.5, 1.0)
    assert Bounds(1.0, 1.1, 1.2).clipped(0, 1) == (1.0, 1.0, 1.0)
    assert list(Bounds(np.array([-1.0]), np.zeros(1), np.ones(1)).clipped(0).lower) == [0]
