"""Bad input to `tcdp_sim.sweep`, tried systematically: each ends in one line that names the argument or the cell."""

import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim import Failure, UserError


def right(rng, trials, n):
    return rng.random(trials) * n


def event(rng, trials, n):
    return rng.random(trials) < 0.5


def any_axes(rng, trials, **axes):
    return {"x": rng.random(trials)}


def by_position(rng, trials, n, /):
    return rng.random(trials)


class Method:
    def of_an_object(self, rng, trials, n):
        return rng.random(trials)


ARGUMENTS = [
    (None, {"n": 1}, {}, "None is not a function; valid: f(rng, trials"),
    ("right", {"n": 1}, {}, "function = 'right' is not known; valid: a function, or the name"),
    ("my_file.py:right", {"n": 1}, {}, "function = 'my_file.py:right' is not known; valid: a function"),
    (by_position, {"n": 1}, {}, "by_position takes `trials` by position only"),
    (Method.of_an_object, {"n": 1}, {}, "of_an_object takes 'rng' in another place; valid: f(rng, trials"),
    (right, pd.DataFrame({"n": [1, 2]}), {}, "axes = n 0 1 1 2 is not valid; valid: names and their values"),
    (right, {"n": []}, {}, "axis n is empty; give at least one value"),
    (right, {"n": map(int, ())}, {}, "axis n is empty (an iterator gives its values once); give at least one value"),
    (right, {}, {"also": {"more": {"n": ()}}}, "axis n is empty; give at least one value"),
    (right, {"n": [1, True]}, {}, "axis n has 1 and True, which Python takes for equal"),
    (right, {"n": [False, 0.0]}, {}, "axis n has 0 and False, which Python takes for equal"),
    (right, {"n": np.ma.masked_array([1, 2], [0, 1])}, {}, "axis n is a masked array"),
    (right, {"n": ["\ud800"]}, {}, r"axis n = '\ud800' is not plain data"),
    (right, {"n": {"from": 1}}, {}, "sweep.n: a range needs numbers from, to and a whole number num"),
    (right, {"n": 1, "rng": 3}, {}, "axis rng: this name is kept for the random generator"),
    (any_axes, {"rng": 3}, {}, "axis rng: this name is kept for the random generator"),
    (any_axes, {"trials": 3}, {}, "axis trials: this name is kept for the number of trials"),
    (any_axes, {"quantile": [0.1, 0.5]}, {}, "axis quantile: the results have this name for something else"),
    (any_axes, {"x_mcse": [1, 2]}, {}, "axis x_mcse: the results have this name for the number 'x'"),
    (any_axes, {"x_quantile_lower": 1}, {}, "axis x_quantile_lower: the results have this name for the number 'x'"),
    (any_axes, {"": 1}, {}, "axis '' is not a name of a parameter"),
    (any_axes, {"a b": 1}, {}, "axis 'a b' is not a name of a parameter"),
    (any_axes, {"a\nb": 1}, {}, r"axis 'a\nb' is not a name of a parameter"),
    (right, {"n": 1}, {"quantiles": True}, "quantiles = True is not a number"),
    (right, {"n": 1}, {"quantiles": [[0.1, 0.2]]}, "quantiles = [0.1, 0.2] is not one number"),
    (right, {"n": 1}, {"share": 3}, "share = 3 is not valid; valid: an axis, or a list of axes: n"),
    (right, {"n": 1}, {"exact": "max"}, "exact = 'max' is not valid; valid: names and their values"),
    (right, {"n": 1}, {"bound": 3}, "bound = 3 is not valid; valid: names and their values"),
    (right, {"n": 1}, {"exact": {"value": max}}, "exact['value']: the parameters of <built-in function max> are not"),
    (right, {"n": 1}, {"exact": {"value": len}}, "exact['value'] takes 'obj' by position only"),
    (right, {"n": 1}, {"exact": {"value": 10**400}}, "exact['value'] is too large for a float"),
    (right, {"n": 1}, {"exact": {"value": lambda n: 10**400}}, "cell n=1: exact value of value: it is too large for"),
    (right, {"n": 1}, {"exact": {"value": lambda n: "a"}}, "cell n=1: exact value of value: 'a' is not a number"),
    (right, {"n": 1}, {"exact": {"value": lambda n: [[1], [2, 3]]}}, "cell n=1: exact value of value: [[1], [2, 3]]"),
    (right, {"n": 1}, {"exact": {"value": lambda n: np.ma.masked}}, "cell n=1: exact value of value: masked is not a"),
    (event, {"n": [3, 4]}, {"exact": {"value": 1.2}}, "cell n=3: exact value of value: 1.2 is not valid for a prob"),
    (event, {"n": 3}, {"exact": {"value": lambda n: -0.1}}, "cell n=3: exact value of value: -0.1 is not valid"),
    (event, {"n": 3}, {"bound": {"value": -0.1}}, "cell n=3: bound of value: -0.1 is not valid for a probability"),
    (right, {"n": 1}, {"ranges": 3}, "ranges = 3 is not valid"),
    (right, {"n": 1}, {"ranges": {"value": 3}}, "ranges['value'] = 3 is not valid; valid: the least and the largest"),
    (right, {"n": 1}, {"ranges": {"value": (1, 1)}}, "ranges['value'] = (1, 1) is not valid"),
    (right, {"n": 1}, {"ranges": {"value": (0, float("nan"))}}, "ranges['value'] = (0, nan) is not valid"),
    (right, {"n": 1}, {"ranges": {"value": ("a", 1)}}, "ranges['value'] = ('a', 1) is not valid"),
    (right, {"n": 1}, {"ranges": {"x": (0, 1)}}, "ranges: 'x' is no number"),
    (right, {"n": 1}, {"units": {"value": 3}}, "units['value'] = 3 is not valid; valid: a text"),
    (right, {"n": 1}, {"units": {"value": "a\nb"}}, r"units['value'] = 'a\nb' is not valid"),
    (right, {"n": 1}, {"target_mcse": {"value": {"absolute": [1, 2]}}}, "target_mcse.value.absolute = [1, 2] is not"),
    (right, {"n": 1}, {"cluster": None}, "cluster = None is not valid; valid: a name, or a name and its keys"),
    (right, {"n": 1}, {"cluster": {"workers": 2}}, "cluster = {'workers': 2} is not valid; valid: a name"),
    (right, {"n": 1}, {"cluster": {"name": "local", "workerz": 2}}, "cluster: 'workerz' is not a key"),
    (right, {"n": 1}, {"cluster": "slrm"}, "cluster = 'slrm' is not known; valid: local"),
    (
        right,
        {"n": 1},
        {"name": "x", "results_dir": None},
        "results_dir = None is not valid; valid: the path of a folder",
    ),
    (right, {"n": 1}, {"name": "x", "results_dir": ""}, "results_dir = '' is not valid"),
    (right, {"n": 1}, {"name": "x", "results_dir": __file__}, "test_bad_arguments.py/x: Not a directory"),
    (right, {"n": 1}, {"cells": pd.DataFrame({"n": [1]})}, "cells = n 0 1 is not valid; valid: a list of points"),
]

