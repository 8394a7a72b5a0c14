"""Mistakes in the arguments or in the function of a sweep: one line that names the argument or the cell."""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim import Failure, UserError


def right(rng, trials, n):
    return rng.random(trials) * n


def of_one(rng, n):
    return n


def counting(rng, n, calls=[]):  # noqa: B006 (the mistake that is tested)
    calls.append(n)
    return len(calls)


def drained(rng, n):
    yield n


WRONG_ARGUMENTS = [
    ((3, {}), "3 is not a function; valid: f(rng, trials"),
    ((right, {"m": 1}), "right takes no 'm'; its axes: n"),
    ((right, {"n": 1, "nn": 2}), "right takes no 'nn'; its axes: n; did you mean n?"),
    ((right, {}), "right needs 'n'"),
    ((right, [1]), "axes = [1] is not valid"),
    ((right, {"n": []}), "axis n is empty"),
    ((right, {"n": (n for n in ())}), "axis n is empty"),
    ((right, {"n": [1, float("nan")]}), "axis n = nan is not plain data"),
    ((right, {"n": np.array([1, np.nan])}), "axis n = nan is not plain data"),
    ((right, {"n": object()}), "is not plain data"),
    ((right, {"n": 1j}), "is not plain data"),
    ((right, {"n": range(10**9)}), "axis n has 1,000,000,000 values"),
    ((right, {"n": 1, "trials": 5}), "axis trials: this name is kept"),
    ((right, {"n": 1, "where": 5}), "axis where: this name is kept"),
    ((right, {1: 1}), "1 is not an axis"),
    ((lambda rng, x: 0.0, {"x": [1, "1"]}), "would have the same label"),
    ((right, {"n": 1}, {"trials": 0}), "trials = 0 is not valid"),
    ((right, {"n": 1}, {"trials": 2.5}), "trials = 2.5 is not valid"),
    ((right, {"n": 1}, {"chunk": "x"}), "chunk = 'x' is not valid"),
    ((right, {"n": 1}, {"seed": -1}), "seed = -1 is not valid"),
    ((right, {"n": 1}, {"quantiles": [1.5]}), "quantiles = 1.5 is not valid"),
    ((right, {"n": 1}, {"exact": {"vlue": 1}}), "exact: 'vlue' is no number that right returns; valid: value; did you"),
    ((right, {"n": 1}, {"exact": {"value": "x"}}), "exact['value'] = 'x' is not valid"),
    ((right, {"n": 1}, {"exact": {"value": lambda m: 1}}), "takes 'm', which is no axis; the axes: n"),
    ((right, {"n": 1}, {"bound": {"value": lambda n: None}}), "cell n=1: bound of value"),
    ((right, {"n": 1}, {"units": {"x": "m"}}), "units: 'x' is no number"),
    ((right, {"n": 1}, {"target_mcse": {"x": {"absolute": 1}}}), "target_mcse: 'x' is no number"),
    ((right, {"n": 1}, {"target_mcse": {"value": 1}}), "target_mcse.value = 1 is not valid"),
    ((right, {"n": 1}, {"share": "m"}), "share: 'm' is not an axis; valid: n"),
    ((right, {"n": [1, 2]}, {"where": "m > 1"}), "m is not an axis of the block"),
    ((right, {"n": [1, 2]}, {"where": "n > 5"}), "the sweep has no cell"),
    ((right, {"n": [1, 2]}, {"zip": [["n", "m"]]}), "zip"),
    ((right, {"n": 1}, {"cells": [3]}), "cells = [3] is not valid"),
    ((right, {"n": 1}, {"also": {"x": 3}}), "also.x = 3 is not valid"),
    ((right, {"n": 1}, {"cluster": "moon"}), "cluster"),
]

WRONG_RESULTS = [
    (lambda rng, n: None, "cell n=3: value is None; valid: numbers"),
    (lambda rng, n: 1j, "cell n=3: value is of type complex"),
    (lambda rng, n: "a", "cell n=3: value is of type str"),
    (lambda rng, n: [1, 2], "cell n=3: a trial of value has shape (2,)"),
    (lambda rng, n: {}, "cell n=3: no number is returned"),
    (lambda rng, n: {1: 2.0}, "cell n=3: 1 is no name"),
    (lambda rng, n: {"n": 2.0}, "the number 'n' cannot have this name"),
    (lambda rng, n: {"x": 2.0, "x_mcse": 1.0}, "the number 'x_mcse' cannot have this name"),
    (lambda rng, n: {"x": 1.0} if rng.random() < 0.5 else {"y": 1.0}, "cell n=3: the trials return different names"),
    (lambda rng, trials, n: 1.0, "cell n=3: value is one number for 20 trials; valid: an array of shape (20,)"),
    (lambda rng, trials, n: rng.random(n), "cell n=3: value has shape (3,) for 20 trials"),
    (lambda rng, trials, n: rng.random((trials, n)), "cell n=3: a trial of value has shape (3,)"),
    (lambda rng, trials, n: [[1.0]] * (trials - 1) + [[1.0, 2.0]], "cell n=3: value is of type list of unequal parts"),
    (lambda n: n, "takes no generator"),
    (drained, "cell n=3: value is of type generator"),
    (counting, "counting changes a default of its own parameters"),
]


@pytest.mark.parametrize(("given", "told"), WRONG_ARGUMENTS)
def test_a_wrong_argument(given, told):
    function, axes, keys = (*given, {})[:3]
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(function, axes, **keys)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("function", "told"), WRONG_RESULTS)
def test_a_wrong_result(function, told):
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=100)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_later_cell_with_other_results_is_named():
    def changing(rng, n):
        return {"x": 1.0} if n < 3 else {"y": 1.0}

    with pytest.raises(UserError, match=r"^cell n=3: y is a number, and the first cell has x \(a number\)$"):
        tcdp_sim.sweep(changing, {"n": [1, 2, 3]}, trials=2)
    with pytest.raises(UserError, match=r"^cell n=3: value is yes or no, and the first cell has value \(a number\)$"):
        tcdp_sim.sweep(lambda rng, n: 1 if n < 3 else True, {"n": [1, 2, 3]}, trials=2)


def test_an_error_of_the_function_names_the_cell_and_keeps_its_traceback():
    def failing(rng, n, kind):
        return 1 / (n - 2)

    with pytest.raises(Failure, match=r"^cell n=2 kind=a: ZeroDivisionError: ") as caught:
        tcdp_sim.sweep(failing, {"n": [2, 1], "kind": "a"}, trials=2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_default_that_nobody_changes_is_no_mistake():
    def right_default(rng, n, weights=[1, 2]):  # noqa: B006 (the mistake that it resembles)
        return n * sum(weights)

    assert tcdp_sim.sweep(right_default, {"n": 2}, trials=2)["value"].item() == 6


def test_run_given_a_function_names_sweep():
    with pytest.raises(UserError, match=r"`tcdp_sim.sweep` simulates a function"):
        tcdp_sim.run(right)
