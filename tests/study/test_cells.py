"""Axes -> points -> cells: what is multiplied out, what is refused, and what a cell's identity holds."""

import hashlib
import itertools
import json
import math
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcdp_sim.core.errors import UserError
from tcdp_sim.data import load_counts
from tcdp_sim.mechanisms import Axis, Histogram, Mechanism, declared
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.study import cells, groups
from tcdp_sim.study.cells import cell_id, plan
from tcdp_sim.study.points import MOST_POINTS, rounded
from tcdp_sim.study.points import points as points_of

AXES = Histogram.axes
NOISES = {name: groups.named("noise", name) for name in ("gaussian", "laplace", "sinh_normal", "truncated_laplace")}
OPTIONS = {"sampling": "order_statistics", "beta": 0.05}


def points(*arguments):
    return list(points_of(*arguments))


BLOCK = {"noise": "gaussian", "data": "one_bin", "k": 10, "rho": 0.1}
LAW = {
    "mechanism": "histogram",
    "version": 1,
    "noise": {"family": "sinh_normal", "calibration": "paper"},
    "target": {"rho": 0.1, "omega": 5},
    "bins": 10,
    "counts": "0" * 32,
    "beta": 0.05,
    "sampling": "order_statistics",
}
LAW_ID = "c44d132c37ec0c94b3c38a9be68e200db1b57eb43f2214bbdb8e2dc00e4cf1c4"


def load(name, k):
    return load_counts(groups.named("data", name), None if k == "declared" else k)


def planned(*blocks, invalid="refuse"):
    names = [f"also.{i}" if i else "sweep" for i in range(len(blocks))]
    found = {name: points(BLOCK | block, AXES, name) for name, block in zip(names, blocks)}
    return plan(found, Histogram, OPTIONS, load, NOISES, invalid)


@pytest.mark.parametrize("share", [("noise",), ("noise", "rho"), ("rho", "noise")])
def test_a_common_stream_has_a_name_of_all_that_is_not_shared(share):
    """By hand: sha256 of JSON with sorted keys, numbers as text of 12 digits; k is the number that `declared` means."""
    block = {"data": "flights_dest", "k": "declared", "noise": ["gaussian", "laplace"], "rho": [0.1, 1 / 3]}
    found = {"sweep": points(block, AXES)}
    cells = plan(found, Histogram, OPTIONS, load, NOISES, share=share).cells
    named = set()
    for rho in ("0.1", "0.333333333333"):
        fixed = {"data": "flights_dest", "k": "17576", **({} if "rho" in share else {"rho": rho})}
        told = {"mechanism": "histogram", "point": fixed, "share": sorted(share), "version": "1"}
        named.add(hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest())
    assert {cell.law["stream"] for cell in cells} == named
    assert len(cells) == 4
    assert len({cell.id for cell in cells}) == 4


def column(block, axis):
    return [point[axis] for point in points(block, AXES)]


def refused(block, *words):
    with pytest.raises(UserError) as caught:
        points(block, AXES)
    assert "\n" not in str(caught.value)
    for word in ("sweep", *words):
        assert word in str(caught.value)


# Values of an axis


def test_yes_and_no_are_texts_on_the_axes_that_take_them():
    block = {"release": "log", "nonnegative": [True, False, "true"]}
    found = points(block, PerRecordSum.axes)
    assert [point["nonnegative"] for point in found] == ["true", "false"]
    refused({"k": True}, "k = True is not a number")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10, [10]),
        ("declared", ["declared"]),
        ([3, 1, 2], [3, 1, 2]),
        ([2, 2.0, 2 + 1e-14, 3], [2, 3]),
        ({"from": 1, "to": 9, "num": 3}, [1, 5, 9]),
        ({"from": 1, "to": 9, "num": 3, "scale": "linear"}, [1, 5, 9]),
        ({"from": 9, "to": 1, "num": 3}, [9, 5, 1]),
        ({"from": 10, "to": 1e12, "num": 12, "scale": "log"}, [10**i for i in range(1, 13)]),
        ({"from": 7, "to": 9, "num": 1}, [7]),
        ({"from": 1, "to": 10, "num": 3, "scale": "log"}, [1, 3, 10]),
        ([0.4, 1e15 + 0.5], [0.4, 1e15]),
        ({"from": 1, "to": 2.4, "num": 3}, [1, 2]),
        ({"from": 1e5, "to": 1e5 + 7, "num": 3}, [100000, 100004, 100007]),
        (1e300, [1e300]),
    ],
)
def test_values_of_k(value, expected):
    assert column({"k": value}, "k") == expected


