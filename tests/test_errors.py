"""How wrong inputs are told."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tcdp_sim.core import errors
from tcdp_sim.core.errors import UserError, choice, real


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (2.5, 2.5),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3.0),
        (np.array(4), 4.0),
        (10**30, 1e30),
        (Fraction(1, 4), 0.25),
    ],
)
def test_scalars_become_floats(value, expected):
    assert real("x", value, 0) == expected
    assert type(real("x", value, 0)) is float


@pytest.mark.parametrize("value", [[1, 2], (1, 2), np.array([1, 2]), [1.0, Fraction(2)], [1, np.float32(2)]])
def test_arrays_become_read_only_copies(value):
    array = real("x", value, 0)
    np.testing.assert_array_equal(array, [1.0, 2.0])
    assert array.dtype == np.float64
    assert not array.flags.writeable
    assert not np.shares_memory(array, value)


@pytest.mark.parametrize(
    ("options", "taken", "refused"),
    [
        ({}, [5e-324, 0.5, 1 - 2.0**-53], [0.0, -0.0, 1.0]),
        ({"closed": True}, [0.0, 0.5], [-5e-324, 1.0]),
        ({"finite": False}, [0.5, 1.0], [0.0, 1 + 2.0**-52]),
        ({"closed": True, "finite": False}, [0.0, 1.0], [-5e-324, 1 + 2.0**-52]),
    ],
)
def test_ends_of_the_range(options, taken, refused):
    for value in taken:
        assert real("x", value, 0, 1, **options) == value
    for value in [*refused, np.nan, np.inf, -np.inf]:
        with pytest.raises(ValueError, match="is not valid"):
            real("x", value, 0, 1, **options)


def test_infinity_is_admitted_only_by_name():
    assert real("x", np.inf, 0, finite=False) == np.inf
    with pytest.raises(ValueError, match="x = inf is not valid; valid: 0 < x < inf"):
        real("x", np.inf, 0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "0 < width < 2"),
        ({"closed": True}, "0 <= width < 2"),
        ({"finite": False}, "0 < width <= 2"),
        ({"closed": True, "finite": False}, "0 <= width <= 2"),
    ],
)
def test_message_has_name_value_and_range(options, text):
    for value, seen in ((-3, "-3"), (np.nan, "nan"), ([1, 7.5, -1], "7.5"), (np.array([[1], [9]]), "9")):
        with pytest.raises(ValueError, match="width") as failure:
            real("width", value, 0, 2, **options)
        assert str(failure.value) == f"width = {seen} is not valid; valid: {text}"


WORDS = ["1", "one", b"1", None, True, np.True_, 1j, {}, object, np.datetime64("2020-01-01"), 10**400]
LISTS = [[True], [1j], [1, None], [1, "2"], [1, [2, 3]], [Fraction(1, 2), True]]


@pytest.mark.parametrize("value", WORDS + LISTS, ids=lambda value: type(value).__name__)
def test_what_is_no_number_is_named(value):
    with pytest.raises(ValueError, match="is not a number") as failure:
        real("x", value, 0)
    assert str(failure.value) == f"x = {value!r} is not a number; valid: 0 < x < inf"
    assert failure.value.__suppress_context__


def test_choice_returns_what_is_known_and_lists_what_would_be():
    assert choice("method", "tight", ("tight", "paper")) == "tight"
    assert choice("method", "paper", {"tight": 1, "paper": 2}) == "paper"
    with pytest.raises(ValueError, match="method") as failure:
        choice("method", "Tight", ("tight", "paper"))
    assert str(failure.value) == "method = 'Tight' is not known; valid: tight, paper; did you mean tight?"


def test_a_users_mistake_is_a_value_error():
    with pytest.raises(ValueError, match="told in one line"):
        raise UserError("told in one line")


@pytest.mark.parametrize("value", [1, 7, 1e6, np.int64(3), np.float64(4.0), Fraction(6, 2), 10**300])
def test_whole_numbers_come_back_as_ints(value):
    found = errors.whole("n", value, 1, 10**300)
    assert type(found) is int
    assert found == value


@pytest.mark.parametrize(
    "value", [0, -1, 1.5, Fraction(7, 2), math.nan, math.inf, -math.inf, "3", None, True, [1], np.array(2), 10**301, 2j]
)
def test_what_is_no_whole_number_in_range_is_one_line(value):
    with pytest.raises(ValueError, match=r"^n = .* is not valid; valid: a whole number from 1 to 1e300$") as caught:
        errors.whole("n", value, 1, 10**300)
    assert len(str(caught.value)) < 130


@pytest.mark.parametrize(
    "check",
    [
        lambda: real("x", "a", 0),
        lambda: real("x", [-1.0], 0),
        lambda: errors.scalar("x", [1.0, 2.0], 0),
        lambda: errors.whole("x", 1.5, 1, 9),
        lambda: choice("x", 3, "ab"),
        lambda: errors.known("x", 3, "ab"),
    ],
)
def test_a_mistake_knows_its_place(check):
    with pytest.raises(ValueError, match=r"^x = ") as caught:
        check()
    assert errors.place_of(caught.value) == "x"
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (type(copied), str(copied), copied.place) == (type(caught.value), str(caught.value), "x")
    told = errors.of_user(caught.value, "in the sweep: ", "sweep")
    assert (told.place, str(told)) == ("sweep.x", f"in the sweep: {caught.value}")


def test_a_mistake_without_a_place():
    assert UserError("all is wrong").place == errors.place_of(KeyError("x")) == ""
    assert errors.of_user(ValueError("all"), section="sweep").place == ""
    with pytest.raises(UserError) as caught:
        errors.only_keys("data", ["m"], ["n"])
    assert caught.value.place == "data.m"
