"""Old names of objects and arguments warn, and do what the new ones do."""

import inspect
import math
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from tcdp_sim.core.renamed import (
    generator_moved,
    numbers_as_guarantee,
    renamed,
    renamed_arguments,
    renamed_attribute,
)

OLD = renamed("a.module", {"square_root": "math.sqrt"})


def pair(rho, omega=math.inf):
    return ("pair", rho, omega)


@renamed_arguments(bins="k", q="level")
@generator_moved
@numbers_as_guarantee(pair, "rho", "omega")
def release(values, guarantee, k=2, level=0.5, *, rng=None):
    """Return the arguments."""
    return values, guarantee, k, level, rng


@renamed_arguments(bins="k")
@dataclass(frozen=True)
class Error:
    k: int
    failure: float = 0.05

    bins = renamed_attribute("bins", "k")


def silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def test_an_old_name_gives_the_new_thing_and_warns():
    with pytest.warns(DeprecationWarning, match=r"^a\.module\.square_root is now math\.sqrt$"):
        assert OLD("square_root") is math.sqrt


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'a\.module' has no attribute 'cube_root'"):
        OLD("cube_root")


def test_new_arguments_do_not_warn():
    rng = np.random.default_rng(1)
    assert silent(lambda: release([1], "g", 3, 0.9, rng=rng)) == ([1], "g", 3, 0.9, rng)
    assert silent(lambda: release([1], k=3, guarantee="g", level=0.9)) == ([1], "g", 3, 0.9, None)
    assert silent(lambda: Error(k=3)) == Error(3)


def test_an_old_argument_is_taken_as_the_new_one_and_warns():
    with pytest.warns(DeprecationWarning, match=r"^the argument bins= of release\(\) is now k=$") as told:
        assert release([1], "g", bins=7) == ([1], "g", 7, 0.5, None)
    assert [each.filename for each in told] == [__file__]
    with pytest.warns(DeprecationWarning, match="is now") as told:
        assert release([1], "g", bins=7, q=0.9) == ([1], "g", 7, 0.9, None)
    assert len(told) == 2


def test_an_old_field_of_a_class_is_taken_as_the_new_one_and_warns():
    with pytest.warns(DeprecationWarning, match=r"^the argument bins= of Error\(\) is now k=$"):
        assert Error(bins=7, failure=0.1) == Error(7, 0.1)


def test_an_old_attribute_gives_the_value_of_the_new_one_and_warns():
    with pytest.warns(DeprecationWarning, match=r"^Error\.bins is now Error\.k$") as told:
        assert Error(3).bins == 3
    assert [each.filename for each in told] == [__file__]


def test_an_argument_under_both_names_is_an_error():
    with pytest.raises(TypeError, match=r"release\(\) has both k= and its old name bins="):
        release([1], "g", k=7, bins=7)
    with pytest.raises(TypeError, match="multiple values"), pytest.warns(DeprecationWarning, match="bins="):
        release([1], "g", 7, bins=7)


def test_an_unknown_argument_is_an_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'bin'"):
        release([1], "g", bin=7)


def test_signatures_name_the_new_arguments():
    assert [*inspect.signature(release).parameters] == ["values", "guarantee", "k", "level", "rng"]
    assert [*inspect.signature(Error).parameters] == ["k", "failure"]
    assert inspect.getdoc(release) == "Return the arguments."


@pytest.mark.parametrize("place", range(3))
def test_a_positional_generator_is_taken_as_rng_and_warns(place):
    rng, others = np.random.default_rng(1), [[1], "g"]
    with pytest.warns(DeprecationWarning, match=r"^release\(\) takes its generator as rng=$") as told:
        assert release(*others[:place], rng, *others[place:]) == ([1], "g", 2, 0.5, rng)
    assert [each.filename for each in told] == [__file__]


def test_two_generators_are_an_error():
    rng = np.random.default_rng(1)
    with pytest.raises(TypeError, match="rng"), pytest.warns(DeprecationWarning, match="rng="):
        release([1], "g", rng, rng=rng)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (([1], 0.1, 5, 7), {}),
        (([1], 0.1, 5), {"k": 7}),
        (([1], np.float64(0.1)), {"omega": 5, "k": 7}),
        (([1],), {"rho": 0.1, "omega": 5, "k": 7}),
        ((), {"rho": 0.1, "values": [1], "omega": 5, "k": 7}),
    ],
)
def test_numbers_are_taken_as_the_guarantee_and_warn(arguments, keywords):
    told = r"^release\(\) takes guarantee=pair\(...\) in place of rho, omega$"
    with pytest.warns(DeprecationWarning, match=told) as warned:
        assert release(*arguments, **keywords) == ([1], ("pair", 0.1, 5), 7, 0.5, None)
    assert [each.filename for each in warned] == [__file__]


def test_a_number_may_have_the_default_of_the_guarantee():
    with pytest.warns(DeprecationWarning, match="guarantee="):
        assert release([1], rho=0.1)[1] == ("pair", 0.1, math.inf)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (([1], "g"), {"rho": 0.1}),
        (([1],), {"guarantee": "g", "rho": 0.1}),
        (([1], 0.1), {"rho": 0.1}),
        (([1],), {"omega": 5}),
    ],
)
def test_numbers_beside_a_guarantee_or_without_the_first_one_are_errors(arguments, keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError):
            release(*arguments, **keywords)


def test_old_forms_can_be_combined():
    rng = np.random.default_rng(1)
    with pytest.warns(DeprecationWarning, match="release") as told:
        assert release([1], 0.1, 5, rng, bins=7) == ([1], ("pair", 0.1, 5), 7, 0.5, rng)
    assert {each.filename for each in told} == {__file__}
    assert len(told) == 3