@pytest.mark.parametrize("num", [1, 2, 19, 100])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_range_has_num_values_and_both_ends(num, scale):
    found = column({"rho": {"from": 1e-10, "to": 0.1, "num": num, "scale": scale}}, "rho")
    assert len(found) == num
    assert found[0] == 1e-10
    assert num == 1 or found[-1] == 0.1
    steps = found if scale == "linear" else [math.log(x) for x in found]
    assert all(math.isclose(b - a, steps[1] - steps[0], rel_tol=1e-9) for a, b in itertools.pairwise(steps))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, [1000]), ([0, -1], [1, 0.1]), (-0.5, [0.316227766017]), ({"from": -2, "to": 1, "num": 4}, [0.01, 0.1, 1, 10])],
)
def test_an_axis_by_its_exponents(value, expected):
    assert column({"log10_rho": value}, "rho") == expected


def test_an_axis_that_is_null_is_not_given():
    assert points({"k": 10, "rho": None}, AXES) == [{"k": 10}]


def test_the_grid_is_multiplied_out_in_the_order_of_the_config():
    found = points({"rho": [0.2, 0.1], "k": [10, 5]}, AXES)
    assert [(p["rho"], p["k"]) for p in found] == [(0.2, 10), (0.2, 5), (0.1, 10), (0.1, 5)]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"rh": 1}, ["sweep.rh is not an axis", *AXES, "zip", "where", "cells"]),
        ({"log10_foo": 1}, ["sweep.log10_foo is not an axis"]),
        ({"k": 10, "log10_k": 1}, ["axis k is given twice", "log10_k"]),
        ({"k": []}, ["sweep.k is empty"]),
        ({"rho": math.nan}, ["sweep.rho = nan"]),
        ({"rho": [0.1, math.nan]}, ["sweep.rho = nan"]),
        ({"rho": True}, ["sweep.rho = True"]),
        ({"log10_noise": 1}, ["sweep.log10_noise is not an axis", "valid: noise"]),
        ({"k": {"from": True, "to": 2, "num": 2}}, ["sweep.k", "needs numbers"]),
        ({"k": {"from": "1", "to": 2, "num": 2}}, ["sweep.k", "needs numbers"]),
        ({"k": {"from": 1, "to": 2, "num": True}}, ["sweep.k", "needs numbers"]),
        ({"noise": {"a": 1}}, ["sweep.noise = {'a': 1} is not known", "a name or a list of names"]),
        ({"noise": [["gaussian"]]}, ["sweep.noise = ['gaussian'] is not known"]),
        ({"noise": []}, ["sweep.noise is empty"]),
        ({"data": [None]}, ["sweep.data = None is not known"]),
        ({"data": True}, ["sweep.data = True is not known"]),
        ({"data": 1.5}, ["sweep.data = 1.5 is not known"]),
        ({"rho": [[0.1]]}, ["sweep.rho = [0.1]"]),
        ({"rho": [{}]}, ["sweep.rho = {}"]),
        ({"rho": 10**400}, ["sweep.rho", "too large"]),
        ({"k": 1.5}, ["sweep.k = 1.5", "a whole number of bins"]),
        ({"k": 123456.5}, ["sweep.k = 123456", "a whole number of bins"]),
        ({"k": [10, 1e10 + 0.5]}, ["a whole number of bins"]),
        ({"log10_k": 309}, ["sweep.log10_k = 309", "308"]),
        ({"log10_k": "a"}, ["sweep.log10_k = 'a'"]),
        ({"log10_k": True}, ["sweep.log10_k = True"]),
        ({"k": {"from": 1, "to": 2}}, ["sweep.k", "from, to and a whole number num"]),
        ({"k": {"from": "a", "to": 2, "num": 2}}, ["sweep.k", "needs numbers"]),
        ({"k": {"from": None, "to": 2, "num": 2}}, ["sweep.k", "needs numbers"]),
        ({"k": {"from": 1, "to": 2, "num": 2.5}}, ["num must be a whole number"]),
        ({"k": {"from": 1, "to": 2, "num": 0}}, ["num must be a whole number >= 1"]),
        ({"k": {"from": 1, "to": 2, "num": math.inf}}, ["sweep.k"]),
        ({"k": {"from": 1, "to": math.inf, "num": 2}}, ["finite"]),
        ({"k": {"from": 1, "to": 2, "num": 2, "step": 1}}, ["unknown key step"]),
        ({"k": {"from": 1, "to": 2, "num": 2, "scale": "cubic"}}, ["linear, or log"]),
        ({"k": {"from": 0, "to": 2, "num": 2, "scale": "log"}}, ["positive"]),
        ({"k": {"from": 1, "to": 2, "num": 10**9}}, [f"{MOST_POINTS:,}"]),
        ({name: {"from": 1, "to": 1000, "num": 1000} for name in ("k", "rho", "omega")}, ["1e+09", f"{MOST_POINTS:,}"]),
    ],
)
def test_what_is_no_axis_is_refused(block, words):
    refused(block, *words)