RESULTS = [
    (
        lambda rng, trials, n: np.ma.masked_array(rng.random(trials), rng.random(trials) < 0.5),
        "value is a masked array",
    ),
    (lambda rng, n: np.ma.masked, "value is a masked array"),
    (lambda rng, trials, n: {"a": np.ma.masked_array(np.ones(trials), True)}, "a is a masked array"),
    (lambda rng, n: 10**400, "value is too large for a float"),
    (lambda rng, trials, n: {"a": rng.random(trials), "b": rng.random(trials - 1)}, "b has shape (19,) for 20 trials"),
    (lambda rng, trials, n: (rng.random(trials), rng.random(trials)), "value has shape (2, 20) for 20 trials"),
    (lambda rng, trials, n: {"a": {"b": rng.random(trials)}}, "a is of type dict"),
    (lambda rng, trials, n: {"a/b": rng.random(trials)}, "'a/b' is no name of a number"),
    (lambda rng, trials, n: np.array(["2020-01-01"] * trials, "M8[D]"), "value is of type datetime64[D]"),
    (lambda rng, trials, n: {1.0, 2.0}, "value is of type set"),
]


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


def raising(problem):
    def failing(rng, trials, n):
        raise problem

    return failing


ERRORS = [
    (raising(Unspeakable()), "cell n=3: Unspeakable: (its message cannot be shown)"),
    (raising(ValueError("a\nb\n  c")), "cell n=3: ValueError: a b c"),
    (raising(ValueError("x" * 5000)), "characters) ... xxx"),
    (raising(SystemExit(3)), "cell n=3: Exits: failing calls sys.exit"),
    (lambda rng, n: sys.exit(), "cell n=3: Exits: <lambda> calls sys.exit"),
    (raising(StopIteration()), "cell n=3: StopIteration:"),
    (raising(MemoryError()), "cell n=3: MemoryError:"),
]