def test_messages_name_the_block():
    with pytest.raises(UserError, match=r"also\.real\.foo is not an axis"):
        points({"foo": 1}, AXES, "also.real")


# zip, cells, where


@pytest.mark.parametrize("groups", [[["k", "rho"]], ["k", "rho"]])
def test_zipped_axes_advance_together(groups):
    found = points({"k": [1, 2, 3], "rho": [0.1, 0.2, 0.3], "delta": [1e-6, 1e-9], "zip": groups}, AXES)
    assert {(p["k"], p["rho"]) for p in found} == {(1, 0.1), (2, 0.2), (3, 0.3)}
    assert len(found) == 6


def test_two_groups_are_multiplied_with_each_other():
    axes = {"k": [1, 2], "rho": [0.1, 0.2], "omega": [2, 3], "delta": [1e-6, 1e-9]}
    found = points(axes | {"zip": [["k", "rho"], ["omega", "delta"]]}, AXES)
    assert len(found) == 4
    assert {(p["omega"], p["delta"]) for p in found} == {(2, 1e-6), (3, 1e-9)}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([["k", "rho"]], ["equal length", "'k': 3", "'rho': 2"]),
        ([["k", "omega"]], ["sweep.zip", "omega"]),
        ([["k"], ["k"]], ["k twice"]),
        (3, ["sweep.zip = 3"]),
        ("k2", ["sweep.zip = k2"]),
        ({"k": "rho"}, ["sweep.zip"]),
        ([[["k"]]], ["sweep.zip"]),
    ],
)
def test_a_zip_that_cannot_be_is_refused(value, words):
    refused({"k": [1, 2, 3], "rho": [0.1, 0.2], "zip": value}, *words)


def test_explicit_cells_complete_the_axes():
    found = points({"delta": 1e-6, "cells": [{"k": 10, "rho": 0.1}, {"log10_k": 3, "rho": 0.2, "delta": 1e-9}]}, AXES)
    assert found == [{"delta": 1e-6, "k": 10, "rho": 0.1}, {"delta": 1e-9, "k": 1000, "rho": 0.2}]


def test_one_explicit_cell_needs_no_list():
    assert points({"cells": {"k": 10}}, AXES) == [{"k": 10}]


def test_omega_of_a_cell_replaces_omega_of_the_block_in_either_form():
    assert points({"omega_sqrt_rho": 1, "cells": [{"omega": 3}]}, AXES) == [{"omega": 3}]
    assert points({"omega": 3, "cells": [{"omega_sqrt_rho": 1}]}, AXES) == [{"omega_sqrt_rho": 1}]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([{"foo": 1}], ["sweep.cells.foo is not an axis", "rho"]),
        ([{"where": "k < 1"}], ["sweep.cells.where is not an axis"]),
        ([{"k": [1, 2]}], ["sweep.cells.k", "one value"]),
        ([{"k": []}], ["sweep.cells.k is empty"]),
        ([{"k": None}], ["sweep.cells.k is empty"]),
        ([{"k": math.nan}], ["sweep.cells.k = nan"]),
        ([1], ["sweep.cells", "1 is not a point"]),
        ([{}], ["sweep.cells", "{} is not a point"]),
        ([], ["sweep.cells is empty", "at least one point"]),
        ([{"noise": {"a": 1}}], ["sweep.cells.noise = {'a': 1}", "a name"]),
    ],
)
def test_cells_that_are_none_are_refused(cells, words):
    refused({"cells": cells}, *words)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("k <= 2", [1, 2]),
        ("k < 2", [1]),
        ("k >= 2", [2, 3]),
        ("k > 2", [3]),
        ("k == 2", [2]),
        ("k != 2", [1, 3]),
        ("  k<=2e0  ", [1, 2]),
        ("k < rho", [1]),
        ("rho > k", [1]),
        ("omega > 1.4", [1, 2, 3]),
        ("omega > 1.5", []),
        ("noise == gaussian", [1, 2, 3]),
        ("noise != gaussian", []),
        (["k >= 2", "k <= 2"], [2]),
        ([], [1, 2, 3]),
    ],
)
def test_conditions(condition, expected):
    block = {"k": [1, 2, 3], "rho": 2, "omega_sqrt_rho": 2, "noise": "gaussian", "where": condition}
    assert column(block, "k") == expected


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("foo < 3", ["foo is not an axis of the block", "k, rho"]),
        ("k", ["'k' is not a condition", "<="]),
        ("k = 3", ["not a condition"]),
        ("k < 3 or k > 5", ["not a condition"]),
        ("__import__('os').system('true') < 1", ["not a condition"]),
        (3, ["3 is not a condition"]),
        ({"k": 3}, ["not a condition"]),
        ("k < many", ["'k < many'", "1.0", "'many'"]),
        ("noise < 3", ["'gaussian'"]),
    ],
)
def test_conditions_that_are_none_are_refused(condition, words):
    refused({"k": [1, 2], "rho": 0.1, "noise": "gaussian", "where": condition}, "sweep.where", *words)


@pytest.mark.parametrize("rho", [-1, 0, "abc", math.inf])
def test_omega_sqrt_rho_needs_a_rho_that_is_one(rho):
    refused({"omega_sqrt_rho": 1, "rho": rho, "where": "omega > 1"}, "rho")


# Cells


def test_an_axis_that_a_noise_does_not_depend_on_is_not_multiplied_out():
    cells = planned({"noise": list(NOISES), "omega": [5, 6, 7], "delta": [1e-6, 1e-9], "k": [10, 20]}).cells
    number = {name: sum(cell.coords["noise"] == name for cell in cells) for name in NOISES}
    assert number == {"gaussian": 2, "laplace": 2, "sinh_normal": 6, "truncated_laplace": 4}
    for cell in cells:
        assert (cell.coords["omega"] is None) == (cell.coords["noise"] != "sinh_normal")
        assert (cell.coords["delta"] is None) == (cell.coords["noise"] != "truncated_laplace")