def one_line(caught, told):
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("function", "axes", "keys", "told"), ARGUMENTS)
def test_a_bad_argument(function, axes, keys, told):
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(function, axes, **{"trials": 50} | keys)
    one_line(caught, told)


@pytest.mark.parametrize(("function", "told"), RESULTS)
def test_a_bad_result_names_the_cell(function, told):
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=50)
    one_line(caught, f"cell n=3: {told}")


@pytest.mark.parametrize("name", [None, "kept"])
@pytest.mark.parametrize(("function", "told"), ERRORS)
def test_an_error_is_one_line_in_the_first_cell_and_in_a_later_one(function, told, name, tmp_path):
    def later(rng, trials, n):
        return rng.random(trials) if n == 1 else function(rng, n=n) if function.__name__ == "<lambda>" else late(n)

    def late(n):
        return function(None, 1, n)

    keys = {"trials": 50, "name": name, "results_dir": tmp_path}
    with pytest.raises(Failure) as caught:
        tcdp_sim.sweep(function, {"n": [3, 4]}, **keys)
    one_line(caught, told)
    told = told.replace("failing calls", "later calls").replace("<lambda> calls", "later calls")
    if name:
        with pytest.raises(Failure) as caught:
            tcdp_sim.sweep(later, {"n": [1, 3]}, **keys)
        one_line(caught, told)
        return
    with pytest.warns(UserWarning, match="has ended after 1 of 2 cells") as warned:
        found = tcdp_sim.sweep(later, {"n": [1, 3]}, **keys)
    assert told in str(warned[0].message)
    assert "\n" not in str(warned[0].message)
    assert found["trials"].to_series().to_list() == [50, 0]


def test_a_long_value_of_an_axis_is_shortened():
    with pytest.raises(
        Failure, match=r"^cell n=a{45} \.\.\. \(5,000 characters\) \.\.\. a{15}: ZeroDivisionError"
    ) as caught:
        tcdp_sim.sweep(lambda rng, n: 1 / 0, {"n": "a" * 5000}, trials=10)
    one_line(caught, "division by zero")


@pytest.mark.parametrize("axis", ["id", "law", "value", "mcse", "exact", "bound", "level", "unit", "warned", "place"])
def test_a_folder_keeps_further_names(axis, tmp_path):
    assert tcdp_sim.sweep(any_axes, {axis: [1, 2]}, trials=20)["x"].dims == (axis,)
    with pytest.raises(UserError, match=f"^axis {axis}: the tables of a folder have this name for something else"):
        tcdp_sim.sweep(any_axes, {axis: [1, 2]}, trials=20, name="kept", results_dir=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("axis", ["cell", "batch", "entry", "omega", "noise", "k", "seed", "self", "index", "x_y"])
def test_any_other_name_has_its_values_in_a_folder(axis, tmp_path):
    found = tcdp_sim.sweep(any_axes, {axis: [1, 2]}, trials=20, name="kept", results_dir=tmp_path)
    assert found["x"].dims == (axis,)
    assert found[axis].values.tolist() == [1, 2]
    table = tcdp_sim.table(tmp_path / "kept")
    assert sorted(set(table[axis])) == [1, 2]


def test_exact_probabilities_are_free_of_rounding_errors():
    found = tcdp_sim.sweep(
        lambda rng, trials, n: np.full(trials, n == 1),
        {"n": [0, 1]},
        trials=50,
        exact={"value": lambda n: n * (1 + 1e-12)},
    )
    assert found["value_exact"].values.tolist() == [0, 1]


def test_fractions_and_long_integers_are_numbers():
    found = tcdp_sim.sweep(
        lambda rng, n: Fraction(1, 4) + n, {"n": [0, 2**70]}, trials=5, exact={"value": lambda n: Fraction(1, 4) + n}
    )
    assert found["value"].values.tolist() == [0.25, 2.0**70]


def test_one_level_of_quantiles_needs_no_list():
    found = tcdp_sim.sweep(right, {"n": 1}, trials=50, quantiles=0.5)
    assert found["quantile"].values.tolist() == [0.5]


def test_numbers_that_are_all_nan_are_told(capsys):
    found = tcdp_sim.sweep(lambda rng, trials, n: np.full(trials, np.nan), {"n": [3, 4]}, trials=50)
    assert np.isnan(found["value"]).all()
    assert "cell n=3: 50 of 50" in capsys.readouterr().err