def test_equal_laws_are_computed_once():
    assert len(planned({}, {"rho": [0.1, 0.2]}, {"rho": 0.2}).cells) == 2
    one = {"noise": "sinh_normal", "rho": 0.25}
    found = planned(one | {"omega": 4}, one | {"omega_sqrt_rho": 2})
    assert len(found.cells) == 2  # two ways to say it, each of which will be looked up
    assert [cell.coords["omega"] for cell in found.laws] == [4]


def test_data_sets_with_equal_counts_and_domains_are_computed_once_and_told_twice():
    labels = {"one_bin": "zipf", "uniform": "zipf"}  # two names of one data set
    found = {"sweep": points(BLOCK | {"data": list(labels)}, AXES)}
    made = plan(found, Histogram, OPTIONS, lambda name, k: load(labels[name], k), NOISES)
    assert [cell.coords["data"] for cell in made.cells] == ["one_bin", "uniform"]
    (law,) = made.laws
    assert {cell.id for cell in made.cells} == {law.id}


def test_what_is_simulated_is_in_the_order_of_the_plan():
    found = planned({"k": [10, 20]}, {"k": [20, 10, 30]})
    assert [cell.coords["k"] for cell in found.laws] == [10, 20, 30]


class Coin(Mechanism):
    """Without data, noise or target: as little as a mechanism may be."""

    name, version, required, options = "coin", 1, ("p",), ()
    axes = declared(Axis("p", "probability of heads", "1", "0 to 1"))
    observables, events = MappingProxyType({}), MappingProxyType({"heads": "the coin shows heads"})
    neighbours = "none"
    guarantee, thresholds, work = "none", MappingProxyType({}), 1.0

    @classmethod
    def uses(cls, point):
        return ("p",)

    @classmethod
    def law(cls, point, options, counts):
        assert counts is None
        return {"mechanism": "coin", "version": 1, "p": point["p"]}

    @classmethod
    def build(cls, law, counts):
        assert counts.shape == (0,)
        return cls()

    def simulate(self, rng, trials):
        return {"heads": rng.random(trials) < 0.5}


def test_a_mechanism_may_have_neither_data_nor_noise():
    def load(*_):
        raise AssertionError("nothing is to be loaded")

    made = plan({"sweep": points({"p": [0.1, 0.2]}, Coin.axes)}, Coin, {}, load, {})
    assert [cell.coords["p"] for cell in made.cells] == [0.1, 0.2]
    assert {cell.counts for cell in made.cells} == {""}
    assert made.counts[""].size == 0


def test_cells_are_in_the_order_of_the_config():
    block = {"noise": ["sinh_normal", "laplace"], "omega": 5, "k": [20, 10]}
    order = [(cell.coords["noise"], cell.coords["k"]) for cell in planned(block).cells]
    assert order == [("sinh_normal", 20), ("sinh_normal", 10), ("laplace", 20), ("laplace", 10)]
    reverse = [cell.coords["k"] for cell in planned(block | {"k": [10, 20]}, {"k": 5}).cells]
    assert reverse == [10, 20, 10, 20, 5]


def test_a_cell_says_what_it_is():
    (cell,) = planned({"noise": "sinh_normal", "omega": 5}).cells
    assert cell.id == cell_id(cell.law)
    assert cell.guarantee == "(0.1, 5)-tCDP"
    assert cell.noise.startswith("SinhNormal")
    assert cell.law["target"] == {"rho": 0.1, "omega": 5}
    assert cell.work > 0


def test_declared_domains_and_the_counts_of_a_plan():
    found = planned({"data": "flights_dest", "k": ["declared", 1e6]})
    assert [cell.coords["k"] for cell in found.cells] == [17576, 1e6]
    (digest,) = found.counts
    assert {cell.counts for cell in found.cells} == {digest}
    assert found.counts[digest][0] == 17283


def test_invalid_cells_are_refused_by_name_and_reason():
    with pytest.raises(UserError, match=r"^cell noise=sinh_normal .*k=10 rho=0\.001 omega=5: .* needs omega >= "):
        planned({"noise": "sinh_normal", "rho": [0.1, 0.001], "omega": 5})


def test_invalid_cells_are_left_out_and_listed():
    found = planned({"noise": ["sinh_normal", "gaussian"], "rho": [0.1, 0.001], "omega": 5}, invalid="skip")
    assert len(found.cells) == 3
    (reason,) = found.skipped
    assert "noise=sinh_normal" in reason
    assert "rho=0.001" in reason
    assert "needs omega >= " in reason


def test_a_sweep_without_a_valid_cell_is_refused():
    with pytest.raises(UserError, match="no valid cell: noise=sinh_normal"):
        planned({"noise": "sinh_normal", "rho": 0.001, "omega": 5}, invalid="skip")
    with pytest.raises(UserError, match="no valid cell: no point"):
        planned({"where": "k > 1e9"})


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"rho": None}, "sweep.rho is missing"),
        ({"noise": None}, "sweep.noise is missing"),
        ({"noise": "nope"}, "sweep.noise = nope"),
        ({"noise": 3}, "sweep.noise = 3"),
        ({"omega": 5, "omega_sqrt_rho": 1}, "omega or omega_sqrt_rho, not both"),
        ({"noise": "sinh_normal"}, "sinh_normal needs omega"),
        ({"noise": "truncated_laplace"}, "truncated_laplace needs delta"),
        ({"noise": "truncated_laplace", "delta": 1}, "delta = 1"),
        ({"rho": -1}, "rho = -1"),
        ({"rho": "abc"}, "rho = 'abc'"),
        ({"noise": "sinh_normal", "omega": 1}, "omega = 1"),
        ({"noise": "sinh_normal", "omega_sqrt_rho": "abc"}, "omega_sqrt_rho = 'abc'"),
        ({"k": 0}, "k = 0.0"),
        ({"k": 0.4}, "k = 0.4"),
        ({"k": "abc"}, "k = 'abc'"),
    ],
)
def test_points_that_are_no_cell_are_refused(block, words):
    with pytest.raises(UserError, match=words):
        planned(block)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"rho": None}, r"also\.1\.rho is missing"),
        ({"noise": "nope"}, r"also\.1\.noise = nope"),
        ({"omega": 5, "omega_sqrt_rho": 1}, r"also\.1: give omega or"),
        ({"noise": "sinh_normal", "omega_sqrt_rho": "x"}, r"also\.1: omega_sqrt_rho = 'x'"),
        ({"rho": -1}, r"also\.1\.rho = -1 is not valid; valid: above 0"),
        ({"data": "flights_dest", "k": 1000}, r"also\.1: .*k = 1000; valid: at least the declared domain of 17576"),
    ],
)
def test_a_mistake_in_a_further_block_names_it(block, words):
    with pytest.raises(UserError, match=f"^{words}"):
        planned({}, block)


# Identity


def test_the_identity_of_a_law_is_pinned():
    """A change here orphans every stored result: raise a mechanism's version instead."""
    assert cell_id(LAW) == LAW_ID


def test_order_number_types_and_dust_do_not_enter_the_identity():
    other = dict(reversed(LAW.items())) | {"bins": 10.0, "version": 1.0}
    assert cell_id(other) == cell_id(LAW)
    assert cell_id(LAW | {"target": {"omega": 5 * (1 + 1e-13), "rho": 0.1 * (1 - 1e-13)}}) == cell_id(LAW)


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "other"},
        {"version": 2},
        {"noise": {"family": "sinh_normal", "calibration": "tight"}},
        {"noise": {"family": "gaussian", "calibration": "paper"}},
        {"target": {"rho": 0.1}},
        {"target": {"rho": 0.1, "omega": 5 * (1 + 1e-11)}},
        {"target": {"rho": 0.1, "omega": math.inf}},
        {"target": {"rho": 0.1, "omega": None}},
        {"bins": 10 + 1e-9},
        {"counts": "0" * 31 + "1"},
        {"beta": 0.05 + 1e-12},
        {"sampling": "dense"},
        {"more": 1},
    ],
)
def test_everything_else_enters_the_identity(change):
    assert cell_id(LAW | change) != cell_id(LAW)


def ids(block):
    return {cell.id for cell in planned(block, invalid="skip").cells}


GRID = {
    "noise": ["laplace", "sinh_normal"],
    "data": ["one_bin", "uniform"],
    "k": [10, 1e3],
    "rho": [0.1, 0.2],
    "omega": [5, 6],
}


@given(st.permutations(list(GRID)), st.randoms(use_true_random=False))
def test_the_order_of_axes_and_values_leaves_the_set_of_cells_the_same(order, random):
    shuffled = {axis: random.sample(GRID[axis], len(GRID[axis])) for axis in order}
    assert ids(shuffled) == ids(GRID)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(0.1 + 0.2, 0.3), (1 / 3, 0.333333333333), (1e300, 1e300), (-2.5, -2.5), (0.0, 0.0), (math.inf, math.inf)],
)
def test_rounded(x, expected):
    assert rounded(x) == expected


def test_rounded_leaves_nan():
    assert math.isnan(rounded(math.nan))


def test_a_k_that_is_given_is_not_rounded():
    with pytest.raises(UserError, match=r"sweep\.k = 2\.7"):
        points({"k": 2.7}, AXES)


def test_a_cell_is_built_from_the_law_that_workers_get():
    """JSON makes lists of tuples and texts of whole numbers that are keys."""

    class Odd:
        name, version = "odd", 1

        @staticmethod
        def law(point, options, data):
            return {"mechanism": "odd", "pair": (1, 2), "by": {1: 2.0}}

        @staticmethod
        def build(law, counts):
            return SimpleNamespace(guarantee="", work=np.float32(3), law=law)

    found, _ = cells._cell(Odd, {}, {}, None, {}, (), False)
    law = {"mechanism": "odd", "version": 1, "pair": [1, 2], "by": {"1": 2.0}}
    assert found.law == json.loads(json.dumps(found.law)) == law
    assert type(found.work) is float


def test_equal_numbers_are_one_value_also_zeros_of_either_sign():
    seen = cells._Seen()
    assert seen.first([("x", 0.0), ("y", "a")])
    assert not any(seen.first([("x", zero), ("y", "a")]) for zero in (0, -0.0))
    assert seen.first([("x", 0.0), ("y", "b")])


def test_a_law_need_not_repeat_its_mechanism_and_version(monkeypatch):
    whole, keys = Coin.law.__func__, ("mechanism", "version")
    (before,) = plan({"sweep": points({"p": 0.1}, Coin.axes)}, Coin, {}, None, {}).cells
    short = classmethod(lambda *given: {k: v for k, v in whole(*given).items() if k not in keys})
    monkeypatch.setattr(Coin, "law", short)
    (after,) = plan({"sweep": points({"p": 0.1}, Coin.axes)}, Coin, {}, None, {}).cells
    assert (after.id, after.law) == (before.id, before.law)


@pytest.mark.parametrize("key", ["mechanism", "version"])
@pytest.mark.parametrize("invalid", ["refuse", "skip"])
def test_a_law_that_does_not_say_whose_it_is_is_refused_before_anything_runs(monkeypatch, key, invalid):
    """A worker could not build it, and a change of the mechanism would not show: no cell is left out for that."""
    whole = Coin.law.__func__
    monkeypatch.setattr(Coin, "law", classmethod(lambda *given: whole(*given) | {key: None}))
    with pytest.raises(UserError, match=rf'mechanism coin: its law says .*"{key}": None.*both keys'):
        plan({"sweep": points({"p": 0.1}, Coin.axes)}, Coin, {}, None, {}, invalid)
